//! From a question to what will be looked for.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::dates::{self, NamedDate};
use super::index::Index;
use super::intent::Intent;
use super::intervals::{self, Interval};
use super::tokens::{self, Word};
use super::validity::Validity;
use super::when;
use crate::id::ItemKind;
use crate::limit;
use crate::refusal::Refusal;

/// What may be returned. An empty list leaves its side open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only items of these sessions.
    pub sessions: Vec<Arc<str>>,
    /// Only items of these kinds.
    pub kinds: Vec<ItemKind>,
}

impl Filter {
    /// True if everything may be returned.
    pub fn is_open(&self) -> bool {
        self.sessions.is_empty() && self.source_kinds().is_empty()
    }

    /// The kinds that sources are narrowed to. Where drawn items are asked for, every source may speak for them.
    pub(super) fn source_kinds(&self) -> &[ItemKind] {
        let drawn =
            |kind: &ItemKind| !matches!(kind, ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import);
        if self.kinds.iter().any(drawn) { &[] } else { &self.kinds }
    }

    /// True if items of this kind may be returned.
    pub fn admits_kind(&self, kind: ItemKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// A question to a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The question, in words.
    pub text: String,
    /// How many items to return at most.
    pub k: usize,
    /// What "today" and "yesterday" refer to; without it they are ordinary words.
    pub now: Option<Timestamp>,
    /// What may be returned.
    pub filter: Filter,
    /// For which time statements are asked; without it the question's own words decide.
    pub validity: Option<Validity>,
    /// What it is for; without it the question's own words decide.
    pub intent: Option<Intent>,
}

/// What a question asks for, as far as it can be told from its words and the index's authors.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Distinct terms to find, names of authors left out unless nothing else is asked.
    pub terms: Vec<String>,
    /// Authors the question names, each once, by number in the index.
    pub(super) named: Vec<u32>,
    /// The author the question names, if it names exactly one.
    pub speaker: Option<Arc<str>>,
    /// Dates the question names.
    pub dates: Vec<NamedDate>,
    /// Stretches of time it names relative to today.
    pub intervals: Vec<Interval>,
    /// The question as it was put.
    pub text: String,
    /// What "today" refers to.
    pub now: Option<Timestamp>,
    /// True if it asks for a time.
    pub asks_when: bool,
    /// What it is for.
    pub intent: Intent,
    /// What to embed: the question as the named authors would put it.
    pub first_person_text: String,
    /// How many items to return at most.
    pub k: usize,
    /// What may be returned.
    pub filter: Filter,
    /// For which time statements are asked.
    pub validity: Validity,
}

impl Plan {
    /// Reads a question.
    ///
    /// # Errors
    /// `Invalid`: the text is blank or longer than [`limit::QUERY_BYTES_MAX`], or `k` is 0 or over
    /// [`limit::RECALL_K_MAX`].
    pub fn new(index: &Index, query: Query) -> Result<Self, Refusal> {
        if query.text.trim().is_empty() {
            return Err(Refusal::invalid("the query is empty"));
        }
        if query.text.len() > limit::QUERY_BYTES_MAX {
            return Err(Refusal::invalid(format!(
                "the query has {} bytes, at most {} are read",
                query.text.len(),
                limit::QUERY_BYTES_MAX
            )));
        }
        if query.k == 0 || query.k > limit::RECALL_K_MAX {
            return Err(Refusal::invalid(format!(
                "1 to {} items can be asked for, not {}",
                limit::RECALL_K_MAX,
                query.k
            )));
        }
        let words = tokens::words(&query.text);
        let mentions = mentions(index, &query.text, &words);
        let mut named: Vec<u32> = mentions.iter().map(|mention| mention.author).collect();
        named.sort_unstable();
        named.dedup();
        let dates = dates::named_dates(&query.text);
        let today = query.now.map(|now| now.to_zoned(TimeZone::UTC).date());
        let intervals = today.map(|today| intervals::intervals(&query.text, &words, today)).unwrap_or_default();
        let validity = query.validity.unwrap_or_else(|| validity(&words, &intervals, today));
        let only = if let [only] = named[..] { Some(only) } else { None };
        Ok(Self {
            terms: terms(&words, &mentions),
            speaker: only.and_then(|author| index.author(author)).cloned(),
            dates,
            intent: query.intent.unwrap_or_else(|| Intent::of(&words)),
            intervals,
            asks_when: when::asks_when(&words),
            now: query.now,
            first_person_text: first_person(&query.text, &words, &mentions),
            named,
            k: query.k,
            text: query.text,
            validity,
            filter: query.filter,
        })
    }

