//! Escapes text for Markdown pages, so that it has no effect beyond its words.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::pack::neutralise;

/// Characters that start links, embeds, tags, comments, code or HTML.
const ACTIVE: [char; 9] = ['\\', '[', ']', '<', '`', '|', '#', '%', '$'];

/// Escapes one line: no links, embeds or formatting; control characters are removed.
pub fn escape(text: &str) -> String {
    let plain = neutralise(text);
    let mut page = String::with_capacity(plain.len() + 8);
    for c in plain.chars() {
        if ACTIVE.contains(&c) {
            page.push('\\');
        }
        page.push(c);
    }
    page
}

/// Reverses [`escape`].
pub fn unescape(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut chars = page.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(|next| ACTIVE.contains(next));
        text.push(if escapes { chars.next().unwrap_or(c) } else { c });
    }
    text
}

/// Formats lines as a quotation, each escaped.
pub(super) fn quote(text: &str) -> String {
    text.lines().map(|line| format!("> {}", escape(line)).trim_end().to_owned() + "\n").collect()
}

/// A day in words: 12 March 2024.
pub(super) fn day(date: Date) -> String {
    date.strftime("%-d %B %Y").to_string()
}

/// The day of a moment, in UTC.
pub(super) fn day_of(time: Timestamp) -> String {
    day(time.to_zoned(jiff::tz::TimeZone::UTC).date())
}
