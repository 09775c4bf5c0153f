//! Port for summarisers of the exchanges of a session: by rules, or by a language model.

use quipu_core::id::UserId;
use quipu_core::item::Depth;
use quipu_core::session::{KnownEntry, MergeProposed, SummaryProposal};
use thiserror::Error;

/// Why an exchange was not summarised.
#[derive(Debug, Error)]
pub enum SummarizeError {
    /// Temporarily unavailable or too slow; retried later.
    #[error("the summariser is unavailable: {0}")]
    Unavailable(String),
    /// The answer is not a valid proposal. It is retried once; after that the exchange stays unsummarised in its own
    /// words.
    #[error("the summariser's answer is no proposal: {0}")]
    Malformed(String),
}

/// An exchange to summarise.
#[derive(Debug, Clone)]
pub struct SummaryInput {
    /// The user, whose budget is charged.
    pub whose: UserId,
    /// The session.
    pub session: String,
    /// Number of the turn.
    pub turn: u32,
    /// The user's messages.
    pub user: String,
    /// The replies.
    pub assistant: String,
    /// Depth of the summary; a short one proposes no changes of the base truth.
    pub depth: Depth,
    /// The current base truth.
    pub base_truth: Vec<KnownEntry>,
}

/// Proposes the turn log line and the base truth changes of an exchange. Each change is validated by the engine. An
/// implementation has its own deadline, after which it is unavailable.
pub trait Summarizer: Send + Sync {
    /// Name and version, recorded with everything it proposed.
    fn id(&self) -> &str;

    /// True if it calls an external model, which may take seconds. Verbs that record or read do not wait for it: closed
    /// exchanges stay marked until [`process`](crate::process()) or
    /// [`summarize`](crate::summarize()).
    fn asks_outside(&self) -> bool {
        false
    }

    /// Summarises one exchange.
    ///
    /// # Errors
    /// Any [`SummarizeError`]; the exchange itself is durable in any case.
    fn summarize(&self, telling: &SummaryInput) -> Result<SummaryProposal, SummarizeError>;

    /// Proposes entries of a base truth to merge. Hard exceptions are not part of the input.
    ///
    /// # Errors
    /// Any [`SummarizeError`]; the base truth stays unchanged.
    fn consolidate(&self, user: &UserId, base_truth: &[KnownEntry]) -> Result<Vec<MergeProposed>, SummarizeError>;
}
