//! The predicate registry: how predicates behave in conflicts and where they are placed in the core document.
//!
//! It is data (`predicates.toml`), so conflict decisions never depend on a model. A predicate that is not in it may
//! hold many values at once and goes to `dynamicCategories`, or to `uncategorized` without a topic.

mod reads;
mod spell;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::extract::USER;
use crate::item::fact::{Fact, FactType};
use crate::refusal::Refusal;

pub use spell::{is_named_by, normal, slug};

/// The predicates by name.
#[derive(Debug, Clone)]
pub struct Predicates {
    known: BTreeMap<String, Predicate>,
    unknown: Predicate,
}

/// Number of values that hold for one subject at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    /// One value: a new one ends the old one.
    One,
    /// Any number of values.
    Many,
}

/// Sensitivity of a predicate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// Not sensitive.
    #[default]
    None,
    /// About a person: stored only if the person said it about themselves.
    Personal,
    /// Stored only if the user opted in.
    Sensitive,
}

/// The place of facts about the user in the core document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorePlace {
    /// One value at the path.
    Set(String),
    /// An element of a list: the object itself.
    List(String),
    /// An element `{name, …}` of a list, identified by its name.
    Named(String),
    /// A member of an object, named after the fact's object.
    Entry(String),
}

impl CorePlace {
    /// The path of the value or its container.
    pub fn path(&self) -> &str {
        match self {
            Self::Set(path) | Self::List(path) | Self::Named(path) | Self::Entry(path) => path,
        }
    }
}

/// How an object is spelled in the core document.
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

/// Values of another predicate that conflict with values of this one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exclusion {
    /// The values of this predicate that conflict; empty: any.
    #[serde(default)]
    pub when: Vec<String>,
    /// The other predicate.
    pub relation: String,
    /// Its conflicting values; empty: any.
    #[serde(default)]
    pub values: Vec<String>,
}

/// One predicate.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// Number of values that hold at once.
    pub cardinality: Cardinality,
    /// A qualifier that is part of the slot: there is one favourite per kind of thing.
    #[serde(default)]
    pub key: Option<String>,
    /// Type of its facts.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// Domain of its facts: work, health, …
    pub domain: String,
    /// Topic of its facts.
    #[serde(default)]
    pub topic: Option<String>,
    /// Description of the topic, for a dynamic category.
    #[serde(default)]
    pub about: Option<String>,
    /// Importance, 0 to 1.
    pub importance: f64,
    /// Sensitivity.
    #[serde(default)]
    pub sensitivity: Sensitivity,
    /// The place in the core document.
    #[serde(default)]
    pub core: Option<CorePlace>,
    /// True if its facts about the user are part of every pack, like constraints, because advice that ignores them does
    /// harm.
    #[serde(default)]
    pub always: bool,
    /// The qualifier that names the member of a [`CorePlace::Entry`], instead of the object.
    #[serde(default)]
    pub named_by: Option<String>,
    /// Qualifiers of the fact by the member of the document they set.
    #[serde(default)]
    pub qualifiers: BTreeMap<String, String>,
    /// Spelling of the object in the core document.
    #[serde(default)]
    pub spelling: Spelling,
    /// A predicate that cannot hold for the same object at the same time.
    #[serde(default)]
    pub opposite: Option<String>,
    /// Conflicting values that end when this holds.
    #[serde(default)]
    pub excludes: Vec<Exclusion>,
    /// True if a person with this relation to the user has no other one: a sister and a colleague of the same name are
    /// two people.
    #[serde(default)]
    pub distinct: bool,
    /// True if its values form a series of readings: a new value supersedes the earlier ones, which are shown with it.
    #[serde(default)]
    pub readings: bool,
    /// True if its objects are statements in a person's own words: words that replace one are not read again.
    #[serde(default)]
    pub verbatim: bool,
    /// True if it still holds after a person's death.
    #[serde(default)]
    pub outlives: bool,
    /// True if it ends every other fact about its subject that does not outlive them.
    #[serde(default)]
    pub ends_others: bool,
    /// Specific names of the relation: a sister is a sibling.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Names of the relation that one person has at a time: a new boss takes the place of the other.
    #[serde(default)]
    pub single_roles: Vec<String>,
    /// Words that refer to it in a query, besides those of its sentence.
    #[serde(default)]
    pub words: Vec<String>,
    /// Endings of values that are adjectives: their sentence uses "is" instead of [`said`](Self::said).
    #[serde(default)]
    pub adjectives: Vec<String>,
    /// Template of a fact's sentence.
    pub said: String,
    /// The question for a conflict.
    #[serde(default)]
    pub asked: Option<String>,
}

