//! Scores how well a day agrees with the dates and intervals of a question.

use jiff::civil::Date;

use crate::calendar::dates::NamedDate;
use crate::calendar::intervals::Interval;

/// A range of days with its agreement with a date: 0 … 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Agreement {
    first: i32,
    last: i32,
    value: f32,
}

/// All named dates as ranges of days.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::recall) struct Agreements(Vec<Agreement>);

/// Maximum length of a range that counts as a month; longer ones count as a year.
const MONTH_DAYS: i32 = 31;

/// Maximum number of years in which dates without a year are searched.
const YEARS_MAX: i16 = 200;

impl Agreements {
    /// Expands the dates for days `first` to `last`.
    pub(in crate::recall) fn new(dates: &[NamedDate], first: i32, last: i32) -> Self {
        let (first, last) = (year_of(first), year_of(last));
        let any_year = first.saturating_sub(1).max(last.saturating_sub(YEARS_MAX))..=last.saturating_add(1);
        let mut all = Vec::new();
        for date in dates {
            match *date {
                NamedDate::Day { year: Some(year), month, day } => add_day(&mut all, year, month, day),
                NamedDate::Day { year: None, month, day } => {
                    any_year.clone().for_each(|year| add_day(&mut all, year, month, day))
                }
                NamedDate::Month { year: Some(year), month } => add_month(&mut all, year, month),
                NamedDate::Month { year: None, month } => {
                    any_year.clone().for_each(|year| add_month(&mut all, year, month))
                }
                NamedDate::Year { year } => {
                    add_stretch(&mut all, Date::new(year, 1, 1).ok(), Date::new(year, 12, 31).ok(), 0.3)
                }
            }
        }
        Self(all)
    }

    /// The best agreement of a day with the dates: 0 … 1.
    pub(in crate::recall) fn of(&self, day: i32) -> f32 {
        let here = self.0.iter().filter(|a| (a.first..=a.last).contains(&day));
        here.fold(0.0, |best, agreement| best.max(agreement.value))
    }

    /// Adds an interval such as "yesterday", "last spring" or "two weeks ago", scored like an explicit day, month or
    /// year. One without an end, "since Monday", extends to the newest day, and one without a start covers all days
    /// before its end. "Recently" is ignored: people also say it of what they have just heard of.
    pub(in crate::recall) fn add_interval(&mut self, interval: &Interval, newest: i32) {
        if interval.vague {
            return;
        }
        if let Some(day) = interval.only_day() {
            return add_day(&mut self.0, day.year(), day.month(), day.day());
        }
        let first = interval.from.map(day_of);
        let last = match interval.until {
            Some(until) => until.yesterday().ok().map(day_of),
            None => Some(newest),
        };
        let Some(last) = last.filter(|last| first.is_none_or(|first| first <= *last)) else { return };
        let is_month = first.is_some_and(|first| last - first <= MONTH_DAYS);
        let value = if is_month { 0.8 } else { 0.3 };
        self.0.push(Agreement { first: first.unwrap_or(i32::MIN), last, value });
    }

    pub(in crate::recall) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The same day 1; 1 to 7 days after .8; up to 31 days after .4; up to 3 days before .3 (measured).
fn add_day(all: &mut Vec<Agreement>, year: i16, month: i8, day: i8) {
    if let Ok(date) = Date::new(year, month, day) {
        let day = day_of(date);
        let around = [(-3, -1, 0.3), (0, 0, 1.0), (1, 7, 0.8), (8, 31, 0.4)];
        all.extend(around.map(|(from, to, value)| Agreement { first: day + from, last: day + to, value }));
    }
}

/// The same month .8, the next .4 (measured).
fn add_month(all: &mut Vec<Agreement>, year: i16, month: i8) {
    let Ok(start) = Date::new(year, month, 1) else { return };
    add_stretch(all, Some(start), Some(start.last_of_month()), 0.8);
    let next = start.last_of_month().tomorrow().ok();
    add_stretch(all, next, next.map(Date::last_of_month), 0.4);
}

fn add_stretch(all: &mut Vec<Agreement>, first: Option<Date>, last: Option<Date>, value: f32) {
    if let (Some(first), Some(last)) = (first, last) {
        all.push(Agreement { first: day_of(first), last: day_of(last), value });
    }
}

/// Whole days since 1970-01-01.
fn day_of(date: Date) -> i32 {
    let seconds = date.to_zoned(jiff::tz::TimeZone::UTC).map(|zoned| zoned.timestamp());
    seconds.map_or(i32::MIN / 2, crate::calendar::day_number)
}

/// The year of a day; days out of range are clamped.
fn year_of(day: i32) -> i16 {
    match jiff::Timestamp::from_second(i64::from(day) * 86_400) {
        Ok(time) => time.to_zoned(jiff::tz::TimeZone::UTC).year(),
        Err(_) if day < 0 => 1,
        Err(_) => 9998,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::dates::named_dates;

    #[test]
    fn days_agree_by_their_distance() {
        let day = |text: &str| match text.parse::<Date>() {
            Ok(date) => day_of(date),
            Err(error) => panic!("{text}: {error}"),
        };
        let table = [
            ("8 May 2023", "2023-05-08", 1.0),
            ("8 May 2023", "2023-05-09", 0.8),
            ("8 May 2023", "2023-05-15", 0.8),
            ("8 May 2023", "2023-05-16", 0.4),
            ("8 May 2023", "2023-06-08", 0.4),
            ("8 May 2023", "2023-06-09", 0.0),
            ("8 May 2023", "2023-05-05", 0.3),
            ("8 May 2023", "2023-05-04", 0.0),
            ("8 May 2023", "2022-05-08", 0.0),
            ("the 8th of May", "2022-05-08", 1.0),
            ("the 30th of December", "2022-01-03", 0.8),
            ("the 29th of February", "2024-03-01", 0.8),
            ("the 29th of February", "2023-03-01", 0.0),
            ("in May 2023", "2023-05-31", 0.8),
            ("in May 2023", "2023-06-30", 0.4),
            ("in May 2023", "2023-07-01", 0.0),
            ("in December 2022", "2023-01-31", 0.4),
            ("in May", "2021-05-31", 0.8),
            ("in 2023", "2023-12-31", 0.3),
            ("in 2023", "2024-01-01", 0.0),
            ("in May 2023 or in 2023", "2023-05-01", 0.8),
        ];
        let (first, last) = (day("2021-01-01"), day("2024-12-31"));
        for (text, said, expected) in table {
            let found = Agreements::new(&named_dates(text), first, last).of(day(said));
            assert_eq!(found, expected, "{text:?} on {said}");
        }
    }

    #[test]
    fn any_year_is_safe() {
        let dates = named_dates("31 December 9999, in December 9999, in 9999, 1 January 0001, in May");
        for (first, last) in [(i32::MIN, i32::MAX), (0, 0), (i32::MAX, i32::MIN)] {
            let agreements = Agreements::new(&dates, first, last);
            for day in [i32::MIN, -719_528, -719_162, 0, 2_932_896, i32::MAX] {
                assert!((0.0..=1.0).contains(&agreements.of(day)));
            }
        }
    }
}
