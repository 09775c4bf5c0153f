//! Other people's text on a page: it looks as it was written and does nothing.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::pack::neutralise;

/// Characters that make links, embeds, tags, comments, code or HTML.
const ACTIVE: [char; 9] = ['\\', '[', ']', '<', '`', '|', '#', '%', '$'];

/// One line of text that neither links nor embeds nor formats: what could is escaped, controls are left out.
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

/// The text an escaped line stands for.
pub fn unescape(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut chars = page.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(|next| ACTIVE.contains(next));
        text.push(if escapes { chars.next().unwrap_or(c) } else { c });
    }
    text
}

/// A text of many lines as a quotation, escaped line by line.
pub(super) fn quote(text: &str) -> String {
    text.lines().map(|line| format!("> {}", escape(line)).trim_end().to_owned() + "\n").collect()
}

/// A day as people write it: 12 March 2024.
pub(super) fn day(date: Date) -> String {
    date.strftime("%-d %B %Y").to_string()
}

/// The day of a moment, in UTC.
pub(super) fn day_of(time: Timestamp) -> String {
    day(time.to_zoned(jiff::tz::TimeZone::UTC).date())
}
