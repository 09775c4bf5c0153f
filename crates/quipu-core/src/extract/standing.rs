//! What must never be forgotten, in the words of the user: what they must not have, and how they want to be answered. It is
//! read in every sentence, also in one that asks something: "can you remember that I can't have nuts?".

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::object::{is_edge, to_end_of_number};
use super::reader::Reader;
use super::rules::pattern::{Pattern, Patterns};
use super::rules::table::RuleTable;
use super::split::MASK;
use super::{FactCandidate, Stance, USER};
use crate::refusal::Refusal;

/// Words of a standing sentence.
const WORDS: std::ops::RangeInclusive<usize> = 2..=30;
/// How sure the reader is of one.
const SURE: f64 = 0.85;
/// Sentences that are nobody's own.
const NOT_MEANT: [&str; 1] = ["fiction"];
/// Relations that say of one substance what a restriction says in the user's words.
const SUBSTANCES: [&str; 4] = ["allergic_to", "avoids_food", "diet", "has_condition"];

/// A kind of standing sentence.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StandingText {
    pub(super) id: String,
    /// `restriction` or `constraint`.
    pub(super) predicate: String,
    /// Tried on each sentence. The group `object` is what is kept.
    pub(super) patterns: Vec<String>,
    /// It says nothing in a sentence with these words.
    #[serde(default)]
    pub(super) unless: Option<String>,
    /// Nor with these in what would be kept.
    #[serde(default)]
    pub(super) reject: Option<String>,
    /// What is kept ends here.
    #[serde(default)]
    pub(super) cut: Option<String>,
    /// Text to what is read in it.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for people and tests"))]
    pub(super) examples: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
struct Rule {
    text: StandingText,
    unless: Option<Pattern>,
    reject: Option<Pattern>,
    cut: Option<Pattern>,
}

/// Reads standing sentences.
#[derive(Debug)]
pub(super) struct StandingRules(RuleTable<Rule>);

impl StandingRules {
    pub(super) fn new(texts: &[StandingText], patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let compile = |text: &StandingText| {
            let words = |words: &Option<String>| patterns.maybe(&text.id, words.as_ref());
            let (unless, reject, cut) = (words(&text.unless)?, words(&text.reject)?, words(&text.cut)?);
            let compiled = text.patterns.iter().map(|pattern| patterns.one(&text.id, pattern));
            Ok((Rule { text: text.clone(), unless, reject, cut }, compiled.collect::<Result<_, _>>()?))
        };
        Ok(Self(RuleTable::new(texts.iter().map(compile).collect::<Result<_, Refusal>>()?)))
    }

    /// The relations they claim.
    pub(super) fn predicates(&self) -> impl Iterator<Item = &str> {
        self.0.rules.iter().map(|rule| rule.text.predicate.as_str())
    }

    /// What a sentence says of this kind: the relation and where the words stand in it. Of two that overlap, the longer.
    fn find(&self, sentence: &str) -> Vec<(&str, Range<usize>)> {
        let mut found: Vec<(&str, Range<usize>)> = Vec::new();
        let is_in = |pattern: &Option<Pattern>, text| pattern.as_ref().is_some_and(|words| words.is_match(text));
        for (rule, groups) in self.0.every(sentence) {
            let Some(object) = groups.name("object") else { continue };
            let cut = rule.cut.as_ref().and_then(|cut| cut.find(object.as_str()));
            let end = cut.map_or(object.end(), |cut| object.start() + cut.start());
            let range = object.start()..to_end_of_number(sentence, end);
            let words = &sentence[range.clone()];
            let is_one = WORDS.contains(&words.split_whitespace().count());
            if is_one && !is_in(&rule.unless, sentence) && !is_in(&rule.reject, words) {
                found.push((&rule.text.predicate, range));
            }
        }
        found.sort_by_key(|(_, range)| (std::cmp::Reverse(range.len()), range.start));
        let mut kept: Vec<(&str, Range<usize>)> = Vec::new();
        for (predicate, range) in found {
            if kept.iter().all(|(_, other)| range.end <= other.start || other.end <= range.start) {
                kept.push((predicate, range));
            }
        }
        kept.sort_by_key(|(_, range)| range.start);
        kept
    }

    /// The texts the rules give as examples and what is to be read in them.
    #[cfg(test)]
    pub(super) fn examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        let all = self.0.rules.iter().flat_map(|rule| rule.text.examples.iter());
        all.map(|(text, read)| (text.as_str(), read.as_slice()))
    }
}

impl Reader<'_> {
    /// What a sentence says that must never be forgotten. `aside` is why it is no claim, if it is none.
    pub(super) fn standing(&mut self, text: &str, sentence: &Range<usize>, aside: Option<&str>) {
        if self.reading.speaker != USER || aside.is_some_and(|reason| NOT_MEANT.contains(&reason)) {
            return;
        }
        let rules = self.rules;
        for (predicate, range) in rules.standing.find(&text[sentence.clone()]) {
            let span = sentence.start + range.start..sentence.start + range.end;
            // A phrase in quotation marks is hidden from other rules; here it is part of what is wanted.
            let words = &self.reading.text[span.clone()];
            let object = words.trim_matches(|c: char| is_edge(c) || c == MASK).to_owned();
            self.out.facts.push(FactCandidate {
                subject: USER.to_owned(),
                predicate: predicate.to_owned(),
                object,
                span,
                stance: Stance::Holds,
                valid_from: None,
                valid_to: None,
                confidence: SURE,
                qualifiers: BTreeMap::new(),
            });
        }
    }
}

/// Drops what is said twice: a restriction in the user's words where each substance it lists is a claim of its own, and a wish
/// that another rule has read.
pub(super) fn settle(facts: &mut Vec<FactCandidate>) {
    let lower: Vec<String> = facts.iter().map(|fact| fact.object.to_lowercase()).collect();
    let is_said = |(at, fact): (usize, &FactCandidate)| {
        let others = facts.iter().zip(&lower).enumerate();
        let others = others.filter(|(other, (says, _))| *other != at && says.subject == fact.subject);
        let words = &lower[at];
        match fact.predicate.as_str() {
            "restriction" => {
                let is_named = |says: &FactCandidate, object: &str| {
                    SUBSTANCES.contains(&&*says.predicate) && words.contains(object)
                };
                let named = others.filter(|(_, (says, object))| is_named(says, object)).count();
                let listed = [" and ", " or ", " nor "].iter().map(|joins| words.matches(joins).count()).sum::<usize>();
                named > listed
            }
            // What other rules read comes after what stands in the same sentence, and is cut more closely.
            "constraint" => others.skip_while(|(other, _)| *other < at).any(|(_, (says, object))| {
                let overlaps = says.span.start < fact.span.end && fact.span.start < says.span.end;
                says.predicate == fact.predicate && overlaps && (object.contains(words) || words.contains(object))
            }),
            _ => false,
        }
    };
    let mut said = facts.iter().enumerate().map(is_said).collect::<Vec<_>>().into_iter();
    facts.retain(|_| said.next() != Some(true));
}
