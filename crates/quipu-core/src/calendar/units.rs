//! Units of the calendar and their names: days of the week, seasons, numbers.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

/// A calendar unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A day.
    Day,
    /// Seven days.
    Week,
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
}

impl Unit {
    /// Its name, in the singular.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// The weekday before a day (−1), after it (1), or of its week, which begins on Monday (0).
pub(crate) fn day_of_week(today: Date, day: Weekday, toward: i32) -> Option<Date> {
    match toward {
        -1 => today.nth_weekday(-1, day).ok(),
        1 => today.nth_weekday(1, day).ok(),
        _ => {
            let offset = |day: Weekday| i32::from(day.to_monday_zero_offset());
            today.checked_add((offset(day) - offset(today.weekday())).days()).ok()
        }
    }
}

/// A number in words, 1 to 12.
pub(crate) fn number_of(word: &str) -> Option<i32> {
    let small = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    small.iter().position(|small| *small == word).map(|number| number as i32 + 1)
}

/// A calendar unit by its name, in the singular or plural.
pub(crate) fn unit_of_calendar(word: &str) -> Option<Unit> {
    match word {
        "day" | "days" => Some(Unit::Day),
        "week" | "weeks" => Some(Unit::Week),
        "month" | "months" => Some(Unit::Month),
        "year" | "years" => Some(Unit::Year),
        _ => None,
    }
}

/// The first month of a season, in the northern hemisphere.
pub(super) fn season(word: &str) -> Option<i8> {
    match word {
        "spring" => Some(3),
        "summer" => Some(6),
        "autumn" | "fall" => Some(9),
        "winter" => Some(12),
        _ => None,
    }
}

pub(super) fn year_number(word: &str) -> Option<i16> {
    let plain = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|year| plain && (1000..=2999).contains(year))
}

pub(crate) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}
