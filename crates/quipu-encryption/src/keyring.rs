//! The keys of one user, as far as a ledger needed them.

use std::collections::BTreeMap;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use quipu_core::event::ChangeRef;
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::{SealedChange, SealedEvent};
use quipu_engine::ports::{StoreError, UserKeyId, UserKeyState, UserLedger, WrappedKey};

use crate::seal::{BlobKind, UserKey, key_of_blob, key_of_change};
use crate::user_keys::UserKeys;

/// The keys of one user.
///
/// The key that seals is read from the key store again before a write that follows an event of another writer. An erasure
/// retires that key before it appends its event, and a write after that event needs to know its position, so nothing is
/// sealed with a retired key after the event.
pub(crate) struct Keyring {
    user: UserId,
    /// `None` if encryption is off.
    keys: Option<Arc<UserKeys>>,
    /// As the key store listed them last.
    listed: Vec<WrappedKey>,
    opened: BTreeMap<UserKeyId, Arc<UserKey>>,
    sealing: Option<Arc<UserKey>>,
    /// The version of the ledger up to which `sealing` is known to be in use.
    valid_to: Seq,
}

impl Keyring {
    pub(crate) fn new(user: &UserId, keys: Option<Arc<UserKeys>>) -> Self {
        Self { user: user.clone(), keys, listed: Vec::new(), opened: BTreeMap::new(), sealing: None, valid_to: 0 }
    }

    /// A keyring that seals with a key of its own.
    pub(crate) fn sealing_with(user: &UserId, keys: &Arc<UserKeys>, key: Arc<UserKey>) -> Self {
        let mut ring = Self::new(user, Some(Arc::clone(keys)));
        ring.opened.insert(key.id, Arc::clone(&key));
        ring.sealing = Some(key);
        ring.valid_to = Seq::MAX;
        ring
    }

    pub(crate) fn user(&self) -> &UserId {
        &self.user
    }

    /// The parts that encryption needs, if it is on.
    pub(crate) fn keys(&self) -> Option<&Arc<UserKeys>> {
        self.keys.as_ref()
    }

    /// The keys as the key store listed them last.
    pub(crate) fn listed(&self) -> &[WrappedKey] {
        &self.listed
    }

    /// Lists the user's keys again.
    pub(crate) fn reload(&mut self) -> Result<(), StoreError> {
        let Some(keys) = &self.keys else { return Ok(()) };
        self.listed = keys.store.of_user(&self.user)?;
        Ok(())
    }

    /// The key with an id. If it is not known here, the key store is asked again: another process may have made it.
    fn key(&mut self, id: &UserKeyId) -> Result<Option<Arc<UserKey>>, StoreError> {
        if let Some(key) = self.opened.get(id) {
            return Ok(Some(Arc::clone(key)));
        }
        if !self.listed.iter().any(|key| key.id == *id) {
            self.reload()?;
        }
        let Some(wrapped) = self.listed.iter().find(|key| key.id == *id).cloned() else { return Ok(None) };
        self.unwrap(&wrapped).map(Some)
    }

    fn unwrap(&mut self, wrapped: &WrappedKey) -> Result<Arc<UserKey>, StoreError> {
        if let Some(key) = self.opened.get(&wrapped.id) {
            return Ok(Arc::clone(key));
        }
        let keys = self.keys.as_ref().ok_or_else(|| off(&self.user))?;
        let secret = keys.masters.unwrap(wrapped)?;
        let key = Arc::new(UserKey { id: wrapped.id, user: self.user.clone(), secret });
        self.opened.insert(wrapped.id, Arc::clone(&key));
        Ok(key)
    }

    /// The key that seals what is written to a ledger at version `at`; `None` if encryption is off. No first key is made for
    /// a ledger that is sealed already.
    pub(crate) fn for_writing(
        &mut self,
        ledger: &mut dyn UserLedger,
        at: Seq,
    ) -> Result<Option<Arc<UserKey>>, StoreError> {
        if self.keys.is_none() {
            return Ok(None);
        }
        if let Some(key) = self.sealing.as_ref().filter(|_| at <= self.valid_to) {
            return Ok(Some(Arc::clone(key)));
        }
        // Read before the keys: an erasure after this position makes the next write ask again. `at` may lie in the future.
        let head = ledger.head()?.seq;
        self.reload()?;
        let active = self.listed.iter().rev().find(|key| key.state == UserKeyState::Active).cloned();
        let key = match active {
            Some(wrapped) => self.unwrap(&wrapped)?,
            None => {
                self.refuse_lost(ledger)?;
                self.make(UserKeyState::Active, None)?
            }
        };
        self.sealing = Some(Arc::clone(&key));
        self.valid_to = at.min(head);
        Ok(Some(key))
    }

