//! Beginnings of texts, for lists and previews.

/// A word longer than this, in bytes, may be cut.
const WORD_BYTES_MAX: usize = 40;

/// The beginning of a text, of at most `chars_max` characters.
///
/// It ends before a word that does not fit, because part of a word or number may say something else ("100 mg" is not
/// "10"). Only a word of more than 40 bytes is cut.
#[must_use]
pub fn beginning(text: &str, chars_max: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return text };
    if text[end..].starts_with(char::is_whitespace) {
        return text[..end].trim_end();
    }
    match text[..end].rfind(char::is_whitespace) {
        Some(blank) if end - blank <= WORD_BYTES_MAX => text[..blank].trim_end(),
        _ => &text[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_with_a_whole_word() {
        for (text, chars, expected) in [
            ("up from 75 to 100 mg", 15, "up from 75 to"),
            ("up from 75 to 100 mg", 17, "up from 75 to 100"),
            ("up from 75 to 100 mg", 18, "up from 75 to 100"),
            ("up from 75 to 100 mg", 20, "up from 75 to 100 mg"),
            ("ü ü", 1, "ü"),
            ("hello", 3, "hel"),
            ("", 3, ""),
            ("word", 0, ""),
        ] {
            assert_eq!(beginning(text, chars), expected, "{text:?} {chars}");
        }
        let long = format!("see {}", "x".repeat(60));
        assert_eq!(beginning(&long, 50), &long[..50]);
    }
}
