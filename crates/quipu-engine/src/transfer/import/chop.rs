//! Splits long texts at natural boundaries.

use std::ops::Range;

/// Preferred boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefer {
    /// Ends of sentences, for prose.
    Sentence,
    /// Ends of lines, for code and lists.
    Line,
}

/// Splits a text into consecutive pieces of at most `bytes_max` bytes (at least 4), which together are the whole text.
///
/// Splits after a sentence or line, else after white space, else between two characters. Boundaries are chosen from the
/// start, so an extended text is split in the same places.
pub(super) fn chop(text: &str, bytes_max: usize, prefer: Prefer) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while text.len() - start > bytes_max {
        let window = &text[start..text.floor_char_boundary(start + bytes_max)];
        let end = start + pause(window, prefer);
        pieces.push(start..end);
        start = end;
    }
    if start < text.len() {
        pieces.push(start..text.len());
    }
    pieces
}

/// The best boundary in the window: a pause after its first third, if there is one, else its end.
fn pause(window: &str, prefer: Prefer) -> usize {
    let least = window.len() / 3;
    let after = |end: fn(char, Option<char>) -> bool| {
        let mut next = None;
        for (at, c) in window.char_indices().rev() {
            let cut = at + c.len_utf8();
            if cut <= least {
                return None;
            }
            if end(c, next) {
                return Some(cut);
            }
            next = Some(c);
        }
        None
    };
    let preferred = match prefer {
        Prefer::Line => after(|c, _| c == '\n'),
        Prefer::Sentence => after(ends_sentence),
    };
    preferred.or_else(|| after(|c, _| c.is_whitespace())).unwrap_or(window.len())
}

/// Returns true for the last character of a sentence, given the next one. The space after it belongs to the next piece.
fn ends_sentence(c: char, next: Option<char>) -> bool {
    "。！？".contains(c) || (".!?…".contains(c) && next.is_some_and(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, prefer: Prefer, expected: &[&str]) {
        let pieces: Vec<&str> = chop(text, 20, prefer).into_iter().map(|range| &text[range]).collect();
        assert_eq!(pieces, expected);
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn cuts_fall_where_a_reader_pauses() {
        check("", Prefer::Sentence, &[]);
        check("Short.", Prefer::Sentence, &["Short."]);
        check("It rained all. We left at noon.", Prefer::Sentence, &["It rained all.", " We left at noon."]);
        check("one two three four five six", Prefer::Sentence, &["one two three four ", "five six"]);
        check("let a = 1;\nlet b = 2;\n", Prefer::Line, &["let a = 1;\n", "let b = 2;\n"]);
        check("éééééééééééééé", Prefer::Line, &["éééééééééé", "éééé"]);
        check("Pi is 3.14159 and more", Prefer::Sentence, &["Pi is 3.14159 and ", "more"]);
    }
}
