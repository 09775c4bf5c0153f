//! The loop guard: recently shown memories must not be recorded again as new.
//!
//! A person or a program may paste a pack into a turn, and a model repeats its context. Neither is new information.

use std::collections::HashSet;
use std::ops::Range;

use crate::id::ItemId;

/// Words in a shingle.
const SHINGLE_WORDS: usize = 5;
/// Fewest words of a sentence that is compared with a part of a longer memory.
const CONTAINED_WORDS_MIN: usize = 4;
/// Percentage of a sentence's shingles that one memory must contain.
const OVERLAP_PERCENT_MIN: usize = 80;
/// Words a repetition may add without new information.
const FILLERS: [&str; 30] = [
    "a",
    "an",
    "the",
    "and",
    "that",
    "so",
    "as",
    "be",
    "been",
    "being",
    "of",
    "to",
    "in",
    "on",
    "at",
    "said",
    "say",
    "mentioned",
    "told",
    "remember",
    "noted",
    "earlier",
    "before",
    "previously",
    "also",
    "well",
    "yes",
    "right",
    "ok",
    "then",
];

/// Recently shown texts, for comparison.
#[derive(Debug, Clone, Default)]
pub struct Echo {
    shown: Vec<RecentTexts>,
}

#[derive(Debug, Clone)]
struct RecentTexts {
    /// The words, each with a space before and after it.
    line: String,
    words: HashSet<String>,
    shingles: HashSet<String>,
}

impl Echo {
    /// Takes memory texts or lines of a pack; a pack's labels are removed.
    pub fn new<'a>(shown: impl Iterator<Item = &'a str>) -> Self {
        let shown = shown.map(|text| words(unlabelled(text)[0])).filter(|words| !words.is_empty()).map(|words| {
            RecentTexts { line: spaced(&words), shingles: shingles(&words), words: words.into_iter().collect() }
        });
        Self { shown: shown.collect() }
    }

    /// True if the sentence contains nothing new.
    ///
    /// It equals a shown memory; or has at least four words and occurs in one verbatim; or four fifths of its five-word
    /// shingles occur in one and it adds no other words than fillers. "I" and "you" are equal, since a repetition swaps
    /// them. One other name, number or "not" makes it new.
    ///
    /// A sentence of several lines may be several memories below one another: each line is then compared alone.
    pub fn covers(&self, sentence: &str) -> bool {
        let lines = || sentence.lines().map(str::trim).filter(|line| !line.is_empty());
        let below_one_another = || lines().all(|line| self.covers_line(line) || self.opens_one(line));
        self.covers_line(sentence) || (lines().nth(1).is_some() && below_one_another())
    }

    /// True if a shown memory begins with these words, because sentence ends are only guessed.
    fn opens_one(&self, line: &str) -> bool {
        let opens = |line: &&str| {
            let line = spaced(&words(line));
            self.shown.iter().any(|shown| shown.line.starts_with(&line))
        };
        unlabelled(line).iter().any(opens)
    }

    fn covers_line(&self, sentence: &str) -> bool {
        unlabelled(sentence).iter().any(|text| self.covers_words(text))
    }

    fn covers_words(&self, text: &str) -> bool {
        let words = words(text);
        if words.is_empty() {
            return false;
        }
        let line = spaced(&words);
        let shingles = shingles(&words);
        self.shown.iter().any(|shown| {
            shown.line == line
                || (words.len() >= CONTAINED_WORDS_MIN && shown.line.contains(&line))
                || (!shingles.is_empty()
                    && shingles.intersection(&shown.shingles).count() * 100 >= shingles.len() * OVERLAP_PERCENT_MIN
                    && words.iter().all(|word| shown.words.contains(word) || FILLERS.contains(&word.as_str())))
        })
    }
}

/// The words in lower case, with the second person mapped to the first.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let mut words = Vec::new();
    for word in lower.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        match word.trim_matches('\'') {
            "" => {}
            "i" | "you" | "me" => words.push("i".to_owned()),
            "my" | "your" | "mine" | "yours" => words.push("my".to_owned()),
            "am" | "are" => words.push("be".to_owned()),
            "i'm" | "you're" => words.extend(["i".to_owned(), "be".to_owned()]),
            "i've" | "you've" => words.extend(["i".to_owned(), "have".to_owned()]),
            "myself" | "yourself" => words.push("myself".to_owned()),
            other => words.push(other.to_owned()),
        }
    }
    words
}

fn spaced(words: &[String]) -> String {
    format!(" {} ", words.join(" "))
}

