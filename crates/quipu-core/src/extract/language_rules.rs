//! The compiled rules of a language.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::extract::language::{Language, RuleRequirement, RuleScope, RuleText};
use crate::extract::object::Objects;
use crate::extract::persons::People;
use crate::extract::plain::Plain;
use crate::extract::reader::Reader;
use crate::extract::rules::pattern::{Names, Pattern, Patterns, wrong};
use crate::extract::rules::table::RuleTable;
use crate::extract::settle::Corrections;
use crate::extract::split::Splitter;
use crate::extract::standing::StandingRules;
use crate::extract::updates::Updates;
use crate::extract::verb::BeforeVerbs;
use crate::extract::when::{SpokenDate, TimeReader};
use crate::extract::{Extraction, Reading};
use crate::predicate::slug;
use crate::refusal::Refusal;

/// Extracts claims, tasks, goals and problems from a text by rules.
///
/// Deterministic. Objects are spelled as in the text, except for words that a table of the language spells otherwise
/// ("walk" is the exercise "walking").
#[derive(Debug)]
pub struct LanguageRules {
    pub(in crate::extract) plain: Plain,
    pub(in crate::extract) updates: Updates,
    pub(in crate::extract) standing: StandingRules,
    pub(in crate::extract) splitter: Splitter,
    pub(in crate::extract) lead: Pattern,
    pub(in crate::extract) asides: Vec<NonClaimMark>,
    pub(in crate::extract) people: People,
    pub(in crate::extract) before_verbs: BeforeVerbs,
    pub(in crate::extract) when: TimeReader,
    pub(in crate::extract) objects: Objects,
    pub(in crate::extract) corrections: Corrections,
    pub(in crate::extract) elided_third: Pattern,
    pub(in crate::extract) elided_first: Pattern,
    pub(in crate::extract) bare: Pattern,
    pub(in crate::extract) governs: Pattern,
    pub(in crate::extract) any_more: Pattern,
    pub(in crate::extract) another: Pattern,
    pub(in crate::extract) formerly: Pattern,
    pub(in crate::extract) denies: Pattern,
    pub(in crate::extract) own: Pattern,
    pub(in crate::extract) sentence_rules: RuleSet,
    pub(in crate::extract) pair_rules: RuleSet,
    pub(in crate::extract) passing_rules: RuleSet,
    pub(in crate::extract) item_rules: RuleSet,
    pub(in crate::extract) clause_rules: RuleSet,
    pub(in crate::extract) verb_rules: RuleSet,
    pub(in crate::extract) also: Vec<SecondClaim>,
    /// Names of the tables of relations and species.
    pub(in crate::extract) relations: String,
    pub(in crate::extract) species: String,
}

/// A mark of text that is not a claim.
#[derive(Debug)]
pub(in crate::extract) struct NonClaimMark {
    pub(in crate::extract) reason: String,
    pub(in crate::extract) over: RuleScope,
    pub(in crate::extract) pattern: Pattern,
    pub(in crate::extract) unless: Option<Pattern>,
}

impl NonClaimMark {
    pub(in crate::extract) fn is_in(&self, text: &str) -> bool {
        self.pattern.is_match(text) && !self.unless.as_ref().is_some_and(|unless| unless.is_match(text))
    }
}

/// A claim implied by another claim.
#[derive(Debug)]
pub(in crate::extract) struct SecondClaim {
    pub(in crate::extract) of: Vec<String>,
    pub(in crate::extract) pattern: Pattern,
    pub(in crate::extract) predicate: String,
}

/// A rule with the groups of its patterns.
#[derive(Debug)]
pub(in crate::extract) struct Rule {
    pub(in crate::extract) text: RuleText,
    pub(in crate::extract) groups: Vec<String>,
    pub(in crate::extract) unless: Option<Pattern>,
}

/// Rules of the same scope.
pub(in crate::extract) type RuleSet = RuleTable<Rule>;

