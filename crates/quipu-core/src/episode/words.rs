//! Splits turns into words and sentences for topics, titles and summaries.
//!
//! Recall's tokens lose the original form. Here it is preserved: hyphens and apostrophes stay inside a word
//! ("self-care", "don't"), and only comparisons use the stem.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use serde::Deserialize;

/// Maximum number of bytes read of a turn: its subject is usually at the start, and pasted files must not cause stalls.
const TURN_BYTES_READ_MAX: usize = 8 * 1024;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));

/// Maximum number of digits of list numbers and days of a month.
const MARK_DIGITS_MAX: usize = 2;

/// Modal verbs missing from the NLTK list.
const MORE_STOP_WORDS: [&str; 6] = ["would", "could", "might", "may", "must", "shall"];

/// Casual spellings of stop words. Those that are words of their own ("ill", "shed", "well", "were") are left out.
const CASUAL_STOP_WORDS: [&str; 48] = [
    "im", "ive", "thats", "its", "hes", "shes", "theyre", "theyve", "theyll", "youre", "youve", "youll", "weve",
    "itll", "dont", "doesnt", "didnt", "cant", "couldnt", "wont", "wouldnt", "shouldnt", "isnt", "arent", "wasnt",
    "werent", "havent", "hasnt", "hadnt", "aint", "whats", "whos", "wheres", "theres", "heres", "lets", "u", "ur", "n",
    "w", "tho", "cos", "coz", "cuz", "bc", "til", "abt", "b4",
];

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    stop_words::lookup("en")
        .unwrap_or_default()
        .iter()
        .copied()
        .chain(MORE_STOP_WORDS)
        .chain(CASUAL_STOP_WORDS)
        .collect()
});

/// The word lists of `english.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct English {
    pub(super) abbreviations: HashSet<String>,
    pub(super) intensifiers: HashSet<String>,
    pub(super) before_noun: HashSet<String>,
    pub(super) before_verb: HashSet<String>,
    pub(super) vague: HashSet<String>,
    pub(super) commitments: Vec<String>,
    pub(super) first_person: HashSet<String>,
    pub(super) second_person: HashSet<String>,
    pub(super) leaning: HashSet<String>,
    pub(super) requests: Vec<String>,
    pub(super) clause_start: HashSet<String>,
    pub(super) opening: HashSet<String>,
    pub(super) not_noun_endings: Vec<String>,
}

/// The lists, parsed once.
pub(super) fn english() -> &'static English {
    #[expect(clippy::expect_used, reason = "the lists are part of the program and a test reads them")]
    static LISTS: LazyLock<English> =
        LazyLock::new(|| toml::from_str(include_str!("english.toml")).expect("the built-in word lists are read"));
    &LISTS
}

/// One word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentenceWord {
    /// Lower case, straight apostrophes, without possessive 's.
    pub(super) lower: String,
    /// Stem used for comparison; `None` for a stop word.
    pub(super) stem: Option<String>,
    /// Byte range in the turn's text, without possessive 's.
    pub(super) span: Range<usize>,
    /// True if only a blank separates it from the previous word ("kids' books" included).
    pub(super) joined: bool,
}

/// One sentence of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    /// Byte range in the turn's text, trimmed.
    pub(super) span: Range<usize>,
    /// Its words, in order; empty for a lone emoticon.
    pub(super) words: Vec<SentenceWord>,
}

/// Splits a text into sentences. Skips fenced code.
pub(super) fn read(text: &str) -> Vec<Sentence> {
    sentence_spans(text).into_iter().map(|span| Sentence { words: words(text, span.clone()), span }).collect()
}

/// Byte ranges of the sentences. Splits after `.`, `!`, `?`, `…` and closing marks before a blank, at line ends, and
/// after the full stops of scripts without spaces; never after an abbreviation, an initial, or a list number.
pub(super) fn sentence_spans(text: &str) -> Vec<Range<usize>> {
    let text = &text[..text.floor_char_boundary(TURN_BYTES_READ_MAX)];
    let mut spans = Vec::new();
    let mut fenced = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            cut_line(text, start..at, &mut spans);
        }
    }
    spans
}

