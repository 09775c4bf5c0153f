//! Updates of known items, expressed by what happens to them rather than by a relation: "the flight got cancelled", "no
//! longer at the gym", "it's the 19th now". The memory resolves which item is meant.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::claim::Clause;
use super::object::is_edge;
use super::rules::pattern::{Pattern, Patterns};
use super::rules::table::RuleTable;
use super::{UpdateCandidate, UpdateNews};
use crate::refusal::Refusal;

/// Maximum number of words that refer to a known item.
const WHAT_WORDS_MAX: usize = 5;
/// Confidence of an update; whether it concerns a known item is checked later.
const SURE: f64 = 0.9;

/// A rule for updates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateText {
    pub(super) id: String,
    pub(super) news: UpdateKind,
    /// Matched against each clause. The groups `what`, `not` and `is`.
    pub(super) patterns: Vec<String>,
    /// Does not apply to a clause with these words.
    #[serde(default)]
    pub(super) unless: Option<String>,
    /// Example texts with the expected results.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for people and tests"))]
    pub(super) examples: BTreeMap<String, Vec<String>>,
}

/// [`UpdateNews`] without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UpdateKind {
    Over,
    Allowed,
    Moved,
    Changed,
    Corrected,
    Reading,
}

/// Reads updates of known items.
#[derive(Debug)]
pub(super) struct Updates(RuleTable<(UpdateText, Option<Pattern>)>);

impl Updates {
    pub(super) fn new(texts: &[UpdateText], patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let compile = |text: &UpdateText| {
            let unless = patterns.maybe(&text.id, text.unless.as_ref())?;
            let compiled = text.patterns.iter().map(|pattern| patterns.one(&text.id, pattern));
            Ok(((text.clone(), unless), compiled.collect::<Result<_, _>>()?))
        };
        Ok(Self(RuleTable::new(texts.iter().map(compile).collect::<Result<_, Refusal>>()?)))
    }

    /// The update a clause states, by the first rule that matches; `next` is the day that follows the clause, within its
    /// sentence or not.
    pub(super) fn read(
        &self,
        clause: &Clause<'_>,
        next: impl Fn(bool) -> Option<Timestamp>,
    ) -> Option<UpdateCandidate> {
        for ((rule, unless), groups) in self.0.all(clause.text) {
            if unless.as_ref().is_some_and(|unless| unless.is_match(clause.text)) {
                continue;
            }
            let group = |name: &str| {
                let found = groups.name(name).map(|found| found.as_str().trim_matches(is_edge));
                found.unwrap_or_default().to_owned()
            };
            let what = Some(group("what")).filter(|what| !what.is_empty()).unwrap_or_else(|| group("thing"));
            if what.split_whitespace().count() > WHAT_WORDS_MAX {
                continue;
            }
            let (not, is) = (group("not"), group("is"));
            let news = match rule.news {
                UpdateKind::Over => UpdateNews::Over,
                UpdateKind::Allowed => UpdateNews::Allowed,
                UpdateKind::Moved => UpdateNews::Moved,
                UpdateKind::Reading if is.is_empty() => continue,
                UpdateKind::Reading => UpdateNews::Reading { value: is },
                UpdateKind::Changed | UpdateKind::Corrected if not.is_empty() || is.is_empty() => continue,
                UpdateKind::Changed => UpdateNews::Instead { not, is, corrects: false },
                UpdateKind::Corrected => UpdateNews::Instead { not, is, corrects: true },
            };
            let is_moved = news == UpdateNews::Moved;
            let day = clause.named_day(is_moved).or_else(|| if is_moved { next(what.is_empty()) } else { None });
            if is_moved && day.is_none() {
                continue;
            }
            return Some(UpdateCandidate { what, news, span: clause.span.clone(), day, confidence: SURE });
        }
        None
    }

    /// Example texts of the rules, with the expected results.
    #[cfg(test)]
    pub(super) fn examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0
            .rules
            .iter()
            .flat_map(|(rule, _)| rule.examples.iter().map(|(text, read)| (text.as_str(), read.as_slice())))
    }
}
