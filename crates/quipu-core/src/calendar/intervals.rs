//! Time intervals a question names relative to today: "yesterday", "last spring", "two weeks ago", "since May".

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};
use serde::Serialize;

use crate::calendar::dates::{MONTHS, NamedDate, dated, day_number};
use crate::calendar::units::{Unit, day_of_week, number_of, season, unit_of_calendar, weekday, year_number};
use crate::text::tokens::TextToken;

/// An interval of days, possibly without a start or an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DateInterval"))]
pub struct Interval {
    /// The first day.
    pub from: Option<Date>,
    /// The day after the last.
    pub until: Option<Date>,
    /// True for "recently" and "lately", which are imprecise.
    pub vague: bool,
}

impl Interval {
    fn days(from: Date, until: Date) -> Self {
        Self { from: Some(from), until: Some(until), vague: false }
    }

    fn day(day: Date) -> Option<Self> {
        Some(Self::days(day, day.tomorrow().ok()?))
    }

    /// The day, if the interval is a single one.
    pub fn only_day(&self) -> Option<Date> {
        self.from.filter(|from| from.tomorrow().ok() == self.until)
    }

    /// Returns true if it ends before a day.
    pub fn is_before(&self, day: Date) -> bool {
        self.until.is_some_and(|until| until <= day)
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let last = self.until.and_then(|until| until.yesterday().ok());
        match (self.from, last) {
            (Some(from), Some(last)) if from == last => write!(f, "{from}"),
            (Some(from), Some(last)) => write!(f, "{from} to {last}"),
            (Some(from), None) => write!(f, "since {from}"),
            (None, Some(last)) => write!(f, "until {last}"),
            (None, None) => f.write_str("any time"),
        }
    }
}

/// The intervals a question names, in order. Dates without a year are the latest that are not in the future.
///
/// Impossible and implausible times ("100,000 years ago") are ignored.
pub(crate) fn intervals(text: &str, words: &[TextToken], today: Date) -> Vec<Interval> {
    let found = named(text, words, today);
    Reader { words, today }.with_roles(&found)
}

/// Ranges of the words that name times.
pub(crate) fn places(text: &str, words: &[TextToken], today: Option<Date>) -> Vec<Range<usize>> {
    let relative = today.map(|today| named(text, words, today)).unwrap_or_default();
    let written = dated(text, words).into_iter().map(|(range, _)| range);
    relative.into_iter().map(|(range, _)| range).chain(written).collect()
}

/// Ranges of the words that name a time only from today's point of view and begin before it: "yesterday", "last week",
/// "two days ago". In a message the same words mean another day, so they must not be compared as words. Seasons and
/// months are not included, because they also say what a day was like.
pub(crate) fn passing(text: &str, words: &[TextToken], today: Date) -> Vec<Range<usize>> {
    let reader = Reader { words, today };
    let keeps = |word: &TextToken| season(&word.lower).is_some() || MONTHS.contains(&word.lower.as_str());
    let is_passing = |range: &Range<usize>, interval: &Interval| {
        reader.relative(range.start).is_some()
            && !interval.vague
            && interval.from.is_some_and(|from| from < today)
            && !words[range.clone()].iter().any(keeps)
    };
    let found = named(text, words, today).into_iter();
    found.filter(|(range, interval)| is_passing(range, interval)).map(|(range, _)| range).collect()
}

