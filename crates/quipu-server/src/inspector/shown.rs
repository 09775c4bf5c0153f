//! Times, names and counts as pages show them.

use std::fmt::Display;

use jiff::Timestamp;
use quipu_core::event::{Actor, SourceKind, Trust};
use quipu_core::id::ItemKind;
use serde::Serialize;
use serde_json::Value;

/// `4 Apr 2026`
pub(super) fn day(time: Timestamp) -> String {
    time.strftime("%-d %b %Y").to_string()
}

/// `4 Apr 2026`, or a dash.
pub(super) fn maybe_day(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "–".to_owned(), day)
}

/// `4 Apr 2026, 09:03`, in UTC
pub(super) fn moment(time: Timestamp) -> String {
    time.strftime("%-d %b %Y, %H:%M").to_string()
}

/// `09:03`
pub(super) fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M").to_string()
}

/// `12,345`
pub(super) fn count(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `3.4 MB`
pub(super) fn bytes(number: u64) -> String {
    let number = number as f64;
    match number {
        n if n < 1e3 => format!("{n} B"),
        n if n < 1e6 => format!("{:.0} kB", n / 1e3),
        n if n < 1e9 => format!("{:.1} MB", n / 1e6),
        n => format!("{:.1} GB", n / 1e9),
    }
}

/// `12 events`, `1 event`
pub(super) fn many(number: impl Display, one: &str) -> String {
    let number = count(number);
    format!("{number} {one}{}", if number == "1" { "" } else { "s" })
}

/// The first characters of a text, on one line.
pub(super) fn start(text: &str, chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= chars {
        return line;
    }
    line.chars().take(chars).chain(['…']).collect()
}

/// The first characters of a text, with its line breaks.
pub(super) fn start_exact(text: &str, chars: usize) -> String {
    let start: String = text.chars().take(chars).collect();
    if start.len() < text.len() { start + "…" } else { start }
}

/// The serialised name of a value with spaces: `user_said` becomes `user said`.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text.replace('_', " "),
        _ => String::new(),
    }
}

pub(super) fn kind(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Turn => "turn",
        ItemKind::Entry => "entry",
        ItemKind::Document => "document",
        ItemKind::Import => "import",
        ItemKind::Fact => "fact",
        ItemKind::Episode => "episode",
        ItemKind::Task => "task",
        ItemKind::Note => "note",
        ItemKind::Tenet => "tenet",
        ItemKind::Review => "review",
        ItemKind::Truth => "truth",
    }
}

pub(super) fn actor(actor: Actor) -> &'static str {
    match actor {
        Actor::User => "the user",
        Actor::Agent => "an agent",
        Actor::System => "Quipu",
    }
}

pub(super) fn source(source: SourceKind) -> &'static str {
    match source {
        SourceKind::UserSaid => "said by the user",
        SourceKind::UserEdited => "by hand",
        SourceKind::AssistantSaid => "said by the assistant",
        SourceKind::ToolOutput => "from a tool",
        SourceKind::Document => "from a document",
        SourceKind::Imported => "imported",
        SourceKind::Web => "from the web",
        SourceKind::Inferred => "derived",
    }
}

pub(super) fn trust(trust: Trust) -> &'static str {
    match trust {
        Trust::User => "the user's word",
        Trust::Agent => "an agent's word",
        Trust::Tool => "tool or import",
        Trust::Web => "the web",
    }
}

/// The page title for an HTTP status.
pub(super) fn status(status: u16) -> &'static str {
    match status {
        401 | 403 => "Not allowed",
        404 => "Not found",
        422 => "Refused",
        429 | 503 => "Try again later",
        400..500 => "Invalid request",
        _ => "Server error",
    }
}

/// The CSS class of a status: good, bad or neutral.
pub(super) fn tone(standing: &str) -> &'static str {
    let first = standing.split([' ', ',', ':']).next().unwrap_or_default();
    match first {
        "active" | "holds" | "confirmed" | "done" | "recorded" | "approved" | "open" => "good",
        "contested" | "uncertain" | "proposed" | "stalled" | "waits" | "waiting" => "warn",
        "corrected" | "retracted" | "outdated" | "dropped" | "declined" | "reverted" => "bad",
        _ => "plain",
    }
}

/// A stored name as a heading: `dietaryProfile` becomes `Dietary profile`.
pub(super) fn label(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for letter in name.chars() {
        match letter {
            '_' | '-' => text.push(' '),
            upper if upper.is_uppercase() && before.is_lowercase() => {
                text.push(' ');
                text.extend(upper.to_lowercase());
            }
            first if text.is_empty() => text.extend(first.to_uppercase()),
            other => text.push(other),
        }
        before = letter;
    }
    text
}

/// How far a day lies ahead or behind: `today`, `in 3 days`, `56 days ago`. Both in UTC.
pub(super) fn distance(day: Timestamp, now: Timestamp) -> String {
    match days_until(day, now) {
        0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        -1 => "yesterday".to_owned(),
        ahead if ahead > 0 => format!("in {}", many(ahead.unsigned_abs() as usize, "day")),
        behind => format!("{} ago", many(behind.unsigned_abs() as usize, "day")),
    }
}

/// Days from the day of `now` to another; negative for days that are over. Both in UTC.
pub(super) fn days_until(day: Timestamp, now: Timestamp) -> i64 {
    day.as_second().div_euclid(86_400) - now.as_second().div_euclid(86_400)
}

/// A value of the core document on one line.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// An optional value on one line; empty if there is none.
pub(super) fn maybe_value(found: Option<&Value>) -> String {
    found.map_or_else(String::new, value)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn stored_names_are_headings() {
        let named = ["dietaryProfile", "current", "user_said", "9to5", ""].map(label);
        assert_eq!(named, ["Dietary profile", "Current", "User said", "9to5", ""]);
    }

    #[test]
    fn days_are_counted_by_date_and_not_by_hours() {
        let at = |seconds: i64| Timestamp::from_second(seconds).unwrap();
        let now = at(10 * 86_400 + 80_000);
        let days = [10 * 86_400, 11 * 86_400 + 100, 9 * 86_400, 0, 13 * 86_400].map(|day| distance(at(day), now));
        assert_eq!(days, ["today", "tomorrow", "yesterday", "10 days ago", "in 3 days"]);
    }

    #[test]
    fn numbers_and_texts_are_short() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([999, 12_300, 3_400_000].map(bytes), ["999 B", "12 kB", "3.4 MB"]);
        assert_eq!((many(1, "event"), many(2, "event")), ("1 event".to_owned(), "2 events".to_owned()));
        assert_eq!((start("a  b\nc", 5), start("abcdef", 3)), ("a b c".to_owned(), "abc…".to_owned()));
        assert_eq!((tone("active"), tone("contested: two values")), ("good", "warn"));
    }
}
