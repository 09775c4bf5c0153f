//! Extractive summaries, titles and excerpts of a stretch of turns.

use std::collections::BTreeSet;

use super::reading::{Reading, SpokenSentence};
use super::words::english;
use crate::beginning::beginning;
use crate::source::Role;

/// Maximum number of sentences of a summary.
pub const SENTENCES_MAX: usize = 3;

/// Maximum length of a summary in characters, names included.
pub const SUMMARY_CHARS_MAX: usize = 300;

/// Maximum length of an excerpt in characters; affects only very long sentences.
pub const EXCERPT_CHARS_MAX: usize = 2000;

/// Maximum number of words of a title.
pub const TITLE_WORDS_MAX: usize = 10;

/// Maximum length of a title in characters; limits titles of very long words.
pub const TITLE_CHARS_MAX: usize = 80;

/// Maximum number of topics in a title.
const TITLE_TOPICS_MAX: usize = 3;

/// Number of a stretch's best sentences from which its title is taken.
const TITLE_SENTENCES_MAX: usize = 5;

/// A sentence with fewer content words carries little information on its own.
const CONTENT_WORDS_MIN: usize = 4;

/// Minimum gain of a further sentence, as a share of the first one's score.
const GAIN_MIN: f64 = 0.25;

/// Penalty for overlap with the sentences already chosen.
const REDUNDANCY: f64 = 0.8;

/// Title, summary and excerpt of a stretch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StretchSummary {
    pub(super) title: String,
    pub(super) summary: String,
    pub(super) excerpt: String,
}

/// Summarises a stretch in at most [`SENTENCES_MAX`] of its sentences and [`SUMMARY_CHARS_MAX`] characters, in their
/// original order.
///
/// A sentence scores as in MEAD (Radev et al. 2004, *Centroid-based summarization of multiple documents*): the centroid
/// weight of its distinct words, here divided by `√words` so that length alone does not win, and its position, times
/// its relevance for memory ([`regard`]). Sentences are added by maximal marginal relevance (Carbonell and Goldstein
/// 1998). They stay verbatim; only one longer than the whole summary is cut, at a word, with "…". With several
/// speakers, each run of sentences starts with its speaker's name, since "I" would be ambiguous.
pub(super) fn tell(reading: &Reading<'_>, topics: &[String]) -> StretchSummary {
    let scores: Vec<f64> = reading.sentences.iter().enumerate().map(|(at, said)| score(reading, at, said)).collect();
    let chosen = choose(reading, &scores);
    let named = reading.turns.iter().any(|turn| turn.speaker != reading.turns[0].speaker);
    StretchSummary {
        title: title(reading, &scores, topics),
        summary: clipped(&joined(reading, &chosen, named, " "), SUMMARY_CHARS_MAX),
        excerpt: clipped(&joined(reading, &chosen, true, "\n"), EXCERPT_CHARS_MAX),
    }
}

fn score(reading: &Reading<'_>, at: usize, said: &SpokenSentence<'_>) -> f64 {
    let stems: BTreeSet<&str> = stems(said).filter(|stem| reading.weights.contains_key(stem)).collect();
    let centroid: f64 = stems.iter().filter_map(|stem| reading.weights.get(stem)).sum();
    let position = 1.0 - at as f64 / reading.sentences.len() as f64;
    centroid / (stems.len().max(CONTENT_WORDS_MIN) as f64).sqrt() * (1.0 + 0.2 * position) * regard(reading, said)
}

