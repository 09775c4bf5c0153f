//! Port for the storage of API keys. Every implementation passes the same contract suite.
//!
//! An implementation must be:
//! - **Durable**: a stored key or revocation survives a power cut.
//! - **Consistent**: a revocation by another process is visible to the next [`KeyStore::find`].
//! - **Free of secrets**: nothing but the fields of [`StoredKey`] is stored.

use jiff::Timestamp;
use quipu_core::id::UserId;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// Operations a key permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Reading the memory.
    Read,
    /// Recording, and reversible changes.
    Write,
    /// Deciding reviews.
    Review,
    /// Everything, including irreversible operations and the management of keys.
    Admin,
}

impl Scope {
    /// Every scope, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Review, Self::Admin];

    /// The name of the scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Review => "review",
            Self::Admin => "admin",
        }
    }

    /// The scope with this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

/// A key as stored, with a digest in place of the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// The public part of the key.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// A hash of the secret.
    pub digest: [u8; 32],
    /// Scopes, ascending.
    pub scopes: Vec<Scope>,
    /// The only user whose data the key gives access to. `None` means all users.
    pub user: Option<UserId>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of revocation, if revoked.
    pub revoked_at: Option<Timestamp>,
}

/// A store of API keys.
pub trait KeyStore: Send + Sync {
    /// Stores a new key.
    ///
    /// # Errors
    /// `Exists` if there is a key with this id.
    fn put(&self, key: &StoredKey) -> Result<(), StoreError>;

    /// Finds a key by id, revoked or not.
    fn find(&self, id: &str) -> Result<Option<StoredKey>, StoreError>;

    /// Every key by time of creation, then by id.
    fn all(&self) -> Result<Vec<StoredKey>, StoreError>;

    /// Revokes a key. The time of an earlier revocation is kept. Returns the key as stored.
    ///
    /// # Errors
    /// `NotFound` if there is no such key.
    fn revoke(&self, id: &str, at: Timestamp) -> Result<StoredKey, StoreError>;
}
