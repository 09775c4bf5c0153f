//! The predicate registry: what a relation means for conflicts and for the core document.
//!
//! It is data (`predicates.toml`), so that a decision about two values never depends on a model. A predicate that is not
//! in it may hold many values at once and goes to `dynamicCategories`, or to `uncategorized` without a topic.

mod reads;
mod spell;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::item::fact::FactType;
use crate::refusal::Refusal;

pub use spell::{is_named_by, normal, slug};

/// The predicates by name.
#[derive(Debug, Clone)]
pub struct Predicates {
    known: BTreeMap<String, Predicate>,
    unknown: Predicate,
}

/// How many values hold of one subject at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    /// A new value ends the old one.
    One,
    /// Values stand side by side.
    Many,
}

/// How careful to be with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// Nothing special.
    #[default]
    None,
    /// About a person: kept when the person says it of themself.
    Personal,
    /// Kept only if the user opted in.
    Sensitive,
}

/// Where facts about the user stand in the core document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorePlace {
    /// One value at the path.
    Set(String),
    /// An element of a list: the object itself.
    List(String),
    /// An element `{name, …}` of a list, told apart by its name.
    Named(String),
    /// A member of an object, named after the fact's object.
    Entry(String),
}

impl CorePlace {
    /// The path it is at or below.
    pub fn path(&self) -> &str {
        match self {
            Self::Set(path) | Self::List(path) | Self::Named(path) | Self::Entry(path) => path,
        }
    }
}

/// How an object is written into the core document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spelling {
    /// As it was said.
    #[default]
    AsSaid,
    /// In lower case.
    Lower,
    /// Each word with a capital.
    Title,
}

/// Values of another relation that cannot hold beside values of this one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exclusion {
    /// The values of this relation that exclude; empty: any.
    #[serde(default)]
    pub when: Vec<String>,
    /// The other relation.
    pub relation: String,
    /// Its values that are excluded; empty: any.
    #[serde(default)]
    pub values: Vec<String>,
}

/// One relation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// How many values hold at once.
    pub cardinality: Cardinality,
    /// A qualifier that is part of the key: a favourite is one a kind of thing.
    #[serde(default)]
    pub key: Option<String>,
    /// What type its facts are.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// Domain of its facts: work, health, …
    pub domain: String,
    /// Topic of its facts.
    #[serde(default)]
    pub topic: Option<String>,
    /// What the topic is about, in words, for a dynamic category.
    #[serde(default)]
    pub about: Option<String>,
    /// How much it matters, 0 to 1.
    pub importance: f64,
    /// How careful to be with it.
    #[serde(default)]
    pub sensitivity: Sensitivity,
    /// Where it stands in the core document.
    #[serde(default)]
    pub core: Option<CorePlace>,
    /// Facts of it about the user stand in every pack, as limits do: advice that forgets them does harm.
    #[serde(default)]
    pub always: bool,
    /// The qualifier that names the member of a [`CorePlace::Entry`], in place of the object.
    #[serde(default)]
    pub named_by: Option<String>,
    /// Qualifier of the fact to member in the document.
    #[serde(default)]
    pub qualifiers: BTreeMap<String, String>,
    /// How the object is written there.
    #[serde(default)]
    pub spelling: Spelling,
    /// A predicate that cannot hold of the same object at the same time.
    #[serde(default)]
    pub opposite: Option<String>,
    /// What ends when this holds.
    #[serde(default)]
    pub excludes: Vec<Exclusion>,
    /// Who stands in this relation to the user stands in no other one: a sister is no colleague of the same name.
    #[serde(default)]
    pub distinct: bool,
    /// Its values are measured again and again: a new one is a reading beside the old ones, which are told with it.
    #[serde(default)]
    pub readings: bool,
    /// It stays true of somebody who has died.
    #[serde(default)]
    pub outlives: bool,
    /// With it, everything about its subject ends that does not outlive them.
    #[serde(default)]
    pub ends_others: bool,
    /// Other names of the relation that say what kind it is: a sister is a sibling.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Words it is asked by, beside those it reads with.
    #[serde(default)]
    pub words: Vec<String>,
    /// How values end that are adjectives: they read with "is", whatever [`said`](Self::said) says.
    #[serde(default)]
    pub adjectives: Vec<String>,
    /// How a fact reads.
    pub said: String,
    /// The question that settles a conflict.
    #[serde(default)]
    pub asked: Option<String>,
}

/// What comes with Quipu.
const DEFAULT: &str = include_str!("predicates.toml");

impl Predicates {
    /// The registry that comes with Quipu.
    pub fn default_registry() -> Self {
        #[expect(clippy::expect_used, reason = "the registry is part of the program and a test reads it")]
        Self::parse(DEFAULT).expect("the built-in predicates are well formed")
    }

