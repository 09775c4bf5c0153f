//! Where keys live: who may ask a server, and for what. Every implementation passes the same contract suite.
//!
//! Duties of an implementation:
//! - **Durable**: what was put or revoked stays so over a power cut.
//! - **Seen at once**: a key that another process revoked is revoked for the next [`KeyStore::find`].
//! - **No secrets**: nothing but what [`StoredKey`] holds is kept.

use jiff::Timestamp;
use quipu_core::id::UserId;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// What a key opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// To see what is remembered.
    Read,
    /// To have something remembered, and to change it reversibly.
    Write,
    /// To decide what waits for a person.
    Review,
    /// Everything, what cannot be undone and keys among it.
    Admin,
}

impl Scope {
    /// Every scope, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Review, Self::Admin];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Review => "review",
            Self::Admin => "admin",
        }
    }

    /// The scope of a name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

/// A key as it is kept. The secret is not: only what it is recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// The public part of the key.
    pub id: String,
    /// What it is called by people.
    pub name: String,
    /// A hash of the secret.
    pub digest: [u8; 32],
    /// What it opens, ascending.
    pub scopes: Vec<Scope>,
    /// The only user it opens anything of; without one it opens all.
    pub user: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when it opens nothing.
    pub revoked_at: Option<Timestamp>,
}

/// One place with keys.
pub trait KeyStore: Send + Sync {
    /// Keeps a new key.
    ///
    /// # Errors
    /// `Exists` if there is one of this id.
    fn put(&self, key: &StoredKey) -> Result<(), StoreError>;

    /// The key of an id, revoked or not.
    fn find(&self, id: &str) -> Result<Option<StoredKey>, StoreError>;

    /// Every key, oldest first, those of one moment in the order of their ids.
    fn all(&self) -> Result<Vec<StoredKey>, StoreError>;

    /// Takes a key back; one that was taken back before keeps its time. Returns it as it is kept then.
    ///
    /// # Errors
    /// `NotFound` without such a key.
    fn revoke(&self, id: &str, at: Timestamp) -> Result<StoredKey, StoreError>;
}
