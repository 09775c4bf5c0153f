//! One error type, by what the caller must do.

use quipu_core::Refusal;
use quipu_core::ledger::FormatError;
use thiserror::Error;

use crate::ports::{EmbedError, StoreError, VaultError};

/// Why a verb did not do what was asked. Unless it says otherwise, nothing was changed.
#[derive(Debug, Error)]
pub enum Error {
    /// The input is wrong; change it.
    #[error("{0}")]
    Invalid(String),
    /// Someone else was faster, again and again; try again.
    #[error("{0}")]
    Conflict(String),
    /// The memory is not at the version the caller wanted it to be at; look again and decide again.
    #[error("{0}")]
    Stale(String),
    /// It is not there.
    #[error("{0}")]
    NotFound(String),
    /// The rules of this memory forbid it.
    #[error("{0}")]
    Refused(String),
    /// Not now: a lock, a full disk, a model that does not answer. The text says what to do.
    #[error("{0}")]
    Unavailable(String),
    /// What is stored is not what was written.
    #[error("{0}")]
    Corrupt(String),
    /// Quipu did something it must never do; please report it.
    #[error("a bug in quipu: {0}")]
    Bug(String),
}

/// What every verb returns.
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