    /// The one author named, by number in the index.
    pub(super) fn speaker_number(&self) -> Option<u32> {
        if let [only] = self.named[..] { Some(only) } else { None }
    }
}

/// Words of a question that name an author.
struct Mention {
    author: u32,
    first: usize,
    /// The word after the last.
    end: usize,
}

fn mentions(index: &Index, text: &str, words: &[Word]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match longest_name(index, text, words, at) {
            Some((author, length)) => {
                found.push(Mention { author, first: at, end: at + length });
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

/// The author whose whole name starts at a word, else the only one with that first name.
fn longest_name(index: &Index, text: &str, words: &[Word], at: usize) -> Option<(u32, usize)> {
    let candidates = index.authors_starting_with(&words[at].lower);
    let is_whole = |name: &[String]| {
        words.len() - at >= name.len() && name.iter().zip(&words[at..]).all(|(part, word)| *part == word.lower)
    };
    let whole = candidates.iter().filter(|author| is_whole(&author.name)).max_by_key(|author| author.name.len());
    let (author, length) = match (whole, candidates) {
        (Some(author), _) => (author.number, author.name.len()),
        (None, [only]) => (only.number, 1),
        _ => return None,
    };
    let word = &words[at];
    // "Will", "May" and "Art" are names only where they are written like one and do not open the sentence.
    let doubtful = length == 1
        && (tokens::is_stop_word(&word.lower)
            || matches!(word.lower.as_str(), "will" | "may" | "mark" | "art" | "grace" | "hope" | "april" | "june"));
    let written_like_a_name = text[word.start..].starts_with(char::is_uppercase);
    let opens = at == 0 && !word.is_possessive();
    (!doubtful || (written_like_a_name && !opens)).then_some((author, length))
}

fn terms(words: &[Word], mentions: &[Mention]) -> Vec<String> {
    let is_name = |at: usize| mentions.iter().any(|mention| (mention.first..mention.end).contains(&at));
    let distinct = |keep_names: bool| {
        let mut terms: Vec<String> = Vec::new();
        for (_, word) in words.iter().enumerate().filter(|(at, _)| keep_names || !is_name(*at)) {
            if let Some(term) = tokens::term_of(&word.lower).filter(|term| !terms.contains(term)) {
                terms.push(term);
            }
        }
        terms
    };
    let without = distinct(false);
    if without.is_empty() { distinct(true) } else { without }
}

/// `Anna's` becomes `my`, `Anna` becomes `I`: turns are said in the first person, and so should the question be. With two
/// names both are replaced, which was measured to find more than leaving them.
fn first_person(text: &str, words: &[Word], mentions: &[Mention]) -> String {
    let mut said = String::with_capacity(text.len());
    let mut copied = 0;
    for mention in mentions {
        let (first, last) = (&words[mention.first], &words[mention.end - 1]);
        said.push_str(&text[copied..first.start]);
        said.push_str(if last.is_possessive() { "my" } else { "I" });
        copied = last.end_possessive;
    }
    said.push_str(&text[copied..]);
    said
}

/// Words that ask for what was, whatever the time.
const HISTORY: [&[&str]; 8] = [
    &["used", "to"],
    &["previously"],
    &["formerly"],
    &["in", "the", "past"],
    &["history"],
    &["over", "the", "years"],
    &["ever"],
    &["back", "then"],
];

/// For which time statements are asked: a time that is over, all times, or now.
fn validity(words: &[Word], intervals: &[Interval], today: Option<Date>) -> Validity {
    let over = |interval: &&Interval| today.is_some_and(|today| interval.is_before(today));
    if let Some(interval) = intervals.iter().find(over) {
        let start =
            |date: Option<Date>| date.and_then(|date| date.to_zoned(TimeZone::UTC).ok()).map(|at| at.timestamp());
        let (from, until) = (start(interval.from), start(interval.until));
        return Validity::Within(from.unwrap_or(Timestamp::MIN), until.unwrap_or(Timestamp::MAX));
    }
    if HISTORY.iter().any(|phrase| tokens::has_phrase(words, phrase)) { Validity::Ever } else { Validity::Now(None) }
}
