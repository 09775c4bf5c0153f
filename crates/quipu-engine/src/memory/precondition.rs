//! Which memory an operation is about, and the version its caller wants it to be at.
//!
//! The version is judged where the operation takes the ledger, before it decides, in the same critical section as its first
//! append: nobody can append in between, in this process or another. Deleting the whole memory is judged the same way.

use quipu_core::id::{EventId, Seq, UserId};

use crate::error::{Error, Result};

/// A user's memory, as an argument of an operation. `&user` is enough; [`at_version`](Self::at_version) adds a condition.
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

    /// The operation is done only if the memory is at this version when it appends for the first time; what it appends after
    /// that follows from it. Else it fails with `Stale` and appends nothing. A request whose answer is known by its
    /// idempotency key gets that answer. `None` sets no condition.
    #[must_use]
    pub fn at_version(self, version: Option<Seq>) -> Self {
        Self { version, ..self }
    }

    /// The operation is done only in the ledger whose first event this is: a user who was deleted, or deleted and made anew, has
    /// another one or none. Then it fails with `Stale`, appends nothing and makes no memory. `None` sets no condition.
    #[must_use]
    pub fn in_ledger(self, first_event: Option<EventId>) -> Self {
        Self { ledger: first_event, ..self }
    }

    /// Whose memory it is.
    pub fn user(&self) -> &'a UserId {
        self.user
    }
}

impl<'a> From<&'a UserId> for MemoryRef<'a> {
    fn from(user: &'a UserId) -> Self {
        Self::of(user)
    }
}

/// Refuses a memory that was deleted since, or deleted and made anew.
pub(crate) fn another_ledger(user: &UserId) -> Error {
    Error::Stale(format!("the memory of user {user} was deleted since. Nothing was changed"))
}

/// Refuses another version than the one that was asked for.
pub(crate) fn check(expected: Option<Seq>, version: Seq) -> Result<()> {
    match expected {
        Some(wanted) if wanted != version => Err(Error::Stale(format!(
            "the memory is at version {version}, not at {wanted}. Nothing was changed; read it again and decide again"
        ))),
        _ => Ok(()),
    }
}
