//! Port for the storage of ledgers. Every implementation passes the same contract suite (`quipu_testkit::contract`).
//!
//! An implementation must be:
//! - **Durable**: `append`, `erase` and `checkpoint` return only when a power cut can no longer undo them.
//! - **Atomic**: each call has its whole effect or none, even if the process dies during it.
//! - **Exact**: bytes are returned as they were stored.
//! - **Isolated**: a [`UserLedger`] accesses one user's data only.
//! - **Forgetful**: no file of the store contains what `erase` removed, and nothing made before an erasure is stored
//!   after it ([`StoreError::Conflict`] from [`UserLedger::checkpoint`] and [`UserLedger::put_vectors`]). A store whose
//!   files a server owns says what remains in them.
//! - **Shared**: any number of processes on one machine may have the same ledger open, and on many machines if the store
//!   is a server. Appends are compare-and-set, a
//!   [`LedgerWatch`] reports changes by others, and work that must be done once is protected by a
//!   [lease](UserLedger::lease).

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quipu_core::event::{ChangeRef, Hash};
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::{Salt, SealedChange, SealedEvent};
use serde::Serialize;

use super::{ServerRegistry, StoreError};

/// The newest event of a ledger; `seq` 0 and [`NO_HASH`](quipu_core::event::NO_HASH) if it is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its position.
    pub seq: Seq,
    /// Its hash.
    pub hash: Hash,
}

/// Earlier use of an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyUse {
    /// Position of the event recorded for it.
    pub seq: Seq,
    /// Hash of the request.
    pub request: Hash,
}

/// Rebuildable data and what it was built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The version it was built at.
    pub seq: Seq,
    /// Its format and model; a reader that expects another tag rebuilds it.
    pub tag: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Data that [`UserLedger::checkpoint`] makes durable in one step.
#[derive(Debug, Default)]
pub struct Checkpoint {
    /// A folded memory: position and bytes. Snapshots beyond the newest `snapshots_kept` are dropped.
    pub snapshot: Option<(Seq, Vec<u8>)>,
    /// Number of snapshots to keep, the newest included.
    pub snapshots_kept: usize,
    /// Projections to replace, by name.
    pub projections: Vec<(&'static str, Projection)>,
    /// Drops the single vectors, because a projection of this checkpoint contains them.
    pub clear_vectors: bool,
    /// The version of the memory that all of this was built from.
    pub level: Seq,
    /// Stores the projections only while this lease is held, so that a process that was paused and lost its lease cannot
    /// overwrite a position of its successor. Such a checkpoint has projections only.
    pub lease: Option<LeaseClaim>,
}

/// The condition that a holder has a lease. It may have expired, if nobody else has taken it since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseClaim {
    /// Name of the leased work.
    pub name: String,
    /// The holder.
    pub holder: u64,
}

impl LeaseClaim {
    /// The error for a lease that is not held any more.
    pub fn lost(&self) -> StoreError {
        StoreError::Unavailable(format!(
            "the lease {:?} was taken over by another process, which continues the work. Nothing was changed",
            self.name
        ))
    }
}

/// Result of [`LedgerWatch::look`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEvent {
    /// Nothing was committed since the last call.
    Same,
    /// Something was committed since, by any process including this one; contains the newest event.
    Changed(Head),
    /// The ledger was removed.
    Removed,
}

/// Detects appends to one user's ledger by any process. It has its own connection, so it never waits for an append.
pub trait LedgerWatch: Send {
    /// Checks once; takes microseconds if nothing changed. The first call always reports the head.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt` from the store.
    fn look(&mut self) -> Result<WatchEvent, StoreError>;
}

/// A request for a lease. A store with a clock that all its callers share, such as a server's, uses that clock: then the
/// lease lasts for `until - now` from the call on, and clocks of callers may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRequest<'a> {
    /// Name of the leased work, such as `extract`.
    pub name: &'a str,
    /// Random id of the requesting engine.
    pub holder: u64,
    /// The current time. A lease that ended before it is free.
    pub now: Timestamp,
    /// When the lease expires.
    pub until: Timestamp,
}

