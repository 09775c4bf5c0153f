//! Reads candidates out of a text, by rules.

use jiff::Timestamp;
use quipu_core::extract::{Extraction, Reading, SpokenDate};
use thiserror::Error;

/// Why a text could not be read.
#[derive(Debug, Error)]
pub enum ExtractError {
    /// Trying again may help.
    #[error("the extractor is unavailable: {0}")]
    Unavailable(String),
    /// Trying the same text again will fail again.
    #[error("the extractor failed: {0}")]
    Run(String),
}

/// Nominates what could be remembered of a text. It decides nothing: what it returns passes the gate.
pub trait Extractor: Send + Sync {
    /// What reads, with its version: recorded with everything that came of it.
    fn id(&self) -> &str;

    /// Reads one source.
    ///
    /// # Errors
    /// Any [`ExtractError`]; the source itself is durable whatever happens here.
    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError>;

    /// The dates a text names, counted from when it was said. None for a reader that cannot count them, or not in this language.
    fn dates(&self, _text: &str, _said_at: Option<Timestamp>) -> Vec<SpokenDate> {
        Vec::new()
    }
}
