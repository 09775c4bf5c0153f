//! Port for the servers that share a store.

use std::time::Duration;

use quipu_core::id::UserId;

use super::StoreError;

/// A server as it registers itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRecord {
    /// Random id of this start of the server.
    pub id: String,
    /// Name of the server, for people. Two servers may have the same.
    pub name: String,
    /// Version of the program.
    pub version: String,
}

/// A registered server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredServer {
    /// How it registered itself.
    pub record: ServerRecord,
    /// Time since its last heartbeat, by the clock of the store.
    pub silent: Duration,
}

impl RegisteredServer {
    /// True if the last heartbeat was less than [`LIVE_FOR`] ago.
    pub fn is_live(&self) -> bool {
        self.silent < LIVE_FOR
    }
}

/// How often a server registers itself.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(5);
/// After this long without a heartbeat a server counts as dead.
pub const LIVE_FOR: Duration = Duration::from_secs(20);

/// A lease that expired without having been released, because its holder died or lost the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbandonedLease {
    /// The user whose work it was.
    pub user: UserId,
    /// Name of the leased work.
    pub name: String,
}

/// The servers that share a store, with heartbeats, and the work they left behind. Nothing depends on it for
/// correctness: it makes servers visible, and work continue sooner.
pub trait ServerRegistry: Send + Sync {
    /// Registers a server, or records that it is alive. Forgets servers that have been silent for a day.
    ///
    /// # Errors
    /// `Unavailable` from the store.
    fn beat(&self, server: &ServerRecord) -> Result<(), StoreError>;

    /// Removes a server that ends in order.
    ///
    /// # Errors
    /// `Unavailable` from the store.
    fn leave(&self, id: &str) -> Result<(), StoreError>;

    /// All registered servers, dead ones included, in order of name and id.
    ///
    /// # Errors
    /// `Unavailable` from the store.
    fn servers(&self) -> Result<Vec<RegisteredServer>, StoreError>;

    /// Some leases that were abandoned, longest ago first.
    ///
    /// # Errors
    /// `Unavailable` from the store.
    fn abandoned(&self) -> Result<Vec<AbandonedLease>, StoreError>;

    /// Forgets an abandoned lease, unless somebody has taken it since.
    ///
    /// # Errors
    /// `Unavailable` from the store.
    fn forget(&self, lease: &AbandonedLease) -> Result<(), StoreError>;
}
