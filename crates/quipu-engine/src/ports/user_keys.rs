//! Port for the storage of the users' keys, which seal payloads and can be destroyed.
//!
//! An implementation must be:
//! - **Durable**: a stored key, a change of its state and its destruction survive a power cut.
//! - **Consistent**: what another process stored or destroyed is visible to the next call.
//! - **Forgetful**: the files of the store contain no destroyed key. A store whose files a server owns says in
//!   [`UserKeyStore::final_when`] what remains in them.
//! - **Blind**: it stores keys as they are given, wrapped by a master key, and never sees one in the clear.

use jiff::Timestamp;
use quipu_core::id::{EventId, UserId};

use super::StoreError;

/// Random name of a user's key.
pub type UserKeyId = [u8; 8];

/// What a user's key is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UserKeyState {
    /// Seals what is written.
    Active,
    /// Opens what it sealed until an erasure is finished, then it is destroyed.
    Retired,
    /// Seals a ledger that may not be in place yet.
    Building,
    /// Its user is being deleted.
    Leaving,
}

impl UserKeyState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Active, Self::Retired, Self::Building, Self::Leaving];

    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Retired => "retired",
            Self::Building => "building",
            Self::Leaving => "leaving",
        }
    }

    /// The state with this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// A user's key as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedKey {
    /// The user whose payloads it seals.
    pub user: UserId,
    /// Its name.
    pub id: UserKeyId,
    /// What it is used for.
    pub state: UserKeyState,
    /// Events whose append is the end of its use: of each attempt of an erasure, of which at most one is recorded.
    pub retired_by: Vec<EventId>,
    /// When it was made.
    pub made_at: Timestamp,
    /// Name of the master key that wraps it.
    pub master: [u8; 8],
    /// The wrapped key with its nonce.
    pub wrapped: Vec<u8>,
}

/// A store of wrapped keys.
pub trait UserKeyStore: Send + Sync {
    /// Stores a new key. With `retired_by`, every other key of the user is retired by that event too, in the same step. Keys in
    /// the state `Building` keep their state and get the event.
    ///
    /// # Errors
    /// `Exists` if the user has another key with this id.
    fn put(&self, key: &WrappedKey, retired_by: Option<EventId>) -> Result<(), StoreError>;

    /// The keys of a user, in order of time and id.
    fn of_user(&self, user: &UserId) -> Result<Vec<WrappedKey>, StoreError>;

    /// The users with a key in a state, or with any key, in order.
    fn users(&self, state: Option<UserKeyState>) -> Result<Vec<UserId>, StoreError>;

    /// Changes the state of keys. Keys that are gone are ignored. A key with events that retired it becomes `Retired` where
    /// `Active` is asked for.
    fn mark(&self, user: &UserId, ids: &[UserKeyId], state: UserKeyState) -> Result<(), StoreError>;

    /// Replaces the wrapping of a key, if it still is `from`. Returns false if it is not.
    fn rewrap(&self, from: &WrappedKey, master: [u8; 8], wrapped: &[u8]) -> Result<bool, StoreError>;

    /// Destroys keys: overwrites and removes them. Keys that are gone are ignored.
    fn destroy(&self, user: &UserId, ids: &[UserKeyId]) -> Result<(), StoreError>;

    /// Where the keys are, for messages.
    fn place(&self) -> String;

    /// When the destruction of a key is final, as the end of a sentence.
    fn final_when(&self) -> &'static str;
}