fn cut_line(text: &str, line: Range<usize>, spans: &mut Vec<Range<usize>>) {
    let mut start = line.start;
    let mut chars = text[line.clone()].char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let after = line.start + offset + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' | ')' | '"' | '\u{201d}' => {
                let closed = text[start..after].trim_end_matches([')', '"', '\u{201d}']);
                let blank = chars.peek().is_some_and(|(_, next)| next.is_whitespace());
                let ends = closed.ends_with(['.', '!', '?', '…']) && !ends_in_abbreviation(closed);
                blank && ends && !ends_in_mark(closed, &text[after..line.end])
            }
            _ => false,
        };
        if ends {
            push_trimmed(text, start..after, spans);
            start = after;
        }
    }
    push_trimmed(text, start..line.end, spans);
}

fn ends_in_abbreviation(sentence: &str) -> bool {
    let Some(before) = sentence.strip_suffix('.') else { return false };
    let last = before.rsplit(char::is_whitespace).next().unwrap_or_default().trim_start_matches(['(', '"']);
    let initial = last.chars().count() == 1 && last.starts_with(char::is_uppercase) && last != "I";
    initial || english().abbreviations.contains(last.to_lowercase().as_str())
}

/// Returns true for a list number, and for a day before a lower-case month: "1. Mix", "3. mai".
fn ends_in_mark(sentence: &str, rest: &str) -> bool {
    let Some(before) = sentence.strip_suffix('.') else { return false };
    let words = before.trim_start_matches(|c: char| !c.is_alphanumeric());
    let last = words.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_number = (1..=MARK_DIGITS_MAX).contains(&last.len()) && last.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (last.len() == words.len() || rest.trim_start().starts_with(char::is_lowercase))
}

fn push_trimmed(text: &str, span: Range<usize>, spans: &mut Vec<Range<usize>>) {
    let inner = &text[span.clone()];
    let start = span.start + inner.len() - inner.trim_start().len();
    let end = start + inner.trim().len();
    if end > start {
        spans.push(start..end);
    }
}

fn words(text: &str, sentence: Range<usize>) -> Vec<SentenceWord> {
    let mut found: Vec<SentenceWord> = Vec::new();
    let mut at = sentence.start;
    while let Some(c) = text[at..sentence.end].chars().next() {
        if !c.is_alphanumeric() {
            at += c.len_utf8();
            continue;
        }
        let end = at + word_length(&text[at..sentence.end]);
        let joined = found.last().is_some_and(|last| is_blank(&text[last.span.end..at]));
        found.push(word(text, at..end, joined));
        at = end;
    }
    found
}

fn is_blank(between: &str) -> bool {
    matches!(between, "" | " " | "'s " | "\u{2019}s " | "' " | "\u{2019} ")
}

/// Byte length of the word a text starts with: letters and digits, with single apostrophes and hyphens between them,
/// and separators within a number: "81.4kg", "1,160".
fn word_length(rest: &str) -> usize {
    let (mut length, mut before) = (0, ' ');
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        let inside = match (c, chars.peek()) {
            ('\'' | '\u{2019}' | '-' | '\u{2011}', Some(next)) => next.is_alphanumeric(),
            ('.' | ',', Some(next)) => before.is_ascii_digit() && next.is_ascii_digit(),
            _ => false,
        };
        if !c.is_alphanumeric() && !inside {
            break;
        }
        length += c.len_utf8();
        before = c;
    }
    length
}

/// Lower case with straight apostrophes.
pub(super) fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase().replace('\u{2019}', "'") }
}

fn word(text: &str, mut span: Range<usize>, joined: bool) -> SentenceWord {
    let mut lower = lower(&text[span.clone()]);
    // "it's" and "let's" are contractions, "Anna's" is a possessive; a stop word has no possessive.
    if let Some(base) = lower.strip_suffix("'s").filter(|base| !STOP_WORDS.contains(base) && *base != "let") {
        lower.truncate(base.len());
        let whole = &text[span.clone()];
        span.end = span.start + whole.rfind(['\'', '\u{2019}']).unwrap_or(whole.len());
    }
    let base = lower.split('\'').next().unwrap_or_default();
    let stop = STOP_WORDS.contains(lower.as_str()) || (base.len() < lower.len() && STOP_WORDS.contains(base));
    let stem = (!stop).then(|| if lower.is_ascii() { STEMMER.stem(&lower).into_owned() } else { lower.clone() });
    SentenceWord { lower, stem, span, joined }
}
