//! Tells exchanges of a session in few words: by rules, or by a language model of its own.

use quipu_core::id::UserId;
use quipu_core::item::Depth;
use quipu_core::session::{KnownEntry, MergeProposed, SummaryProposal};
use thiserror::Error;

/// Why an exchange was not told.
#[derive(Debug, Error)]
pub enum SummarizeError {
    /// Not now, or not in time: it is tried again later.
    #[error("the summariser is unavailable: {0}")]
    Unavailable(String),
    /// It answered, but not with a proposal. It is asked once more; then the words stand for themselves.
    #[error("the summariser's answer is no proposal: {0}")]
    Malformed(String),
}

/// One exchange, to be told.
#[derive(Debug, Clone)]
pub struct SummaryInput {
    /// Whose it is, and at whose cost.
    pub whose: UserId,
    /// The conversation.
    pub session: String,
    /// Its number.
    pub turn: u32,
    /// What the user said.
    pub user: String,
    /// What was answered.
    pub assistant: String,
    /// How deeply: of a short one changes of the base truth are not wanted.
    pub depth: Depth,
    /// The base truth as it is.
    pub base_truth: Vec<KnownEntry>,
}

/// Nominates what a session should keep of an exchange. It decides nothing: a proposal is validated, change by change. How long
/// it may take is its own affair, as long as it ends: after its deadline it is unavailable.
pub trait Summarizer: Send + Sync {
    /// What summarises, with its version: recorded with everything that came of it.
    fn id(&self) -> &str;

    /// True if it asks somebody outside and may take seconds. Then no verb that records something waits for it, nor one that
    /// reads: what is closed stays flagged until [`process`](crate::process::pipeline()) or [`summarize`](crate::sessions::summarize()).
    fn asks_outside(&self) -> bool {
        false
    }

    /// Tells one exchange.
    ///
    /// # Errors
    /// Any [`SummarizeError`]; the words themselves are durable whatever happens here.
    fn summarize(&self, telling: &SummaryInput) -> Result<SummaryProposal, SummarizeError>;

    /// Proposes which entries of a base truth should become one. It is shown no hard exceptions.
    ///
    /// # Errors
    /// Any [`SummarizeError`]; the base truth then stays as it is.
    fn consolidate(&self, user: &UserId, base_truth: &[KnownEntry]) -> Result<Vec<MergeProposed>, SummarizeError>;
}
