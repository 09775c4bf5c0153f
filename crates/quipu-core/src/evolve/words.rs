//! Word lists and tokenizing for mining keys and sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::episode;

/// `english.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    generic: Vec<String>,
    names: BTreeMap<String, CanonicalTerm>,
    fields: Vec<FieldCue>,
}

/// The category for a term.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CanonicalTerm {
    pub(super) name: String,
    pub(super) about: String,
}

/// Signs that a sentence belongs in a field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldCue {
    pub(super) name: String,
    #[serde(default)]
    pub(super) list: bool,
    #[serde(default)]
    pub(super) amount: bool,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    phrases: Vec<String>,
    #[serde(default)]
    number_of: Vec<String>,
}

/// The lists, by stem.
pub(super) struct English {
    generic: BTreeSet<String>,
    names: BTreeMap<String, CanonicalTerm>,
    pub(super) fields: Vec<FieldCue>,
}

pub(super) fn english() -> &'static English {
    #[expect(clippy::expect_used, reason = "the lists are part of the program and a test reads them")]
    static ENGLISH: LazyLock<English> = LazyLock::new(|| {
        let file: File = toml::from_str(include_str!("english.toml")).expect("the built-in lists are read");
        English {
            generic: file.generic.iter().map(|word| stem(word)).collect(),
            names: file.names.into_iter().map(|(word, named)| (stem(&word), named)).collect(),
            fields: file.fields,
        }
    });
    &ENGLISH
}

impl English {
    /// The category for a term, if the list has one.
    pub(super) fn named(&self, term: &str) -> Option<&CanonicalTerm> {
        self.names.get(&stem(term))
    }
}

impl FieldCue {
    /// True if a sentence belongs in the field.
    pub(super) fn fits(&self, sentence: &str) -> bool {
        let words = plain_words(sentence);
        let has = |phrase: &String| {
            let phrase = plain_words(phrase);
            !phrase.is_empty() && words.windows(phrase.len()).any(|run| run == phrase)
        };
        let stems: BTreeSet<String> = words.iter().map(|word| stem(word)).collect();
        let counted = || {
            let is_number = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
            let unit = |word: &String| self.number_of.contains(word);
            // Matches "6-7 hours", "8h" and "7 or 8 hours".
            words.iter().enumerate().any(|(at, word)| {
                let glued = word.trim_start_matches(|c: char| c.is_ascii_digit());
                let near = words.iter().skip(at + 1).take(3);
                is_number(word) && (near.into_iter().any(unit) || self.number_of.iter().any(|unit| unit == glued))
            })
        };
        self.words.iter().any(|word| stems.contains(&stem(word))) || self.phrases.iter().any(has) || counted()
    }
}

/// A word's stem, or the word if it has none.
pub(super) fn stem(word: &str) -> String {
    episode::content_stem(word).unwrap_or_else(|| word.to_owned())
}

/// True for a word of a key that is neither a stop word nor generic.
pub(super) fn says_something(word: &str) -> bool {
    episode::content_stem(word).is_some_and(|stem| !english().generic.contains(&stem))
}

/// Every word of a text in lower case, with apostrophes.
fn plain_words(text: &str) -> Vec<String> {
    let inside = |c: char| c.is_alphanumeric() || c == '\'' || c == '\u{2019}';
    let words = text.split(|c: char| !inside(c)).filter(|word| !word.is_empty());
    words.map(|word| word.to_lowercase().replace('\u{2019}', "'")).collect()
}

/// The words of a key in lower case, split at marks, digits and capitals.
pub(super) fn key_words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut last_lower = false;
    for c in key.chars() {
        if !c.is_alphabetic() {
            open = false;
            continue;
        }
        if !open || (c.is_uppercase() && last_lower) {
            words.push(String::new());
        }
        open = true;
        last_lower = c.is_lowercase();
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// The words of a key that carry meaning, each with its stem.
pub(super) fn key_terms(key: &str) -> Vec<(String, String)> {
    let text = key_words(key).join(" ");
    let mut terms = episode::telling(&text);
    terms.retain(|(stem, _)| !english().generic.contains(stem));
    terms
}

/// The words of a sentence that carry meaning, each with its stem. Empty for a single word, which is a value.
pub(super) fn sentence_terms(text: &str) -> Vec<(String, String)> {
    if plain_words(text).len() < 2 {
        return Vec::new();
    }
    let mut terms = episode::telling(text);
    terms.retain(|(stem, _)| !english().generic.contains(stem));
    terms
}

/// The stems of every word of a sentence.
pub(super) fn sentence_stems(text: &str) -> BTreeSet<String> {
    plain_words(text).iter().map(|word| stem(word)).collect()
}

/// Joins words to a camel-case name: `sleepHealth`.
pub(super) fn camel(words: &[String]) -> String {
    let mut name = String::new();
    for word in words {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if !name.is_empty() => {
                name.extend(first.to_uppercase());
                name.push_str(letters.as_str());
            }
            _ => name.push_str(word),
        }
    }
    name
}
