//! Session memory: what a conversation knows of itself, at two speeds.
//!
//! The slow half is the base truth (a living list of what holds, hard exceptions among it) and the turn log (one line an
//! exchange); the fast half is the raw window and the artifacts, which are the words themselves. A summariser proposes
//! ([`Proposal`]); [`summarize`] decides what of it is recorded; [`Sessions`] is what the records add up to.
//!
//! Not here: calling a summariser, and when. [`RuleBook`] is the one that needs no model.

mod artifact;
mod consolidate;
mod decide;
mod exchange;
mod fold;
mod matching;
mod proposal;
mod rules;
mod size;
mod window;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;

pub use artifact::{SessionArtifact, artifacts};
pub use consolidate::{consolidate, consolidation};
pub use decide::{Case, Summarized, by_hand, summarize};
pub use exchange::{Exchange, exchanges, is_over};
pub use fold::{Entry, Gone, Kept, Logged, Sessions};
pub use proposal::{Known, MergeProposed, Proposal, Proposed, TruthDiff};
pub use rules::RuleBook;
pub use size::{depth, is_code_heavy};
pub use window::{WindowTurn, raw_window};

/// The knobs of session memory. The defaults are those of the source document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOptions {
    /// Exchanges in the raw window; 5 to 8 are advised.
    pub window_turns: usize,
    /// For how many turns more the reply of a long exchange stays in it.
    pub long_extra_turns: usize,
    /// An exchange whose messages all have fewer words is short.
    pub short_words: usize,
    /// One with a message of more words is long.
    pub long_words: usize,
    /// Turns between two consolidations; 15 to 20 are advised.
    pub consolidate_turns: u32,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { window_turns: 6, long_extra_turns: 2, short_words: 40, long_words: 200, consolidate_turns: 16 }
    }
}
