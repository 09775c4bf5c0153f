//! Times given by an event: "before I moved to Porto", "when Anna worked at Acme".
//!
//! The words are found without a memory; its facts then give the time. If none fits, the question is read as if it
//! named no time.

use std::collections::BTreeSet;
use std::ops::Range;

use jiff::{SignedDuration, Timestamp};

use crate::extract::USER;
use crate::item::{Fact, FactStatus};
use crate::items::Items;
use crate::recall::index::derived::asked_by;
use crate::recall::query::validity::Validity;
use crate::text::tokens::{self, TextToken};

/// Words that give a time by an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::recall) struct Occasion {
    role: Role,
    /// The event.
    clause: Range<usize>,
    /// The event with the word before it.
    pub(in crate::recall) whole: Range<usize>,
}

/// The time of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recall) struct Resolved {
    pub(in crate::recall) validity: Validity,
    /// The preferred moment within it.
    pub(in crate::recall) near: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Before,
    After,
    Since,
    When,
}

/// The part of a fact's validity a clause refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FactTime {
    Beginning,
    End,
    Whole,
}

/// Terms for the start or end of anything.
const BEGINS: [&str; 16] = [
    "becam", "becom", "began", "begin", "get", "got", "hire", "join", "marri", "met", "move", "reloc", "start",
    "switch", "took", "adopt",
];
const ENDS: [&str; 10] = ["broke", "end", "gave", "leav", "left", "lost", "quit", "resign", "sold", "stop"];
/// Those of them that do not identify the event.
const PLAIN: [&str; 12] =
    ["began", "begin", "end", "get", "got", "leav", "left", "quit", "start", "stop", "took", "gave"];

/// "When did I …" asks for a time rather than naming one.
const AUXILIARIES: [&str; 18] = [
    "am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may", "might", "should", "was",
    "were", "will", "would",
];

/// The first event a question names; `None` if it would be the whole question.
pub(in crate::recall) fn find(text: &str, words: &[TextToken]) -> Option<Occasion> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let role = |at: usize| {
        let auxiliary = AUXILIARIES.contains(&word(at + 1));
        match word(at) {
            "before" => Some(Role::Before),
            "after" => Some(Role::After),
            "since" if !auxiliary => Some(Role::Since),
            "when" | "while" if !auxiliary => Some(Role::When),
            _ => None,
        }
    };
    let (at, role) = (0..words.len()).find_map(|at| Some((at, role(at)?)))?;
    let breaks = |at: &usize| {
        let gap = words.get(at + 1).map_or("", |next| &text[words[*at].end_possessive..next.start]);
        gap.contains([',', ';', '?', '!', '.'])
    };
    let end = (at + 1..words.len()).find(breaks).map_or(words.len(), |last| last + 1);
    let all = at == 0 && end == words.len();
    (end > at + 1 && !all).then_some(Occasion { role, clause: at + 1..end, whole: at..end })
}

impl Occasion {
    /// Resolves the time by the facts about the clause's subject, given as they were created; of equally fitting ones
    /// the first counts. `about` are the names of the person in question.
    pub(in crate::recall) fn resolve(
        &self,
        items: &Items,
        facts: &[&Fact],
        (text, words): (&str, &[TextToken]),
        about: &[String],
    ) -> Option<Resolved> {
        let clause = &words[self.clause.clone()];
        let opens_like_a_name = text[clause.first()?.start..].starts_with(char::is_uppercase);
        let terms: BTreeSet<String> = clause.iter().filter_map(|word| tokens::term_of(&word.lower)).collect();
        let counts = |fact: &&&Fact| {
            matches!(fact.status, FactStatus::Active | FactStatus::Superseded) && !items.is_hidden(fact.id)
        };
        let fitting = facts.iter().filter(counts).filter_map(|fact| {
            let fit = fit(fact, (clause, opens_like_a_name), &terms, about)?;
            Some((fit, fact.began()?, *fact))
        });
        // `max_by_key` returns the last of equal ones.
        let (_, start, fact) = fitting.rev().max_by_key(|(fit, start, _)| (*fit, *start))?;
        self.time(part(clause, &terms), start, fact.valid_to)
    }

    fn time(&self, part: FactTime, start: Timestamp, end: Option<Timestamp>) -> Option<Resolved> {
        let just_before = |time: Timestamp| time.checked_sub(SignedDuration::from_secs(1)).ok();
        let before =
            |time| Some(Resolved { validity: Validity::Within(Timestamp::MIN, time), near: Some(just_before(time)?) });
        let after = |time| Resolved { validity: Validity::Within(time, Timestamp::MAX), near: Some(time) };
        let at = |time| Resolved { validity: Validity::Now(Some(time)), near: None };
        match (self.role, part) {
            (Role::Before, FactTime::End) => before(end?),
            (Role::Before, _) => before(start),
            (Role::After, FactTime::Beginning) => Some(after(start)),
            (Role::After, _) => Some(after(end?)),
            (Role::Since, FactTime::End) => Some(Resolved { near: None, ..after(end?) }),
            (Role::Since, _) => Some(Resolved { near: None, ..after(start) }),
            (Role::When, FactTime::Beginning) => Some(at(start)),
            (Role::When, FactTime::End) => Some(at(just_before(end?)?)),
            (Role::When, FactTime::Whole) => {
                Some(Resolved { validity: Validity::Within(start, end.unwrap_or(Timestamp::MAX)), near: None })
            }
        }
    }
}

/// How well a fact fits a clause; `None` if it does not.
fn fit(
    fact: &Fact,
    (clause, opens_like_a_name): (&[TextToken], bool),
    terms: &BTreeSet<String>,
    about: &[String],
) -> Option<(bool, usize)> {
    let object = tokens::words(&fact.object);
    let object: Vec<&str> = object.iter().map(|word| word.lower.as_str()).collect();
    if object.is_empty() || !tokens::has_phrase(clause, &object) {
        return None;
    }
    let subject = fact.subject.to_lowercase();
    let first = clause.first().map_or("", |word| word.lower.as_str());
    let named: Vec<&str> = subject.split_whitespace().collect();
    let is_theirs = match first {
        "i" | "my" => subject == USER || about.first().is_some_and(|name| name == USER) && about.contains(&subject),
        _ if tokens::has_phrase(clause, &named) => true,
        // "When Pavel lived in Porto" applies to Pavel only.
        _ if opens_like_a_name && first != object[0] => false,
        _ if about.is_empty() => subject == USER,
        _ => about.contains(&subject),
    };
    if !is_theirs {
        return None;
    }
    let of_others = |term: &&String| {
        let is_name = |name: &str| tokens::term_of(name).as_deref() == Some(term.as_str());
        !object.iter().chain(&named).any(|name| is_name(name))
    };
    let said: Vec<&String> = terms.iter().filter(of_others).collect();
    let relation = asked_by(&fact.predicate);
    let says_it = said.iter().any(|term| relation.contains(*term));
    let says_nothing = said.iter().all(|term| PLAIN.contains(&term.as_str()));
    (says_it || says_nothing).then_some((says_it, object.len()))
}

fn part(clause: &[TextToken], terms: &BTreeSet<String>) -> FactTime {
    let says = |all: &[&str]| all.iter().any(|term| terms.contains(*term));
    let away = ["away", "out", "from"].iter().any(|word| clause.iter().any(|other| other.lower == **word));
    if says(&ENDS) || (says(&["move"]) && away) {
        FactTime::End
    } else if says(&BEGINS) {
        FactTime::Beginning
    } else {
        FactTime::Whole
    }
}

#[cfg(test)]
#[path = "event_time_tests.rs"]
mod tests;
