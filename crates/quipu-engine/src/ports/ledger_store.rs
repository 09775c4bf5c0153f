//! Where ledgers live. The engine talks to these two traits only; every implementation passes the same contract suite
//! (`quipu_testkit::contract`).
//!
//! Duties of an implementation:
//! - **Durable**: `append`, `erase` and `checkpoint` return only when a power cut can no longer undo them.
//! - **Atomic**: each call has its whole effect or none, also when the process dies inside it.
//! - **Exact**: bytes come back as they went in.
//! - **Isolated**: a [`UserLedger`] reaches one user's data and nothing else.
//! - **Forgetful**: what `erase` removes is in no file of the store afterwards, and nothing made before an erasure is stored
//!   after it ([`StoreError::Conflict`] from [`UserLedger::checkpoint`] and [`UserLedger::put_vectors`]).
//! - **Shared**: any number of processes of one machine may have the same ledger open. Appends are compare-and-set, a
//!   [`LedgerWatch`] notices what others did, and work that must be done once is taken under a [lease](UserLedger::lease).

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use quipu_core::event::{ChangeRef, Hash};
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::SealedEvent;
use thiserror::Error;

/// Why a store could not do what was asked. Nothing was changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another writer appended first: load again from here and decide again.
    #[error("another writer appended first: the ledger is at {head}, not at {expected}")]
    Conflict {
        /// Where the caller thought the ledger was.
        expected: Seq,
        /// Where it is.
        head: Seq,
    },
    /// No such user, backup or row.
    #[error("{0}")]
    NotFound(String),
    /// It is there already and would have been overwritten.
    #[error("{0}")]
    Exists(String),
    /// The ledger was removed while it was open, here or by another process. Nothing was written; open the user again.
    #[error("{0}")]
    Removed(String),
    /// The medium says no for now: busy, full, read-only, locked by another process. The text says what to do.
    #[error("{0}")]
    Unavailable(String),
    /// What is stored is not what was written, or was written by a newer or foreign program.
    #[error("{0}")]
    Corrupt(String),
}

/// The newest event of a ledger; `seq` 0 and [`NO_HASH`](quipu_core::event::NO_HASH) when it is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its position.
    pub seq: Seq,
    /// Its hash.
    pub hash: Hash,
}

/// What a caller's key was used for before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyUse {
    /// The event it led to.
    pub seq: Seq,
    /// The request it came with.
    pub request: Hash,
}

/// A rebuildable blob and what it was built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// The position it is level with.
    pub seq: Seq,
    /// What made it (format, model); a reader that expects another tag rebuilds.
    pub tag: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What [`UserLedger::checkpoint`] makes durable in one step.
#[derive(Debug, Default)]
pub struct Checkpoint {
    /// A folded memory: position and bytes. Older snapshots beyond `snapshots_kept` are dropped.
    pub snapshot: Option<(Seq, Vec<u8>)>,
    /// How many snapshots stay, the newest included.
    pub snapshots_kept: usize,
    /// Projections to replace, by name.
    pub projections: Vec<(&'static str, Projection)>,
    /// Drop the single vectors, because a projection of this checkpoint holds them.
    pub clear_vectors: bool,
    /// The version of the memory all of this was made from.
    pub level: Seq,
}

/// What a [`LedgerWatch`] sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEvent {
    /// Nothing was committed since the last look.
    Same,
    /// Something was committed since, by anybody (also by this process): the newest event now.
    Changed(Head),
    /// The ledger was removed.
    Removed,
}

/// Notices what anybody appends to one user's ledger. It has a connection of its own, so that a look never waits for an append.
pub trait LedgerWatch: Send {
    /// Looks once; costs microseconds while nothing changed. The first look always tells the head.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt` as the store says.
    fn look(&mut self) -> Result<WatchEvent, StoreError>;
}

/// Who holds a lease, until when, and what time it is for whom asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRequest<'a> {
    /// What is leased, such as `extract`.
    pub name: &'a str,
    /// Random id of the process (of the engine in it) that asks.
    pub holder: u64,
    /// The time now. A lease that ended before counts as free.
    pub now: Timestamp,
    /// When the lease ends by itself.
    pub until: Timestamp,
}

/// Identifies a text that was embedded: a hash of the text, not the text.
pub type VectorKey = [u8; 16];

/// A copy of one user's ledger on another path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// Where it was written.
    pub path: PathBuf,
    /// The newest event in it.
    pub head: Head,
    /// Its size.
    pub bytes: u64,
}

