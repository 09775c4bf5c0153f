//! A single time as people type it: `tomorrow`, `last monday`, `3 days ago`, `2026-07-15 14:00`.

use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::calendar::dates::{NamedDate, dated};
use crate::calendar::local;
use crate::calendar::units::{Unit, day_of_week, number_of, unit_of_calendar, weekday};
use crate::text::tokens::words;

/// Larger counts are refused.
const COUNT_MAX: i64 = 1_000_000;

/// Longer texts are refused unread.
const TEXT_BYTES_MAX: usize = 64;

/// What may be typed, for help and errors.
pub const TIME_EXAMPLES: &str = "2026-07-15, 2026-07-15 14:00, 2026-07-15T14:00:00Z, 15 July 2026, now, tomorrow, yesterday, last monday, 3 days ago";

/// A pattern of the words that every spelling of a relative time matches, for JSON schemas. It accepts less than the parser.
pub const RELATIVE_TIME_PATTERN: &str = concat!(
    "^(now|today|yesterday|tomorrow",
    "|(last|this|next) (monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|month|year)",
    "|[1-9][0-9]{0,2} (minute|hour|day|week|month|year)s? ago",
    "|in [1-9][0-9]{0,2} (minute|hour|day|week|month|year)s?)$"
);

/// A parsed time. One that is relative, such as `yesterday`, is resolved against the current time with
/// [`TimeExpression::at`].
///
/// Days and times without an offset are in UTC with `at`, and on somebody's clock with the other functions. A day means
/// its first moment; days, weeks, months and years are counted in whole days; a week begins on Monday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeExpression {
    /// The current time.
    Now,
    /// A known moment, with the UTC offset it was written with.
    Moment(Timestamp, Option<Offset>),
    /// A number of minutes from now; negative in the past.
    Minutes(i64),
    /// A day, possibly with a time of day.
    Day(DayExpression, Option<Time>),
}

/// A day as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayExpression {
    /// A date.
    Date(Date),
    /// A number of calendar units from today; negative in the past.
    Away(i64, CalendarUnit),
    /// The nearest such weekday before today (−1), after it (1), or that of this week (0).
    Weekday(Weekday, i8),
    /// The first day of the week, month or year that is this number of units from the current one.
    First(i64, CalendarUnit),
}

/// A unit in which days are counted.
pub type CalendarUnit = Unit;

impl TimeExpression {
    /// The time it means, given the current time.
    ///
    /// # Errors
    /// If it is outside of the years 1 to 9999.
    pub fn at(&self, now: Timestamp) -> Result<Timestamp, String> {
        let far = || "the time is outside of the years 1 to 9999".to_owned();
        let time = match *self {
            Self::Now => Some(now),
            Self::Moment(time, _) => Some(time),
            Self::Minutes(minutes) => now.checked_add(SignedDuration::from_mins(minutes)).ok(),
            Self::Day(day, time) => start(day.on(now), time.unwrap_or(Time::MIN)),
        };
        time.filter(|time| (1..=9999).contains(&time.to_zoned(TimeZone::UTC).year())).ok_or_else(far)
    }

    /// The moment it means for someone whose clock has this UTC offset at a moment: `yesterday 14:00` is 14:00 on their
    /// clock.
    ///
    /// # Errors
    /// As [`TimeExpression::at`].
    pub fn moment(&self, now: Timestamp, offset: &dyn Fn(Timestamp) -> Offset) -> Result<Timestamp, String> {
        let Self::Day(..) = self else { return self.at(now) };
        let shown = self.at(local(now, offset(now)))?;
        // The offset may change between now and then.
        let near = local(shown, -offset(shown));
        Ok(local(shown, -offset(near)))
    }

    /// As [`TimeExpression::moment`], but the end of the day if it names one.
    ///
    /// # Errors
    /// As [`TimeExpression::at`].
    pub fn last_moment(&self, now: Timestamp, offset: &dyn Fn(Timestamp) -> Offset) -> Result<Timestamp, String> {
        match *self {
            Self::Day(day, None) => Self::Day(day, Some(Time::MAX)).moment(now, offset),
            _ => self.moment(now, offset),
        }
    }

    /// What the clock of someone with this UTC offset shows at the time, written as if it were UTC, as days are stored.
    ///
    /// # Errors
    /// As [`TimeExpression::at`].
    pub fn shown(&self, now: Timestamp, offset: Offset) -> Result<Timestamp, String> {
        match *self {
            Self::Moment(time, Some(written)) => Ok(local(time, written)),
            Self::Moment(time, None) => Ok(time),
            _ => self.at(local(now, offset)),
        }
    }

