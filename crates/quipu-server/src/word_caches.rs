//! Registry of the caches that hold users' words beyond a request.
//!
//! Each is a [`WordCache`] in the list of [`App`](crate::app::App). An erasure or a deletion through this server
//! notifies all of them. Another process may erase in the same folder, so each cache also compares the
//! [`ErasureEpoch`](quipu_engine::ErasureEpoch) of an entry with the current one before use.

use std::sync::Arc;

use quipu_core::id::UserId;

/// What happened to words of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// Recorded words were erased. Words that are not recorded yet are unaffected.
    Erased,
    /// The user was deleted with everything.
    Deleted,
}

/// A cache that holds words of users.
pub(crate) trait WordCache: Send + Sync {
    /// Drops the entries of a user that may no longer be used.
    fn forget(&self, user: &UserId, gone: Gone);

    /// Number of entries of a user.
    #[cfg(test)]
    fn held(&self, user: &UserId) -> usize;
}

/// All caches that hold words of users.
pub(crate) struct WordCaches(Vec<Arc<dyn WordCache>>);

impl WordCaches {
    pub(crate) fn new(all: Vec<Arc<dyn WordCache>>) -> Self {
        Self(all)
    }

    /// Notifies every cache.
    pub(crate) fn forget(&self, user: &UserId, gone: Gone) {
        self.0.iter().for_each(|cache| cache.forget(user, gone));
    }

    /// Number of entries of a user in each cache.
    #[cfg(test)]
    pub(crate) fn held(&self, user: &UserId) -> Vec<usize> {
        self.0.iter().map(|cache| cache.held(user)).collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;