fn shingles(words: &[String]) -> HashSet<String> {
    words.windows(SHINGLE_WORDS).map(|window| window.join(" ")).collect()
}

/// Longest name of a speaker, in words.
const SPEAKER_WORDS_MAX: usize = 5;
/// What a pack puts before statements read from a source.
const NOTED: &str = "(noted: ";

/// The readings of a line: a pack's line without its mark, and also without its speaker if it has one; any other text
/// unchanged. Packs of earlier versions began a line with `- [id · date · speaker · trust] `.
fn unlabelled(line: &str) -> Vec<&str> {
    let trimmed = line.trim_start_matches(['>', ' ', '\t']);
    if let Some((label, words)) = trimmed.strip_prefix("- [").and_then(|label| label.split_once("] "))
        && label.matches(" · ").count() >= 3
    {
        return vec![words];
    }
    if let Some(noted) = trimmed.strip_prefix(NOTED) {
        return vec![noted.trim_end_matches(')')];
    }
    let Some((_, words)) =
        trimmed.strip_prefix('[').and_then(|rest| rest.split_once("] ")).filter(|(mark, _)| is_mark(mark))
    else {
        return vec![line];
    };
    let words = words.split_once(" (noted: ").map_or(words, |(words, _)| words);
    let said = words.split_once(": ").filter(|(who, _)| who.split_whitespace().count() <= SPEAKER_WORDS_MAX);
    std::iter::once(words).chain(said.map(|(_, said)| said)).collect()
}

/// A number, or an item's id.
fn is_mark(mark: &str) -> bool {
    let mark = mark.strip_suffix('~').unwrap_or(mark);
    let is_number = !mark.is_empty() && mark.chars().all(|c| c.is_ascii_digit());
    is_number || mark.parse::<ItemId>().is_ok()
}

/// The start of a pack.
const OPENING: &str = "<memory user=\"";
/// The end of a pack.
const CLOSING: &str = "</memory>";

/// The byte ranges of a text outside quoted packs, in order and not empty.
///
/// A pack without an end extends over the lines that look like a pack's. Quoting with `> ` is ignored.
pub fn strip_packs(text: &str) -> Vec<Range<usize>> {
    // ASCII lower-casing keeps byte positions.
    let lower = text.to_ascii_lowercase();
    let mut outside = Vec::new();
    let mut from = 0;
    let mut seek = 0;
    while let Some(found) = lower[seek..].find(OPENING) {
        let start = seek + found;
        let tag_end = lower[start..].find('>').map_or(lower.len(), |at| start + at + 1);
        let tag = &lower[start..tag_end];
        if !(tag.contains("\" version=\"") || tag.contains("\" part=\"")) || tag.contains('\n') {
            seek = start + OPENING.len();
            continue;
        }
        let next_opening = lower[tag_end..].find(OPENING).map_or(lower.len(), |at| tag_end + at);
        let end = match lower[tag_end..next_opening].find(CLOSING) {
            Some(at) => tag_end + at + CLOSING.len(),
            None => tag_end + packlike(&text[tag_end..next_opening]),
        };
        if start > from {
            outside.push(from..start);
        }
        from = end;
        seek = end;
    }
    if from < text.len() {
        outside.push(from..text.len());
    }
    outside
}

/// Length in bytes of the leading lines that look like a pack's.
fn packlike(text: &str) -> usize {
    const STARTS: [&str; 6] = [
        OPENING_WORDS,
        "## ",
        "- ",
        "memory has nothing about this",
        "memory may have nothing about this",
        "not shown for lack of room",
    ];
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_start_matches(['>', ' ', '\t']).to_ascii_lowercase();
        let plain = plain.trim_end();
        let is_marked =
            plain.strip_prefix('[').and_then(|rest| rest.split_once("] ")).is_some_and(|(mark, _)| is_mark(mark));
        // "2026-03-05 Thu"; earlier versions left the day of the week out.
        let (date, weekday) = plain.split_once(' ').unwrap_or((plain, ""));
        let is_date = date.len() == 10
            && date.chars().all(|c| c.is_ascii_digit() || c == '-')
            && (weekday.is_empty() || weekday.len() == 3 && weekday.chars().all(char::is_alphabetic));
        if !plain.is_empty() && !is_marked && !is_date && !STARTS.iter().any(|start| plain.starts_with(start)) {
            break;
        }
        length += line.len();
    }
    length
}

/// The introduction of a pack.
const OPENING_WORDS: &str = "reference data from long-term memory";
