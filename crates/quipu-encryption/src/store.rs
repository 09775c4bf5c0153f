//! A store that seals what another one keeps.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{
    Head, LedgerStore, LedgerWatch, ServerRegistry, StoreError, StoreServer, UserKeyId, UserKeyState, UserLedger,
};

use crate::keyring::{Keyring, off};
use crate::ledger::{EncryptedLedger, Inner};
use crate::seal::key_of_change;
use crate::user_keys::UserKeys;

/// Events and bytes of one append of a restore.
const APPEND_EVENTS: usize = 512;
const APPEND_BYTES: usize = 8 << 20;
/// After this time a ledger that was being built is not put in place any more.
const BUILD_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A store of sealed ledgers, on top of another store.
///
/// Ledgers and events that were written in the clear can be read. What is written is sealed, if encryption is on. If it is
/// off, nothing is sealed, and a sealed ledger is an error instead of a damaged one.
pub struct EncryptedStore {
    inner: Box<dyn LedgerStore>,
    keys: Option<Arc<UserKeys>>,
}

impl EncryptedStore {
    /// Seals what `inner` keeps. Completes deletions of users that were interrupted.
    ///
    /// # Errors
    /// As the stores.
    pub fn new(inner: Box<dyn LedgerStore>, keys: Arc<UserKeys>) -> Result<Self, StoreError> {
        let store = Self { inner, keys: Some(keys) };
        store.sweep()?;
        Ok(store)
    }

    /// Seals nothing, and refuses what is sealed with an error that says so.
    pub fn off(inner: Box<dyn LedgerStore>) -> Self {
        Self { inner, keys: None }
    }

    /// Destroys the keys of users whose deletion was interrupted after their ledger was gone.
    fn sweep(&self) -> Result<(), StoreError> {
        let Some(keys) = &self.keys else { return Ok(()) };
        for user in keys.store.users(Some(UserKeyState::Leaving))? {
            self.destroy_if_gone(keys, &user)?;
        }
        Ok(())
    }

    fn destroy_if_gone(&self, keys: &UserKeys, user: &UserId) -> Result<(), StoreError> {
        let leaving = ids(keys, user, |state| state == UserKeyState::Leaving)?;
        if leaving.is_empty() || !self.is_gone(user)? {
            return Ok(());
        }
        keys.store.destroy(user, &leaving)
    }

    fn is_gone(&self, user: &UserId) -> Result<bool, StoreError> {
        match self.inner.open(user, false) {
            Ok(_) => Ok(false),
            Err(StoreError::NotFound(_)) => Ok(true),
            Err(other) => Err(other),
        }
    }

    /// Destroys the keys of a user whose ledger was removed: those known before, and, if there is no new ledger, those that
    /// a writer made meanwhile for the one that is gone.
    fn destroy_all(&self, keys: &UserKeys, user: &UserId, mut leaving: Vec<UserKeyId>) -> Result<(), StoreError> {
        // Listed before the look: a new ledger is there before its first key is made, apart from one that is being built.
        let now = ids(keys, user, |state| state != UserKeyState::Building)?;
        if self.is_gone(user)? {
            leaving.extend(now);
        }
        keys.store.destroy(user, &leaving)
    }

    /// Retires keys of ledgers that were being built by a process that ended. The next erasure destroys them.
    fn retire_unused(keys: &UserKeys, user: &UserId) -> Result<(), StoreError> {
        let now = keys.clock.now();
        let oldest = now.saturating_sub(BUILD_MAX).unwrap_or(now);
        let stale: Vec<UserKeyId> = keys
            .store
            .of_user(user)?
            .into_iter()
            .filter(|key| key.state == UserKeyState::Building && key.made_at < oldest)
            .map(|key| key.id)
            .collect();
        if stale.is_empty() { Ok(()) } else { keys.store.mark(user, &stale, UserKeyState::Retired) }
    }

    fn wrap(&self, user: &UserId, inner: Box<dyn UserLedger>) -> Box<dyn UserLedger> {
        Box::new(EncryptedLedger { inner: Inner::Owned(inner), ring: Keyring::new(user, self.keys.clone()) })
    }

    /// Builds a ledger with a key of its own, which is stored when the ledger is complete and before it is in place.
    fn build_sealed(
        &self,
        keys: &Arc<UserKeys>,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let mut made = None;
        let built = self.inner.build(user, replace, &mut |ledger| {
            let key = Arc::new(keys.generate(user));
            let ring = Keyring::sealing_with(user, keys, Arc::clone(&key));
            fill(&mut EncryptedLedger { inner: Inner::Lent(ledger), ring })?;
            keys.put(&key, UserKeyState::Building, None)?;
            made = Some(key.id);
            Ok(())
        });
        let Some(id) = made else { return built };
        match built {
            Ok(aside) => {
                // If this fails, the key still opens what it sealed, and the next erasure replaces it.
                let _ = keys.store.mark(user, &[id], UserKeyState::Active);
                Ok(aside)
            }
            Err(error) => {
                // If the answer was lost, the ledger may be in place: then the key is needed.
                let is_in_place = !matches!(error, StoreError::Exists(_) | StoreError::NotFound(_));
                if !is_in_place {
                    let _ = keys.store.destroy(user, &[id]);
                }
                Err(error)
            }
        }
    }
}

fn ids(keys: &UserKeys, user: &UserId, wanted: impl Fn(UserKeyState) -> bool) -> Result<Vec<UserKeyId>, StoreError> {
    Ok(keys.store.of_user(user)?.into_iter().filter(|key| wanted(key.state)).map(|key| key.id).collect())
}

