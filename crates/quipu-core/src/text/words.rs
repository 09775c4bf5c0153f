//! Cuts texts into words.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::scripts::{self, Script};

/// Maximum length of a term in bytes; longer runs of letters, such as base64, are cut.
pub(super) const TERM_BYTES_MAX: usize = 64;

/// The bytes of a word; see [`TextToken`](super::tokens::TextToken).
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) end_possessive: usize,
}

/// Calls `each` with every word in lower case; `lower` is its buffer.
pub(super) fn for_each_word(text: &str, lower: &mut String, mut each: impl FnMut(&str, Span)) {
    let mut at = 0;
    while let Some(c) = char_at(text, at) {
        if !c.is_alphanumeric() {
            at += c.len_utf8();
            continue;
        }
        let start = at;
        lower.clear();
        let first = Script::of(c);
        let alone = first.is_unspaced();
        while let Some(c) = char_at(text, at) {
            let is_mark = at > start && scripts::continues(c);
            let script = Script::of(c);
            // A particle after a name in Latin letters is a word of its own.
            let is_same = (script == Script::Hangul) == (first == Script::Hangul);
            let goes_on = at == start || (!alone && c.is_alphanumeric() && !script.is_unspaced() && is_same);
            if !is_mark && !goes_on {
                break;
            }
            at += c.len_utf8();
            push_lower(lower, c);
        }
        let end = at;
        // Letters that were written as a base and its accent, or as parts of a syllable.
        if !lower.is_ascii() && is_nfc_quick(lower.chars()) != IsNormalized::Yes {
            let composed = lower.nfc().collect();
            *lower = composed;
        }
        at += possessive_length(&text[at..]);
        each(lower, Span { start, end, end_possessive: at });
    }
}

fn char_at(text: &str, at: usize) -> Option<char> {
    // Most texts are ASCII and need no decoding.
    match text.as_bytes().get(at) {
        Some(&byte) if byte.is_ascii() => Some(char::from(byte)),
        Some(_) => text[at..].chars().next(),
        None => None,
    }
}

fn push_lower(lower: &mut String, c: char) {
    if lower.len() + 4 > TERM_BYTES_MAX {
        return;
    }
    if c.is_ascii() { lower.push(c.to_ascii_lowercase()) } else { lower.extend(c.to_lowercase()) }
}

/// Length in bytes of a possessive `'s` at the start of `rest`, or 0.
fn possessive_length(rest: &str) -> usize {
    let Some(tail) = rest.strip_prefix(['\'', '\u{2019}']) else { return 0 };
    let mut chars = tail.chars();
    let ends = matches!(chars.next(), Some('s' | 'S')) && !chars.next().is_some_and(char::is_alphanumeric);
    if ends { rest.len() - tail.len() + 1 } else { 0 }
}
