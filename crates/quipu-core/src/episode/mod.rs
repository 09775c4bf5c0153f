//! Episodes: cutting a session into small stories and telling each in a few words, by rule and without a model.
//!
//! [`segment()`] says where an episode ends, [`compose()`] draws up the [`Episode`](crate::item::Episode): title,
//! summary and topics are the speakers' own words. What a model writes instead passes the gate like anything else; this
//! is what is there without one. The word lists are English (`english.toml`); in another language boundaries still
//! follow time, vectors and words, while feeling reads as neutral and topics are coarser.

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

/// The sentences of a text, in bytes, in order.
pub fn sentences(text: &str) -> Vec<std::ops::Range<usize>> {
    words::sentence_spans(text)
}

/// The stems of a text's content words: what it is compared by.
pub(crate) fn stems(text: &str) -> std::collections::BTreeSet<String> {
    words::read(text).into_iter().flat_map(|sentence| sentence.words).filter_map(|word| word.stem).collect()
}

/// What a word is compared by; none for a stop word.
pub(crate) fn content_stem(word: &str) -> Option<String> {
    words::read(word).into_iter().flat_map(|sentence| sentence.words).next()?.stem
}

/// The words of a text that can say what it is about, each with its stem: no names, as far as capitals tell.
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

/// One turn of a session, as far as an episode needs it.
#[derive(Debug, Clone, Copy)]
pub struct EpisodeTurn<'a> {
    /// Its source.
    pub id: ItemId,
    /// The words.
    pub text: &'a str,
    /// Who spoke, by name or role.
    pub speaker: &'a str,
    /// Who spoke, in the model's sense.
    pub role: Role,
    /// When it was said. Unknown stays unknown.
    pub said_at: Option<Timestamp>,
    /// What the embedder made of it, of any length but the same for all.
    pub vector: Option<&'a [f32]>,
}