impl LanguageRules {
    /// Parses the data file of a language. Patterns are compiled on first use.
    ///
    /// # Errors
    /// `Invalid` names the rule or section and the problem. A pattern that cannot be compiled is not an error here and
    /// never matches; see [`LanguageRules::check_all`].
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        Self::of(text, false)
    }

    /// Compiles every pattern of a data file, which takes far longer than [`LanguageRules::parse`].
    ///
    /// # Errors
    /// `Invalid` names the rule or section and the problem.
    pub fn check_all(text: &str) -> Result<(), Refusal> {
        Self::of(text, true).map(|_| ())
    }

    fn of(text: &str, checks: bool) -> Result<Self, Refusal> {
        let language: Language = toml::from_str(text).map_err(|error| wrong("file", &error.to_string()))?;
        let Language { macros, lists, tables, .. } = &language;
        let patterns = Patterns::new(Names { macros, lists, tables }, checks);
        let objects = Objects::new(&language, &patterns)?;
        check_rules(&language, &objects)?;
        let set =
            |reach: RuleScope| rule_set(language.rules.iter().filter(|rule| rule.over == reach), reach, &patterns);
        let numbers = language.tables.get("numbers").cloned().unwrap_or_default();
        let subject = &language.subject;
        Ok(Self {
            plain: Plain::new(&language, &patterns)?,
            updates: Updates::new(&language, &patterns)?,
            standing: StandingRules::new(&language.standing, &patterns)?,
            splitter: Splitter::new(&language.split, &patterns)?,
            lead: patterns.start("lead", &language.lead.pattern)?,
            asides: marks(&language, &patterns)?,
            people: People::new(&language, &patterns)?,
            before_verbs: BeforeVerbs::new(&language.before_verb, &patterns)?,
            corrections: Corrections::new(&language.correction, &patterns)?,
            elided_third: patterns.start("subject.elided_third", &subject.elided_third)?,
            elided_first: patterns.start("subject.elided_first", &subject.elided_first)?,
            bare: patterns.start("subject.bare", &subject.bare)?,
            governs: patterns.one("subject.governs", &subject.governs)?,
            denies: patterns.one("subject.denies", &subject.denies)?,
            own: patterns.one("subject.own", &subject.own)?,
            any_more: patterns.one("subject.any_more", &subject.any_more)?,
            another: patterns.one("subject.another", &subject.another)?,
            formerly: patterns.one("subject.formerly", &subject.formerly)?,
            sentence_rules: set(RuleScope::Sentence)?,
            pair_rules: set(RuleScope::Before)?,
            passing_rules: set(RuleScope::Passing)?,
            item_rules: set(RuleScope::Item)?,
            clause_rules: set(RuleScope::Clause)?,
            verb_rules: set(RuleScope::Verb)?,
            also: besides(&language, &patterns)?,
            relations: language.persons.relations.clone(),
            species: language.persons.species.clone(),
            when: TimeReader::new(&language.times, &language.frequencies, numbers, &patterns)?,
            objects,
        })
    }

    /// Returns true if the last pronoun of these words is "she", "he" or "they".
    pub(in crate::extract) fn speaks_of_another(&self, words: &str) -> bool {
        let last = |pattern: &Pattern| pattern.find_iter(words).last().map(|found| found.start());
        last(&self.another).is_some_and(|other| last(&self.own).is_none_or(|own| own < other))
    }

    /// The dates a text names, resolved against the time of the message.
    pub fn dates(&self, text: &str, said_at: Option<Timestamp>) -> Vec<SpokenDate> {
        self.when.dates(text, said_at)
    }

    /// Extracts everything the rules find in a text, including the skipped sentences.
    pub fn read(&self, reading: &Reading<'_>) -> Extraction {
        let plained = self.plain.of(reading.text, reading.known);
        let plain = Reading { text: &plained.text, ..*reading };
        let mut read = Reader::new(self, &plain, plained.casual).read();
        plained.restore(&mut read);
        read
    }

    /// Example texts of updates and of what must never be forgotten, with the expected results.
    #[cfg(test)]
    pub(in crate::extract) fn more_examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.updates.examples().chain(self.standing.examples())
    }

    fn sets(&self) -> [&RuleSet; 6] {
        let wide = [&self.sentence_rules, &self.pair_rules, &self.passing_rules, &self.item_rules];
        [wide[0], wide[1], wide[2], wide[3], &self.clause_rules, &self.verb_rules]
    }

    /// The predicates the rules can claim.
    pub fn predicates(&self) -> BTreeSet<&str> {
        let sets = self.sets();
        let rules = sets.into_iter().flat_map(|set| &set.rules).map(|rule| &rule.text);
        let named = rules.flat_map(|rule| {
            let others = [Some(rule.negated.as_str()), rule.ended.as_deref(), Some(rule.predicate.as_str())];
            others.into_iter().flatten().chain(rule.by_list.values().map(String::as_str))
        });
        let also = self.also.iter().map(|also| also.predicate.as_str()).chain(self.standing.predicates());
        let none = ["", "none", "denied", "{relation}"];
        named.chain(also).filter(|name| !none.contains(name)).collect()
    }

    /// Example texts of the rules, with the expected results.
    pub fn examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        let sets = self.sets();
        let rules = sets.into_iter().flat_map(|set| &set.rules);
        rules.flat_map(|rule| rule.text.examples.iter().map(|(text, read)| (text.as_str(), read.as_slice())))
    }
}

