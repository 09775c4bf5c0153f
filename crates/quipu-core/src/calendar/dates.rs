//! Parses the dates that a text names.

use std::ops::Range;

use jiff::civil::Date;
use serde::Serialize;

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

/// The dates a text names in English, in order.
///
/// Accepts `8 May, 2023`, `8th of May`, `May 8th 2023`, `May 2023`, `in May`, `in 2023`, `2023-05-08`. A bare "may" or
/// "march" is a verb and a bare number is a number, unless a word such as "in" or "since" precedes it. Impossible dates
/// are ignored.
pub(crate) fn named_dates(text: &str) -> Vec<NamedDate> {
    let mut dates = Vec::new();
    for (_, date) in dated(text, &words(text)) {
        if !dates.contains(&date) {
            dates.push(date);
        }
    }
    dates
}

/// The dates in a text, each with the range of its words.
pub(crate) fn dated(text: &str, words: &[TextToken]) -> Vec<(Range<usize>, NamedDate)> {
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
pub(super) fn day_number(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    number(digits, 1..=2).and_then(|day| i8::try_from(day).ok()).filter(|day| (1..=31).contains(day))
}

pub(crate) const MONTHS: [&str; 12] = [
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
