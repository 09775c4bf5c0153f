//! A ledger store in memory. Clones share the data, so an engine over a clone simulates a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quipu_core::event::{ChangeRef, NO_HASH};
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{
    BackupFile, Checkpoint, Head, KeyUse, LeaseRequest, LedgerStore, LedgerWatch, Projection, ResealedChange,
    StoreError, UserLedger, VectorKey,
};

mod file;
mod sharing;

use sharing::MemoryWatch;

/// Ledgers in memory. "Durable" means available to the next engine over the same store.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore(Arc<Mutex<BTreeMap<UserId, Shared>>>);

type Shared = Arc<Mutex<StoredUser>>;

/// The data of one user.
#[derive(Debug, Default)]
struct StoredUser {
    events: Vec<SealedEvent>,
    snapshots: BTreeMap<Seq, Vec<u8>>,
    projections: BTreeMap<String, Projection>,
    vector_tag: String,
    vectors: BTreeMap<VectorKey, Vec<u8>>,
    /// Holder and end of each lease, by name.
    leases: BTreeMap<String, (u64, Timestamp)>,
    /// Number of changes, for watches.
    changes: u64,
    /// Set when the ledger is removed or replaced, for handles that are still open.
    given_up: bool,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Modifies a user's events directly, bypassing the engine, to simulate tampering with the storage.
    pub fn tamper(&self, user: &UserId, with: impl FnOnce(&mut Vec<SealedEvent>)) {
        if let Some(held) = lock(&self.0).get(user) {
            let mut held = lock(held);
            with(&mut held.events);
            held.changes += 1;
        }
    }

    /// Everything that is stored: changes, headers, snapshots and projections, each as its bytes. Finds what should be
    /// gone.
    pub fn contents(&self) -> Vec<Vec<u8>> {
        let users = lock(&self.0);
        let mut found = Vec::new();
        for held in users.values() {
            let held = lock(held);
            for event in &held.events {
                found.push(event.header.clone());
                found.extend(event.changes.iter().filter_map(|change| change.bytes.clone()));
            }
            found.extend(held.snapshots.values().cloned());
            found.extend(held.projections.values().map(|projection| projection.bytes.clone()));
        }
        found
    }

    /// Puts a ledger in place. An existing one is first written to a file with a name like `beside`.
    fn put(&self, user: &UserId, replace: bool, new: &Shared, beside: &Path) -> Result<Option<PathBuf>, StoreError> {
        let mut users = lock(&self.0);
        let mut aside = None;
        if let Some(held) = users.get(user) {
            if !replace {
                return Err(StoreError::Exists(format!("{user} has a ledger, and it is kept")));
            }
            let path = beside.with_extension(format!("aside-{user}"));
            let mut held = lock(held);
            file::write(user, &held.events, &path)?;
            held.give_up();
            aside = Some(path);
        }
        users.insert(user.clone(), Arc::clone(new));
        Ok(aside)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LedgerStore for MemoryStore {
    fn users(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(lock(&self.0).keys().cloned().collect())
    }

    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError> {
        let mut users = lock(&self.0);
        if !create && !users.contains_key(user) {
            return Err(StoreError::NotFound(format!("{user} has no ledger here")));
        }
        let held = users.entry(user.clone()).or_default().clone();
        Ok(Box::new(MemoryLedger { user: user.clone(), held }))
    }

    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError> {
        match lock(&self.0).get(user) {
            Some(held) => Ok(Box::new(MemoryWatch::new(Arc::clone(held)))),
            None => Err(StoreError::NotFound(format!("{user} has no ledger here"))),
        }
    }

    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        let mut users = lock(&self.0);
        let Some(shared) = users.get(user) else {
            return Err(StoreError::NotFound(format!("{user} has no ledger here")));
        };
        {
            let mut held = lock(shared);
            let head = held.head().seq;
            if let Some(expected) = expected.filter(|expected| *expected != head) {
                return Err(StoreError::Conflict { expected, head });
            }
            held.give_up();
        }
        users.remove(user);
        Ok(())
    }

    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        if !replace && lock(&self.0).contains_key(user) {
            return Err(StoreError::Exists(format!("{user} has a ledger, and it is kept")));
        }
        let held = Shared::default();
        // No other handle exists yet, so the store can be used while this one is filled.
        fill(&mut MemoryLedger { user: user.clone(), held: Arc::clone(&held) })?;
        let place = std::env::temp_dir().join(format!("quipu-memory-store-{}", std::process::id()));
        self.put(user, replace, &held, &place)
    }

    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
        if !replace && lock(&self.0).contains_key(user) {
            return Err(StoreError::Exists(format!("{user} has a ledger, and it is kept")));
        }
        let events = file::read(user, from)?;
        self.put(user, replace, &Arc::new(Mutex::new(StoredUser { events, ..StoredUser::default() })), from)
    }

    fn read_copy(
        &self,
        user: &UserId,
        from: &Path,
        each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError> {
        let events = file::read(user, from)?;
        let head = StoredUser { events: events.clone(), ..StoredUser::default() }.head();
        events.into_iter().try_for_each(each)?;
        Ok(head)
    }

    fn examine(&self) -> Vec<Result<String, String>> {
        vec![Ok(format!("in memory: {} users", lock(&self.0).len()))]
    }
}

