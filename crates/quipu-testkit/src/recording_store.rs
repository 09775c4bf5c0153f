//! A store that counts its calls, for tests that measure work instead of time.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use quipu_core::event::ChangeRef;
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{
    BackupFile, Checkpoint, Head, KeyRotation, KeyUse, LeaseRequest, LedgerStore, LedgerWatch, Projection,
    ResealedChange, StoreError, UserLedger, VectorKey, WatchEvent,
};

/// The number of calls by method name of the port; `event` counts the events read.
#[derive(Debug, Clone, Default)]
pub struct Calls(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Calls {
    fn note(&self, name: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
    }

    /// The number of calls of one method.
    pub fn of(&self, name: &str) -> u64 {
        self.all().get(name).copied().unwrap_or_default()
    }

    /// The number of all calls.
    pub fn total(&self) -> u64 {
        self.all().values().sum()
    }

    /// All counters.
    pub fn all(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Resets all counters.
    pub fn reset(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Runs before `users`, `append`, `controls`, `checkpoint` and `backup`, with the name of the call. It may block, or return an
/// error instead of the store's result.
type BeforeCall = Arc<dyn Fn(&'static str) -> Result<(), StoreError> + Send + Sync>;

/// Forwards every call to another store and counts it.
pub struct RecordingStore {
    inner: Box<dyn LedgerStore>,
    calls: Calls,
    before: BeforeCall,
}

impl RecordingStore {
    /// Counts the calls to `inner` and to the ledgers opened from it.
    pub fn new(inner: Box<dyn LedgerStore>) -> Self {
        Self { inner, calls: Calls::default(), before: Arc::new(|_| Ok(())) }
    }

    /// Adds a function that runs before each `users`, `append`, `controls`, `checkpoint` and `backup`, with the name
    /// of the call. It may block, to simulate a store that hangs; its error replaces the store's result.
    #[must_use]
    pub fn before(self, before: impl Fn(&'static str) -> Result<(), StoreError> + Send + Sync + 'static) -> Self {
        Self { before: Arc::new(before), ..self }
    }

    /// The counters. They remain available after the store is passed to an engine.
    pub fn calls(&self) -> Calls {
        self.calls.clone()
    }
}

impl LedgerStore for RecordingStore {
    fn users(&self) -> Result<Vec<UserId>, StoreError> {
        self.calls.note("users");
        (self.before)("users")?;
        self.inner.users()
    }

    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError> {
        self.calls.note("open");
        let inner = self.inner.open(user, create)?;
        Ok(Box::new(RecordingLedger { inner, calls: self.calls.clone(), before: self.before.clone() }))
    }

    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError> {
        self.calls.note("watch");
        let inner = self.inner.watch(user)?;
        Ok(Box::new(RecordingWatch { inner, calls: self.calls.clone() }))
    }

    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        self.calls.note("remove");
        self.inner.remove(user, expected)
    }

    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        self.calls.note("build");
        self.inner.build(user, replace, fill)
    }

    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
        self.calls.note("restore");
        self.inner.restore(user, from, replace)
    }

    fn read_copy(
        &self,
        user: &UserId,
        from: &Path,
        each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError> {
        self.calls.note("read_copy");
        self.inner.read_copy(user, from, each)
    }

    fn destruction(&self) -> Option<String> {
        self.inner.destruction()
    }

    fn examine(&self) -> Vec<Result<String, String>> {
        self.calls.note("examine");
        self.inner.examine()
    }
}

struct RecordingWatch {
    inner: Box<dyn LedgerWatch>,
    calls: Calls,
}

impl LedgerWatch for RecordingWatch {
    fn look(&mut self) -> Result<WatchEvent, StoreError> {
        self.calls.note("look");
        self.inner.look()
    }
}

struct RecordingLedger {
    inner: Box<dyn UserLedger>,
    calls: Calls,
    before: BeforeCall,
}

impl UserLedger for RecordingLedger {
    fn head(&mut self) -> Result<Head, StoreError> {
        self.calls.note("head");
        self.inner.head()
    }

    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
        self.calls.note("append");
        (self.before)("append")?;
        self.inner.append(expected, events)
    }

    fn read(
        &mut self,
        range: RangeInclusive<Seq>,
        each: &mut dyn FnMut(SealedEvent) -> bool,
    ) -> Result<(), StoreError> {
        self.calls.note("read");
        self.inner.read(range, &mut |sealed| {
            self.calls.note("event");
            each(sealed)
        })
    }

    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError> {
        self.calls.note("controls");
        (self.before)("controls")?;
        self.inner.controls(up_to)
    }

    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError> {
        self.calls.note("position_of");
        self.inner.position_of(id)
    }

    fn key_use(&mut self, key: &str) -> Result<Option<KeyUse>, StoreError> {
        self.calls.note("key_use");
        self.inner.key_use(key)
    }

    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError> {
        self.calls.note("position_at");
        self.inner.position_at(time)
    }

    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError> {
        self.calls.note("erase");
        self.inner.erase(expected, targets, event)
    }

    fn reseal(&mut self, name: &str, holder: u64, changes: &[ResealedChange]) -> Result<(), StoreError> {
        self.calls.note("reseal");
        self.inner.reseal(name, holder, changes)
    }

    fn finish_erasures(&mut self) -> Result<Option<KeyRotation>, StoreError> {
        self.calls.note("finish_erasures");
        self.inner.finish_erasures()
    }

    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError> {
        self.calls.note("snapshots");
        self.inner.snapshots()
    }

    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        self.calls.note("snapshot");
        self.inner.snapshot(seq)
    }

    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError> {
        self.calls.note("projection");
        self.inner.projection(name)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.calls.note("checkpoint");
        (self.before)("checkpoint")?;
        self.inner.checkpoint(checkpoint)
    }

    fn drop_projections(&mut self) -> Result<(), StoreError> {
        self.calls.note("drop_projections");
        self.inner.drop_projections()
    }

    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError> {
        self.calls.note("lease");
        self.inner.lease(request)
    }

    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError> {
        self.calls.note("release");
        self.inner.release(name, holder)
    }

    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError> {
        self.calls.note("put_vectors");
        self.inner.put_vectors(level, tag, vectors)
    }

    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError> {
        self.calls.note("vectors");
        self.inner.vectors(tag)
    }

    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError> {
        self.calls.note("backup");
        (self.before)("backup")?;
        self.inner.backup(to)
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        self.calls.note("check");
        self.inner.check()
    }

    fn bytes(&mut self) -> Result<u64, StoreError> {
        self.calls.note("bytes");
        self.inner.bytes()
    }
}
