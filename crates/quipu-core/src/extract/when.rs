//! Dates, durations and frequencies in a clause, resolved against the time of the message alone.

use std::ops::{Range, RangeInclusive};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use regex::Captures;

use super::rules::pattern::{AnyOf, Pattern, Patterns};
use super::rules::time_words::{Frequency, Role, TimePattern, TimeVocabulary, Unit};
use crate::refusal::Refusal;

/// Longer durations give no date.
const COUNT_MAX: i64 = 10_000;

/// Reads times.
#[derive(Debug)]
pub(super) struct TimeReader {
    words: TimeVocabulary,
    patterns: AnyOf,
    /// The role word before a date, and within its pattern.
    roles: Pattern,
    own_role: Pattern,
    frequencies: AnyOf,
    frequency_values: Vec<Option<String>>,
    arranged: Pattern,
    intended: Pattern,
    someday: Pattern,
    numbers: std::collections::BTreeMap<String, String>,
}

/// A day this long past may still be meant as a future date.
const LATE: SignedDuration = SignedDuration::from_hours(24 * 10);

/// A time named in a text.
#[derive(Debug, Clone)]
pub(super) struct NamedTime {
    /// Byte range, including the preceding role word.
    pub(super) range: Range<usize>,
    /// The words of the date alone.
    pub(super) text: String,
    pub(super) role: Role,
    pub(super) lasts: bool,
    pub(super) vague: bool,
    day: Option<Day>,
}

/// A date in words, resolved against the day of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenDate {
    /// Byte range of the words.
    pub range: Range<usize>,
    /// First and last day that the words mean if they refer to the past.
    pub back: RangeInclusive<Date>,
    /// First and last day that they mean if they refer to the future. Equal to `back` if the words are unambiguous.
    pub ahead: RangeInclusive<Date>,
    /// True if only the weekday was stated, so that the week is ambiguous.
    pub is_weekday: bool,
}

impl SpokenDate {
    /// Returns true if the words may mean this day; with `is_ahead`, only in the future.
    pub(super) fn may_be(&self, day: Date, is_ahead: bool) -> bool {
        /// Maximum distance in days at which a bare weekday is plausible.
        const WEEKDAYS_AWAY_MAX: i32 = 14;
        let weekday = || {
            let away = |days: &RangeInclusive<Date>| days.start().until(day).map_or(i32::MAX, |span| span.get_days());
            [&self.back, &self.ahead].into_iter().map(away).any(|away| away % 7 == 0 && away.abs() <= WEEKDAYS_AWAY_MAX)
        };
        (!is_ahead && self.back.contains(&day)) || self.ahead.contains(&day) || (self.is_weekday && weekday())
    }
}

/// A frequency and its stored form.
#[derive(Debug, Clone)]
pub(super) struct Often {
    pub(super) range: Range<usize>,
    pub(super) value: String,
}

/// The parts of a date as stated.
#[derive(Debug, Clone, Copy)]
enum Day {
    Calendar { year: Option<i16>, month: Option<i8>, day: Option<i8> },
    Weekday { number: i8, toward: i8 },
    Away { count: i64, unit: Unit, ends: bool },
}

impl NamedTime {
    /// Start of the time. With `ahead`, a date without a year and a bare weekday are in the future, else in the past. A
    /// start date ("from January we live in Turin") takes the nearer one, since the present tense covers both.
    pub(super) fn start(&self, said_at: Option<Timestamp>, ahead: bool) -> Option<Timestamp> {
        if ahead || self.role != Role::From {
            return self.on_side(said_at, ahead);
        }
        let away = |date: &Timestamp| said_at.map(|said| said.duration_since(*date).abs());
        [false, true].into_iter().filter_map(|ahead| self.on_side(said_at, ahead)).min_by_key(away)
    }

    /// Returns true if it names a day of the month.
    pub(super) fn names_a_day(&self) -> bool {
        matches!(self.day, Some(Day::Calendar { day: Some(_), .. }))
    }

    /// Returns true if it names a week but no day: "last week".
    pub(super) fn is_a_week(&self) -> bool {
        !self.lasts && self.unit() == Some(Unit::Week)
    }

