//! Checks whether a model's quotes, values, names and numbers occur in the text, in any language.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

/// Maximum length of a quote in bytes; a longer one would support anything.
const QUOTE_BYTES_MAX: usize = 600;
/// Maximum number of words omitted between two words of a quote.
const GAP_WORDS_MAX: usize = 12;
/// Minimum length of the common prefix of words with the same stem.
const STEM_CHARS_MIN: usize = 4;
/// Maximum distance in words of a denial before what it denies.
const DENIAL_WORDS_MAX: usize = 3;
/// Number of frequent words that identify a language.
const CAPITALISING_WORDS_MIN: usize = 2;

/// A word of a text with its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlacedWord {
    folded: String,
    range: Range<usize>,
}

/// Returns true for scripts without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{0e00}'..='\u{0e7f}')
}

fn fold(c: char) -> String {
    let c = match c {
        '\u{2019}' | '\u{2018}' | '\u{02bc}' => '\'',
        // Full-width digits and letters.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    };
    c.to_lowercase().filter(|c| !matches!(c, '\u{0300}'..='\u{036f}')).collect()
}

/// The words of a text; in scripts without spaces, each character is a word.
fn words(text: &str) -> Vec<PlacedWord> {
    let mut all: Vec<PlacedWord> = Vec::new();
    let mut open = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if is_unspaced(c) {
            all.push(PlacedWord { folded: fold(c), range: at..end });
            open = false;
        } else if c.is_alphanumeric() || matches!(c, '\u{0300}'..='\u{036f}') {
            match all.last_mut().filter(|_| open) {
                Some(word) => {
                    word.folded.push_str(&fold(c));
                    word.range.end = end;
                }
                None => all.push(PlacedWord { folded: fold(c), range: at..end }),
            }
            open = true;
        } else {
            // "don't" is one word, "Tom's" is two.
            let is_not = matches!(c, '\'' | '\u{2019}')
                && all.last().is_some_and(|word| open && word.folded.ends_with('n'))
                && text[end..].starts_with(['t', 'T']);
            open = is_not;
        }
    }
    all
}

/// Locates a quote in a text: its words in order, with case and diacritics folded and gaps where the model omitted
/// words.
pub(super) fn place(text: &str, quote: &str) -> Option<Range<usize>> {
    if quote.len() > QUOTE_BYTES_MAX {
        return None;
    }
    let (there, quoted) = (words(text), words(quote));
    let first = quoted.first()?;
    let starts = there.iter().enumerate().filter(|(_, word)| word.folded == first.folded).map(|(at, _)| at);
    let found = starts.filter_map(|start| Some((start, follows(&there, start, &quoted)?)));
    let (start, end) = found.min_by_key(|(start, end)| end - start)?;
    Some(there[start].range.start..there[end].range.end)
}

/// Index of the last word of a quote that begins at `start`.
fn follows(there: &[PlacedWord], start: usize, quoted: &[PlacedWord]) -> Option<usize> {
    let mut at = start;
    for word in &quoted[1..] {
        let near = there[at + 1..].iter().take(GAP_WORDS_MAX + 1);
        at += 1 + near.into_iter().position(|held| held.folded == word.folded)?;
    }
    Some(at)
}

/// The words of the window and of the known items.
pub(super) struct Vocabulary {
    words: BTreeSet<String>,
    nouns_have_capitals: bool,
}

