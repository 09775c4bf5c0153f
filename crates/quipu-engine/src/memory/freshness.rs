//! How current the memory must be that an operation uses.

use std::time::Duration;

use quipu_core::id::{Seq, UserId};

use crate::error::{Error, Result};

/// Requirements of a request on the memory it uses. The default asks the store for new events before each operation, so
/// that the answer contains everything acknowledged before, by any process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// The memory must contain this version, such as the position in a receipt. Otherwise the operation fails with
    /// [`Error::Stale`]. `None` sets no condition.
    pub min_version: Option<Seq>,
    /// How long ago the store may have been asked for new events of other processes. Zero, the default: it is asked by
    /// every operation, which costs a round trip if the store is a server. Events of this process are always included.
    pub max_staleness: Duration,
}

impl Freshness {
    /// Returns an error unless a version reaches `min_version`.
    pub(crate) fn check(&self, user: &UserId, version: Seq) -> Result<()> {
        match self.min_version {
            Some(wanted) if wanted > version => Err(Error::Stale(format!(
                "the memory of user {user} is at version {version}, and the request needs at least version {wanted}. Nothing was \
                 changed. The version is of another store or user, or of a memory that was deleted or restored from an older \
                 backup: read the current version, and ask for no later one"
            ))),
            _ => Ok(()),
        }
    }
}
