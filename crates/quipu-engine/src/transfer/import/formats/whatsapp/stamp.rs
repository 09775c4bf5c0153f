//! Parses the date and time at the start of a WhatsApp message.

use std::fmt;

use jiff::civil::{Date, DateTime};

use super::is_mark;
use crate::transfer::import::options::DateOrder;

/// A time as written, with the order of day and month still unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The three numbers of the date; the year is the last one, or the first if it has four digits.
    pub(super) numbers: [i16; 3],
    pub(super) year_first: bool,
    /// The separator between them.
    pub(super) separator: char,
    hour: i8,
    minute: i8,
    second: i8,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([a, b, c], between) = (self.numbers, self.separator);
        write!(f, "{a}{between}{b}{between}{c} {:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}

impl Stamp {
    /// The date, if it is valid in this order.
    pub(super) fn date(&self, order: DateOrder) -> Option<Date> {
        let [year, month, day] = match (self.year_first, self.numbers, order) {
            (true, [year, month, day], _) => [year, month, day],
            (false, [day, month, year], DateOrder::DayFirst) | (false, [month, day, year], DateOrder::MonthFirst) => {
                [year, month, day]
            }
        };
        let year = if year < 100 { 2000 + year } else { year };
        Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
    }

    /// The local time.
    pub(super) fn time(&self, order: DateOrder) -> Option<DateTime> {
        Some(self.date(order)?.at(self.hour, self.minute, self.second, 0))
    }
}

/// The time at the start of a line, and the rest. `None` for a line that continues a message.
pub(super) fn header(line: &str) -> Option<(Stamp, &str)> {
    let line = line.trim_start_matches(is_mark);
    if let Some(line) = line.strip_prefix('[') {
        let (stamp, rest) = line.split_once(']')?;
        return Some((stamp_of(stamp)?, rest.strip_prefix(' ').unwrap_or(rest)));
    }
    if !line.starts_with(|c: char| digit(c).is_some()) {
        return None;
    }
    let (stamp, rest) = line.split_once(" - ")?;
    Some((stamp_of(stamp)?, rest))
}

/// The value of a digit: Latin, Arabic or Persian.
fn digit(c: char) -> Option<char> {
    let value = match c {
        '0'..='9' => return Some(c),
        '\u{660}'..='\u{669}' => u32::from(c) - 0x660,
        '\u{6f0}'..='\u{6f9}' => u32::from(c) - 0x6f0,
        _ => return None,
    };
    char::from_digit(value, 10)
}

/// The longest time that is written, in bytes.
const STAMP_BYTES_MAX: usize = 128;

/// The time with Latin digits, without direction marks, and with slashes for the words of year and month.
fn plain(text: &str) -> String {
    let words =
        text.replace("年", "/").replace("月", "/").replace("년", "/").replace("월", "/").replace(['日', '일'], " ");
    words.chars().filter(|c| !is_mark(*c)).map(|c| digit(c).unwrap_or(c)).collect()
}

fn stamp_of(text: &str) -> Option<Stamp> {
    if text.len() > STAMP_BYTES_MAX {
        return None;
    }
    let text = plain(text);
    let mut text = Cursor(text.trim());
    let (first, digits) = text.number()?;
    let separator = text.one_of(&['/', '.', '-'])?;
    text.skip(char::is_whitespace);
    let (second, _) = text.number()?;
    text.one_of(&[separator])?;
    text.skip(char::is_whitespace);
    let (third, year_digits) = text.number()?;
    let year_first = digits == 4;
    if !year_first && !matches!(year_digits, 2 | 4) {
        return None;
    }
    // Some languages write a dot or a comma after the date, and Finnish a word before the time.
    text.skip(|c| matches!(c, ',' | '.' | '\u{60c}') || c.is_whitespace());
    text.word("klo");
    // Chinese, Japanese and Korean write the half of the day before the time.
    let before = text.half_before();
    let (hour, _) = text.number()?;
    text.one_of(&[':', '.'])?;
    let (minute, _) = text.number()?;
    let second_of_minute = match text.one_of(&[':', '.']) {
        Some(_) => text.number()?.0,
        None => 0,
    };
    let half = match before {
        Some(half) if text.0.trim().is_empty() => Some(half),
        Some(_) => return None,
        None => text.half()?,
    };
    let hour = match (half, hour) {
        (None, 0..=23) => hour,
        (Some(Half::Morning), 0..=12) => hour % 12,
        (Some(Half::Noon), 11) => 11,
        (Some(Half::Noon | Half::Afternoon), 0..=12) => hour % 12 + 12,
        _ => return None,
    };
    if minute > 59 || second_of_minute > 59 {
        return None;
    }
    let narrow = |number: i16| i8::try_from(number).ok();
    Some(Stamp {
        numbers: [first, second, third],
        year_first,
        separator,
        hour: narrow(hour)?,
        minute: narrow(minute)?,
        second: narrow(second_of_minute)?,
    })
}

enum Half {
    Morning,
    /// Around twelve: 11 is before it, 12 and 1 are after.
    Noon,
    Afternoon,
}

struct Cursor<'t>(&'t str);

