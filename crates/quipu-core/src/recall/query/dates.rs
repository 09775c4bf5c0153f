//! Parses the dates in a question and scores how well a day agrees with them.

use std::ops::Range;

use jiff::civil::Date;
use serde::Serialize;

use crate::recall::query::intervals::Interval;
use crate::text::tokens::{TextToken, words};

/// A date named in a question. Without a year it means that day or month of every year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NamedDate {
    /// "8 May 2023", "May 8th".
    Day {
        /// 1 to 9999, if stated.
        year: Option<i16>,
        /// 1 to 12.
        month: i8,
        /// 1 to 31, valid in that month.
        day: i8,
    },
    /// "May 2023", "in May".
    Month {
        /// 1 to 9999, if stated.
        year: Option<i16>,
        /// 1 to 12.
        month: i8,
    },
    /// "in 2023".
    Year {
        /// 1 to 9999.
        year: i16,
    },
}

impl std::fmt::Display for NamedDate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let year = |year: &Option<i16>| year.map_or_else(|| "????".to_owned(), |year| format!("{year:04}"));
        match self {
            Self::Day { year: y, month, day } => write!(f, "{}-{month:02}-{day:02}", year(y)),
            Self::Month { year: y, month } => write!(f, "{}-{month:02}", year(y)),
            Self::Year { year } => write!(f, "{year:04}"),
        }
    }
}

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
pub(in crate::recall) fn day_of(date: Date) -> i32 {
    let seconds = date.to_zoned(jiff::tz::TimeZone::UTC).map(|zoned| zoned.timestamp());
    seconds.map_or(i32::MIN / 2, crate::time::day_number)
}

/// The year of a day; days out of range are clamped.
fn year_of(day: i32) -> i16 {
    match jiff::Timestamp::from_second(i64::from(day) * 86_400) {
        Ok(time) => time.to_zoned(jiff::tz::TimeZone::UTC).year(),
        Err(_) if day < 0 => 1,
        Err(_) => 9998,
    }
}

/// The dates a text names in English, in order.
///
/// Accepts `8 May, 2023`, `8th of May`, `May 8th 2023`, `May 2023`, `in May`, `in 2023`, `2023-05-08`. A bare "may" or
/// "march" is a verb and a bare number is a number, unless a word such as "in" or "since" precedes it. Impossible dates
/// are ignored.
pub(in crate::recall) fn named_dates(text: &str) -> Vec<NamedDate> {
    let mut dates = Vec::new();
    for (_, date) in dated(text, &words(text)) {
        if !dates.contains(&date) {
            dates.push(date);
        }
    }
    dates
}

/// The dates in a text, each with the range of its words.
pub(in crate::recall) fn dated(text: &str, words: &[TextToken]) -> Vec<(Range<usize>, NamedDate)> {
    let mut dates = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let reader = Reader { text, words, at };
        match reader.iso().or_else(|| reader.day_month()).or_else(|| reader.month()).or_else(|| reader.year()) {
            Some((date, length)) => {
                dates.extend(date.map(|date| (at..at + length, date)));
                at += length;
            }
            None => at += 1,
        }
    }
    dates
}

/// A position in the words at which a date is parsed. Its methods return the date (`None` if it is impossible) and its
/// number of words.
struct Reader<'a> {
    text: &'a str,
    words: &'a [TextToken],
    at: usize,
}