    /// The calendar unit it names.
    fn unit(&self) -> Option<Unit> {
        Some(match self.day? {
            Day::Calendar { day: Some(_), .. } | Day::Weekday { .. } | Day::Away { ends: true, .. } => Unit::Day,
            Day::Calendar { month: Some(_), .. } => Unit::Month,
            Day::Calendar { .. } => Unit::Year,
            Day::Away { unit, .. } => unit,
        })
    }

    fn on_side(&self, said_at: Option<Timestamp>, ahead: bool) -> Option<Timestamp> {
        let said = said_at.map(|time| time.to_zoned(TimeZone::UTC).date());
        let date = match self.day? {
            Day::Calendar { year: Some(year), month, day } => {
                Date::new(year, month.unwrap_or(1), day.unwrap_or(1)).ok()
            }
            Day::Calendar { year: None, month: Some(month), day } => nearest(said?, month, day, ahead),
            Day::Calendar { year: None, month: None, day } => day_of_month(said?, day?, ahead),
            Day::Weekday { number, toward } => weekday(said?, number, toward, ahead),
            Day::Away { count, unit, ends: false } => away(said?, count, unit),
            Day::Away { count, unit, ends: true } => last_of(away(said?, count, unit)?, unit),
        };
        let date = date.filter(|date| date.year() >= 1)?;
        // Midnight of the first stands for the whole month, so a day or week that begins then is one second later.
        let is_of_days = matches!(self.unit(), Some(Unit::Day | Unit::Week));
        date.at(0, 0, i8::from(date.day() == 1 && is_of_days), 0)
            .to_zoned(TimeZone::UTC)
            .ok()
            .map(|zoned| zoned.timestamp())
    }

    /// The days it may mean. `None` if it is vague or a duration.
    pub(super) fn days(&self, said_at: Option<Timestamp>) -> Option<SpokenDate> {
        let unit = self.unit().filter(|_| !self.lasts)?;
        let side = |ahead| {
            let first = self.on_side(said_at, ahead)?.to_zoned(TimeZone::UTC).date();
            Some(first..=last_of(first, unit)?)
        };
        let is_weekday = matches!(self.day, Some(Day::Weekday { .. }));
        Some(SpokenDate { range: self.range.clone(), back: side(false)?, ahead: side(true)?, is_weekday })
    }
}

/// The last day of the unit that begins with `first`.
fn last_of(first: Date, unit: Unit) -> Option<Date> {
    match unit {
        Unit::Day => Some(first),
        Unit::Week => first.checked_add(Span::new().days(6)).ok(),
        Unit::Month => Some(first.last_of_month()),
        Unit::Year => Some(first.last_of_year()),
    }
}

impl TimeReader {
    pub(super) fn new(
        words: &TimeVocabulary,
        frequencies: &[Frequency],
        numbers: std::collections::BTreeMap<String, String>,
        patterns: &Patterns<'_>,
    ) -> Result<Self, Refusal> {
        let spelled: Vec<String> =
            words.patterns.iter().map(|time| format!(r"\b(?:{})(?:\b|$)", time.pattern)).collect();
        let often: Vec<String> = frequencies.iter().map(|often| format!(r"\b(?:{})\b", often.pattern)).collect();
        let roles = super::rules::pattern::either(words.roles.keys().map(String::as_str));
        Ok(Self {
            patterns: patterns.any("times", &spelled)?,
            roles: patterns.one("times.roles", &format!(r"\b({roles})\s+$"))?,
            own_role: patterns.start("times.roles", &format!(r"({roles})\s+"))?,
            frequencies: patterns.any("frequencies", &often)?,
            frequency_values: frequencies.iter().map(|often| often.value.clone()).collect(),
            arranged: patterns.one("times.arranged", &words.arranged)?,
            intended: patterns.one("times.intended", &words.intended)?,
            someday: patterns.one("times.someday", &words.someday)?,
            numbers,
            words: words.clone(),
        })
    }

    /// Returns true if a clause describes an arrangement.
    pub(super) fn is_arranged(&self, clause: &str) -> bool {
        self.arranged.is_match(clause)
    }

    /// Returns true if a clause tells of a change that has not happened: "I'm leaving in March".
    pub(super) fn is_intended(&self, clause: &str) -> bool {
        self.intended.is_match(clause)
    }

