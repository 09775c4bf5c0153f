//! Errors of decisions.

use thiserror::Error;

/// A command that was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The input is wrong for every memory.
    #[error("{0}")]
    Invalid(String),
    /// The input is well formed, but the state or the rules of the memory forbid it.
    #[error("{0}")]
    Refused(String),
    /// It names something that does not exist.
    #[error("{0}")]
    NotFound(String),
}

impl Refusal {
    /// An [`Invalid`](Self::Invalid) refusal.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// A [`Refused`](Self::Refused) refusal.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }

    /// A [`NotFound`](Self::NotFound) refusal.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }
}
