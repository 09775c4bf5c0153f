//! The words of a language for dates, lengths of time and how often, as its data file has them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Dates and durations.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct TimeVocabulary {
    /// Months by name, 1 to 12.
    pub(in crate::extract) months: BTreeMap<String, i8>,
    /// Weekdays by name, 1 (Monday) to 7.
    pub(in crate::extract) weekdays: BTreeMap<String, i8>,
    /// `day`, `week`, `month`, `year` by their words.
    pub(in crate::extract) units: BTreeMap<String, Unit>,
    /// What a word before a date makes of it.
    pub(in crate::extract) roles: BTreeMap<String, Role>,
    pub(in crate::extract) patterns: Vec<TimePattern>,
    /// Words for what is arranged: a day without a year beside them lies ahead, though the verb is in the past: "booked".
    pub(in crate::extract) arranged: String,
}

/// A stretch of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// What a date is to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum Role {
    At,
    /// Something held from then on.
    Since,
    /// Something begins then: before or after it was said.
    From,
    /// What goes on ends then.
    Until,
    /// The second of two dates: "from 2016 to 2020", "moved to Friday".
    To,
    By,
}

/// One way to name a day. The groups `day`, `month`, `year`, `weekday`, `count`, `unit` say which.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct TimePattern {
    pub(in crate::extract) pattern: String,
    /// −1: before what was said, 1: after it, 0: as the verb says.
    #[serde(default)]
    pub(in crate::extract) toward: i8,
    /// So many units from the day it was said.
    #[serde(default)]
    pub(in crate::extract) offset: Option<i64>,
    #[serde(default)]
    pub(in crate::extract) unit: Option<Unit>,
    /// It is the last day of that unit.
    #[serde(default)]
    pub(in crate::extract) ends: bool,
    /// It is a length: it says a date only of what still lasts.
    #[serde(default)]
    pub(in crate::extract) lasts: bool,
    /// Tells when within a day or nothing exact: it is cut off and says no date.
    #[serde(default)]
    pub(in crate::extract) vague: bool,
}

/// How often.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Frequency {
    pub(in crate::extract) pattern: String,
    /// As it is written down; `$name` is a group.
    #[serde(default)]
    pub(in crate::extract) value: Option<String>,
}
