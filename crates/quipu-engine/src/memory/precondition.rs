//! Preconditions of an operation: the ledger and the version its caller expects.
//!
//! The version is checked when the operation takes the ledger, in the same critical section as its first append, so no
//! thread or process can append in between. Deleting a whole memory is checked in the same way.

use quipu_core::id::{EventId, Seq, UserId};

use crate::error::{Error, Result};

/// A user's memory as an argument of an operation. Converts from `&UserId`; [`at_version`](Self::at_version) adds a
/// condition.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRef<'a> {
    pub(crate) user: &'a UserId,
    pub(crate) version: Option<Seq>,
    pub(crate) ledger: Option<EventId>,
}

impl<'a> MemoryRef<'a> {
    /// The memory of a user, at any version.
    pub fn of(user: &'a UserId) -> Self {
        Self { user, version: None, ledger: None }
    }

    /// Requires this version at the first append of the operation; otherwise it fails with `Stale` and appends nothing.
    /// A repeated request with a known idempotency key succeeds regardless. `None` sets no condition.
    #[must_use]
    pub fn at_version(self, version: Option<Seq>) -> Self {
        Self { version, ..self }
    }

    /// Requires the ledger with this first event. If the user was deleted, or deleted and created again, the operation
    /// fails with `Stale`, appends nothing and creates no memory. `None` sets no condition.
    #[must_use]
    pub fn in_ledger(self, first_event: Option<EventId>) -> Self {
        Self { ledger: first_event, ..self }
    }

    /// The user.
    pub fn user(&self) -> &'a UserId {
        self.user
    }
}

impl<'a> From<&'a UserId> for MemoryRef<'a> {
    fn from(user: &'a UserId) -> Self {
        Self::of(user)
    }
}

/// The error for a memory that was deleted, or deleted and created again.
pub(crate) fn another_ledger(user: &UserId) -> Error {
    Error::Stale(format!("the memory of user {user} was deleted since. Nothing was changed"))
}

/// Returns an error unless the memory is at the expected version.
pub(crate) fn check(expected: Option<Seq>, version: Seq) -> Result<()> {
    match expected {
        Some(wanted) if wanted != version => Err(Error::Stale(format!(
            "the memory is at version {version}, not at {wanted}. Nothing was changed; read it again and decide again"
        ))),
        _ => Ok(()),
    }
}