struct MemoryLedger {
    user: UserId,
    held: Shared,
}

impl StoredUser {
    fn head(&self) -> Head {
        self.events.last().map_or(Head { seq: 0, hash: NO_HASH }, |event| Head { seq: event.seq, hash: event.hash })
    }

    fn give_up(&mut self) {
        self.given_up = true;
        self.changes += 1;
    }

    /// The precondition of every write.
    fn writable(&mut self) -> Result<(), StoreError> {
        if self.given_up {
            return Err(StoreError::Removed("the ledger was removed while it was open here".to_owned()));
        }
        self.changes += 1;
        Ok(())
    }

    /// Fails for data derived before an erasure, a revert or a fork.
    fn not_before_control(&self, level: Seq) -> Result<(), StoreError> {
        if self.events.iter().any(|event| event.control && event.seq > level) {
            return Err(StoreError::Conflict { expected: level, head: self.head().seq });
        }
        Ok(())
    }

    fn appendable(&self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
        let head = self.head().seq;
        if head != expected {
            return Err(StoreError::Conflict { expected, head });
        }
        let mut ids: BTreeSet<EventId> = self.events.iter().map(|event| event.id).collect();
        let mut keys: BTreeSet<&str> = self.events.iter().filter_map(key).collect();
        for (seq, event) in (expected + 1..).zip(events) {
            if event.seq != seq {
                return Err(StoreError::Corrupt(format!(
                    "an event with position {} cannot be stored at {seq}",
                    event.seq
                )));
            }
            if !ids.insert(event.id) {
                return Err(StoreError::Exists(format!("the event {} is in the ledger already", event.id)));
            }
            if let Some(key) = key(event)
                && !keys.insert(key)
            {
                return Err(StoreError::Exists(format!("the idempotency key {key:?} was used before")));
            }
        }
        Ok(())
    }
}

fn key(event: &SealedEvent) -> Option<&str> {
    event.idempotency.as_ref().map(|(key, _)| key.as_str())
}