fn rule_set<'a>(
    texts: impl Iterator<Item = &'a RuleText>,
    reach: RuleScope,
    patterns: &Patterns<'_>,
) -> Result<RuleSet, Refusal> {
    let compile = |text: &RuleText| {
        let spelled = |pattern: &String| match reach {
            RuleScope::Verb => patterns.start(&text.id, pattern),
            _ => patterns.one(&text.id, pattern),
        };
        let compiled: Vec<Pattern> = text.patterns.iter().map(spelled).collect::<Result<_, _>>()?;
        let groups: BTreeSet<String> =
            compiled.iter().flat_map(|pattern| pattern.groups().map(str::to_owned).collect::<Vec<_>>()).collect();
        check_groups(text, &groups)?;
        let unless = patterns.maybe(&text.id, text.unless.as_ref())?;
        Ok((Rule { text: text.clone(), groups: groups.into_iter().collect(), unless }, compiled))
    };
    Ok(RuleTable::new(texts.map(compile).collect::<Result<_, Refusal>>()?))
}

fn check_rules(language: &Language, objects: &Objects) -> Result<(), Refusal> {
    let mut ids = BTreeSet::new();
    for rule in &language.rules {
        let wrong = |what: &str| Err(wrong(&rule.id, what));
        if !ids.insert(&rule.id) {
            return wrong("another rule has this id");
        }
        if rule.patterns.is_empty() {
            return wrong("it has no pattern");
        }
        if !(0.0..=1.0).contains(&rule.confidence) {
            return wrong("confidence is a number from 0 to 1");
        }
        if !objects.has(&rule.object) {
            return wrong(&format!("there is no kind of object called {}", rule.object));
        }
        if rule.task.is_some() != rule.predicate.is_empty() {
            return wrong("it names either a predicate or a task");
        }
        if rule.predicate != "{relation}" && slug(&rule.predicate) != rule.predicate {
            return wrong("a predicate is lower case letters, digits and underscores");
        }
        if rule.needs == Some(RuleRequirement::Date) && rule.task.is_some() {
            return wrong("a task needs no date");
        }
        if let Some(list) = rule.by_list.keys().find(|list| !language.lists.contains_key(*list)) {
            return wrong(&format!("there is no list {list}"));
        }
        if let Some(table) = rule.told_by.values().find(|table| !language.tables.contains_key(*table)) {
            return wrong(&format!("there is no table {table}"));
        }
    }
    Ok(())
}

fn check_groups(rule: &RuleText, groups: &BTreeSet<String>) -> Result<(), Refusal> {
    // An attempt without an object refers to the problem before it.
    let tries = rule.task.is_some() && groups.contains("approach");
    if rule.value.is_none() && !groups.contains("object") && !tries {
        return Err(wrong(&rule.id, "it has neither a group named object nor a value"));
    }
    if rule.predicate == "{relation}" && !groups.contains("relation") {
        return Err(wrong(&rule.id, "it has no group named relation"));
    }
    Ok(())
}

fn marks(language: &Language, patterns: &Patterns<'_>) -> Result<Vec<NonClaimMark>, Refusal> {
    let compile = |aside: &crate::extract::language::Aside| {
        let owner = format!("asides.{}", aside.reason);
        let pattern = patterns.one(&owner, &aside.pattern)?;
        let unless = patterns.maybe(&owner, aside.unless.as_ref())?;
        Ok(NonClaimMark { reason: aside.reason.clone(), over: aside.over, pattern, unless })
    };
    language.asides.iter().map(compile).collect()
}

fn besides(language: &Language, patterns: &Patterns<'_>) -> Result<Vec<SecondClaim>, Refusal> {
    let compile = |also: &crate::extract::language::Also| {
        let pattern = patterns.one(&format!("also.{}", also.predicate), &also.pattern)?;
        Ok(SecondClaim { of: also.of.clone(), pattern, predicate: also.predicate.clone() })
    };
    language.also.iter().map(compile).collect()
}