    /// The UTC offset it was written with. `Z` says that it is unknown.
    pub fn utc_offset(&self) -> Option<Offset> {
        match *self {
            Self::Moment(_, offset) => offset,
            _ => None,
        }
    }
}

fn start(day: Option<Date>, time: Time) -> Option<Timestamp> {
    Some(day?.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

impl DayExpression {
    /// The date, given the current time. `None` if there is no such date.
    fn on(self, now: Timestamp) -> Option<Date> {
        let today = now.to_zoned(TimeZone::UTC).date();
        match self {
            Self::Date(date) => Some(date),
            Self::Away(count, unit) => away(today, count, unit),
            Self::Weekday(day, toward) => day_of_week(today, day, i32::from(toward)),
            Self::First(count, unit) => {
                let day = away(today, count, unit)?;
                match unit {
                    Unit::Day => Some(day),
                    Unit::Week => day_of_week(day, Weekday::Monday, 0),
                    Unit::Month => Some(day.first_of_month()),
                    Unit::Year => Some(day.first_of_year()),
                }
            }
        }
    }
}

fn away(today: Date, count: i64, unit: Unit) -> Option<Date> {
    let span = match unit {
        Unit::Day => Span::new().try_days(count),
        Unit::Week => Span::new().try_weeks(count),
        Unit::Month => Span::new().try_months(count),
        Unit::Year => Span::new().try_years(count),
    };
    today.checked_add(span.ok()?).ok()
}

impl FromStr for TimeExpression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let wrong = |why: &str| {
            let shown: String = trimmed.chars().take(TEXT_BYTES_MAX).collect();
            format!("{shown:?} is not a time{why}; type one of these: {TIME_EXAMPLES}")
        };
        if trimmed.is_empty() || trimmed.len() > TEXT_BYTES_MAX {
            return Err(wrong(""));
        }
        if let Some(time) = written(trimmed) {
            return Ok(time);
        }
        let lower = trimmed.to_lowercase();
        let mut typed: Vec<&str> = lower.split_whitespace().collect();
        if let Some(time) = simple(&typed) {
            return Ok(time);
        }
        let time = time_of_day(&mut typed);
        if let Some(day) = day(&typed) {
            return Ok(Self::Day(day, time));
        }
        match typed.as_slice() {
            [word] if weekday(word).is_some() => {
                Err(wrong(&format!(" because it may be past or ahead: say `last {word}` or `next {word}`")))
            }
            _ if dates_in(&lower).any(|date| matches!(date, NamedDate::Day { year: None, .. })) => {
                Err(wrong(" because the year is missing"))
            }
            _ => Err(wrong("")),
        }
    }
}

/// The time in words or digits that parse to it again.
impl std::fmt::Display for TimeExpression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counted = |f: &mut std::fmt::Formatter<'_>, count: i64, unit: &str| match count {
            count if count < 0 => write!(f, "{} {unit}s ago", count.unsigned_abs()),
            count => write!(f, "in {count} {unit}s"),
        };
        let side = |toward: i64| match toward {
            0 => "this",
            toward if toward < 0 => "last",
            _ => "next",
        };
        match *self {
            Self::Now => f.write_str("now"),
            Self::Moment(time, Some(offset)) => write!(f, "{}", time.display_with_offset(offset)),
            Self::Moment(time, None) => write!(f, "{time}"),
            Self::Minutes(minutes) => counted(f, minutes, "minute"),
            Self::Day(DayExpression::Date(date), time) => match start(Some(date), time.unwrap_or(Time::MIN)) {
                Some(time) => write!(f, "{time}"),
                None => write!(f, "{date}"),
            },
            Self::Day(day, time) => {
                match day {
                    DayExpression::Date(date) => write!(f, "{date}")?,
                    DayExpression::Away(count, unit) => counted(f, count, unit.as_str())?,
                    DayExpression::Weekday(day, toward) => {
                        write!(f, "{} {}", side(toward.into()), format!("{day:?}").to_lowercase())?;
                    }
                    DayExpression::First(toward, unit) => write!(f, "{} {}", side(toward), unit.as_str())?,
                }
                time.map_or(Ok(()), |time| write!(f, " {time}"))
            }
        }
    }
}

impl Serialize for TimeExpression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TimeExpression {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TimeExpression".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // Generators of clients need the type in every branch.
        schemars::json_schema!({"anyOf": [
            {"type": "string", "format": "date-time", "minLength": 20}, {"type": "string", "format": "date"},
            {"type": "string", "pattern": RELATIVE_TIME_PATTERN},
        ]})
    }
}

