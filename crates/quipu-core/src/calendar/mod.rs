//! The calendar: times as they are stored (UTC, to the microsecond), and the dates, intervals and times that people name in
//! English. What the extraction rules of a language say of time is in their files (`extract/rules`).

use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

pub(crate) mod dates;
pub(crate) mod intervals;
mod time_expression;
pub(crate) mod units;

pub use dates::NamedDate;
pub use intervals::Interval;
pub use time_expression::{CalendarUnit, DayExpression, RELATIVE_TIME_PATTERN, TIME_EXAMPLES, TimeExpression};

/// Serialises an optional time as microseconds since 1970, which is ten times faster to read than text.
pub(crate) mod micros {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(Timestamp::as_microsecond).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        Option::<i64>::deserialize(deserializer)?
            .map(|micros| Timestamp::from_microsecond(micros).map_err(de::Error::custom))
            .transpose()
    }
}

/// Parses a time: with a zone, without one (UTC), or a date alone, which means its first moment.
pub fn read(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    // Zone names need a time zone database, which Quipu does not include.
    if text.contains('[') {
        return None;
    }
    let civil = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse().ok().or_else(|| civil().map(|time| time.timestamp()))
}

/// The UTC offset a time was written with: `+02:00`. `None` for times without one, and for `Z`, which says that it is
/// unknown (RFC 9557, section 2.2). So does `+00:00` here, which programs write for every time in UTC.
pub fn offset_in(text: &str) -> Option<Offset> {
    let offset = Pieces::parse(text.trim()).ok()?.to_numeric_offset();
    offset.filter(|offset| *offset != Offset::UTC)
}

/// How an offset is written: `-08:00`.
const OFFSET_FORM: &str = "%:z";

/// Parses an offset as [`offset_text`] writes it.
pub(crate) fn offset_of(text: &str) -> Option<Offset> {
    BrokenDownTime::parse(OFFSET_FORM, text).ok()?.offset()
}

/// An offset as text.
pub(crate) fn offset_text(offset: Offset) -> String {
    Timestamp::UNIX_EPOCH.to_zoned(offset.to_time_zone()).strftime(OFFSET_FORM).to_string()
}

/// What a clock with this UTC offset shows at a moment, written as if it were UTC.
pub fn local(at: Timestamp, offset: Offset) -> Timestamp {
    at.checked_add(SignedDuration::from_secs(offset.seconds().into())).unwrap_or(at)
}

/// Truncates a time to whole microseconds, as stored.
pub fn to_micros(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// Whole days since 1970-01-01 UTC.
pub fn day_number(time: Timestamp) -> i32 {
    i32::try_from(time.as_second().div_euclid(86_400)).unwrap_or(i32::MAX)
}
