//! A key store in memory. Clones share it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quipu_engine::ports::{KeyStore, StoreError, StoredKey};

/// Keys in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryKeys(Arc<Mutex<BTreeMap<String, StoredKey>>>);

impl MemoryKeys {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<String, StoredKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyStore for MemoryKeys {
    fn put(&self, key: &StoredKey) -> Result<(), StoreError> {
        let mut held = self.held();
        if held.contains_key(&key.id) {
            return Err(StoreError::Exists(format!("there is a key {} already", key.id)));
        }
        held.insert(key.id.clone(), key.clone());
        Ok(())
    }

    fn find(&self, id: &str) -> Result<Option<StoredKey>, StoreError> {
        Ok(self.held().get(id).cloned())
    }

    fn all(&self) -> Result<Vec<StoredKey>, StoreError> {
        let mut all: Vec<StoredKey> = self.held().values().cloned().collect();
        all.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        Ok(all)
    }

    fn revoke(&self, id: &str, at: Timestamp) -> Result<StoredKey, StoreError> {
        let mut held = self.held();
        let key = held.get_mut(id).ok_or_else(|| StoreError::NotFound(format!("there is no key {id}")))?;
        key.revoked_at.get_or_insert(at);
        Ok(key.clone())
    }
}
