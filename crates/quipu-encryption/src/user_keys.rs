//! What encryption needs, and the making of keys.

use std::sync::Arc;

use quipu_core::id::{EventId, UserId};
use quipu_engine::ports::{Clock, Entropy, StoreError, UserKeyId, UserKeyState, UserKeyStore, WrappedKey};
use zeroize::Zeroizing;

use crate::master::MasterKeys;
use crate::pieces::KEY_BYTES;
use crate::seal::UserKey;

/// What encryption needs: the users' keys, the master keys that wrap them, time and randomness.
pub struct UserKeys {
    /// The users' keys.
    pub store: Box<dyn UserKeyStore>,
    /// The master keys.
    pub masters: MasterKeys,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness for keys and nonces. It must be unpredictable.
    pub entropy: Arc<dyn Entropy>,
}

impl UserKeys {
    /// A new random key, which is not stored yet.
    pub(crate) fn generate(&self, user: &UserId) -> UserKey {
        let mut id: UserKeyId = [0; 8];
        self.entropy.fill(&mut id);
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        self.entropy.fill(secret.as_mut_slice());
        UserKey { id, user: user.clone(), secret }
    }

    /// Wraps and stores a key.
    pub(crate) fn put(
        &self,
        key: &UserKey,
        state: UserKeyState,
        retired_by: Option<EventId>,
    ) -> Result<(), StoreError> {
        let (master, wrapped) = self.masters.wrap(&key.user, &key.id, &key.secret, self.entropy.as_ref())?;
        let stored = WrappedKey {
            user: key.user.clone(),
            id: key.id,
            state,
            retired_by: Vec::new(),
            made_at: self.clock.now(),
            master,
            wrapped,
        };
        self.store.put(&stored, retired_by)
    }
}
