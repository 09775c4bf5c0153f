//! Facts: atomic claims with their validity and evidence.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Evidence, Link};
use crate::event::{SourceKind, Trust};
use crate::id::ItemId;

/// The qualifier for the precision of a fact's time where the time itself does not show it, and its value.
pub(crate) const PRECISION: &str = "precision";
pub(crate) const WEEK: &str = "week";
const WEST_MAX: SignedDuration = SignedDuration::from_hours(12);
const WEEK_LENGTH: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Type of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FactType {
    /// Something that happened.
    Event,
    /// A lasting property or habit.
    Trait,
    /// Who someone is.
    Identity,
    /// An obligation or a plan.
    Commitment,
    /// What someone likes or wants.
    Preference,
    /// A rule or a limit.
    Constraint,
    /// Where someone lives or stays.
    Location,
}

/// How long a fact is expected to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeSpan {
    /// Days at most.
    ShortTerm,
    /// Weeks or months.
    MediumTerm,
    /// Holds now.
    Current,
    /// Years.
    LongTerm,
    /// Not yet.
    Future,
}

/// Status of a fact. *Superseded* was true once; *corrected* never was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FactStatus {
    /// It holds.
    Active,
    /// It held until `valid_to`.
    Superseded,
    /// It was never true.
    Corrected,
    /// Another source contradicts it, and the conflict is not settled.
    Contested,
    /// Not sure enough to be used.
    Uncertain,
    /// The user retracted it.
    Retracted,
}

/// One claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Its id.
    pub id: ItemId,
    /// The subject: `user` or a name.
    pub subject: String,
    /// The predicate.
    pub predicate: String,
    /// The value.
    pub object: String,
    /// The claim as a sentence.
    pub text: String,
    /// Its type.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// How long it is expected to hold.
    pub time_span: TimeSpan,
    /// Subject, predicate and key in one: of the facts in a slot that holds one value, at most one is active.
    pub slot: String,
    /// True if the slot holds one value at a time.
    #[serde(default, skip_serializing_if = "is_false")]
    pub single: bool,
    /// Start of validity; unknown stays unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When it was first said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<Timestamp>,
    /// When it was last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
    /// How often it was said.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub seen_count: u32,
    /// The evidence. Empty only if it was entered by hand: then the event that recorded it is the evidence.
    pub evidence: Vec<Evidence>,
    /// Kind of the source.
    pub source: SourceKind,
    /// The least trust of its sources.
    pub trust: Trust,
    /// Confidence, 0 to 1, independent of any query.
    pub confidence_base: f64,
    /// Score set by the user, 0 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_fact_score: Option<u8>,
    /// Intrinsic importance, 0 to 1.
    pub intrinsic_importance: f64,
    /// The broad subject area: work, health, …
    pub domain: String,
    /// The narrow subject area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Free tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Qualifiers: `frequency`, `since`, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub qualifiers: BTreeMap<String, String>,
    /// Links to other items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Its path in the core document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_path: Option<String>,
    /// Its status.
    pub status: FactStatus,
    /// The fact that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<ItemId>,
}

impl Fact {
    /// True if it is active.
    pub fn is_active(&self) -> bool {
        self.status == FactStatus::Active
    }

    /// True if it is a value that takes the place of another on a day after that was said.
    pub(crate) fn begins_after(&self, other: &Self) -> bool {
        !self.single && self.latest_start() > other.began().max(other.last_seen)
    }

    /// True for a state that began, or begins, after it was said, and that does not hold the one value of its slot.
    pub(crate) fn was_ahead(&self) -> bool {
        let is_state = !matches!(self.fact_type, FactType::Event | FactType::Commitment);
        is_state && !self.single && self.latest_start() > self.first_seen
    }

    /// The latest moment at which the day of its start may begin: days have no zone, and one west of Greenwich begins
    /// up to twelve hours after it does in UTC.
    fn latest_start(&self) -> Option<Timestamp> {
        self.valid_from.map(|from| from.checked_add(WEST_MAX).unwrap_or(from))
    }

    /// Start of validity, or else the time it was first said.
    pub fn began(&self) -> Option<Timestamp> {
        self.valid_from.or(self.first_seen)
    }

    /// True if it had ended when it was last said.
    pub fn tells_of_past(&self) -> bool {
        let told = self.last_seen.max(self.valid_from);
        self.valid_to.is_some_and(|to| told.is_some_and(|told| to <= told))
    }