    /// Reads a registry.
    ///
    /// # Errors
    /// `Invalid` names the predicate and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let known: BTreeMap<String, Predicate> =
            toml::from_str(text).map_err(|error| Refusal::invalid(format!("predicates: {error}")))?;
        for (name, predicate) in &known {
            let wrong = |what: &str| Refusal::invalid(format!("predicate {name}: {what}"));
            if slug(name) != *name {
                return Err(wrong("a name is lower case letters, digits and underscores"));
            }
            if !(0.0..=1.0).contains(&predicate.importance) {
                return Err(wrong("importance is a number from 0 to 1"));
            }
            if let Some(opposite) = &predicate.opposite
                && known.get(opposite).and_then(|other| other.opposite.as_ref()) != Some(name)
            {
                return Err(wrong(&format!("{opposite} does not name it as its opposite")));
            }
        }
        let unknown = Predicate {
            cardinality: Cardinality::Many,
            key: None,
            fact_type: FactType::Trait,
            domain: "other".to_owned(),
            topic: None,
            about: None,
            importance: 0.2,
            sensitivity: Sensitivity::None,
            core: None,
            always: false,
            named_by: None,
            qualifiers: BTreeMap::new(),
            spelling: Spelling::AsSaid,
            opposite: None,
            excludes: Vec::new(),
            distinct: false,
            readings: true,
            outlives: false,
            ends_others: false,
            roles: Vec::new(),
            words: Vec::new(),
            adjectives: Vec::new(),
            said: "{s} {p} {o}".to_owned(),
            asked: None,
        };
        Ok(Self { known, unknown })
    }

    /// What is known of a relation; a relation that is not in the registry may hold many values.
    pub fn get(&self, name: &str) -> &Predicate {
        self.known.get(name).unwrap_or(&self.unknown)
    }

    /// True if the registry has it.
    pub fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// The relation a role belongs to: `sibling` of `sister`.
    pub fn of_role(&self, role: &str) -> Option<&str> {
        let found = self.known.iter().find(|(_, predicate)| predicate.roles.iter().any(|one| one == role));
        found.map(|(name, _)| name.as_str())
    }

    /// True if facts of this relation about the user stand in the core document.
    pub fn stands_in_core(&self, name: &str) -> bool {
        self.known.get(name).is_none_or(|predicate| predicate.core.is_some())
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    /// How a fact reads that the user said: "User lives in Porto".
    pub fn say(&self, subject: &str, predicate: &str, object: &str, qualifiers: &BTreeMap<String, String>) -> String {
        self.say_as(crate::extract::USER, subject, predicate, object, qualifiers)
    }

    /// How a fact reads that somebody said: in what Melanie says of Caroline, "my paintings" are Melanie's.
    pub fn say_as(
        &self,
        speaker: &str,
        subject: &str,
        predicate: &str,
        object: &str,
        qualifiers: &BTreeMap<String, String>,
    ) -> String {
        let known = self.get(predicate);
        let ends = |adjective: &String| {
            let before = object.to_lowercase().strip_suffix(adjective.as_str()).map(str::to_owned);
            before.is_some_and(|before| before.is_empty() || before.ends_with([' ', '-']))
        };
        let is_adjective = known.adjectives.iter().any(ends);
        let is_named = object.starts_with(|c: char| c.is_uppercase()) || !known.said.contains("{relation} is");
        let mut said = if !is_named {
            // "Three siblings" is nobody's name.
            "{s} has {an}".to_owned()
        } else if is_adjective {
            "{s} is {o}".to_owned()
        } else {
            known.said.clone()
        };
        for (name, value) in qualifiers {
            said = said.replace(&format!("{{{name}}}"), value);
        }
        let is_told_by_another = normal(speaker) != normal(subject);
        // "user's mum" at the beginning of a sentence.
        let name_of = |name: &str| match name.strip_prefix(crate::extract::USER) {
            Some(rest) if rest.is_empty() || rest.starts_with("'s ") => format!("User{rest}"),
            _ => name.to_owned(),
        };
        let subject = name_of(subject);
        // A rule stands in the user's own words.
        let told = reads::in_third_person(object, is_told_by_another.then(|| name_of(speaker)).as_deref());
        let object = if said.contains(": {o}") { object } else { &told };
        // What was not said of it is left out.
        let kind = predicate.replace('_', " ");
        for (placeholder, plain) in [("{relation}", kind.as_str()), ("{of}", "thing")] {
            said = said.replace(placeholder, plain);
        }
        let forms = [
            ("{do}", reads::to_do as fn(&str) -> String),
            ("{an}", reads::with_article),
            ("{works as}", reads::of_work),
        ];
        for (placeholder, reads) in forms {
            if said.contains(placeholder) {
                said = said.replace(placeholder, &reads(object));
            }
        }
        said.replace("{p}", &kind).replace("{s}", &subject).replace("{o}", object)
    }
}

impl Default for Predicates {
    fn default() -> Self {
        Self::default_registry()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_registry_reads() {
        let registry = Predicates::default_registry();
        assert!(registry.names().count() > 50);
        assert_eq!(registry.get("lives_in").cardinality, Cardinality::One);
        assert_eq!(registry.get("no_such_relation").cardinality, Cardinality::Many);
        for name in registry.names() {
            let predicate = registry.get(name);
            assert!(
                predicate.cardinality == Cardinality::Many || predicate.asked.is_some(),
                "{name} holds one value, so it needs a question for a conflict"
            );
        }
    }

    #[test]
    fn facts_read_as_sentences() {
        let registry = Predicates::default_registry();
        let plain = BTreeMap::new();
        let sister = BTreeMap::from([("relation".to_owned(), "sister".to_owned())]);
        assert_eq!(registry.say("user", "lives_in", "Porto", &plain), "User lives in Porto");
        assert_eq!(registry.say("user", "sibling", "Anna", &sister), "User's sister is Anna");
        for (condition, reads) in [
            ("pregnant", "Ana is pregnant"),
            ("lactose intolerant", "Ana is lactose intolerant"),
            ("asthma", "Ana has asthma"),
            ("a mill", "Ana has a mill"),
        ] {
            assert_eq!(registry.say("Ana", "has_condition", condition, &plain), reads);
        }
        assert_eq!(registry.say("Anna", "keeps_bees_in", "Oslo", &plain), "Anna keeps bees in Oslo");
    }

    #[test]
    fn a_one_sided_opposite_is_refused() {
        let text = r#"
            [likes]
            cardinality = "many"
            type = "preference"
            domain = "x"
            importance = 0.5
            opposite = "hates"
            said = "{s} likes {o}"
        "#;
        assert!(Predicates::parse(text).is_err());
    }
}
