//! Errors of stores.

use quipu_core::id::Seq;
use thiserror::Error;

/// Why a store operation failed. Nothing was changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another writer appended first: load the new events and decide again.
    #[error("another writer appended first: the ledger is at {head}, not at {expected}")]
    Conflict {
        /// The position expected by the caller.
        expected: Seq,
        /// The actual position.
        head: Seq,
    },
    /// No such user, backup or row.
    #[error("{0}")]
    NotFound(String),
    /// It exists already and would have been overwritten.
    #[error("{0}")]
    Exists(String),
    /// The ledger was removed while it was open, here or by another process. Nothing was written; open the user again.
    #[error("{0}")]
    Removed(String),
    /// Temporarily impossible: the storage is busy, full, read-only or locked by another process. The text says what to
    /// do.
    #[error("{0}")]
    Unavailable(String),
    /// Stored data is damaged, or was written by a newer or foreign program.
    #[error("{0}")]
    Corrupt(String),
}