/// One place with many users' ledgers.
pub trait LedgerStore: Send + Sync {
    /// Every user with a ledger here, in order of id.
    fn users(&self) -> Result<Vec<UserId>, StoreError>;

    /// Opens a user's ledger; with `create`, makes an empty one if there is none.
    ///
    /// # Errors
    /// `NotFound` without `create`; `Corrupt` for a foreign, newer or unreadable database.
    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError>;

    /// Watches a user's ledger.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError>;

    /// Deletes everything of a user, if the ledger is at `expected` (at any position with `None`). Ledgers and watches of the
    /// user that are open, here or in other processes, find it removed: their next `append`, `erase`, `checkpoint` or
    /// `put_vectors` fails with `Removed` and writes nothing, and their next `look` says so.
    ///
    /// # Errors
    /// `Conflict` if the ledger is at another position; `NotFound` if there is none.
    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError>;

    /// Makes a user's ledger as a whole: `fill` appends to an empty one that nobody else sees, and when it returns without error
    /// the ledger takes its place, in one step. With `replace`, a ledger that is there is set aside and its new path returned. If
    /// `fill` fails, or the process dies at any point, what was there before is there as it was.
    ///
    /// # Errors
    /// `Exists` when the user has a ledger and `replace` is off; what `fill` said.
    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError>;

    /// Puts a backup made by [`UserLedger::backup`] in place. With `replace`, a ledger that is there is set aside first
    /// and its new path returned.
    ///
    /// # Errors
    /// `Exists` when the user has a ledger and `replace` is off; `Corrupt` if the copy is not a ledger of this user.
    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError>;

    /// Checks of the place itself (settings, free space, locks): one line each, `Err` for what needs attention.
    fn examine(&self) -> Vec<Result<String, String>>;
}

/// One user's ledger and the projections beside it. Not shared: the engine keeps it behind the user's writer.
pub trait UserLedger: Send {
    /// The newest event.
    fn head(&mut self) -> Result<Head, StoreError>;

    /// Appends events with positions `expected + 1 …`, all or none.
    ///
    /// # Errors
    /// `Conflict` if the ledger is not at `expected`; `Exists` if an id or idempotency key is already used;
    /// `Unavailable` if the medium is full, busy or read-only.
    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError>;

    /// Hands over the events of a range in order, until `each` returns false. Missing positions are skipped.
    fn read(&mut self, range: RangeInclusive<Seq>, each: &mut dyn FnMut(SealedEvent) -> bool)
    -> Result<(), StoreError>;

    /// The control events up to and including a position, in order.
    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError>;

    /// Where an event is.
    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError>;

    /// What a key was used for.
    fn key_use(&mut self, key: &str) -> Result<Option<KeyUse>, StoreError>;

    /// The last event recorded at or before a time; 0 if there is none.
    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError>;

    /// Appends `event` and destroys payload and salt of its targets, every snapshot, projection and vector, in one
    /// step, and then leaves no copy of them in the store's files (free pages, write-ahead log).
    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError>;

    /// Positions that have a snapshot, ascending.
    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError>;

    /// One snapshot.
    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError>;

    /// One projection.
    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError>;

    /// Makes snapshot and projections durable in one step.
    ///
    /// # Errors
    /// `Conflict` if a control event (an erasure, a revert) was appended after `checkpoint.level`: what was made before it may
    /// hold what it took away.
    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Drops every snapshot, projection and vector. They can be rebuilt.
    fn drop_projections(&mut self) -> Result<(), StoreError>;

    /// Keeps single vectors until the next checkpoint holds them. `tag` names what made them; vectors with another tag
    /// are dropped.
    ///
    /// # Errors
    /// `Conflict` if a control event was appended after `level`, the version of the memory whose texts were embedded.
    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError>;

    /// Takes a lease, or prolongs the one `holder` has. False if somebody else holds it.
    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError>;

    /// Gives a lease back, if `holder` has it.
    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError>;

    /// The single vectors made by `tag`.
    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError>;

    /// Copies the whole ledger to a path that does not exist yet, durable when it returns.
    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError>;

    /// The medium's own consistency checks; one line for each fault found.
    fn check(&mut self) -> Result<Vec<String>, StoreError>;

    /// Bytes on the medium.
    fn bytes(&mut self) -> Result<u64, StoreError>;
}
