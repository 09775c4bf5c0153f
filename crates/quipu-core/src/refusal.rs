//! Why a decision said no.

use thiserror::Error;

/// A command the memory's rules do not allow. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The input itself is wrong, whatever the memory holds.
    #[error("{0}")]
    Invalid(String),
    /// The input is well formed but does not fit what the memory holds or allows.
    #[error("{0}")]
    Refused(String),
    /// It names something that is not there.
    #[error("{0}")]
    NotFound(String),
}

impl Refusal {
    /// The input itself is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// The memory's state or rules forbid it.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }

    /// It is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound(message.into())
    }
}
