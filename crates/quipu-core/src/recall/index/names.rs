//! Names of people in a text.

use std::ops::Range;

use crate::text::tokens::{self, TextToken};

/// A name in a question, with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::recall) struct NamedPerson {
    pub(in crate::recall) words: Range<usize>,
    /// In lower case.
    pub(in crate::recall) name: String,
}

/// Returns false for words that are usually not names: "Will", "May" and "Art" are names only if capitalised and not at
/// the start of the sentence.
pub(in crate::recall) fn is_name_here(text: &str, words: &[TextToken], place: &Range<usize>) -> bool {
    let word = &words[place.start];
    let doubtful = place.len() == 1
        && (tokens::is_stop_word(&word.lower)
            || matches!(word.lower.as_str(), "will" | "may" | "mark" | "art" | "grace" | "hope" | "april" | "june"));
    let written_like_a_name = text[word.start..].starts_with(char::is_uppercase);
    let opens = place.start == 0 && !word.is_possessive();
    !doubtful || (written_like_a_name && !opens)
}