impl<'a> Reader<'a> {
    fn word(&self, offset: usize) -> &'a str {
        self.words.get(self.at + offset).map_or("", |word| &word.lower)
    }

    fn before(&self) -> &'a str {
        self.at.checked_sub(1).and_then(|at| self.words.get(at)).map_or("", |word| &word.lower)
    }

    /// The text between a word and the one before it.
    fn gap(&self, offset: usize) -> &'a str {
        match (self.words.get(self.at + offset), (self.at + offset).checked_sub(1).and_then(|at| self.words.get(at))) {
            (Some(word), Some(before)) => &self.text[before.end_possessive..word.start],
            _ => "",
        }
    }

    /// Returns true if only blanks, a comma or a full stop separate the word from the one before it.
    fn follows(&self, offset: usize) -> bool {
        let gap = self.gap(offset);
        !gap.is_empty()
            && gap.len() <= 3
            && gap.chars().all(|c| c.is_whitespace() || c == ',' || c == '.')
            && gap != ","
    }

    fn is_capital(&self) -> bool {
        self.words.get(self.at).is_some_and(|word| self.text[word.start..].starts_with(char::is_uppercase))
    }

    /// `2023-05-08`
    fn iso(&self) -> Option<(Option<NamedDate>, usize)> {
        let year = number(self.word(0), 4..=4)?;
        let mark = self.gap(1);
        let month = number(self.word(1), 2..=2).filter(|_| matches!(mark, "-" | "/"))?;
        let day = number(self.word(2).split('t').next()?, 2..=2).filter(|_| self.gap(2) == mark)?;
        let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
        Some((day_date(Some(year), month, day), 3))
    }

    /// `8 May, 2023`, `8th of May`
    fn day_month(&self) -> Option<(Option<NamedDate>, usize)> {
        let day = day_number(self.word(0))?;
        let of = usize::from(matches!(self.word(1), "of"));
        if !self.follows(1) || !self.follows(1 + of) {
            return None;
        }
        let month = month_number(self.word(1 + of))?;
        let year = self.year_at(2 + of);
        Some((day_date(year, month, day), 2 + of + usize::from(year.is_some())))
    }

    /// `May 8, 2023`, `May 8th`, `May 2023`, `in May`
    fn month(&self) -> Option<(Option<NamedDate>, usize)> {
        let month = month_number(self.word(0))?;
        let is_date = self.is_capital() || is_before_month(self.before()) || self.before() == "on";
        if let Some(year) = self.year_at(1) {
            return Some((Some(NamedDate::Month { year: Some(year), month }), 2));
        }
        if let Some(year) = self.year_at(2).filter(|_| self.word(1) == "of") {
            return Some((Some(NamedDate::Month { year: Some(year), month }), 3));
        }
        if let Some(day) = day_number(self.word(1)).filter(|_| self.follows(1))
            && (is_date || self.word(1).ends_with(char::is_alphabetic))
        {
            let year = self.year_at(2);
            return Some((day_date(year, month, day), 2 + usize::from(year.is_some())));
        }
        let alone = if is_also_a_word(self.word(0)) {
            is_before_month(self.before()) && !self.before_is_loose()
        } else {
            is_before_month(self.before()) || (self.is_capital() && is_full_name(self.word(0)))
        };
        alone.then_some((Some(NamedDate::Month { year: None, month }), 1))
    }

    /// "before May left" and "from March" may refer to people.
    fn before_is_loose(&self) -> bool {
        matches!(self.before(), "before" | "after" | "by" | "from" | "for" | "and" | "or" | "to") && !self.is_capital()
    }

    /// `in 2023`
    fn year(&self) -> Option<(Option<NamedDate>, usize)> {
        let introduced = is_before_month(self.before())
            || matches!(self.before(), "year" | "spring" | "summer" | "autumn" | "fall" | "winter" | "christmas");
        let year = self.year_here(0).filter(|_| introduced && self.gap(0).trim().is_empty())?;
        let counted = [
            "year", "day", "week", "month", "hour", "minute", "people", "dollar", "euro", "pound", "mile", "meter",
            "step", "time", "percent",
        ];
        let unit = self.gap(1).trim().is_empty()
            && counted.iter().any(|unit| self.word(1).strip_suffix('s').unwrap_or(self.word(1)) == *unit);
        (!unit).then_some((Some(NamedDate::Year { year }), 1))
    }

    fn year_at(&self, offset: usize) -> Option<i16> {
        self.year_here(offset).filter(|_| self.follows(offset))
    }

    /// Four digits that no comma, point or sign joins to other digits.
    fn year_here(&self, offset: usize) -> Option<i16> {
        let year = number(self.word(offset), 4..=4).filter(|year| (1000..=2999).contains(year))?;
        let end = self.words.get(self.at + offset)?.end;
        let mut rest = self.text[end..].chars();
        let joined = matches!(rest.next(), Some(',' | '.' | '-' | '/' | ':' | '%'))
            && rest.next().is_some_and(|c| c.is_ascii_digit());
        (!joined).then_some(year)
    }
}

fn day_date(year: Option<i16>, month: i8, day: i8) -> Option<NamedDate> {
    // 2000 has a 29 February.
    Date::new(year.unwrap_or(2000), month, day).ok().filter(|date| date.year() >= 1)?;
    Some(NamedDate::Day { year, month, day })
}

fn number(word: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i16> {
    let plain = digits.contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
    if plain { word.parse().ok() } else { None }
}

/// `8`, `08`, `8th`
fn day_number(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    number(digits, 1..=2).and_then(|day| i8::try_from(day).ok()).filter(|day| (1..=31).contains(day))
}

pub(in crate::recall) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

fn is_full_name(word: &str) -> bool {
    MONTHS.contains(&word)
}

fn month_number(word: &str) -> Option<i8> {
    let is = |month: &str| word == &month[..3] || word == month || (word == "sept" && month == "september");
    MONTHS.iter().position(|month| is(month)).map(|at| at as i8 + 1)
}

/// Month names and abbreviations that are also other words or names.
fn is_also_a_word(word: &str) -> bool {
    matches!(word, "may" | "march" | "mar" | "april" | "june" | "august" | "jan" | "dec" | "sep" | "jun" | "jul")
}

fn is_before_month(word: &str) -> bool {
    matches!(
        word,
        "in" | "of"
            | "during"
            | "since"
            | "until"
            | "till"
            | "by"
            | "before"
            | "after"
            | "from"
            | "for"
            | "to"
            | "through"
            | "throughout"
            | "around"
            | "early"
            | "late"
            | "mid"
            | "last"
            | "this"
            | "next"
            | "and"
            | "or"
            | "between"
    )
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