/// Key of an embedded text: a hash of the text.
pub type VectorKey = [u8; 16];

/// A copy of one user's ledger at another path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// Path of the copy.
    pub path: PathBuf,
    /// The newest event in it.
    pub head: Head,
    /// Size in bytes.
    pub bytes: u64,
}

/// The database server behind a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreServer {
    /// Its kind, such as `PostgreSQL`.
    pub kind: &'static str,
    /// Its version.
    pub version: String,
}

/// Another stored form of a change, for [`UserLedger::reseal`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResealedChange {
    /// The change.
    pub target: ChangeRef,
    /// The stored salt that is replaced. A change whose stored salt differs, or was erased, stays as it is.
    pub from: Salt,
    /// The new bytes and salt, both present.
    pub to: SealedChange,
}

/// What a store that seals payloads did after erasures; see [`UserLedger::finish_erasures`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyRotation {
    /// Changes that were sealed again with the user's new key.
    pub changes_resealed: u64,
    /// Keys that were destroyed afterwards.
    pub keys_destroyed: u64,
}

/// A store of the ledgers of many users.
pub trait LedgerStore: Send + Sync {
    /// Every user with a ledger, in order of id.
    fn users(&self) -> Result<Vec<UserId>, StoreError>;

    /// Opens a user's ledger; with `create`, creates an empty one if there is none.
    ///
    /// # Errors
    /// `NotFound` without `create`; `Corrupt` for a foreign, newer or unreadable database.
    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError>;

    /// Watches a user's ledger.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError>;

    /// Deletes everything of a user, if the ledger is at `expected` (at any position with `None`). For open ledgers and
    /// watches of the user, in any process, the next `append`, `erase`, `checkpoint` or `put_vectors` fails with
    /// `Removed` and writes nothing, and the next `look` reports the removal.
    ///
    /// # Errors
    /// `Conflict` if the ledger is at another position; `NotFound` if there is none.
    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError>;

    /// Builds a user's ledger as a whole: `fill` appends to an empty ledger out of sight, which is put in place in one
    /// step when `fill` succeeds. With `replace`, an existing ledger is set aside and its new path returned, from which
    /// [`Self::restore`] restores it. If `fill` fails or the process dies, the previous state remains.
    ///
    /// # Errors
    /// `Exists` if the user has a ledger and `replace` is off; any error of `fill`.
    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError>;

    /// Puts a backup made by [`UserLedger::backup`] in place. With `replace`, an existing ledger is set aside first and
    /// its new path returned.
    ///
    /// # Errors
    /// `Exists` if the user has a ledger and `replace` is off; `Corrupt` if the copy is not a ledger of this user.
    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError>;

    /// Passes the events of a backup, or of a ledger that was set aside, to `each` in order, as they are stored there.
    /// Returns its head. The caller must expect damage: only the structure of the file is checked.
    ///
    /// # Errors
    /// `NotFound` if there is no such copy; `Corrupt` if it is not a ledger of this user; any error of `each`.
    fn read_copy(
        &self,
        user: &UserId,
        from: &Path,
        each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError>;

    /// What a deletion or an erasure made unreadable beyond the store's own files, and when that is final, in a sentence
    /// for the receipt. `None` for a store that destroys no keys.
    fn destruction(&self) -> Option<String> {
        None
    }

    /// The places from which [`Self::remove`] deletes, for the receipt. A store that cannot reach one leaves it out.
    fn cleaned(&self) -> Vec<&'static str> {
        vec!["ledger", "snapshots", "recall index", "vectors", "write-ahead log", "copies set aside"]
    }

    /// Checks quickly that the store answers and takes writes. Returns a description if it is a server.
    ///
    /// # Errors
    /// `Unavailable` if it does not.
    fn ready(&self) -> Result<Option<StoreServer>, StoreError> {
        self.users().map(|_| None)
    }

