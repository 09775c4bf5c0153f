//! Splits a text into search terms.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

/// Maximum length of a term in bytes; longer runs of letters, such as base64, are cut.
const TERM_BYTES_MAX: usize = 64;

/// Modal verbs and a pronoun missing from the NLTK list.
const MORE_STOP_WORDS: [&str; 7] = ["would", "could", "might", "may", "must", "shall", "us"];

/// The extended NLTK list. The longer ISO list loses two points of recall at 10 on LoCoMo, because it contains words
/// people search for.
static STOP_WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| stop_words::lookup("en").unwrap_or_default().iter().copied().chain(MORE_STOP_WORDS).collect());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Synonyms {
    same: Vec<Vec<String>>,
}

/// Words with their canonical synonym.
static SAME: LazyLock<FxHashMap<String, String>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the list is part of the program and a test reads it")]
    let Synonyms { same } =
        toml::from_str(include_str!("../../languages/en/synonyms.toml")).expect("a well-formed list");
    let pairs = |line: Vec<String>| {
        let first = line.first().cloned().unwrap_or_default();
        line.into_iter().skip(1).map(move |word| (word, first.clone())).collect::<Vec<_>>()
    };
    same.into_iter().flat_map(pairs).collect()
});

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));

/// Returns true for English words too common to search for; expects lower case.
pub(in crate::recall) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// A word of a text with its position: lower case, without possessive 's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::recall) struct TextToken {
    pub(in crate::recall) lower: String,
    /// Start of the word in bytes.
    pub(in crate::recall) start: usize,
    /// End of the word, without possessive 's.
    pub(in crate::recall) end: usize,
    /// End of the word, including possessive 's.
    pub(in crate::recall) end_possessive: usize,
}

impl TextToken {
    pub(in crate::recall) fn is_possessive(&self) -> bool {
        self.end_possessive > self.end
    }
}

/// Calls `each` with every term of a text: lower-case words without English stop words, synonyms replaced by the
/// canonical one (`languages/en/synonyms.toml`), stemmed by Porter2.
///
/// A word is a run of letters and digits of any script. In scripts without spaces each character is a term.
pub(crate) fn for_each_term(text: &str, mut each: impl FnMut(&str)) {
    for_each_content_word(text, |lower| each(&term(lower)));
}

/// Calls `each` with every lower-case word that is not a stop word, unstemmed. [`term`] converts it to a term.
pub(crate) fn for_each_content_word(text: &str, mut each: impl FnMut(&str)) {
    for_each_word(text, &mut String::new(), |lower, _| {
        if !is_stop_word(lower) {
            each(lower);
        }
    });
}

/// The term of a lower-case word that is not a stop word.
pub(crate) fn term(lower: &str) -> Cow<'_, str> {
    let lower = SAME.get(lower).map_or(lower, String::as_str);
    if lower.is_ascii() { STEMMER.stem(lower) } else { Cow::Borrowed(lower) }
}

/// The canonical synonym of a lower-case word: "mother" for "mum".
pub(crate) fn plain(word: &str) -> &str {
    SAME.get(word).map_or(word, String::as_str)
}

/// All synonyms of a word, including itself, in alphabetical order.
pub(crate) fn spellings(word: &str) -> Vec<&str> {
    let first = plain(word);
    let mut all: Vec<&str> =
        SAME.iter().filter(|(_, stands)| *stands == first).map(|(word, _)| word.as_str()).collect();
    all.push(first);
    all.sort_unstable();
    all
}

/// The distinct terms of a text, as recall compares them.
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    for_each_term(text, |term| {
        terms.insert(term.to_owned());
    });
    terms
}

/// The term of a word; `None` for a stop word.
pub(in crate::recall) fn term_of(lower: &str) -> Option<String> {
    let mut term = None;
    for_each_term(lower, |found| term = Some(found.to_owned()));
    term
}

/// Returns true if these words occur consecutively in this order.
pub(in crate::recall) fn has_phrase(words: &[TextToken], phrase: &[&str]) -> bool {
    !phrase.is_empty()
        && words.windows(phrase.len()).any(|run| run.iter().zip(phrase).all(|(word, wanted)| word.lower == *wanted))
}

/// The words of a text, including stop words.
pub(in crate::recall) fn words(text: &str) -> Vec<TextToken> {
    let mut words = Vec::new();
    for_each_word(text, &mut String::new(), |lower, span| {
        words.push(TextToken {
            lower: lower.to_owned(),
            start: span.start,
            end: span.end,
            end_possessive: span.end_possessive,
        });
    });
    words
}

struct Span {
    start: usize,
    end: usize,
    end_possessive: usize,
}

fn for_each_word(text: &str, lower: &mut String, mut each: impl FnMut(&str, Span)) {
    let mut at = 0;
    while let Some(c) = char_at(text, at) {
        if !c.is_alphanumeric() {
            at += c.len_utf8();
            continue;
        }
        let start = at;
        lower.clear();
        while let Some(c) = char_at(text, at).filter(|c| c.is_alphanumeric()) {
            let alone = is_unspaced(c);
            if alone && at > start {
                break;
            }
            at += c.len_utf8();
            push_lower(lower, c);
            if alone {
                break;
            }
        }
        let end = at;
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

/// Returns true for Han, Hiragana and Katakana, which are written without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_terms() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("The of and", &[]),
            ("Running runs RAN", &["run", "run", "ran"]),
            ("my sis, my mum's flat", &["sister", "mother", "flat"]),
            ("Anna's dog, the dogs' bowl", &["anna", "dog", "dog", "bowl"]),
            ("Anna\u{2019}s cat", &["anna", "cat"]),
            ("don't we'll I've", &[]),
            ("it's 5'start", &["5", "start"]),
            ("C3PO at 10:30", &["c3po", "10", "30"]),
            ("LGBTQ+ support-group", &["lgbtq", "support", "group"]),
            ("Überraschung in Köln", &["überraschung", "köln"]),
            ("Привет, МИР", &["привет", "мир"]),
            ("東京タワー", &["東", "京", "タ", "ワ", "ー"]),
            ("🎉 party 🎉", &["parti"]),
        ];
        for (text, expected) in table {
            let mut terms = Vec::new();
            for_each_term(text, |term| terms.push(term.to_owned()));
            assert_eq!(&terms, expected, "{text:?}");
        }
    }

    #[test]
    fn words_know_where_they_stand() {
        let text = "Is Zoë's café open?";
        let found: Vec<_> =
            words(text).into_iter().map(|w| (text[w.start..w.end].to_owned(), w.is_possessive())).collect();
        assert_eq!(
            found,
            [("Is", false), ("Zoë", true), ("café", false), ("open", false)].map(|(w, p)| (w.to_owned(), p))
        );
    }

    #[test]
    fn endless_words_are_cut() {
        let mut longest = 0;
        for_each_term(&"x".repeat(10_000), |term| longest = longest.max(term.len()));
        assert!((32..=TERM_BYTES_MAX).contains(&longest));
    }
}
