//! Preprocessed form of a stretch of turns: sentences with their turns, and the weight of each word.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::EpisodeTurn;
use super::session::AnalysedSession;
use super::words::{Sentence, SentenceWord, english};

/// Number of turns before a stretch that are included in document frequencies.
const BACKGROUND_TURNS_MAX: usize = 100;

/// A preprocessed stretch of turns.
pub(super) struct Reading<'a> {
    pub(super) turns: &'a [EpisodeTurn<'a>],
    /// All sentences with at least one word, in order.
    pub(super) sentences: Vec<SpokenSentence<'a>>,
    /// Weight `tf · idf` of each stem. Excludes speakers' names and vague words.
    pub(super) weights: BTreeMap<&'a str, f64>,
    /// Words of the speakers' names, in lower case.
    pub(super) names: BTreeSet<String>,
}

/// A sentence with its turn.
pub(super) struct SpokenSentence<'a> {
    /// Index of the turn within the stretch.
    pub(super) turn: usize,
    pub(super) sentence: &'a Sentence,
}

impl<'a> Reading<'a> {
    /// Reads a stretch of a session. Ignores later turns, so the result does not change when the session continues.
    ///
    /// `tf` is the number of the stretch's turns that contain the word; `idf = ln(1 + N / n)`, where `n` of the `N`
    /// turns up to the end of the stretch contain it (Salton and Buckley 1988, §2; the stretch is included, so
    /// `n ≥ 1`).
    pub(super) fn of(session: &'a AnalysedSession<'a>, range: Range<usize>) -> Self {
        let first = range.start.saturating_sub(BACKGROUND_TURNS_MAX);
        let speakers: BTreeSet<&str> = session.turns[..range.end].iter().map(|turn| turn.speaker).collect();
        let names: BTreeSet<String> = speakers.into_iter().flat_map(names).collect();
        let mut having: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for at in first..range.end {
            let words = session.sentences[at].iter().flat_map(|sentence| &sentence.words);
            let stems: BTreeSet<&str> =
                words.filter(|word| is_telling(word, &names)).filter_map(|word| word.stem.as_deref()).collect();
            for stem in stems {
                let count = having.entry(stem).or_default();
                count.0 += 1;
                count.1 += u32::from(range.contains(&at));
            }
        }
        let all = (range.end - first) as f64;
        let weights = having
            .into_iter()
            .filter(|(_, (_, own))| *own > 0)
            .map(|(stem, (n, own))| (stem, f64::from(own) * (1.0 + all / f64::from(n)).ln()))
            .collect();
        let sentences = session.sentences[range.clone()]
            .iter()
            .enumerate()
            .flat_map(|(turn, sentences)| sentences.iter().map(move |sentence| SpokenSentence { turn, sentence }))
            .filter(|said| !said.sentence.words.is_empty())
            .collect();
        Self { turns: &session.turns[range], sentences, weights, names }
    }

    /// The text of a sentence.
    pub(super) fn text(&self, said: &SpokenSentence<'_>) -> &'a str {
        &self.turns[said.turn].text[said.sentence.span.clone()]
    }

    /// Weight of a word; 0 for a vague word.
    pub(super) fn weight(&self, word: &SentenceWord) -> f64 {
        word.stem.as_deref().and_then(|stem| self.weights.get(stem)).copied().unwrap_or_default()
    }
}

/// Returns true for a word that can name a subject.
pub(super) fn is_telling(word: &SentenceWord, names: &BTreeSet<String>) -> bool {
    let lower = word.lower.as_str();
    let adverb = lower.len() > 4 && lower.ends_with("ly") && !lower.ends_with("ily");
    word.stem.is_some()
        && lower.chars().count() > 1
        && lower.chars().any(char::is_alphabetic)
        && !lower.contains('\'')
        && !adverb
        && !names.contains(lower)
        && !english().vague.contains(lower)
}

/// Words of a speaker's name and their likely short forms: the first three to five letters.
fn names(speaker: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in speaker.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        let letters = lower.chars().count();
        all.extend((3..letters.min(6)).map(|length| lower.chars().take(length).collect()));
        all.push(lower);
    }
    all
}