impl Cursor<'_> {
    /// A number of one to four digits, and the number of digits.
    fn number(&mut self) -> Option<(i16, usize)> {
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=4).contains(&digits) {
            return None;
        }
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        Some((number.parse().ok()?, digits))
    }

    fn one_of(&mut self, allowed: &[char]) -> Option<char> {
        let c = self.0.chars().next().filter(|c| allowed.contains(c))?;
        self.0 = &self.0[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, what: impl Fn(char) -> bool) {
        self.0 = self.0.trim_start_matches(what);
    }

    fn word(&mut self, word: &str) {
        if let Some(rest) = self.0.strip_prefix(word) {
            self.0 = rest.trim_start();
        }
    }

    /// The half of the day before the time, if any: `上午`, `오후`.
    fn half_before(&mut self) -> Option<Half> {
        let words = [
            (&["上午", "凌晨", "清晨", "早上", "午前", "오전"][..], Half::Morning),
            (&["中午"], Half::Noon),
            (&["下午", "傍晚", "晚上", "午後", "午后", "오후"], Half::Afternoon),
        ];
        for (words, half) in words {
            if let Some(rest) = words.iter().find_map(|word| self.0.strip_prefix(word)) {
                self.0 = rest.trim_start();
                return Some(half);
            }
        }
        None
    }

    /// The half of the day, if any: `PM`, `p. m.`. `None` if anything else is left.
    #[expect(clippy::option_option, reason = "nothing left is an answer, and something else is none")]
    fn half(&self) -> Option<Option<Half>> {
        let left: String = self.0.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        let odd = self.0.contains(|c: char| !(c.is_alphabetic() || c.is_whitespace() || c == '.' || is_mark(c)));
        match left.as_str() {
            _ if odd => None,
            "" => Some(None),
            "am" | "ص" | "صباحًا" | "ap" => Some(Some(Half::Morning)),
            "pm" | "م" | "مساءً" | "ip" => Some(Some(Half::Afternoon)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(&str, &str)>) {
        let found = header(line).map(|(stamp, rest)| {
            (stamp.time(DateOrder::DayFirst).map_or_else(|| stamp.to_string(), |time| time.to_string()), rest)
        });
        assert_eq!(found.as_ref().map(|(time, rest)| (time.as_str(), *rest)), expected, "{line:?}");
    }

    #[test]
    fn the_start_of_a_message_is_recognised() {
        check("[31/12/2025, 18:05:09] Ana: hi", Some(("2025-12-31T18:05:09", "Ana: hi")));
        check("\u{200e}[31.12.25, 18:05:09] Ana: hi", Some(("2025-12-31T18:05:09", "Ana: hi")));
        check("[1/2/26, 3:04:05\u{202f}PM] Ana: hi", Some(("2026-02-01T15:04:05", "Ana: hi")));
        check("31/12/2025, 18:05 - Ana: hi - there", Some(("2025-12-31T18:05:00", "Ana: hi - there")));
        check("31/12/25 12:05 a. m. - Ana: hi", Some(("2025-12-31T00:05:00", "Ana: hi")));
        check("2025-12-31, 12:05 PM - Ana: hi", Some(("2025-12-31T12:05:00", "Ana: hi")));
        check("٣١\u{200f}/١٢\u{200f}/٢٠٢٥، ٦:٠٥ م - آنا: مرحبا", Some(("2025-12-31T18:05:00", "آنا: مرحبا")));
        check(
            "[\u{200f}٣١\u{200f}/١٢\u{200f}/٢٠٢٥, ٦:٠٥:٠٩ ص] آنا: مرحبا",
            Some(("2025-12-31T06:05:09", "آنا: مرحبا")),
        );
        check("۳۱/۱۲/۲۰۲۵, ۱۸:۰۵ - آنا: سلام", Some(("2025-12-31T18:05:00", "آنا: سلام")));
        check("2025. 12. 31. 오후 6:05 - 아나: 안녕", Some(("2025-12-31T18:05:00", "아나: 안녕")));
        check("[2025. 12. 31. 오전 12:05:09] 아나: 안녕", Some(("2025-12-31T00:05:09", "아나: 안녕")));
        check("2025년 12월 31일 오후 6:05 - 아나: 안녕", Some(("2025-12-31T18:05:00", "아나: 안녕")));
        check("2025/12/31 下午6:05 - 安娜: 你好", Some(("2025-12-31T18:05:00", "安娜: 你好")));
        check("2025年12月31日 上午6:05 - 安娜: 你好", Some(("2025-12-31T06:05:00", "安娜: 你好")));
        check("2025/12/31 中午12:05 - 安娜: 你好", Some(("2025-12-31T12:05:00", "安娜: 你好")));
        check("2025/12/31 凌晨12:05 - 安娜: 你好", Some(("2025-12-31T00:05:00", "安娜: 你好")));
        check("2025/12/31 18:05 - 安娜: 你好", Some(("2025-12-31T18:05:00", "安娜: 你好")));
        check("31.12.2025 klo 18.05 - Aino: hei", Some(("2025-12-31T18:05:00", "Aino: hei")));
        check("[31.12.2025 klo 18.05.09] Aino: hei", Some(("2025-12-31T18:05:09", "Aino: hei")));
        check("12/31/2025, 18:05 - Ana: hi", Some(("12/31/2025 18:05:00", "Ana: hi")));
        for line in [
            "",
            "hello",
            "1/2 cup of flour - sifted",
            "10:30 - train",
            "[1] see below",
            "31/12/2025, 25:05 - Ana: hi",
            "31/12/2025, 13:05 PM - Ana: hi",
            "31/12/2025, 18:05 or so - Ana: hi",
            "31/12/20255, 18:05 - Ana: hi",
            "31/12-2025, 18:05 - Ana: hi",
            "2025/12/31 下午18:05 - 安娜: 你好",
            "2025/12/31 下午6:05 PM - 安娜: 你好",
            "٣ أشخاص - ربما",
        ] {
            check(line, None);
        }
    }
}
