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
mod options;
mod proposal;
mod rules;
mod size;
mod window;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;

pub use artifact::{SessionArtifact, artifacts};
pub use consolidate::{consolidate, consolidation};
pub use decide::{SessionDecisionInput, Summarized, by_hand, summarize};
pub use exchange::{Exchange, exchanges, is_over};
pub use fold::{BaseTruthEntry, BaseTruthSnapshot, Gone, Logged, Sessions};
pub use options::SessionOptions;
pub use proposal::{KnownEntry, MergeProposed, ProposedEntry, SummaryProposal, TruthDiff};
pub use rules::RuleBook;
pub use size::{depth, is_code_heavy};
pub use window::{WindowTurn, raw_window};
