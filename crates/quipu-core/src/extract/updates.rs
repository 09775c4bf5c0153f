//! Updates of known items, expressed by what happens to them rather than by a relation: "the flight got cancelled", "no
//! longer at the gym", "it's the 19th now". The memory resolves which item is meant.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::claim::Clause;
use super::language::Language;
use super::object::is_edge;
use super::rules::pattern::{Pattern, Patterns};
use super::rules::table::RuleTable;
use super::{UpdateCandidate, UpdateNews};
use crate::calendar::units::{day_of_week, weekday};
use crate::refusal::Refusal;
use crate::text::tokens;

/// Maximum number of words that refer to a known item.
const WHAT_WORDS_MAX: usize = 5;
/// Maximum number of words that refer to a task that is done.
const DONE_WORDS_MAX: usize = 10;
/// Confidence of an update; whether it concerns a known item is checked later.
const SURE: f64 = 0.9;

/// A rule for updates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateText {
    pub(super) id: String,
    pub(super) news: UpdateKind,
    /// Matched against each clause. The groups `what`, `not`, `is` and `did`.
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
    Begins,
    Kept,
    Changed,
    Corrected,
    Reading,
    Done,
}

/// Reads updates of known items.
#[derive(Debug)]
pub(super) struct Updates {
    rules: RuleTable<(UpdateText, Option<Pattern>)>,
    /// What a verb that tells of something done says: "bought" is "buy get order".
    deeds: BTreeMap<String, String>,
}

/// The next day of the only weekday that a clause names: "no wait, it's Wednesday" does not tell the day of a habit.
fn weekday_alone(clause: &Clause<'_>) -> Option<Timestamp> {
    let said_on = clause.said_at?.to_zoned(TimeZone::UTC).date();
    let words = tokens::words(clause.text);
    let mut named = words.iter().filter_map(|word| weekday(&word.lower));
    let day = named.next().filter(|_| named.next().is_none())?;
    Some(day_of_week(said_on, day, 1)?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

impl Updates {
    pub(super) fn new(language: &Language, patterns: &Patterns<'_>) -> Result<Self, Refusal> {
        let compile = |text: &UpdateText| {
            let unless = patterns.maybe(&text.id, text.unless.as_ref())?;
            let compiled = text.patterns.iter().map(|pattern| patterns.one(&text.id, pattern));
            Ok(((text.clone(), unless), compiled.collect::<Result<_, _>>()?))
        };
        let rules = language.updates.iter().map(compile).collect::<Result<_, Refusal>>()?;
        Ok(Self { rules: RuleTable::new(rules), deeds: language.tables.get("deeds").cloned().unwrap_or_default() })
    }

    /// The updates a clause states: by the first rule that matches, and that a task is done, which another may also mean
    /// ("the order is cancelled"). `next` is the day that follows the clause, within its sentence or not.
    pub(super) fn read(&self, clause: &Clause<'_>, next: impl Fn(bool) -> Option<Timestamp>) -> Vec<UpdateCandidate> {
        let mut found: Vec<UpdateCandidate> = Vec::new();
        for ((rule, unless), groups) in self.rules.all(clause.text) {
            let is_done = |update: &UpdateCandidate| matches!(update.news, UpdateNews::Done { .. });
            if found.iter().any(|update| is_done(update) == (rule.news == UpdateKind::Done)) {
                continue;
            }
            if unless.as_ref().is_some_and(|unless| unless.is_match(clause.text)) {
                continue;
            }
            let group = |name: &str| {
                let found = groups.name(name).map(|found| found.as_str().trim_matches(is_edge));
                found.unwrap_or_default().to_owned()
            };
            let what = Some(group("what")).filter(|what| !what.is_empty()).unwrap_or_else(|| group("thing"));
            let words_max = if rule.news == UpdateKind::Done { DONE_WORDS_MAX } else { WHAT_WORDS_MAX };
            if what.split_whitespace().count() > words_max {
                continue;
            }
            let (not, is) = (group("not"), group("is"));
            let news = match rule.news {
                UpdateKind::Over => UpdateNews::Over,
                UpdateKind::Allowed => UpdateNews::Allowed,
                UpdateKind::Moved => UpdateNews::Moved,
                UpdateKind::Begins => UpdateNews::Begins,
                UpdateKind::Kept if what.is_empty() => continue,
                UpdateKind::Kept => UpdateNews::Kept,
                UpdateKind::Done if what.is_empty() => continue,
                UpdateKind::Done => UpdateNews::Done { did: self.meanings(&group("did")) },
                UpdateKind::Reading if is.is_empty() => continue,
                UpdateKind::Reading => UpdateNews::Reading { value: is },
                UpdateKind::Changed if not.is_empty() || is.is_empty() => continue,
                UpdateKind::Corrected if is.is_empty() => continue,
                UpdateKind::Changed => UpdateNews::Instead { not, is, corrects: false },
                UpdateKind::Corrected => UpdateNews::Instead { not, is, corrects: true },
            };
            let is_moved = matches!(news, UpdateNews::Moved | UpdateNews::Begins);
            // "The gym is closed, back on the 5th": that day is not its end.
            let is_end = |day: &Timestamp| is_moved || clause.is_intended || Some(*day) <= clause.said_at;
            let day = clause
                .named_day(is_moved)
                .filter(is_end)
                .or_else(|| if is_moved { next(what.is_empty()).or_else(|| weekday_alone(clause)) } else { None });
            let is_change = matches!(rule.news, UpdateKind::Over | UpdateKind::Changed);
            if day.is_none() && (is_moved || (is_change && clause.is_put_off)) {
                continue;
            }
            found.push(UpdateCandidate { what, news, span: clause.span.clone(), day, confidence: SURE });
        }
        found
    }

    /// The words for what a verb says was done, itself among them; none for verbs that say no more than that ("sorted").
    fn meanings(&self, did: &str) -> Vec<String> {
        let did = did.to_lowercase();
        let told = self.deeds.get(&did).cloned().unwrap_or_else(|| did.clone());
        told.split_whitespace().map(str::to_owned).collect()
    }

    /// Example texts of the rules, with the expected results.
    #[cfg(test)]
    pub(super) fn examples(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.rules
            .rules
            .iter()
            .flat_map(|(rule, _)| rule.examples.iter().map(|(text, read)| (text.as_str(), read.as_slice())))
    }
}
