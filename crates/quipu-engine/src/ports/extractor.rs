//! Port for rule-based extraction of candidates from a text.

use jiff::Timestamp;
use quipu_core::extract::{Extraction, Reading, SpokenDate};
use thiserror::Error;

/// Why a text could not be read.
#[derive(Debug, Error)]
pub enum ExtractError {
    /// A retry may help.
    #[error("the extractor is unavailable: {0}")]
    Unavailable(String),
    /// No complete answer within the time limit. A shorter text may be read in time.
    #[error("the extractor is too slow: {0}")]
    TooSlow(String),
    /// A retry with the same text fails again.
    #[error("the extractor failed: {0}")]
    Run(String),
}

/// Proposes candidates from a text. The gate decides which of them are recorded.
pub trait Extractor: Send + Sync {
    /// Name and version, recorded with everything it extracted.
    fn id(&self) -> &str;

    /// Extracts candidates from one source.
    ///
    /// # Errors
    /// Any [`ExtractError`]; the source is durable in any case.
    fn read(&self, reading: &Reading<'_>) -> Result<Extraction, ExtractError>;

    /// The dates mentioned in a text, relative to `said_at`. Empty if the implementation does not support dates or the
    /// language.
    fn dates(&self, _text: &str, _said_at: Option<Timestamp>) -> Vec<SpokenDate> {
        Vec::new()
    }
}