    /// Returns true if a clause names a time ahead that is no date: "after Christmas".
    pub(super) fn is_someday(&self, clause: &str) -> bool {
        self.someday.is_match(clause)
    }

    /// The times a clause names, in order and without overlaps.
    pub(super) fn times(&self, clause: &str) -> Vec<NamedTime> {
        let mut all: Vec<NamedTime> = self
            .patterns
            .every(clause)
            .into_iter()
            .filter_map(|(at, groups)| self.named(clause, at, &groups))
            .collect();
        all.sort_by_key(|named| (named.range.start, std::cmp::Reverse(named.range.end)));
        let mut end = 0;
        all.retain(|named| {
            let apart = named.range.start >= end;
            end = end.max(named.range.end);
            apart
        });
        all
    }

    /// The dates a text names, as far as they can be resolved.
    pub(super) fn dates(&self, text: &str, said_at: Option<Timestamp>) -> Vec<SpokenDate> {
        self.times(text).iter().filter_map(|named| named.days(said_at)).collect()
    }

    /// The first frequency a clause names.
    pub(super) fn often(&self, clause: &str) -> Option<Often> {
        let found = self.frequencies.all(clause).into_iter().filter_map(|(at, groups)| {
            let whole = groups.get(0)?;
            let mut value = whole.as_str().to_owned();
            if let Some(Some(template)) = self.frequency_values.get(at) {
                value.clear();
                groups.expand(template, &mut value);
            }
            Some(Often { range: whole.range(), value: value.to_lowercase() })
        });
        found.min_by_key(|often| (often.range.start, std::cmp::Reverse(often.range.end)))
    }

    fn named(&self, clause: &str, at: usize, groups: &Captures<'_>) -> Option<NamedTime> {
        let shape = self.words.patterns.get(at)?;
        let whole = groups.get(0)?;
        let day = if shape.vague { None } else { Some(self.day(shape, groups)?) };
        // A pattern may end with the clause, of which the full stop is no part of the time.
        let mut text = whole.as_str().trim_end_matches(['.', '!']);
        let mut range = whole.start()..whole.start() + text.len();
        let mut role = Role::At;
        let mut own_words = "";
        let role_of = |word: &str| self.words.roles.get(&word.to_lowercase()).copied().unwrap_or(Role::At);
        if let Some(own) = self.own_role.captures(text)
            && let (Some(word), Some(all)) = (own.get(1), own.get(0))
        {
            own_words = word.as_str();
            role = role_of(own_words);
            text = &text[all.end()..];
        }
        // "until the end of June": the word before gives the role, since "the end of" does not.
        let is_part = text.len() == range.len() || own_words.ends_with(" of");
        if role == Role::At
            && is_part
            && let from = last_words(clause, range.start)
            && let Some(before) = self.roles.captures(&clause[from..range.start])
            && let (Some(word), Some(all)) = (before.get(1), before.get(0))
        {
            role = role_of(word.as_str());
            range.start = from + all.start();
        }
        Some(NamedTime { range, text: text.to_owned(), role, lasts: shape.lasts, vague: shape.vague, day })
    }

    fn day(&self, shape: &TimePattern, groups: &Captures<'_>) -> Option<Day> {
        let word = |name: &str| groups.name(name).map(|found| found.as_str().to_lowercase());
        if let Some(weekday) = word("weekday") {
            return Some(Day::Weekday { number: *self.words.weekdays.get(&weekday)?, toward: shape.toward });
        }
        let unit = match word("unit") {
            Some(unit) => Some(*self.words.units.get(&unit)?),
            None => shape.unit,
        };
        if let Some(unit) = unit {
            let (count, unit) = match word("count") {
                // "In two weeks" is fourteen days from now, and "next week" begins on a Monday.
                Some(count) if unit == Unit::Week && shape.toward > 0 => {
                    (self.number(&count)?.checked_mul(7)?.checked_mul(i64::from(shape.toward))?, Unit::Day)
                }
                Some(count) => (self.number(&count)?.checked_mul(i64::from(shape.toward))?, unit),
                None => (shape.offset.unwrap_or(0), unit),
            };
            return (count.abs() <= COUNT_MAX).then_some(Day::Away { count, unit, ends: shape.ends });
        }
        let year = match word("year") {
            Some(year) => Some(year.parse::<i16>().ok().filter(|year| (1000..=2999).contains(year))?),
            None => None,
        };
        let month = match word("month") {
            Some(month) => Some(self.month(&month)?),
            None => None,
        };
        let day = match word("day") {
            Some(day) => Some(self.day_number(&day)?),
            None => None,
        };
        Some(Day::Calendar { year, month, day })
    }

