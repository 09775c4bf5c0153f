//! Session memory: the derived state of a conversation, in two parts.
//!
//! The slow part is the base truth (a list of what holds, including hard exceptions) and the turn log (one line per
//! exchange); the fast part is the raw window and the artifacts, which are verbatim. A summariser proposes
//! ([`SummaryProposal`]); [`summarize`] decides what is recorded; [`Sessions`] folds the records.
//!
//! Calling a summariser is left to the engine. [`RuleBook`] is the one that needs no model.

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
