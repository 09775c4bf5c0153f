//! Corrections: a right value that replaces a wrong one.

use std::ops::Range;

use super::language::Correction;
use super::object::Objects;
use super::rules::pattern::{Pattern, Patterns};
use super::{FactCandidate, Stance};
use crate::refusal::Refusal;

/// Detects corrections.
#[derive(Debug)]
pub(super) struct Corrections {
    strong: Pattern,
    weak: Pattern,
    change: Pattern,
    meant: Vec<Pattern>,
    instead: Vec<Pattern>,
    /// A clause that only states the start of the preceding claim.
    pub(super) since: Pattern,
    /// A clause that only states the due date of the preceding task.
    pub(super) due: Pattern,
}

impl Corrections {
    pub(super) fn new(words: &Correction, patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let meant = words.meant.iter().map(|pattern| patterns.start("correction.meant", pattern));
        let instead = words.instead.iter().map(|pattern| patterns.start("correction.instead", pattern));
        Ok(Self {
            strong: patterns.start("correction.strong", &words.strong)?,
            weak: patterns.start("correction.weak", &words.weak)?,
            change: patterns.one("correction.change", &words.change)?,
            meant: meant.collect::<Result<_, _>>()?,
            instead: instead.collect::<Result<_, _>>()?,
            since: patterns.start("correction.since", &words.since)?,
            due: patterns.start("correction.due", &words.due)?,
        })
    }

    /// Turns plain claims into corrections if their clause says so. `rest` is the text after the verb.
    pub(super) fn settle(
        &self,
        facts: &mut [FactCandidate],
        sentence: &str,
        rest: &str,
        single: bool,
        objects: &Objects,
    ) {
        let strong = self.strong.is_match(sentence);
        let hints = self.weak.is_match(sentence);
        let weak = single && hints;
        let not = objects.contrast(rest).filter(|_| strong || single || hints);
        if !strong && !weak && not.is_none() {
            return;
        }
        let changed = !strong && (!hints || not.is_none()) && self.change.is_match(sentence);
        for fact in facts.iter_mut().filter(|fact| matches!(fact.stance, Stance::Holds | Stance::Changed)) {
            fact.stance = if changed { Stance::Changed } else { Stance::Corrects { not: not.clone() } };
        }
    }

    /// Corrects the preceding claim: "I meant Porto" after "I live in Lyon".
    pub(super) fn meant(
        &self,
        clause: &str,
        span: &Range<usize>,
        last: &FactCandidate,
        objects: &Objects,
    ) -> Option<FactCandidate> {
        if !matches!(last.stance, Stance::Holds | Stance::Changed) {
            return None;
        }
        let said = self.meant.iter().find_map(|meant| meant.captures(clause));
        let groups = said.or_else(|| {
            let groups = self.instead.iter().find_map(|instead| instead.captures(clause))?;
            looks_like(groups.name("object")?.as_str(), &last.object).then_some(groups)
        })?;
        // "I meant, not the 14th" states only the wrong value.
        let right = match groups.name("object") {
            Some(object) => objects.read("thing", clause, object.range(), &[], false).into_iter().next()?.text,
            None => last.object.clone(),
        };
        let not = groups.name("not").map(|not| not.as_str().trim_matches(super::object::is_edge).to_owned());
        Some(FactCandidate {
            object: right,
            span: span.clone(),
            stance: Stance::Corrects { not: not.or_else(|| Some(last.object.clone())) },
            ..last.clone()
        })
    }
}

/// Returns true if both values are names or both are numbers.
fn looks_like(one: &str, other: &str) -> bool {
    let starts = |with: fn(char) -> bool| [one, other].iter().all(|value| value.chars().next().is_some_and(with));
    starts(char::is_uppercase) || starts(char::is_numeric)
}