/// Relevance of a sentence for memory, a product of factors: first person only (×1.4), first and second person (×.8),
/// second person only (×.5), a number or a name (×1.15 each), a question (×.25), a person's request (×.25), a reference
/// to the preceding sentence (×.5), a turn of the assistant or a tool (×.6).
fn regard(reading: &Reading<'_>, said: &SpokenSentence<'_>) -> f64 {
    let text = reading.text(said);
    let words = &said.sentence.words;
    let any = |list: &std::collections::HashSet<String>| words.iter().any(|word| list.contains(word.lower.as_str()));
    let source = reading.turns[said.turn].text;
    let mut regard = 1.0;
    regard *= match (any(&english().first_person), any(&english().second_person)) {
        (true, false) => 1.4,
        (true, true) => 0.8,
        (false, true) => 0.5,
        (false, false) => 1.0,
    };
    if words.iter().any(|word| word.lower.starts_with(|c: char| c.is_ascii_digit())) {
        regard *= 1.15;
    }
    let capital = |span: &std::ops::Range<usize>| source[span.clone()].starts_with(char::is_uppercase);
    if words
        .iter()
        .skip(1)
        .any(|word| word.stem.is_some() && capital(&word.span) && !reading.names.contains(&word.lower))
    {
        regard *= 1.15;
    }
    if text.trim_end_matches([')', '"', '\u{201d}']).ends_with(['?', '？']) {
        regard *= 0.25;
    }
    if reading.turns[said.turn].role == Role::User && is_request(text) {
        regard *= 0.25;
    }
    if words.first().is_some_and(|word| english().leaning.contains(word.lower.as_str())) {
        regard *= 0.5;
    }
    if matches!(reading.turns[said.turn].role, Role::Assistant | Role::System | Role::Tool) {
        regard *= 0.6;
    }
    regard
}

/// Returns true for a request for text: "Give me a recipe."
fn is_request(text: &str) -> bool {
    let lower = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let lower = lower.strip_prefix("please ").unwrap_or(&lower);
    let starts = |phrase: &String| {
        let rest = lower.strip_prefix(phrase.as_str());
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\''))
    };
    english().requests.iter().any(starts)
}

/// Indices of the chosen sentences, in order.
fn choose(reading: &Reading<'_>, scores: &[f64]) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    let mut room = SUMMARY_CHARS_MAX;
    while chosen.len() < SENTENCES_MAX {
        let mut best: Option<(f64, usize)> = None;
        for (at, said) in reading.sentences.iter().enumerate() {
            if chosen.contains(&at) || cost(reading, said) > room {
                continue;
            }
            let gain = scores[at] * (1.0 - REDUNDANCY * overlap(said, &covered));
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, at));
            }
        }
        let Some((gain, at)) = best else { break };
        if !chosen.is_empty() && gain < GAIN_MIN * scores[chosen[0]] {
            break;
        }
        room -= cost(reading, &reading.sentences[at]);
        covered.extend(stems(&reading.sentences[at]));
        chosen.push(at);
    }
    if chosen.is_empty() {
        // Every sentence is longer than the summary.
        chosen.extend((0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a))));
    }
    chosen.sort_unstable();
    chosen
}

/// Length of a sentence in characters, including its speaker's name and separators.
fn cost(reading: &Reading<'_>, said: &SpokenSentence<'_>) -> usize {
    reading.text(said).chars().count() + reading.turns[said.turn].speaker.chars().count() + 3
}

fn stems<'s>(said: &SpokenSentence<'s>) -> impl Iterator<Item = &'s str> {
    said.sentence.words.iter().filter_map(|word| word.stem.as_deref())
}

/// Share of a sentence's content words that are already covered.
fn overlap(said: &SpokenSentence<'_>, covered: &BTreeSet<&str>) -> f64 {
    let all = stems(said).count();
    if all == 0 { 0.0 } else { stems(said).filter(|stem| covered.contains(stem)).count() as f64 / all as f64 }
}

/// Joins the sentences; with `named`, each speaker's run starts with the name.
fn joined(reading: &Reading<'_>, chosen: &[usize], named: bool, between: &str) -> String {
    let mut all = String::new();
    let mut speaker = None;
    for &at in chosen {
        let said = &reading.sentences[at];
        let own = reading.turns[said.turn].speaker;
        let changed = speaker != Some(own);
        if !all.is_empty() {
            all.push_str(if changed { between } else { " " });
        }
        if named && changed {
            all.push_str(own);
            all.push_str(": ");
        }
        all.push_str(reading.text(said));
        speaker = Some(own);
    }
    all
}

