//! A store of users' keys in memory. Clones share it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quipu_core::id::{EventId, UserId};
use quipu_engine::ports::{StoreError, UserKeyId, UserKeyState, UserKeyStore, WrappedKey};

/// Wrapped keys in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryUserKeys(Arc<Mutex<Vec<WrappedKey>>>);

impl MemoryUserKeys {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces everything, to simulate a loss or an older backup.
    pub fn replace(&self, keys: Vec<WrappedKey>) {
        *self.held() = keys;
    }

    /// Everything that is stored.
    pub fn all(&self) -> Vec<WrappedKey> {
        self.held().clone()
    }

    fn held(&self) -> MutexGuard<'_, Vec<WrappedKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UserKeyStore for MemoryUserKeys {
    fn put(&self, key: &WrappedKey, retired_by: Option<EventId>) -> Result<(), StoreError> {
        let mut held = self.held();
        if held.iter().any(|other| (&other.user, other.id) == (&key.user, key.id)) {
            return Err(StoreError::Exists("there is a key with this id already".to_owned()));
        }
        for other in held.iter_mut().filter(|other| other.user == key.user && retired_by.is_some()) {
            other.retired_by.extend(retired_by);
            if other.state != UserKeyState::Building {
                other.state = UserKeyState::Retired;
            }
        }
        held.push(key.clone());
        Ok(())
    }

    fn of_user(&self, user: &UserId) -> Result<Vec<WrappedKey>, StoreError> {
        let mut found: Vec<WrappedKey> = self.held().iter().filter(|key| key.user == *user).cloned().collect();
        found.sort_by_key(|key| (key.made_at, key.id));
        Ok(found)
    }

    fn users(&self, state: Option<UserKeyState>) -> Result<Vec<UserId>, StoreError> {
        let held = self.held();
        let mut users: Vec<UserId> = held
            .iter()
            .filter(|key| state.is_none_or(|state| key.state == state))
            .map(|key| key.user.clone())
            .collect();
        users.sort();
        users.dedup();
        Ok(users)
    }

    fn mark(&self, user: &UserId, ids: &[UserKeyId], state: UserKeyState) -> Result<(), StoreError> {
        for key in self.held().iter_mut().filter(|key| key.user == *user && ids.contains(&key.id)) {
            let is_retired = state == UserKeyState::Active && !key.retired_by.is_empty();
            key.state = if is_retired { UserKeyState::Retired } else { state };
        }
        Ok(())
    }

    fn rewrap(&self, from: &WrappedKey, master: [u8; 8], wrapped: &[u8]) -> Result<bool, StoreError> {
        let mut held = self.held();
        let found =
            held.iter_mut().find(|key| (&key.user, key.id, &key.wrapped) == (&from.user, from.id, &from.wrapped));
        Ok(found.is_some_and(|key| {
            (key.master, key.wrapped) = (master, wrapped.to_vec());
            true
        }))
    }

    fn destroy(&self, user: &UserId, ids: &[UserKeyId]) -> Result<(), StoreError> {
        self.held().retain(|key| key.user != *user || !ids.contains(&key.id));
        Ok(())
    }

    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn final_when(&self) -> &'static str {
        "now"
    }
}
