//! Stems of words by language.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::language::Language;

static STEMMERS: LazyLock<[Stemmer; Language::ALL.len()]> =
    LazyLock::new(|| Language::ALL.map(|language| Stemmer::new(algorithm(language))));

fn algorithm(language: Language) -> Algorithm {
    match language {
        // Latin words among those of another script are mostly English.
        Language::English | Language::Other => Algorithm::English,
        Language::German => Algorithm::German,
        Language::French => Algorithm::French,
        Language::Spanish => Algorithm::Spanish,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Italian => Algorithm::Italian,
        Language::Dutch => Algorithm::Dutch,
        Language::Swedish => Algorithm::Swedish,
        Language::Danish => Algorithm::Danish,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Russian => Algorithm::Russian,
    }
}

fn stemmed(lower: &str, language: Language) -> Cow<'_, str> {
    STEMMERS[language as usize].stem(lower)
}

/// The stem of a lower-case word of a text in `language`, by Snowball, without accents.
///
/// Cyrillic words are stemmed as Russian in any text. Other scripts have no stems.
pub(super) fn stem(lower: &str, language: Language) -> Cow<'_, str> {
    if lower.is_ascii() {
        return match language {
            Language::Russian => stemmed(lower, Language::English),
            _ => stemmed(lower, language),
        };
    }
    let composed: String = lower.nfkc().collect();
    match composed.chars().next() {
        Some('\u{0400}'..='\u{052f}') => Cow::Owned(without_accents(&stemmed(&composed, Language::Russian))),
        Some('\0'..='\u{024f}' | '\u{1e00}'..='\u{1eff}') => match language {
            // The English stemmer knows no accents.
            Language::English | Language::Other | Language::Russian => {
                Cow::Owned(stemmed(&without_accents(&composed), Language::English).into_owned())
            }
            _ => Cow::Owned(without_accents(&stemmed(&composed, language))),
        },
        Some('\u{0370}'..='\u{03ff}' | '\u{1f00}'..='\u{1fff}') => Cow::Owned(without_accents(&composed)),
        _ => Cow::Owned(composed),
    }
}

/// A word as it is often typed: "cafe" for "café", "strasse" for "straße".
fn without_accents(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for c in word.nfd().filter(|c| !is_combining_mark(*c)) {
        match c {
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' => plain.push('d'),
            'ı' => plain.push('i'),
            _ => plain.push(c),
        }
    }
    plain
}
