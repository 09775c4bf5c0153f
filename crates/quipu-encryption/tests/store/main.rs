//! Encrypted stores on top of other stores.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod contract;
mod files;
mod loss;
mod rotation;
mod users;

use std::sync::Arc;

use quipu_core::event::ChangeRef;
use quipu_core::id::UserId;
use quipu_core::ledger::SealedEvent;
use quipu_encryption::{EncryptedStore, MasterKeys, UserKeys, new_master_key};
use quipu_engine::ports::{LedgerStore, StoreError, UserKeyStore, UserLedger};
use quipu_testkit::{FixedClock, MemoryStore, MemoryUserKeys, Sample, SeededEntropy};

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn masters(seed: u64) -> MasterKeys {
    MasterKeys::from_text(&new_master_key(&SeededEntropy::new(seed)), "the test").unwrap()
}

/// What encryption needs. Two of one seed would give the same keys and nonces.
fn user_keys(store: Box<dyn UserKeyStore>, seed: u64) -> Arc<UserKeys> {
    Arc::new(UserKeys {
        store,
        masters: masters(99),
        clock: Arc::new(FixedClock::new()),
        entropy: Arc::new(SeededEntropy::new(seed)),
    })
}

fn encrypted(inner: Box<dyn LedgerStore>, keys: &MemoryUserKeys, seed: u64) -> EncryptedStore {
    EncryptedStore::new(inner, user_keys(Box::new(keys.clone()), seed)).unwrap()
}

/// A store in memory and the users' keys, for several processes.
#[derive(Clone, Default)]
struct Place {
    inner: MemoryStore,
    keys: MemoryUserKeys,
}

impl Place {
    /// The store as a process sees it.
    fn process(&self, seed: u64) -> EncryptedStore {
        encrypted(Box::new(self.inner.clone()), &self.keys, seed)
    }

    /// The events as they are stored.
    fn raw(&self) -> Vec<SealedEvent> {
        everything(self.inner.open(&me(), false).unwrap().as_mut()).unwrap()
    }

    fn key_count(&self) -> usize {
        self.keys.all().len()
    }

    /// Whether stored events can be opened with the keys that are left.
    fn opens(&self, stored: &[SealedEvent]) -> bool {
        let elsewhere = MemoryStore::new();
        elsewhere.open(&me(), true).unwrap().append(0, stored).unwrap();
        let store = encrypted(Box::new(elsewhere), &self.keys, 77);
        everything(store.open(&me(), false).unwrap().as_mut()).is_ok()
    }
}

fn everything(ledger: &mut dyn UserLedger) -> Result<Vec<SealedEvent>, StoreError> {
    let mut events = Vec::new();
    ledger.read(1..=u64::MAX >> 1, &mut |event| {
        events.push(event);
        true
    })?;
    Ok(events)
}

fn at(seq: u64) -> ChangeRef {
    ChangeRef { seq, index: 0 }
}

/// Three events in the ledger of the user.
fn filled(store: &dyn LedgerStore) -> (Sample, Vec<SealedEvent>) {
    let mut sample = Sample::new(&me(), 5);
    let events =
        vec![sample.say("canary one").unwrap(), sample.say("canary two").unwrap(), sample.say("three").unwrap()];
    store.open(&me(), true).unwrap().append(0, &events).unwrap();
    (sample, events)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}
