//! Episodes: splits a session into short stretches and summarises each, by rule and without a model.
//!
//! [`segment()`] finds the boundaries; [`compose()`] builds the [`Episode`](crate::item::Episode), whose title, summary
//! and topics are the speakers' own words. Text written by a model passes the gate like any other change; this module
//! is the fallback without one. The word lists are English (`english.toml`). In other languages, boundaries still
//! follow time, vectors and words, but sentiment is neutral and topics are coarser.

pub mod affect;
mod cohesion;
pub mod importance;
mod reading;
pub mod score;
mod segment;
mod session;
mod summary;
mod topics;
mod words;

pub use segment::{SegmentOptions, Segmentation, is_over, segment, segment_so_far};
pub use session::{AnalysedSession, compose};
pub use summary::{EXCERPT_CHARS_MAX, SENTENCES_MAX, SUMMARY_CHARS_MAX, TITLE_CHARS_MAX, TITLE_WORDS_MAX};
pub use topics::TOPICS_MAX;

use jiff::Timestamp;

use crate::id::ItemId;
use crate::source::Role;

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test may stop at what it did not expect")]
mod tests;

/// Byte ranges of the sentences of a text, in order.
pub fn sentences(text: &str) -> Vec<std::ops::Range<usize>> {
    words::sentence_spans(text)
}

/// Stems of a text's content words, used for comparison.
pub(crate) fn stems(text: &str) -> std::collections::BTreeSet<String> {
    words::read(text).into_iter().flat_map(|sentence| sentence.words).filter_map(|word| word.stem).collect()
}

/// Stem of a word; `None` for a stop word.
pub(crate) fn content_stem(word: &str) -> Option<String> {
    words::read(word).into_iter().flat_map(|sentence| sentence.words).next()?.stem
}

/// Words of a text that can name its subject, each with its stem. Excludes names, as far as capital letters show them.
pub(crate) fn telling(text: &str) -> Vec<(String, String)> {
    let nobody = std::collections::BTreeSet::new();
    let mut found = Vec::new();
    for sentence in words::read(text) {
        let named =
            |at: usize, word: &words::SentenceWord| at > 0 && text[word.span.clone()].starts_with(char::is_uppercase);
        let words = sentence.words.into_iter().enumerate();
        let kept = words.filter(|(at, word)| reading::is_telling(word, &nobody) && !named(*at, word));
        found.extend(kept.filter_map(|(_, word)| Some((word.stem?, word.lower))));
    }
    found
}

/// The part of a session's turn that an episode needs.
#[derive(Debug, Clone, Copy)]
pub struct EpisodeTurn<'a> {
    /// Id of its source.
    pub id: ItemId,
    /// Text of the turn.
    pub text: &'a str,
    /// Name or role of the speaker.
    pub speaker: &'a str,
    /// Role of the speaker.
    pub role: Role,
    /// Time of the message; `None` if unknown.
    pub said_at: Option<Timestamp>,
    /// Embedding of the turn; the same dimension for all turns.
    pub vector: Option<&'a [f32]>,
}