impl LedgerStore for EncryptedStore {
    fn users(&self) -> Result<Vec<UserId>, StoreError> {
        self.inner.users()
    }

    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError> {
        match (self.inner.open(user, false), &self.keys) {
            (Err(StoreError::NotFound(_)), keys) if create => {
                if let Some(keys) = keys {
                    // The keys of an earlier user of this name, whose deletion was interrupted.
                    self.destroy_if_gone(keys, user)?;
                }
                Ok(self.wrap(user, self.inner.open(user, true)?))
            }
            (opened, _) => Ok(self.wrap(user, opened?)),
        }
    }

    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError> {
        self.inner.watch(user)
    }

    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        let Some(keys) = &self.keys else { return self.inner.remove(user, expected) };
        // Marked first, so that an interrupted deletion is completed.
        let held = keys.store.of_user(user)?;
        let leaving: Vec<UserKeyId> = held.iter().map(|key| key.id).collect();
        keys.store.mark(user, &leaving, UserKeyState::Leaving)?;
        if let Err(error) = self.inner.remove(user, expected) {
            // Unless the answer was lost.
            if matches!(self.is_gone(user), Ok(false)) {
                for state in UserKeyState::ALL {
                    let before: Vec<UserKeyId> =
                        held.iter().filter(|key| key.state == state).map(|key| key.id).collect();
                    keys.store.mark(user, &before, state)?;
                }
            }
            return Err(error);
        }
        self.destroy_all(keys, user, leaving).map_err(|error| {
            StoreError::Unavailable(format!(
                "the ledger of {user} is removed, but its keys could not be destroyed: {error}. They are destroyed when the store \
                 is opened next"
            ))
        })
    }

    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        match &self.keys {
            None => self.inner.build(user, replace, fill),
            Some(keys) => {
                Self::retire_unused(keys, user)?;
                self.build_sealed(keys, user, replace, fill)
            }
        }
    }

    /// Puts a backup in place, sealed with a new key of the user. The backup may be in the clear, or sealed with keys that are
    /// in the key store.
    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
        let Some(keys) = &self.keys else {
            self.inner.read_copy(user, from, &mut |event| match event.changes.iter().find_map(key_of_change) {
                Some(_) => Err(off(user)),
                None => Ok(()),
            })?;
            return self.inner.restore(user, from, replace);
        };
        Self::retire_unused(keys, user)?;
        self.build_sealed(keys, user, replace, &mut |ledger| take_in(self, user, from, ledger))
    }

    fn read_copy(
        &self,
        user: &UserId,
        from: &Path,
        each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError> {
        let mut ring = Keyring::new(user, self.keys.clone());
        self.inner.read_copy(user, from, &mut |event| each(ring.open(event)?))
    }

    fn ready(&self) -> Result<Option<StoreServer>, StoreError> {
        self.inner.ready()
    }

    fn registry(&self) -> Option<&dyn ServerRegistry> {
        self.inner.registry()
    }

    fn destruction(&self) -> Option<String> {
        let keys = self.keys.as_ref()?;
        Some(format!(
            "what the destroyed keys sealed is unreadable in backups, in the files of the database and on its standby servers; \
             this is final {}",
            keys.store.final_when()
        ))
    }

    fn cleaned(&self) -> Vec<&'static str> {
        let mut places = self.inner.cleaned();
        if self.keys.is_some() {
            places.push("user keys");
        }
        places
    }

    fn examine(&self) -> Vec<Result<String, String>> {
        let mut lines = self.inner.examine();
        match &self.keys {
            None => lines.push(Ok("encryption is off: payloads are stored in the clear".to_owned())),
            Some(keys) => lines.extend(examine(keys)),
        }
        lines
    }
}

fn examine(keys: &UserKeys) -> Vec<Result<String, String>> {
    let count = |state| keys.store.users(state).map(|users| users.len()).map_err(|error| error.to_string());
    let all = count(None).map(|users| {
        format!(
            "encryption is on: keys of {users} users in {}, master key {}",
            keys.store.place(),
            keys.masters.current()
        )
    });
    let mut lines = vec![all];
    match count(Some(UserKeyState::Retired)) {
        Ok(0) => {}
        Ok(users) => lines.push(Ok(format!(
            "{users} users have a retired key, which the next maintenance or checkpoint of their memory destroys"
        ))),
        Err(error) => lines.push(Err(error)),
    }
    lines
}

/// Appends the events of a copy to an empty ledger.
fn take_in(store: &EncryptedStore, user: &UserId, from: &Path, into: &mut dyn UserLedger) -> Result<(), StoreError> {
    let (mut waiting, mut bytes, mut expected) = (Vec::new(), 0, 0);
    let mut append = |waiting: &mut Vec<SealedEvent>| {
        into.append(expected, waiting)?;
        expected += waiting.len() as Seq;
        waiting.clear();
        Ok::<(), StoreError>(())
    };
    store.read_copy(user, from, &mut |event| {
        bytes += event.header.len();
        bytes += event.changes.iter().filter_map(|change| change.bytes.as_ref()).map(Vec::len).sum::<usize>();
        waiting.push(event);
        if waiting.len() >= APPEND_EVENTS || bytes >= APPEND_BYTES {
            bytes = 0;
            append(&mut waiting)?;
        }
        Ok(())
    })?;
    append(&mut waiting)
}