impl<'de> Deserialize<'de> for TimeExpression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// A time in digits: RFC 3339, without a zone, or a date.
fn written(text: &str) -> Option<TimeExpression> {
    if let Ok(date) = text.parse::<Date>()
        && text.len() == 10
    {
        return Some(TimeExpression::Day(DayExpression::Date(date), None));
    }
    // Zone names need a time zone database, which Quipu does not include.
    if text.contains('[') {
        return None;
    }
    if let Ok(time) = text.parse() {
        return Some(TimeExpression::Moment(time, crate::calendar::offset_in(text)));
    }
    let civil: DateTime = text.parse().ok()?;
    Some(TimeExpression::Day(DayExpression::Date(civil.date()), Some(civil.time())))
}

/// Times that are no days.
fn simple(typed: &[&str]) -> Option<TimeExpression> {
    let minutes = |count: &[&str], unit: &str| {
        let per = match unit.strip_suffix('s').unwrap_or(unit) {
            "minute" | "min" => 1,
            "hour" => 60,
            _ => return None,
        };
        Some(number(count)? * per)
    };
    match typed {
        ["now"] => Some(TimeExpression::Now),
        [count @ .., unit, "ago"] => minutes(count, unit).map(|minutes| TimeExpression::Minutes(-minutes)),
        ["in", count @ .., unit] | [count @ .., unit, "from", "now"] => {
            minutes(count, unit).map(TimeExpression::Minutes)
        }
        _ => None,
    }
}

fn number(typed: &[&str]) -> Option<i64> {
    let [word] = typed else { return None };
    let count = number_of(word).map(i64::from).or_else(|| matches!(*word, "a" | "an").then_some(1));
    count.or_else(|| word.parse().ok()).filter(|count| (0..=COUNT_MAX).contains(count))
}

/// Takes a time of day off the end: `14:00`, `9am`, `noon`, after an optional `at`.
fn time_of_day(typed: &mut Vec<&str>) -> Option<Time> {
    let last = typed.last()?;
    let time = match *last {
        "noon" => Time::constant(12, 0, 0, 0),
        "midnight" => Time::MIN,
        clock => {
            let half = |end: &str, add: i8| {
                let digits = clock.strip_suffix(end)?;
                let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
                let hour: i8 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
                Time::new(hour % 12 + add, minute.parse().ok()?, 0, 0).ok()
            };
            let plain = || {
                let (hour, rest) = clock.split_once(':')?;
                let (minute, second) = rest.split_once(':').unwrap_or((rest, "0"));
                Time::new(hour.parse().ok()?, minute.parse().ok()?, second.parse().ok()?, 0).ok()
            };
            half("am", 0).or_else(|| half("pm", 12)).or_else(plain)?
        }
    };
    if typed.len() > 1 {
        typed.pop();
        if typed.last() == Some(&"at") {
            typed.pop();
        }
    }
    Some(time)
}

fn day(typed: &[&str]) -> Option<DayExpression> {
    let days = |count| Some(DayExpression::Away(count, Unit::Day));
    match typed {
        ["today"] => days(0),
        ["yesterday"] => days(-1),
        ["tomorrow"] => days(1),
        ["the", rest @ ..] if rest.first() == Some(&"day") => day(rest),
        ["day", "before", "yesterday"] => days(-2),
        ["day", "after", "tomorrow"] => days(2),
        [count @ .., unit, "ago"] => Some(DayExpression::Away(-number(count)?, unit_of_calendar(unit)?)),
        ["in", count @ .., unit] | [count @ .., unit, "from", "now"] => {
            Some(DayExpression::Away(number(count)?, unit_of_calendar(unit)?))
        }
        [side @ ("last" | "this" | "next"), word] => {
            let toward = match *side {
                "last" => -1,
                "next" => 1,
                _ => 0,
            };
            let first = || unit_of_calendar(word).filter(|unit| *unit != Unit::Day && !word.ends_with('s'));
            let named = weekday(word).map(|day| DayExpression::Weekday(day, toward));
            named.or_else(|| first().map(|unit| DayExpression::First(i64::from(toward), unit)))
        }
        typed => {
            // A month at the start is recognised by its capital letter.
            let capitalised = |word: &&str| {
                word.char_indices().map(|(at, c)| if at == 0 { c.to_ascii_uppercase() } else { c }).collect()
            };
            let text = typed.iter().map(capitalised).collect::<Vec<String>>().join(" ");
            let words = words(&text);
            match dated(&text, &words).as_slice() {
                [(range, NamedDate::Day { year: Some(year), month, day })] if *range == (0..words.len()) => {
                    Date::new(*year, *month, *day).ok().map(DayExpression::Date)
                }
                _ => None,
            }
        }
    }
}

fn dates_in(text: &str) -> impl Iterator<Item = NamedDate> {
    dated(text, &words(text)).into_iter().map(|(_, date)| date)
}

#[cfg(test)]
#[path = "time_expression_tests.rs"]
mod tests;