impl Predicate {
    /// The question which of two facts is right.
    #[must_use]
    pub fn asks_which(&self, current: &Fact, contested: &Fact) -> String {
        if current.subject != USER {
            return format!("Which is right: \"{}\" or \"{}\"?", current.text, contested.text);
        }
        let asked = self.asked.as_deref().unwrap_or("What is right: {a} or {b}?");
        asked.replace("{a}", &current.object).replace("{b}", &contested.object)
    }
}

/// The built-in registry.
const DEFAULT: &str = include_str!("predicates.toml");

impl Predicates {
    /// The built-in registry.
    pub fn default_registry() -> Self {
        #[expect(clippy::expect_used, reason = "the registry is part of the program and a test reads it")]
        Self::parse(DEFAULT).expect("the built-in predicates are well formed")
    }

    /// Parses a registry.
    ///
    /// # Errors
    /// `Invalid` with the predicate and the reason.
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
            verbatim: false,
            outlives: false,
            ends_others: false,
            roles: Vec::new(),
            single_roles: Vec::new(),
            words: Vec::new(),
            adjectives: Vec::new(),
            said: "{s} {p} {o}".to_owned(),
            asked: None,
        };
        Ok(Self { known, unknown })
    }

    /// A predicate by name; an unknown one may hold many values.
    pub fn get(&self, name: &str) -> &Predicate {
        self.known.get(name).unwrap_or(&self.unknown)
    }

    /// True if the registry has it.
    pub fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// The predicate of a role: `sibling` for `sister`.
    pub fn of_role(&self, role: &str) -> Option<&str> {
        let found = self.known.iter().find(|(_, predicate)| predicate.roles.iter().any(|one| one == role));
        found.map(|(name, _)| name.as_str())
    }

    /// True if facts of this predicate about the user are part of the core document.
    pub fn stands_in_core(&self, name: &str) -> bool {
        self.known.get(name).is_none_or(|predicate| predicate.core.is_some())
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    /// The sentence of a fact that the user said: "User lives in Porto".
    pub fn say(&self, subject: &str, predicate: &str, object: &str, qualifiers: &BTreeMap<String, String>) -> String {
        self.say_as(crate::extract::USER, subject, predicate, object, qualifiers)
    }

    /// The sentence of a fact that `speaker` said: if Melanie talks about Caroline, "my paintings" are Melanie's.
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
            // "Three siblings" is not a name.
            "{s} has {an}".to_owned()
        } else if is_adjective {
            "{s} is {o}".to_owned()
        } else {
            known.said.clone()
        };
        said = without_absent(&said, qualifiers);
        for (name, value) in qualifiers {
            // "User's savings are 12,000".
            let is_plural = predicate == "measure" && value.ends_with('s') && !value.ends_with("ss");
            said =
                said.replace(&format!("{{{name}}} is"), &format!("{value} {}", if is_plural { "are" } else { "is" }));
            said = said.replace(&format!("{{{name}}}"), value);
        }
        let is_told_by_another = normal(speaker) != normal(subject);
        // Capitalises "user's mum" at the start of a sentence.
        let name_of = |name: &str| match name.strip_prefix(crate::extract::USER) {
            Some(rest) if rest.is_empty() || rest.starts_with("'s ") => format!("User{rest}"),
            _ => name.to_owned(),
        };
        let subject = name_of(subject);
        // A rule keeps the user's own words.
        let told = reads::in_third_person(object, is_told_by_another.then(|| name_of(speaker)).as_deref());
        let object = if said.contains(": {o}") { object } else { &told };
        // Placeholders without a qualifier get a plain word.
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

/// A template with the parts in brackets of which the qualifier is present, without the others.
fn without_absent(template: &str, qualifiers: &BTreeMap<String, String>) -> String {
    let mut whole = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((part, after)) = after.split_once(']') else { break };
        whole.push_str(before);
        let is_optional = ["{s}", "{o}", "{do}", "{an}", "{works as}"].iter().all(|own| !part.contains(own));
        if !is_optional || !part.contains('{') {
            whole.push_str(&format!("[{part}]"));
        } else if qualifiers.keys().any(|name| part.contains(&format!("{{{name}}}"))) {
            whole.push_str(part);
        }
        rest = after;
    }
    whole + rest
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
    fn parts_in_brackets_need_their_qualifier() {
        let predicates = Predicates::default_registry();
        let say = |qualifiers: &[(&str, &str)]| {
            let told = qualifiers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            predicates.say("user", "takes_medication", "metformin", &told)
        };
        assert_eq!(say(&[]), "User takes metformin");
        assert_eq!(say(&[("dosage", "500 mg")]), "User takes metformin (500 mg)");
        assert_eq!(say(&[("frequency", "daily")]), "User takes metformin");
    }

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
        for (of, reads) in [("savings", "User's savings are 12"), ("salary", "User's salary is 12")] {
            let of = BTreeMap::from([("of".to_owned(), of.to_owned())]);
            assert_eq!(registry.say("user", "measure", "12", &of), reads);
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
