//! Days of a story, and their wording.

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Days since 2021-01-01.
pub(crate) type Day = i32;

/// The first day of every story.
const FIRST: Date = date(2021, 1, 1);

pub(crate) fn date_of(day: Day) -> Date {
    // A story spans a few decades at most.
    FIRST.saturating_add(day.days())
}

/// A time of that day, in minutes after midnight.
pub(crate) fn at(day: Day, minutes: i32) -> Timestamp {
    let midnight = date_of(day).to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp()).unwrap_or_default();
    midnight.saturating_add(i64::from(minutes).minutes()).unwrap_or(midnight)
}

fn day_of(date: Date) -> Day {
    FIRST.until(date).map(|span| span.get_days()).unwrap_or_default()
}

/// The first day of the month, and of the next month.
pub(super) fn month_of(day: Day) -> (Day, Day) {
    let first = date_of(day).first_of_month();
    (day_of(first), day_of(first.saturating_add(1.month())))
}

/// The first day of a year.
pub(super) fn year(year: i16) -> Day {
    day_of(date(year, 1, 1))
}

/// The Monday of the week before.
pub(super) fn monday_before(day: Day) -> Day {
    day - i32::from(date_of(day).weekday().to_monday_zero_offset()) - 7
}

pub(super) fn in_words(day: Day) -> String {
    date_of(day).strftime("%-d %B %Y").to_string()
}

pub(super) fn month_in_words(day: Day) -> String {
    date_of(day).strftime("%B %Y").to_string()
}
