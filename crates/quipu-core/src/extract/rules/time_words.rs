//! Vocabulary of a language for dates, durations and frequencies, as in its data file.

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
    /// Words for `day`, `week`, `month`, `year`.
    pub(in crate::extract) units: BTreeMap<String, Unit>,
    /// The role of a date after a word.
    pub(in crate::extract) roles: BTreeMap<String, Role>,
    pub(in crate::extract) patterns: Vec<TimePattern>,
    /// Words for arrangements ("booked"): a day without a year beside them is in the future, even with a past-tense
    /// verb.
    pub(in crate::extract) arranged: String,
    /// Clauses that tell of a change that has not happened.
    pub(in crate::extract) intended: String,
    /// Times ahead that are no dates.
    pub(in crate::extract) someday: String,
}

/// A calendar unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// The role of a date in a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum Role {
    At,
    /// The claim holds from then on.
    Since,
    /// It begins then, before or after the message.
    From,
    /// It ends then.
    Until,
    /// The second of two dates: "from 2016 to 2020", "moved to Friday".
    To,
    By,
}

/// A way to name a day, with the groups `day`, `month`, `year`, `weekday`, `count`, `unit`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct TimePattern {
    pub(in crate::extract) pattern: String,
    /// −1: before the message; 1: after it; 0: depends on the verb.
    #[serde(default)]
    pub(in crate::extract) toward: i8,
    /// Number of units from the day of the message.
    #[serde(default)]
    pub(in crate::extract) offset: Option<i64>,
    #[serde(default)]
    pub(in crate::extract) unit: Option<Unit>,
    /// True for the last day of that unit.
    #[serde(default)]
    pub(in crate::extract) ends: bool,
    /// True for a duration: it gives a date only for what still lasts.
    #[serde(default)]
    pub(in crate::extract) lasts: bool,
    /// True for a time of day or an imprecise time: it is cut off and gives no date.
    #[serde(default)]
    pub(in crate::extract) vague: bool,
}

/// A frequency.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Frequency {
    pub(in crate::extract) pattern: String,
    /// The stored form; `$name` is a group.
    #[serde(default)]
    pub(in crate::extract) value: Option<String>,
}
