//! Everything in the server that keeps words of a user beyond the request that brought them.
//!
//! Each such place is a [`WordCache`] and stands in the one list that [`App`](crate::app::App) keeps. An erasure or a deletion
//! through this server tells all of them. Another process may erase in the same folder, so telling is not enough: each of
//! them also compares the [`ErasureEpoch`](quipu_engine::ErasureEpoch) of what it holds with the present one before it uses it.

use std::sync::Arc;

use quipu_core::id::UserId;

/// What happened to words of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// Something that was recorded is erased. Words that are still to be recorded are not concerned.
    Erased,
    /// The user is deleted with everything.
    Deleted,
}

/// A place that keeps words of users.
pub(crate) trait WordCache: Send + Sync {
    /// Drops what it holds of a user and may no longer be used.
    fn forget(&self, user: &UserId, gone: Gone);

    /// Number of entries it holds of a user.
    #[cfg(test)]
    fn held(&self, user: &UserId) -> usize;
}

/// All places that keep words of users.
pub(crate) struct WordCaches(Vec<Arc<dyn WordCache>>);

impl WordCaches {
    pub(crate) fn new(all: Vec<Arc<dyn WordCache>>) -> Self {
        Self(all)
    }

    /// Tells every one of them.
    pub(crate) fn forget(&self, user: &UserId, gone: Gone) {
        self.0.iter().for_each(|cache| cache.forget(user, gone));
    }

    /// Entries of a user, cache by cache.
    #[cfg(test)]
    pub(crate) fn held(&self, user: &UserId) -> Vec<usize> {
        self.0.iter().map(|cache| cache.held(user)).collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;
