//! Standing statements in the user's words: restrictions and wishes for how to be answered. Read in every sentence,
//! including questions: "can you remember that I can't have nuts?".

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

/// Permitted number of words of a standing statement.
const WORDS: std::ops::RangeInclusive<usize> = 2..=30;
/// Maximum number of words of a sentence that only names what the next one is about.
const LONE_WORDS_MAX: usize = 2;
/// Confidence of a standing statement.
const SURE: f64 = 0.85;
/// Reasons for which a sentence is not the user's own.
const NOT_MEANT: [&str; 1] = ["fiction"];
/// Predicates that state for one substance what a restriction states in the user's words.
const SUBSTANCES: [&str; 4] = ["allergic_to", "avoids_food", "diet", "has_condition"];

/// A kind of standing statement.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StandingText {
    pub(super) id: String,
    /// `restriction` or `constraint`.
    pub(super) predicate: String,
    /// Matched against each sentence. The group `object` is stored.
    pub(super) patterns: Vec<String>,
    /// Does not apply to a sentence with these words.
    #[serde(default)]
    pub(super) unless: Option<String>,
    /// Does not apply if the object contains these words.
    #[serde(default)]
    pub(super) reject: Option<String>,
    /// The object ends here.
    #[serde(default)]
    pub(super) cut: Option<String>,
    /// Example texts with the expected results.
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

/// Reads standing statements.
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

    /// The predicates they claim.
    pub(super) fn predicates(&self) -> impl Iterator<Item = &str> {
        self.0.rules.iter().map(|rule| rule.text.predicate.as_str())
    }

    /// Predicates and byte ranges of the standing statements of a sentence. The longer of two overlapping ones wins.
    fn find(&self, sentence: &str) -> Vec<(&str, Range<usize>)> {
        let mut found: Vec<(&str, Range<usize>)> = Vec::new();
        let is_in = |pattern: &Option<Pattern>, text| pattern.as_ref().is_some_and(|words| words.is_match(text));
        for (rule, groups) in self.0.every(sentence) {
            let Some(object) = groups.name("object") else { continue };
            let cut = rule.cut.as_ref().and_then(|cut| cut.find(object.as_str()));
            let end = cut.map_or(object.end(), |cut| object.start() + cut.start());
            let range = object.start()..to_end_of_number(sentence, end);
            let words = &sentence[range.clone()];
            // "I live in Porto and I'm allergic to nuts" is no limit before its "and".
            let says_it =
                cut.is_none() || self.0.every(words).into_iter().any(|(other, _)| other.text.id == rule.text.id);
            let is_one = says_it && WORDS.contains(&words.split_whitespace().count());
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

    /// Example texts of the rules, with the expected results.
    #[cfg(test)]
    pub(super) fn examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        let all = self.0.rules.iter().flat_map(|rule| rule.text.examples.iter());
        all.map(|(text, read)| (text.as_str(), read.as_slice()))
    }
}

/// Length of the sentence at the end of a text if it only names something: "Penicillin. ". 0 for a longer one.
fn lone_words(before: &str) -> usize {
    let told = before.trim_end_matches([' ', '.', '!']);
    let from = told.rfind(['.', '!', '?', '\n', ';', ':']).map_or(0, |at| at + 1);
    let from = before.len() - before[from..].trim_start().len();
    let words = told.get(from..).map_or(0, |told| told.split_whitespace().count());
    if (1..=LONE_WORDS_MAX).contains(&words) { before.len() - from } else { 0 }
}

impl Reader<'_> {
    /// Reads the standing statements of a sentence. `aside` is the reason why it is not a claim, if any.
    pub(super) fn standing(&mut self, text: &str, sentence: &Range<usize>, aside: Option<&str>) {
        if self.reading.speaker != USER || aside.is_some_and(|reason| NOT_MEANT.contains(&reason)) {
            return;
        }
        let (rules, from) = (self.rules, sentence.start - lone_words(&text[..sentence.start]));
        for (predicate, range) in rules.standing.find(&text[from..sentence.end]) {
            let span = from + range.start..from + range.end;
            // A quoted phrase is masked for other rules; here it is part of the wish.
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

/// Drops duplicates: a restriction whose substances are all claims of their own, and a wish that another rule has read.
pub(super) fn settle(facts: &mut Vec<FactCandidate>) {
    let lower: Vec<String> = facts.iter().map(|fact| fact.object.to_lowercase()).collect();
    let is_said = |(at, fact): (usize, &FactCandidate)| {
        let others = facts.iter().zip(&lower).enumerate();
        let others = others.filter(|(other, (says, _))| *other != at && says.subject == fact.subject);
        let words = &lower[at];
        match fact.predicate.as_str() {
            "restriction" => {
                // "No ibuprofen, it sets my asthma off" says more than the condition.
                let is_reason = |says: &FactCandidate| says.predicate == "has_condition" && words.starts_with("no ");
                let is_named = |says: &FactCandidate, object: &str| {
                    SUBSTANCES.contains(&&*says.predicate) && words.contains(object) && !is_reason(says)
                };
                let named = others.filter(|(_, (says, object))| is_named(says, object)).count();
                let listed = [" and ", " or ", " nor "].iter().map(|joins| words.matches(joins).count()).sum::<usize>();
                named > listed
            }
            // Claims of other rules come later and have more precise spans.
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
