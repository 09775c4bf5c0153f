//! Selects derived items by validity: now, at a past time, or ever.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::calendar::Interval;
use crate::id::{ItemId, ItemKind};
use crate::item::{Fact, FactStatus, TenetStatus};
use crate::items::Items;
use crate::text::tokens::{TextToken, has_phrase};

/// Score of a fact that held for a part of the requested time.
const OF_A_PART: f32 = 0.8;

/// The time for which statements are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// What holds now; with a time, what held at that time, as known today.
    Now(Option<Timestamp>),
    /// What held at some time in an interval, excluding its end.
    Within(Timestamp, Timestamp),
    /// Everything that ever held or was said to hold, with its history.
    Ever,
}

impl Default for Validity {
    fn default() -> Self {
        Self::Now(None)
    }
}

/// Phrases that ask for the past at any time.
const HISTORY: [&[&str]; 5] =
    [&["in", "the", "past"], &["history"], &["over", "the", "years"], &["ever"], &["back", "then"]];

impl Validity {
    /// What the words of a question ask for: a past interval, all times, or now.
    pub(super) fn asked(words: &[TextToken], intervals: &[Interval], today: Option<Date>) -> Self {
        let over = |interval: &&Interval| today.is_some_and(|today| interval.is_before(today));
        if let Some(interval) = intervals.iter().find(over) {
            let start =
                |date: Option<Date>| date.and_then(|date| date.to_zoned(TimeZone::UTC).ok()).map(|at| at.timestamp());
            let (from, until) = (start(interval.from), start(interval.until));
            return Self::Within(from.unwrap_or(Timestamp::MIN), until.unwrap_or(Timestamp::MAX));
        }
        if HISTORY.iter().any(|phrase| has_phrase(words, phrase)) { Self::Ever } else { Self::Now(None) }
    }

    /// The middle of a bounded interval: "two weeks ago" covers a week, but most likely its middle.
    pub(super) fn middle(self) -> Option<Timestamp> {
        match self {
            Self::Within(from, until) if from > Timestamp::MIN && until < Timestamp::MAX => {
                from.checked_add(until.duration_since(from) / 2).ok()
            }
            _ => None,
        }
    }

    /// Returns true if a fact may have held then, whatever its status: a contested fact is not older than its first
    /// statement.
    fn meets(&self, fact: &Fact) -> bool {
        let (start, end) = (fact.began(), fact.valid_to);
        match self {
            Self::Now(None) | Self::Ever => true,
            Self::Now(Some(time)) => start.is_none_or(|start| start <= *time) && end.is_none_or(|end| *time < end),
            Self::Within(from, until) => start.is_none_or(|start| start < *until) && end.is_none_or(|end| end > *from),
        }
    }

    /// How much of the requested time a fact is known to have held: 1 for all of it, less for a part, 0 if no time is
    /// requested. A fact without a known start holds from its first statement.
    pub(in crate::recall) fn share(&self, fact: &Fact) -> f32 {
        let Some(start) = fact.began() else { return 0.0 };
        match self {
            Self::Now(None) | Self::Ever => 0.0,
            _ if !self.meets(fact) => 0.0,
            Self::Now(Some(_)) => 1.0,
            Self::Within(from, until) if start <= *from && fact.valid_to.is_none_or(|end| *until <= end) => 1.0,
            Self::Within(..) => OF_A_PART,
        }
    }

    /// Returns true if an item may be shown. Excludes retracted, corrected and unconfirmed items; includes contested
    /// ones, so that both sides are shown.
    pub fn admits(&self, items: &Items, id: ItemId) -> bool {
        if items.is_hidden(id) {
            return false;
        }
        match id.kind {
            ItemKind::Fact => items.fact(id).is_some_and(|fact| match (fact.status, self) {
                (FactStatus::Active | FactStatus::Contested, _) => self.meets(fact),
                (FactStatus::Superseded, Self::Now(None)) => false,
                (FactStatus::Superseded, _) => self.meets(fact),
                _ => false,
            }),
            // A tenet counts once the user has confirmed it.
            ItemKind::Tenet => {
                items.tenet(id).is_some_and(|tenet| *self == Self::Ever || tenet.status == TenetStatus::Confirmed)
            }
            ItemKind::Episode | ItemKind::Task | ItemKind::Note => items.has(id),
            ItemKind::Review | ItemKind::Truth => false,
            ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::sample::{day, fact};

    #[test]
    fn a_statement_counts_for_the_share_of_the_asked_time_it_held() {
        let now = |date| Validity::Now(day(date));
        let within = |from: &str, until: &str| {
            let end = |date: &str, open| day(date).unwrap_or(open);
            Validity::Within(end(from, Timestamp::MIN), end(until, Timestamp::MAX))
        };
        for (asked, meets, share) in [
            (now("2021-06-01"), true, 1.0),
            (now("2020-12-31"), false, 0.0),
            (now("2022-01-01"), false, 0.0),
            (within("2021-05-01", "2021-06-01"), true, 1.0),
            (within("2020-12-01", "2021-02-01"), true, OF_A_PART),
            (within("2022-01-01", "2022-02-01"), false, 0.0),
            (within("…", "2021-01-01"), false, 0.0),
            (within("2021-06-01", "…"), true, OF_A_PART),
            (Validity::Now(None), true, 0.0),
            (Validity::Ever, true, 0.0),
        ] {
            // A contested fact is also matched by its own time.
            let held = fact(1, ("user", "lives_in", "Porto"), ("2021-01-01", "2022-01-01"));
            assert_eq!((asked.meets(&held), asked.share(&held)), (meets, share), "{asked:?}");
        }
        let untold = Fact { valid_from: None, ..fact(1, ("user", "lives_in", "Porto"), ("2021-01-01", "…")) };
        let unknown = Fact { first_seen: None, ..untold.clone() };
        assert_eq!([untold, unknown].map(|fact| now("2021-06-01").share(&fact)), [1.0, 0.0]);
    }
}