impl UserLedger for MemoryLedger {
    fn head(&mut self) -> Result<Head, StoreError> {
        Ok(lock(&self.held).head())
    }

    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        held.appendable(expected, events)?;
        held.events.extend_from_slice(events);
        Ok(())
    }

    fn read(
        &mut self,
        range: RangeInclusive<Seq>,
        each: &mut dyn FnMut(SealedEvent) -> bool,
    ) -> Result<(), StoreError> {
        // Copied first, so that the callback may be slow or use the store.
        let events: Vec<SealedEvent> =
            lock(&self.held).events.iter().filter(|event| range.contains(&event.seq)).cloned().collect();
        for event in events {
            if !each(event) {
                break;
            }
        }
        Ok(())
    }

    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError> {
        let held = lock(&self.held);
        Ok(held.events.iter().filter(|event| event.control && event.seq <= up_to).cloned().collect())
    }

    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError> {
        Ok(lock(&self.held).events.iter().find(|event| event.id == id).map(|event| event.seq))
    }

    fn key_use(&mut self, wanted: &str) -> Result<Option<KeyUse>, StoreError> {
        let held = lock(&self.held);
        let found = held.events.iter().find(|event| key(event) == Some(wanted));
        Ok(found.and_then(|event| {
            event.idempotency.as_ref().map(|(_, request)| KeyUse { seq: event.seq, request: *request })
        }))
    }

    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError> {
        let micros = time.as_nanosecond().div_euclid(1000);
        let held = lock(&self.held);
        let until = held.events.iter().filter(|event| i128::from(event.recorded_at_micros) <= micros);
        Ok(until.map(|event| event.seq).max().unwrap_or(0))
    }

    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        held.appendable(expected, std::slice::from_ref(event))?;
        let place = |target: &ChangeRef| {
            let at = held.events.iter().position(|event| event.seq == target.seq)?;
            (held.events[at].changes.len() > target.index as usize).then_some((at, target.index as usize))
        };
        let places: Option<Vec<_>> = targets.iter().map(place).collect();
        let Some(places) = places else {
            return Err(StoreError::NotFound("there is no such change to erase".to_owned()));
        };
        for (at, index) in places {
            let change = &mut held.events[at].changes[index];
            change.bytes = None;
            change.salt = None;
        }
        held.events.push(event.clone());
        held.snapshots.clear();
        held.projections.clear();
        held.vectors.clear();
        Ok(())
    }

    fn reseal(&mut self, name: &str, holder: u64, changes: &[ResealedChange]) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        if held.leases.get(name).is_none_or(|(by, _)| *by != holder) {
            return Err(StoreError::Unavailable(format!("another process has the lease {name}")));
        }
        for change in changes {
            let event = held.events.iter_mut().find(|event| event.seq == change.target.seq);
            let stored = event.and_then(|event| event.changes.get_mut(change.target.index as usize));
            if let Some(stored) = stored.filter(|stored| stored.salt == Some(change.from)) {
                *stored = change.to.clone();
            }
        }
        Ok(())
    }

    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError> {
        Ok(lock(&self.held).snapshots.keys().copied().collect())
    }

    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(lock(&self.held).snapshots.get(&seq).cloned())
    }

    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError> {
        Ok(lock(&self.held).projections.get(name).cloned())
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        held.not_before_control(checkpoint.level)?;
        if let Some(claim) = checkpoint.lease.as_ref().filter(|claim| !held.is_leased(claim)) {
            return Err(claim.lost());
        }
        if let Some((seq, bytes)) = &checkpoint.snapshot {
            held.snapshots.insert(*seq, bytes.clone());
            while held.snapshots.len() > checkpoint.snapshots_kept.max(1) {
                held.snapshots.pop_first();
            }
        }
        for (name, projection) in &checkpoint.projections {
            held.projections.insert((*name).to_owned(), projection.clone());
        }
        if checkpoint.clear_vectors {
            held.vectors.clear();
        }
        Ok(())
    }

    fn drop_projections(&mut self) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        held.snapshots.clear();
        held.projections.clear();
        held.vectors.clear();
        Ok(())
    }

    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        Ok(held.lease(request))
    }

    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        held.release(name, holder);
        Ok(())
    }

    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        held.not_before_control(level)?;
        if held.vector_tag != tag {
            held.vectors.clear();
            held.vector_tag = tag.to_owned();
        }
        held.vectors.extend(vectors.iter().cloned());
        Ok(())
    }

    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError> {
        let held = lock(&self.held);
        if held.vector_tag != tag {
            return Ok(Vec::new());
        }
        Ok(held.vectors.iter().map(|(key, bytes)| (*key, bytes.clone())).collect())
    }

    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError> {
        let mut held = lock(&self.held);
        held.writable()?;
        if to.exists() {
            return Err(StoreError::Exists(format!("{} exists and is kept", to.display())));
        }
        file::write(&self.user, &held.events, to)?;
        let bytes = fs::metadata(to).map_err(|error| StoreError::Unavailable(error.to_string()))?.len();
        Ok(BackupFile { path: to.to_owned(), head: held.head(), bytes })
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    fn bytes(&mut self) -> Result<u64, StoreError> {
        let held = lock(&self.held);
        let payload = |event: &SealedEvent| {
            event.header.len()
                + event.changes.iter().filter_map(|change| change.bytes.as_ref()).map(Vec::len).sum::<usize>()
        };
        let derived = held.snapshots.values().chain(held.vectors.values()).map(Vec::len).sum::<usize>()
            + held.projections.values().map(|projection| projection.bytes.len()).sum::<usize>();
        Ok((held.events.iter().map(payload).sum::<usize>() + derived) as u64)
    }
}
