//! The language of a piece and the words it begins with.

/// Words that only connect a piece with the preceding one.
const JOINS: [&str; 9] = ["also", "and", "but", "anyway", "so", "oh", "well", "btw", "plus"];

/// True for a word, in lower case, that only connects a piece with the preceding one.
pub(super) fn is_join(word: &str) -> bool {
    JOINS.contains(&word)
}

/// Length of the connecting words at the beginning, in bytes.
pub(super) fn lead_in(text: &str) -> usize {
    let mut skipped = 0;
    while let Some((word, rest)) = text[skipped..].split_once(' ') {
        let bare = word.trim_start_matches(['-', '*', '•']).trim_end_matches([',', ':']).to_lowercase();
        if !bare.is_empty() && !JOINS.contains(&bare.as_str()) {
            break;
        }
        skipped = text.len() - rest.trim_start().len();
    }
    skipped
}

/// Frequent English words. A long piece with none of them is in another language or no sentence.
const ENGLISH: [&str; 46] = [
    "the", "a", "an", "i", "im", "i'm", "ive", "i've", "my", "me", "we", "our", "it", "its", "it's", "is", "was",
    "are", "am", "to", "of", "and", "in", "on", "at", "for", "with", "not", "no", "but", "so", "that", "this", "have",
    "has", "had", "got", "do", "did", "he", "she", "they", "from", "be", "been", "just",
];
/// Minimum number of words from which a piece must contain one of them.
const ENGLISH_FROM: usize = 4;

pub(super) fn is_english(text: &str) -> bool {
    let words = lower_words(text);
    text.chars().filter(|c| c.is_alphabetic()).all(|c| c < '\u{250}')
        && (words.len() < ENGLISH_FROM || words.iter().any(|word| ENGLISH.contains(&word.as_str())))
}

/// The words of a text in lower case, with ASCII apostrophes.
fn lower_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_joins_a_piece_to_what_was_said_before_is_left_out() {
        let rest = |text: &'static str| &text[lead_in(text)..];
        assert_eq!(rest("also, and my car failed its mot"), "my car failed its mot");
        assert_eq!(rest("- bought a kayak"), "bought a kayak");
        assert_eq!(rest("so"), "so");
        assert_eq!(rest("Android is what I use"), "Android is what I use");
    }

    #[test]
    fn longer_pieces_without_an_english_word_are_of_another_language() {
        for text in ["Knee is bad again.", "bought a kayak", "ok"] {
            assert!(is_english(text), "{text}");
        }
        for text in ["Wir fahren morgen früh nach Hause zurück", "350 cada una gastos", "猫が大好きです。とても"]
        {
            assert!(!is_english(text), "{text}");
        }
    }
}
