//! Scripts, as far as the cutting of words depends on them.

use unicode_normalization::char::is_combining_mark;

/// How a script separates words, and what is a term of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Words are separated by spaces.
    Spaced,
    /// Korean: words are separated by spaces and carry particles; pairs of syllables are terms.
    Hangul,
    /// Chinese characters: without spaces; characters and pairs of them are terms.
    Han,
    /// Japanese syllables, Thai, Lao, Khmer and Burmese: without spaces; pairs of characters with their marks are terms.
    Unspaced,
}

impl Script {
    /// The script of a letter.
    pub(super) fn of(c: char) -> Self {
        match c {
            '\0'..='\u{0dff}' => Self::Spaced,
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}' => Self::Hangul,
            '\u{3005}'..='\u{3007}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{323af}' => Self::Han,
            // Thai and Lao; Burmese; Khmer; Hiragana and Katakana with their small and half-width forms.
            '\u{0e00}'..='\u{0eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{ff66}'..='\u{ff9f}' => Self::Unspaced,
            _ => Self::Spaced,
        }
    }

    /// The script of a word, by its first letter.
    pub(super) fn of_word(word: &str) -> Self {
        word.chars().next().map_or(Self::Spaced, Self::of)
    }

    /// Returns true if a word of this script is one character with its marks.
    pub(super) fn is_unspaced(self) -> bool {
        matches!(self, Self::Han | Self::Unspaced)
    }
}

/// Returns true for a character that continues a word without being a letter: an accent, a tone mark, a joiner.
pub(super) fn continues(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}') || (!c.is_ascii() && is_combining_mark(c))
}