    /// The servers that share the store; `None` if it keeps no such register.
    fn registry(&self) -> Option<&dyn ServerRegistry> {
        None
    }

    /// Checks the storage itself (settings, free space, locks): one line per check, `Err` for a problem.
    fn examine(&self) -> Vec<Result<String, String>>;
}

/// One user's ledger and its projections. Not shared between threads; the engine keeps it behind the user's writer.
pub trait UserLedger: Send {
    /// The newest event.
    fn head(&mut self) -> Result<Head, StoreError>;

    /// Appends events at positions `expected + 1 …`, all or none.
    ///
    /// # Errors
    /// `Conflict` if the ledger is not at `expected`; `Exists` if an id or idempotency key is used already;
    /// `Unavailable` if the storage is full, busy or read-only.
    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError>;

    /// Passes the events of a range to `each` in order, until it returns false. Missing positions are skipped.
    fn read(&mut self, range: RangeInclusive<Seq>, each: &mut dyn FnMut(SealedEvent) -> bool)
    -> Result<(), StoreError>;

    /// The control events up to and including a position, in order.
    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError>;

    /// Position of an event.
    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError>;

    /// Earlier use of an idempotency key.
    fn key_use(&mut self, key: &str) -> Result<Option<KeyUse>, StoreError>;

    /// Position of the last event recorded at or before a time; 0 if there is none.
    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError>;

    /// Appends `event`, destroys payload and salt of its targets, and drops every snapshot, projection and vector, in
    /// one step; then removes remaining copies from the store's files (free pages, write-ahead log).
    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError>;

    /// Replaces the stored form of changes, in one step, if `holder` has the lease `name`. For a store on top of this one
    /// that seals payloads with keys of its own; such a store refuses the call itself.
    ///
    /// # Errors
    /// `Unavailable` if another holder has the lease, or none.
    fn reseal(&mut self, name: &str, holder: u64, changes: &[ResealedChange]) -> Result<(), StoreError>;

    /// In a store that seals payloads with a key of the user: seals with the current key what earlier ones sealed, and
    /// destroys the keys that earlier erasures retired. Goes on where an interrupted call stopped. `None` if there was
    /// nothing to do, and for other stores.
    ///
    /// # Errors
    /// `Unavailable` if another process is doing it; as `read` and `reseal`.
    fn finish_erasures(&mut self) -> Result<Option<KeyRotation>, StoreError> {
        Ok(None)
    }

    /// Positions of snapshots, ascending.
    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError>;

    /// One snapshot.
    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError>;

    /// One projection.
    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError>;

    /// Makes snapshot and projections durable in one step.
    ///
    /// # Errors
    /// `Conflict` if a control event (an erasure, a revert) was appended after `checkpoint.level`, because the data may
    /// contain what it removed. `Unavailable` if `checkpoint.lease` is not held.
    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Drops every snapshot, projection and vector. They can be rebuilt.
    fn drop_projections(&mut self) -> Result<(), StoreError>;

    /// Stores single vectors until the next checkpoint contains them. `tag` identifies their model; vectors with
    /// another tag are dropped.
    ///
    /// # Errors
    /// `Conflict` if a control event was appended after `level`, the version of the embedded texts.
    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError>;

    /// Takes a lease, or extends it if `holder` has it. Returns false if another holder has it.
    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError>;

    /// Releases a lease if `holder` has it.
    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError>;

    /// The single vectors with this tag.
    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError>;

    /// Copies the whole ledger to a path that does not exist yet. The copy is durable on return.
    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError>;

    /// Runs the storage's own consistency checks; one line for each fault.
    fn check(&mut self) -> Result<Vec<String>, StoreError>;

    /// Bytes on disk.
    fn bytes(&mut self) -> Result<u64, StoreError>;
}