/// Truncates to `max` characters, at a word and with "…".
fn clipped(text: &str, max: usize) -> String {
    if text.chars().count() <= max { text.to_owned() } else { format!("{}…", beginning(text, max - 1)) }
}

/// A title of at most [`TITLE_WORDS_MAX`] words in a person's own words: the first clause of the best sentence of a person
/// whose clause is short enough and stands alone, one that names a topic before others; otherwise the start of the best
/// sentence, or the topics if there is none. The speaker's name comes before it if several people speak.
fn title(reading: &Reading<'_>, scores: &[f64], topics: &[String]) -> String {
    let is_person = |at: &usize| reading.turns[reading.sentences[*at].turn].role == Role::User;
    let mut best: Vec<usize> = (0..scores.len()).filter(is_person).collect();
    if best.is_empty() {
        best = (0..scores.len()).collect();
    }
    best.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut people = reading.turns.iter().filter(|turn| turn.role == Role::User).map(|turn| turn.speaker);
    let first = people.next();
    let named = people.any(|other| Some(other) != first);
    let clauses = || {
        let told = |&at: &usize| clause(reading, &reading.sentences[at], named);
        best.iter().take(TITLE_SENTENCES_MAX).filter_map(told)
    };
    let tells = |title: &String| {
        let lower = title.to_lowercase();
        let words = topics.iter().take(TITLE_TOPICS_MAX).flat_map(|topic| topic.split_whitespace());
        words.into_iter().any(|word| lower.contains(&word.to_lowercase()))
    };
    let start = || best.first().map(|&at| start(reading, &reading.sentences[at], named));
    let about = || capitalised(&topics.iter().take(TITLE_TOPICS_MAX).cloned().collect::<Vec<_>>().join(", "));
    clipped(&clauses().find(tells).or_else(|| clauses().next()).or_else(start).unwrap_or_else(about), TITLE_CHARS_MAX)
}

/// The first words of a sentence.
fn start(reading: &Reading<'_>, said: &SpokenSentence<'_>, named: bool) -> String {
    let speaker = if named { format!("{}: ", reading.turns[said.turn].speaker) } else { String::new() };
    let room = TITLE_WORDS_MAX.saturating_sub(speaker.split_whitespace().count());
    let words: Vec<&str> = reading.text(said).split_whitespace().collect();
    let told = words[..words.len().min(room)].join(" ");
    let told = told.trim_end_matches(['.', ',', ';', ':', '-', '–', '—']);
    format!("{speaker}{}{}", capitalised(told), if words.len() > room { "…" } else { "" })
}

/// The first clause of a sentence, without the words that only open it. `None` if it has fewer than
/// [`CONTENT_WORDS_MIN`] words or too many, refers to the sentence before, or ends with a stop word.
fn clause(reading: &Reading<'_>, said: &SpokenSentence<'_>, named: bool) -> Option<String> {
    let source = reading.turns[said.turn].text;
    let all = &said.sentence.words;
    let opening = all
        .iter()
        .take_while(|word| english().opening.contains(word.lower.as_str()) || reading.names.contains(&word.lower))
        .count();
    let words = &all[opening..];
    let breaks =
        |word: &super::words::SentenceWord| !word.joined || english().clause_start.contains(word.lower.as_str());
    let length = words.iter().enumerate().position(|(at, word)| at > 0 && breaks(word)).unwrap_or(words.len());
    let (first, last) = (words.first()?, words[..length].last()?);
    let speaker = if named { format!("{}: ", reading.turns[said.turn].speaker) } else { String::new() };
    let rest = &source[last.span.end..];
    let own = ["'s", "’s"].into_iter().find(|own| rest.starts_with(own)).unwrap_or_default();
    let title = format!("{speaker}{}{own}", capitalised(&source[first.span.start..last.span.end]));
    let fits = length >= CONTENT_WORDS_MIN && title.split_whitespace().count() <= TITLE_WORDS_MAX;
    let leans = english().leaning.contains(first.lower.as_str());
    (fits && !leans && last.stem.is_some()).then_some(title)
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