impl Vocabulary {
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut all: BTreeSet<String> = texts.flat_map(words).map(|word| word.folded).collect();
        let spelled: Vec<String> = all.iter().filter_map(|word| WORDS.numbers.get(word).cloned()).collect();
        all.extend(spelled);
        // "7h30" contains 7 and 30.
        let runs = all.iter().flat_map(|word| word.split(|c: char| !c.is_ascii_digit())).map(str::to_owned);
        let runs: Vec<String> = runs.filter(|run| !run.is_empty()).collect();
        all.extend(runs);
        let nouns_have_capitals =
            WORDS.capitals.values().any(|list| list.intersection(&all).count() >= CAPITALISING_WORDS_MIN);
        Self { words: all, nouns_have_capitals }
    }

    /// Returns true if it contains a word or another form of it.
    fn has(&self, word: &str) -> bool {
        if self.words.contains(word) {
            return true;
        }
        let digits = word.chars().any(|c| c.is_ascii_digit());
        if digits {
            let number: String = word.chars().filter(char::is_ascii_digit).collect();
            return self.words.iter().any(|held| held.chars().filter(char::is_ascii_digit).eq(number.chars()));
        }
        self.words.iter().any(|held| alike(held, word))
    }

    /// The first name or number of a sentence that was not mentioned. `known` are additional permitted words.
    pub(super) fn invented(&self, sentence: &str, known: &dyn Fn(&str) -> bool) -> Option<String> {
        let mut starts = true;
        for word in words(sentence) {
            let written = &sentence[word.range.clone()];
            let number = written.starts_with(|c: char| c.is_ascii_digit());
            let name = written.starts_with(char::is_uppercase) && !starts && !self.nouns_have_capitals;
            starts = sentence[word.range.end..].starts_with(['.', '!', '?', ':']);
            if (number || name) && !known(&word.folded) && !self.has(&word.folded) {
                return Some(written.to_owned());
            }
        }
        None
    }

    /// The share of a value's words that were mentioned.
    pub(super) fn share_said(&self, value: &str) -> f64 {
        let all: Vec<PlacedWord> = words(value).into_iter().filter(|word| carries(&word.folded)).collect();
        if all.is_empty() {
            return f64::from(u8::from(!value.trim().is_empty()));
        }
        all.iter().filter(|word| self.has(&word.folded)).count() as f64 / all.len() as f64
    }
}

/// Whether a sentence has a content word of a value, in any form or as a part of another word ("motorbikes" of "bikes").
/// True for a value without content words.
pub(super) fn has_word_of(sentence: &str, value: &str) -> bool {
    let there = words(sentence);
    let is_part = |held: &str, word: &str| word.chars().count() >= STEM_CHARS_MIN && held.contains(word);
    let is_there = |word: &str| {
        there.iter().any(|held| held.folded == word || alike(&held.folded, word) || is_part(&held.folded, word))
    };
    let mut content = words(value).into_iter().filter(|word| carries(&word.folded)).peekable();
    content.peek().is_none() || content.any(|word| is_there(&word.folded))
}

/// Returns true for a content word: at least three characters, a number, or a character of a script without spaces.
fn carries(word: &str) -> bool {
    word.chars().count() >= 3 || word.chars().any(|c| is_unspaced(c) || c.is_ascii_digit())
}

/// Returns true if two words are forms of the same word.
fn alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.chars().count() <= other.chars().count() { (one, other) } else { (other, one) };
    let shared = short.chars().zip(long.chars()).take_while(|(a, b)| a == b).count();
    let least = short.chars().count();
    shared >= STEM_CHARS_MIN.max(least.saturating_sub(2)) || (least == 3 && shared == 3 && long.chars().count() <= 4)
}

/// The word lists of `words.toml`.
#[derive(Debug, Deserialize)]
struct WordLists {
    capitals: BTreeMap<String, BTreeSet<String>>,
    says: BTreeMap<String, BTreeSet<String>>,
    numbers: BTreeMap<String, String>,
    #[serde(flatten)]
    before: BTreeMap<String, BTreeSet<String>>,
}

static WORDS: LazyLock<WordLists> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the list is part of the program and a test reads it")]
    toml::from_str(include_str!("words.toml")).expect("the built-in denials are well formed")
});

fn is_denial(word: &str) -> bool {
    WORDS.before.values().any(|list| list.contains(word))
}

/// Returns true if a denial directly precedes a value, without punctuation between them.
pub(super) fn denied(text: &str, span: &Range<usize>, value: &str) -> bool {
    let quote = &text[span.clone()];
    let quoted = words(quote);
    let said: Vec<String> = words(value).into_iter().map(|word| word.folded).filter(|word| carries(word)).collect();
    let Some(first) = quoted.iter().position(|word| said.iter().any(|one| alike(one, &word.folded))) else {
        return false;
    };
    let near = &quoted[first.saturating_sub(DENIAL_WORDS_MAX)..first];
    near.iter().any(|word| {
        let between = &quote[word.range.end..quoted[first].range.start];
        is_denial(&word.folded) && !between.contains([',', ';', '.', ':', '!', '?', '\u{2014}', '\n'])
    })
}

/// Returns true if a sentence denies something.
pub(super) fn denies(sentence: &str) -> bool {
    let says = |word: &str| WORDS.says.values().any(|list| list.contains(word));
    words(sentence).iter().any(|word| is_denial(&word.folded) || says(&word.folded))
}
