//! The error type, with one variant for each reaction of the caller.

use quipu_core::Refusal;
use quipu_core::ledger::FormatError;
use thiserror::Error;

use crate::ports::{EmbedError, StoreError, VaultError};

/// Why a verb failed. Unless stated otherwise, nothing was changed.
#[derive(Debug, Error)]
pub enum Error {
    /// The input is invalid; change it.
    #[error("{0}")]
    Invalid(String),
    /// Concurrent writers won every retry; try again.
    #[error("{0}")]
    Conflict(String),
    /// The memory is not at the expected version; read it again and decide again.
    #[error("{0}")]
    Stale(String),
    /// The thing does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The rules of this memory forbid the operation.
    #[error("{0}")]
    Refused(String),
    /// Temporarily impossible: a lock, a full disk, an unresponsive model. The text says what to do.
    #[error("{0}")]
    Unavailable(String),
    /// Stored data is damaged.
    #[error("{0}")]
    Corrupt(String),
    /// An internal error; please report it.
    #[error("a bug in quipu: {0}")]
    Bug(String),
}

/// Result of a verb.
pub type Result<T> = std::result::Result<T, Error>;

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid(text) => Self::Invalid(text),
            Refusal::Refused(text) => Self::Refused(text),
            Refusal::NotFound(text) => Self::NotFound(text),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => Self::Conflict(error.to_string()),
            StoreError::NotFound(text) | StoreError::Removed(text) => Self::NotFound(text),
            StoreError::Exists(text) => Self::Refused(text),
            StoreError::Unavailable(text) => Self::Unavailable(text),
            StoreError::Corrupt(text) => Self::Corrupt(text),
        }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Corrupt(format!("{error}; `quipu verify` says where"))
    }
}

impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::Model(_) | EmbedError::Run(_) => Self::Corrupt(error.to_string()),
            EmbedError::Unavailable(_) => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<VaultError> for Error {
    fn from(error: VaultError) -> Self {
        match error {
            VaultError::Refused(text) => Self::Refused(text),
            VaultError::Unavailable(text) => Self::Unavailable(text),
        }
    }
}