    /// Fails if the user has no key and the newest event of the ledger is sealed.
    pub(crate) fn refuse_lost(&self, ledger: &mut dyn UserLedger) -> Result<(), StoreError> {
        let head = ledger.head()?.seq;
        if head == 0 || !self.listed.is_empty() {
            return Ok(());
        }
        let mut sealed_with = None;
        ledger.read(head..=head, &mut |event| {
            sealed_with = event.changes.iter().find_map(key_of_change);
            false
        })?;
        sealed_with.map_or(Ok(()), |id| Err(self.missing(&id)))
    }

    /// Notes that this writer itself appended up to `seq`.
    pub(crate) fn appended(&mut self, seq: Seq) {
        self.valid_to = self.valid_to.max(seq);
    }

    /// Makes a key, stores it, and uses it from now on. With `retired_by`, that event ends the use of the others.
    pub(crate) fn make(
        &mut self,
        state: UserKeyState,
        retired_by: Option<EventId>,
    ) -> Result<Arc<UserKey>, StoreError> {
        let keys = self.keys.as_ref().ok_or_else(|| off(&self.user))?;
        let key = keys.generate(&self.user);
        keys.put(&key, state, retired_by)?;
        let key = Arc::new(key);
        self.opened.insert(key.id, Arc::clone(&key));
        self.sealing = Some(Arc::clone(&key));
        Ok(key)
    }

    /// Forgets keys that were destroyed.
    pub(crate) fn forget(&mut self, ids: &[UserKeyId]) {
        self.opened.retain(|id, _| !ids.contains(id));
        self.listed.retain(|key| !ids.contains(&key.id));
    }

    /// Seals the changes of an event.
    pub(crate) fn seal(&self, key: &UserKey, event: &SealedEvent) -> Result<SealedEvent, StoreError> {
        let keys = self.keys.as_ref().ok_or_else(|| off(&self.user))?;
        let mut sealed = event.clone();
        for (index, change) in (0..).zip(&mut sealed.changes) {
            *change = key.seal_change(ChangeRef { seq: event.seq, index }, change, keys.entropy.as_ref())?;
        }
        Ok(sealed)
    }

    /// Opens the changes of an event. A change whose seal does not match is left as it is stored: it does not match its
    /// digest, and a verification reports it.
    ///
    /// # Errors
    /// `Unavailable` if the key is missing, or encryption is off.
    pub(crate) fn open(&mut self, mut event: SealedEvent) -> Result<SealedEvent, StoreError> {
        for (index, change) in (0..).zip(&mut event.changes) {
            let Some(id) = key_of_change(change) else { continue };
            if let Some(opened) = self.open_change(&id, ChangeRef { seq: event.seq, index }, change)? {
                *change = opened;
            }
        }
        Ok(event)
    }

    fn open_change(
        &mut self,
        id: &UserKeyId,
        at: ChangeRef,
        change: &SealedChange,
    ) -> Result<Option<SealedChange>, StoreError> {
        if self.keys.is_none() {
            return Err(off(&self.user));
        }
        let key = self.key(id)?.ok_or_else(|| self.missing(id))?;
        Ok(key.open_change(at, change))
    }

    /// Opens a change with whatever key it needs, for sealing it again. `None` if there is no such key, or it is damaged.
    pub(crate) fn try_open(
        &mut self,
        at: ChangeRef,
        change: &SealedChange,
    ) -> Result<Option<SealedChange>, StoreError> {
        let Some(id) = key_of_change(change) else { return Ok(Some(change.clone())) };
        Ok(self.key(&id)?.and_then(|key| key.open_change(at, change)))
    }

    /// Opens a blob, which may be stored in the clear. `None` if it is damaged, or its key is gone: it can be rebuilt.
    pub(crate) fn open_blob(&mut self, kind: BlobKind<'_>, bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(id) = key_of_blob(&bytes) else { return Ok(Some(bytes)) };
        if self.keys.is_none() {
            return Ok(None);
        }
        Ok(self.key(&id)?.and_then(|key| key.open_blob(kind, &bytes)))
    }

    /// The error for payloads whose key is not in the key store.
    pub(crate) fn missing(&self, id: &UserKeyId) -> StoreError {
        let (user, id) = (&self.user, HEXLOWER.encode(id));
        let place = self.keys.as_ref().map(|keys| keys.store.place()).unwrap_or_default();
        StoreError::Unavailable(format!(
            "the payloads of user {user} are sealed with the key {id}, which is not in {place}. Nothing was changed. If the keys \
             are elsewhere, set `user_keys` to that place. If the key store was lost, or is older than the ledger, put a \
             backup of it back. If the key was destroyed, by a deletion or after an erasure, nobody can read what it sealed: \
             restore a backup that was made since, or delete the user"
        ))
    }
}

/// The error for sealed payloads while encryption is off.
pub(crate) fn off(user: &UserId) -> StoreError {
    StoreError::Unavailable(format!(
        "the payloads of user {user} are sealed, and encryption is off here. Nothing was changed. Set `encryption` \
         (QUIPU_ENCRYPTION) to `on`, and the master key"
    ))
}