    fn month(&self, word: &str) -> Option<i8> {
        let number = || word.parse::<i8>().ok().filter(|month| (1..=12).contains(month));
        self.words.months.get(word.trim_end_matches('.')).copied().or_else(number)
    }

    fn day_number(&self, word: &str) -> Option<i8> {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        let day = if digits.is_empty() { self.number(word)? } else { digits.parse().ok()? };
        i8::try_from(day).ok().filter(|day| (1..=31).contains(day))
    }

    fn number(&self, word: &str) -> Option<i64> {
        let plain: String = word.split_whitespace().collect::<Vec<_>>().join(" ");
        let known = self.numbers.get(&plain).map(String::as_str).unwrap_or(&plain);
        known.replace(',', "").parse().ok()
    }
}

/// Start of the words before a position in which its role may be. Bounds what is searched for each time of a clause.
fn last_words(clause: &str, end: usize) -> usize {
    const ROLE_BYTES_MAX: usize = 64;
    let from = clause.ceil_char_boundary(end.saturating_sub(ROLE_BYTES_MAX));
    if from == 0 {
        return 0;
    }
    // Not within a word.
    clause[from..end].find(char::is_whitespace).map_or(end, |space| from + space)
}

/// The day or month nearest to the day of the message, in the requested direction.
fn nearest(said: Date, month: i8, day: Option<i8>, ahead: bool) -> Option<Date> {
    let years = if ahead { [0, 1] } else { [0, -1] };
    years.into_iter().find_map(|step| {
        let date = Date::new(said.year().checked_add(step)?, month, day.unwrap_or(1)).ok()?;
        let last = if day.is_some() { date } else { date.last_of_month() };
        // A future date that passed a few days ago is not a year away.
        let late = if day.is_some() { LATE } else { SignedDuration::ZERO };
        let fits = if ahead { last.checked_add(late).is_ok_and(|last| last >= said) } else { date <= said };
        fits.then_some(date)
    })
}

/// "the 20th": of this month, or of the next or previous one.
fn day_of_month(said: Date, day: i8, ahead: bool) -> Option<Date> {
    let step = Span::new().months(if ahead { 1 } else { -1 });
    let other = said.first_of_month().checked_add(step).ok()?;
    [said.first_of_month(), other].into_iter().find_map(|month| {
        let date = Date::new(month.year(), month.month(), day).ok()?;
        let fits = if ahead { date >= said } else { date <= said };
        fits.then_some(date)
    })
}

/// The previous or next such weekday, never the day itself.
fn weekday(said: Date, number: i8, toward: i8, ahead: bool) -> Option<Date> {
    let today = i64::from(said.weekday().to_monday_one_offset());
    let forward = toward > 0 || (toward == 0 && ahead);
    let distance = (i64::from(number) - today).rem_euclid(7);
    let days = match (forward, distance) {
        (true, 0) => 7,
        (true, days) => days,
        (false, days) => days - 7,
    };
    said.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// The given number of units away, at the start of the unit.
fn away(said: Date, count: i64, unit: Unit) -> Option<Date> {
    let span = match unit {
        Unit::Day => Span::new().try_days(count),
        Unit::Week => Span::new().try_weeks(count),
        Unit::Month => Span::new().try_months(count),
        Unit::Year => Span::new().try_years(count),
    };
    let date = said.checked_add(span.ok()?).ok()?;
    match unit {
        Unit::Day => Some(date),
        Unit::Week => {
            let back = i64::from(date.weekday().to_monday_zero_offset());
            date.checked_sub(Span::new().try_days(back).ok()?).ok()
        }
        Unit::Month => Some(date.first_of_month()),
        Unit::Year => Some(date.first_of_year()),
    }
}
