//! What a stretch says, read once: sentences with their turns, and how telling each word is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::EpisodeTurn;
use super::session::AnalysedSession;
use super::words::{Sentence, SentenceWord, english};

/// Turns before a stretch that count for how rare a word is.
const BACKGROUND_TURNS_MAX: usize = 100;

/// A stretch of turns, read.
pub(super) struct Reading<'a> {
    pub(super) turns: &'a [EpisodeTurn<'a>],
    /// All sentences that have a word, in order.
    pub(super) sentences: Vec<SpokenSentence<'a>>,
    /// How telling each stem is: `tf · idf`, by stem. Names of speakers and vague words are not in it.
    pub(super) weights: BTreeMap<&'a str, f64>,
    /// Words of the speakers' names, lower case.
    pub(super) names: BTreeSet<String>,
}

/// A sentence and whose it is.
pub(super) struct SpokenSentence<'a> {
    /// The turn within the stretch.
    pub(super) turn: usize,
    pub(super) sentence: &'a Sentence,
}

impl<'a> Reading<'a> {
    /// Reads a stretch of a session. What comes after it is not looked at, so that the reading stays the same when the
    /// session goes on.
    ///
    /// `tf` is the number of the stretch's turns that have the word, `idf = ln(1 + N / n)` with `n` of the `N` turns up
    /// to the end of the stretch (Salton and Buckley 1988, §2; the stretch's own turns included, so that `n ≥ 1`).
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

    /// How telling a word is, 0 for a vague one.
    pub(super) fn weight(&self, word: &SentenceWord) -> f64 {
        word.stem.as_deref().and_then(|stem| self.weights.get(stem)).copied().unwrap_or_default()
    }
}

/// True for a word that can say what something is about.
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

/// The words of a speaker's name, and the short forms people call them by: the first three to five letters.
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