/// The intervals, each with the range of its words.
fn named(text: &str, words: &[TextToken], today: Date) -> Vec<(Range<usize>, Interval)> {
    let reader = Reader { words, today };
    let mut found: Vec<(Range<usize>, Interval)> = Vec::new();
    let written = dated(text, words);
    let mut at = 0;
    while at < words.len() {
        let date = written.iter().find(|(range, _)| range.start == at);
        let date = date.and_then(|(range, date)| Some((range.len(), reader.of_date(*date)?)));
        match reader.relative(at).into_iter().chain(date).max_by_key(|(length, _)| *length) {
            Some((length, interval)) => {
                // "Friday, 20 November" is one day.
                let is_of_date = |(range, day): &mut (Range<usize>, Interval)| {
                    range.end == at
                        && weekday(reader.word(at - 1)).is_some()
                        && interval.only_day().is_some()
                        && !day.vague
                };
                let from = found.pop_if(is_of_date).map_or(at, |(range, _)| range.start);
                found.push((from..at + length, interval));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

struct Reader<'a> {
    words: &'a [TextToken],
    today: Date,
}

/// Larger counts are ignored as implausible.
const COUNT_MAX: i32 = 1_000;

/// Words of questions about the past.
const LOOKS_BACK: [&str; 8] = ["did", "was", "were", "had", "happened", "said", "told", "went"];
/// Words of questions about the future, if none of [`LOOKS_BACK`] occurs.
const LOOKS_AHEAD: [&str; 15] = [
    "is",
    "are",
    "will",
    "plan",
    "plans",
    "planned",
    "coming",
    "upcoming",
    "scheduled",
    "due",
    "free",
    "busy",
    "booked",
    "appointment",
    "appointments",
];

/// Number of days "recently" covers.
const RECENT_DAYS: i32 = 30;

impl Reader<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.lower)
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    fn looks_back(&self) -> bool {
        self.words.iter().any(|word| LOOKS_BACK.contains(&word.lower.as_str()))
    }

    fn looks_ahead(&self) -> bool {
        let words = || self.words.iter().map(|word| word.lower.as_str());
        let is_asked = |pair: &[TextToken]| matches!(pair[0].lower.as_str(), "i" | "we") && pair[1].lower == "have";
        !self.looks_back() && (words().any(|word| LOOKS_AHEAD.contains(&word)) || self.words.windows(2).any(is_asked))
    }

    fn away(&self, days: i32) -> Option<Date> {
        self.today.checked_add(days.days()).ok()
    }

    /// Applies "between A and B", "from A to B", "since A", "before A", "after A".
    fn with_roles(&self, found: &[(Range<usize>, Interval)]) -> Vec<Interval> {
        let mut all = Vec::new();
        let mut at = 0;
        while let Some((range, one)) = found.get(at) {
            let role = self.before(range.start, 1);
            let next = found.get(at + 1).filter(|(next, _)| next.start == range.end + 1);
            let joined = next.filter(|(next, _)| match self.before(next.start, 1) {
                "and" => role == "between",
                "to" | "until" | "till" | "through" => true,
                _ => false,
            });
            at += 1;
            if let Some((_, last)) = joined {
                at += 1;
                all.push(span(one.from, last.until));
                continue;
            }
            let is_of_week = role == "of" && self.before(range.start, 2) == "week";
            all.push(match role {
                "of" if is_of_week => one.only_day().and_then(week_of).unwrap_or(*one),
                "since" => open(one.from, None),
                "before" | "until" | "till" => open(None, one.from),
                "after" => open(one.until, None),
                _ => *one,
            });
        }
        all
    }

    /// The interval of an explicit date.
    fn of_date(&self, date: NamedDate) -> Option<Interval> {
        let month = |year: i16, month: i8| {
            let first = Date::new(year, month, 1).ok()?;
            Some(Interval::days(first, first.last_of_month().tomorrow().ok()?))
        };
        let latest = |date: &dyn Fn(i16) -> Option<Interval>| {
            let this = date(self.today.year());
            let is_over = this.is_some_and(|this| this.is_before(self.today));
            match this.filter(|this| this.from.is_some_and(|from| from <= self.today)) {
                _ if self.looks_ahead() => this.filter(|_| !is_over).or_else(|| date(self.today.year() + 1)),
                Some(this) => Some(this),
                None => date(self.today.year() - 1),
            }
        };
        match date {
            NamedDate::Day { year: Some(year), month, day } => Interval::day(Date::new(year, month, day).ok()?),
            NamedDate::Day { year: None, month, day } => {
                latest(&|year| Interval::day(Date::new(year, month, day).ok()?))
            }
            NamedDate::Month { year: Some(year), month: number } => month(year, number),
            NamedDate::Month { year: None, month: number } => latest(&|year| month(year, number)),
            NamedDate::Year { year } => year_of(year),
        }
    }

    /// A relative time that begins at a word, with the number of its words.
    fn relative(&self, at: usize) -> Option<(usize, Interval)> {
        match self.word(at) {
            "today" | "tonight" => Some((1, Interval::day(self.today)?)),
            "day" if self.word(at + 1) == "before" && self.word(at + 2) == "yesterday" => {
                Some((3, Interval::day(self.away(-2)?)?))
            }
            "yesterday" => Some((1, Interval::day(self.away(-1)?)?)),
            "tomorrow" => Some((1, Interval::day(self.away(1)?)?)),
            "recently" | "lately" => {
                let days = Interval::days(self.away(-RECENT_DAYS)?, self.away(1)?);
                Some((1, Interval { vague: true, ..days }))
            }
            "last" | "past" | "previous" | "this" | "next" | "current" => self.beside(at),
            "in" | "during" | "over" => self.season_alone(at),
            "the" => self.day_of_month(at),
            word => match weekday(word) {
                Some(day) => Some((1, self.weekday_alone(at, day)?)),
                None => self.ago(at).or_else(|| self.season_of_year(at)),
            },
        }
    }

    /// "two weeks ago", "a month ago".
    fn ago(&self, at: usize) -> Option<(usize, Interval)> {
        let (count, length) = self.count(at)?;
        let unit = unit_of_calendar(self.word(at + length))?;
        if self.word(at + length + 1) != "ago" || self.is_part_of_number(at) {
            return None;
        }
        let interval = match unit {
            Unit::Day => Interval::day(self.away(-count)?)?,
            Unit::Week => Interval::days(self.away(-7 * count - 3)?, self.away(-7 * count + 4)?),
            Unit::Month => {
                let middle = self.today.checked_sub(Span::new().months(count)).ok()?;
                Interval::days(middle.checked_sub(15.days()).ok()?, middle.checked_add(16.days()).ok()?)
            }
            Unit::Year => year_of(self.today.checked_sub(Span::new().years(count)).ok()?.year())?,
        };
        Some((length + 2, interval))
    }

    /// "last week", "this month", "next Monday", "the past three weeks".
    fn beside(&self, at: usize) -> Option<(usize, Interval)> {
        let toward = match self.word(at) {
            "last" | "past" | "previous" => -1,
            "next" => 1,
            _ => 0,
        };
        let word = self.word(at + 1);
        // "the last week of May" is given by May.
        let is_part = self.word(at + 2) == "of" && !matches!(word, "couple");
        if is_part {
            return None;
        }
        if let Some(season) = season(word) {
            return Some((2, self.season(season, toward)?));
        }
        if let Some(day) = weekday(word) {
            return Some((2, self.weekday(day, toward)?));
        }
        if let Some(month) = (1..=12).find(|month| toward == -1 && word == MONTHS[*month as usize - 1]) {
            let year = if month < self.today.month() { self.today.year() } else { self.today.year() - 1 };
            return Some((2, self.of_date(NamedDate::Month { year: Some(year), month })?));
        }
        let day_part = matches!(word, "morning" | "afternoon" | "evening" | "night");
        if day_part && toward <= 0 {
            return Some((2, Interval::day(self.away(toward)?)?));
        }
        if word == "weekend" {
            let saturday = self.monday()?.checked_add((5 + 7 * toward).days()).ok()?;
            return Some((2, Interval::days(saturday, saturday.checked_add(2.days()).ok()?)));
        }
        if let Some((count, length)) = self.count(at + 1).filter(|_| toward == -1) {
            let span = match unit_of_calendar(self.word(at + 1 + length))? {
                Unit::Day => count.days(),
                Unit::Week => (7 * count).days(),
                Unit::Month => count.months(),
                Unit::Year => count.years(),
            };
            return Some((2 + length, Interval::days(self.today.checked_sub(span).ok()?, self.away(1)?)));
        }
        let interval = match unit_of_calendar(word).filter(|_| !word.ends_with('s'))? {
            // "last day" and "this day" have other meanings.
            Unit::Day => return None,
            Unit::Week => {
                let monday = self.monday()?.checked_add((7 * toward).days()).ok()?;
                Interval::days(monday, monday.checked_add(7.days()).ok()?)
            }
            Unit::Month => {
                let first = self.today.first_of_month().checked_add(toward.months()).ok()?;
                Interval::days(first, first.last_of_month().tomorrow().ok()?)
            }
            Unit::Year => year_of(self.today.year().checked_add(i16::try_from(toward).ok()?)?)?,
        };
        Some((2, interval))
    }

    /// "in spring", "during the summer".
    fn season_alone(&self, at: usize) -> Option<(usize, Interval)> {
        let the = usize::from(self.word(at + 1) == "the");
        let season = season(self.word(at + 1 + the))?;
        // A season with a year is read elsewhere.
        let has_year = year_number(self.word(at + 2 + the)).is_some() || self.word(at + 2 + the) == "of";
        if has_year {
            return None;
        }
        let this = self.season(season, 0)?;
        let latest = if this.from.is_some_and(|from| from > self.today) { self.season(season, -1)? } else { this };
        Some((2 + the, latest))
    }

    /// "summer 2022", "the winter of 2021".
    fn season_of_year(&self, at: usize) -> Option<(usize, Interval)> {
        let season = season(self.word(at))?;
        let of = usize::from(self.word(at + 1) == "of");
        let year = year_number(self.word(at + 1 + of))?;
        Some((2 + of, season_in(season, year)?))
    }

    /// The current season, or the previous or next one. A winter belongs to the year it begins in.
    fn season(&self, season: i8, toward: i32) -> Option<Interval> {
        let year = self.today.year();
        let running = |year: i16| {
            let found = season_in(season, year)?;
            (found.from <= Some(self.today) && Some(self.today) < found.until).then_some(found)
        };
        let now = running(year).or_else(|| running(year - 1));
        match toward {
            -1 => (0..=2)
                .map(|back| season_in(season, year - back))
                .find_map(|found| found.filter(|found| found.until.is_some_and(|until| until <= self.today))),
            1 => (0..=1)
                .map(|on| season_in(season, year + on))
                .find_map(|found| found.filter(|found| found.from.is_some_and(|from| from > self.today))),
            _ => now.or_else(|| season_in(season, year)),
        }
    }

    /// "last Monday" is the latest before today, "next Monday" the first after it, "this Monday" that of the current
    /// week.
    fn weekday(&self, day: Weekday, toward: i32) -> Option<Interval> {
        Interval::day(day_of_week(self.today, day, toward)?)
    }

    /// "since Monday", "what did I do on Monday?": the latest before today; in a question that looks ahead, the next one.
    /// Without "on" or the like ("my Monday class"), it names no time.
    fn weekday_alone(&self, at: usize, day: Weekday) -> Option<Interval> {
        match self.before(at, 1) {
            "since" | "after" => self.weekday(day, -1),
            "on" | "before" | "until" | "till" => self.weekday(day, if self.looks_back() { -1 } else { 1 }),
            _ => None,
        }
    }

    /// "on the 20th": the latest one up to today, or the next one in a question that looks ahead. "The 20th floor" is no
    /// day.
    fn day_of_month(&self, at: usize) -> Option<(usize, Interval)> {
        let day = day_number(self.word(at + 1)).filter(|_| self.word(at + 1).ends_with(char::is_alphabetic))?;
        let is_led = matches!(self.before(at, 1), "on" | "since" | "after" | "before" | "until" | "till" | "by");
        let ends = matches!(self.word(at + 2), "" | "and" | "or" | "to" | "in" | "at" | "with");
        if !is_led || !ends {
            return None;
        }
        let step = if self.looks_ahead() { 1 } else { -1 };
        let months = (0..=2).filter_map(|many| self.today.first_of_month().checked_add((step * many).months()).ok());
        let mut days = months.filter_map(|first| first.with().day(day).build().ok());
        days.find(|found| if step > 0 { *found >= self.today } else { *found <= self.today })
            .and_then(|found| Some((2, Interval::day(found)?)))
    }

    fn monday(&self) -> Option<Date> {
        day_of_week(self.today, Weekday::Monday, 0)
    }

    /// A count in digits or words, with the number of its words.
    fn count(&self, at: usize) -> Option<(i32, usize)> {
        let word = self.word(at);
        if let Some(number) = number_of(word) {
            return Some((number, 1));
        }
        match word {
            "a" | "an" if self.word(at + 1) == "couple" => Some((2, if self.word(at + 2) == "of" { 3 } else { 2 })),
            "a" if self.word(at + 1) == "few" => Some((3, 2)),
            "couple" => Some((2, if self.word(at + 1) == "of" { 2 } else { 1 })),
            "few" => Some((3, 1)),
            "a" | "an" => Some((1, 1)),
            digits => digits.parse().ok().filter(|count| (1..=COUNT_MAX).contains(count)).map(|count| (count, 1)),
        }
    }

    /// "100,000 years": the preceding digits belong to the count.
    fn is_part_of_number(&self, at: usize) -> bool {
        let digits = |at: usize| self.word(at).bytes().all(|byte| byte.is_ascii_digit()) && !self.word(at).is_empty();
        at > 0 && digits(at) && digits(at - 1) && self.words[at].start == self.words[at - 1].end + 1
    }
}

/// The week of a day, from Monday.
fn week_of(day: Date) -> Option<Interval> {
    let monday = day_of_week(day, Weekday::Monday, 0)?;
    Some(Interval::days(monday, monday.checked_add(7.days()).ok()?))
}

/// The interval from one date to another; in "between March and June 2025" the year applies to both.
fn span(from: Option<Date>, until: Option<Date>) -> Interval {
    let in_year = |from: Date, year: i16| Date::new(year, from.month(), from.day()).ok();
    let from = match (from, until) {
        (Some(from), Some(until)) if from >= until => {
            in_year(from, until.year()).filter(|from| *from < until).or_else(|| in_year(from, until.year() - 1))
        }
        _ => from,
    };
    open(from, until)
}

fn open(from: Option<Date>, until: Option<Date>) -> Interval {
    Interval { from, until, vague: false }
}

fn season_in(first: i8, year: i16) -> Option<Interval> {
    let from = Date::new(year, first, 1).ok()?;
    Some(Interval::days(from, from.checked_add(3.months()).ok()?))
}

fn year_of(year: i16) -> Option<Interval> {
    Some(Interval::days(Date::new(year, 1, 1).ok().filter(|_| year >= 1)?, Date::new(year.checked_add(1)?, 1, 1).ok()?))
}

#[cfg(test)]
#[path = "intervals_tests.rs"]
mod tests;
