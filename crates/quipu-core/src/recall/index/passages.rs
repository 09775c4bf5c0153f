//! Splits a text into passages short enough for an embedder.

use std::borrow::Cow;
use std::ops::Range;

use crate::limit;
use crate::source::Source;

/// The searchable text of a source, see [`Source::searchable`]; borrowed where possible.
pub(in crate::recall) fn searchable(source: &Source) -> Cow<'_, str> {
    if source.artifacts.is_empty() { Cow::Borrowed(&source.text) } else { Cow::Owned(source.searchable()) }
}

/// Byte ranges of a text's passages: at least one, in order, without overlap, trimmed, and at most
/// [`limit::PASSAGE_BYTES_MAX`] long.
///
/// A long text is split at the last paragraph that fits, else at a line, a sentence, a word, or a character. A boundary
/// in the first half of the window is used only if no weaker one lies in the second.
pub(in crate::recall) fn cut(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = skip_blank(text, 0);
    while text.len() - start > limit::PASSAGE_BYTES_MAX {
        let end = start + cut_length(&text[start..]);
        ranges.push(trimmed(text, start..end));
        start = skip_blank(text, end);
    }
    if start < text.len() || ranges.is_empty() {
        ranges.push(trimmed(text, start..text.len()));
    }
    ranges
}

/// Where to split a text that is longer than a passage.
fn cut_length(rest: &str) -> usize {
    let window = &rest[..floor_char_boundary(rest, limit::PASSAGE_BYTES_MAX)];
    let half = window.len() / 2;
    let sentence = |w: &str| {
        [". ", "! ", "? ", "。", "！", "？"].iter().filter_map(|end| w.rfind(end).map(|at| at + end.len())).max()
    };
    let boundaries = [
        window.rfind("\n\n").map(|at| at + 2),
        window.rfind('\n').map(|at| at + 1),
        sentence(window),
        window.char_indices().rev().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8()),
    ];
    boundaries.into_iter().flatten().find(|&at| at > half).unwrap_or(window.len())
}

fn skip_blank(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start().len()
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    range.start..range.start + text[range].trim_end().len()
}

/// The last character boundary at or before `at`.
pub(in crate::recall) fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The first character boundary at or after `at`.
pub(in crate::recall) fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// Returns true if the text ends with a question mark.
pub(in crate::recall) fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？', '؟'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[expect(clippy::single_range_in_vec_init, reason = "one passage, one range")]
    #[test]
    fn short_texts_are_one_passage() {
        assert_eq!(cut("Hello."), [0..6]);
        assert_eq!(cut("  Hello. \n"), [2..8]);
        assert_eq!(cut(" "), [1..1]);
        assert_eq!(cut(""), [0..0]);
    }

    #[test]
    fn long_texts_are_cut_at_the_strongest_boundary() {
        let words = "lorem ipsum dolor. ".repeat(40);
        let paragraphs = format!("{words}\n\n{words}");
        assert_eq!(cut(&paragraphs), [0..words.len() - 1, words.len() + 2..2 * words.len() + 1]);
        let sentences = "lorem ipsum dolor. ".repeat(80);
        assert!(cut(&sentences).iter().all(|r| sentences[r.clone()].ends_with('.')));
        let unspaced = "é".repeat(1200);
        assert_eq!(cut(&unspaced), [0..1100, 1100..2200, 2200..2400]);
    }

    proptest! {
        #[test]
        fn nothing_but_blanks_is_lost(text in "([a-z]{1,9}|[ .?\n]|é|東){0,900}") {
            let ranges = cut(&text);
            let mut end = 0;
            for range in &ranges {
                prop_assert!(range.start >= end && range.len() <= limit::PASSAGE_BYTES_MAX);
                prop_assert!(text[end..range.start].trim().is_empty());
                end = range.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }
}