    /// True if it held at that time as far as is known; false for corrected, retracted, contested and uncertain facts.
    pub fn held_at(&self, time: Timestamp) -> bool {
        matches!(self.status, FactStatus::Active | FactStatus::Superseded)
            && self.began().is_none_or(|from| day_of(from) <= time)
            && self.valid_to.is_none_or(|to| time < day_of(to))
    }

    /// True if it holds `now` or later as far as is known: not if it has ended, nor for a plan whose day is over. A
    /// fact that begins later counts, and so does the one it replaces until then.
    pub fn holds_at_last(&self, now: Timestamp) -> bool {
        let ends_later = self.valid_to.is_some_and(|to| now < to);
        match self.status {
            FactStatus::Active => (self.valid_to.is_none() || ends_later) && !self.is_past_plan(now),
            FactStatus::Superseded => ends_later && self.held_at(now),
            _ => false,
        }
    }

    fn is_past_plan(&self, now: Timestamp) -> bool {
        let end = |from: Timestamp| match self.is_of_a_week() {
            true => from.checked_add(WEEK_LENGTH).unwrap_or(from),
            false => last_moment(from),
        };
        self.fact_type == FactType::Commitment && self.valid_from.is_some_and(|from| end(from) <= now)
    }

    /// True if only the week of its start is known: [`valid_from`](Self::valid_from) is the Monday.
    pub fn is_of_a_week(&self) -> bool {
        self.qualifiers.get(PRECISION).is_some_and(|precision| precision == WEEK)
    }

    /// True for what happens at its time, and does not hold from it on: events and commitments.
    pub fn happens(&self) -> bool {
        matches!(self.fact_type, FactType::Event | FactType::Commitment)
    }

    /// "in the week of 2026-03-09" for events, "since the week of …" for states.
    pub fn week(&self, monday: Timestamp) -> String {
        format!("{} the week of {}", if self.happens() { "in" } else { "since" }, monday.strftime("%Y-%m-%d"))
    }

    /// Its time in words: "since 2019", "on 2026-03-05", "from 2027-07-01", "no longer". None if no time is known.
    pub fn times(&self, now: Timestamp) -> Option<String> {
        let happens = self.happens();
        let from = self.valid_from.map(|from| match stretch(from) {
            _ if self.is_of_a_week() => self.week(from),
            day if happens && day.len() == "2026-03-05".len() => format!("on {day}"),
            part if happens => format!("in {part}"),
            day if from > now => format!("from {day}"),
            day => format!("since {day}"),
        });
        // If it had ended when it was first said, the end is unknown.
        let to = match self.valid_to {
            Some(to) if Some(to) == self.first_seen && self.status == FactStatus::Superseded => {
                Some("no longer".to_owned())
            }
            Some(to) => Some(format!("until {}", stretch(to))),
            None => None,
        };
        let said: Vec<String> = from.into_iter().chain(to).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// A day, or the month or year that begins there: midnight of the first day represents all of it.
pub fn stretch(time: Timestamp) -> String {
    let text = time.strftime("%Y-%m-%d").to_string();
    let is_midnight = time.strftime("%H:%M:%S").to_string() == "00:00:00";
    match (text.strip_suffix("-01-01"), text.strip_suffix("-01")) {
        (Some(year), _) if is_midnight => year.to_owned(),
        (_, Some(month)) if is_midnight => month.to_owned(),
        _ => text,
    }
}

/// Midnight, for the second after it, by which a day that is the first of a month differs from the month.
fn day_of(time: Timestamp) -> Timestamp {
    const DAY_SECONDS: i64 = 86_400;
    let is_marked = time.as_second().rem_euclid(DAY_SECONDS) == 1 && time.subsec_nanosecond() == 0;
    if is_marked { time.checked_sub(SignedDuration::from_secs(1)).unwrap_or(time) } else { time }
}

/// The end of the day, month or year that [`stretch`] names.
fn last_moment(time: Timestamp) -> Timestamp {
    let zoned = time.to_zoned(TimeZone::UTC);
    let span = match stretch(time).len() {
        4 => Span::new().years(1),
        7 => Span::new().months(1),
        _ => Span::new().days(1),
    };
    zoned.date().to_zoned(TimeZone::UTC).and_then(|day| day.checked_add(span)).map_or(time, |end| end.timestamp())
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn once() -> u32 {
    1
}

fn is_once(count: &u32) -> bool {
    *count == 1
}
