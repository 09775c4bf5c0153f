//! One user's ledger in one database.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use jiff::Timestamp;
use quipu_core::event::ChangeRef;
use quipu_core::id::{EventId, Seq};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{
    BackupFile, Checkpoint, Head, KeyUse, LeaseClaim, LeaseRequest, Projection, ResealedChange, StoreError, UserLedger,
    VectorKey,
};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::checks;
use crate::connection;
use crate::copy;
use crate::data_folder::disk;
use crate::data_folder::fault::{self, Failure};
use crate::derived;
use crate::derived::DerivedRead;
use crate::erase;
use crate::folder::Folder;
use crate::lease;
use crate::mark;
use crate::open::OpenConnection;
use crate::rows::{self, Position, StoredHash};

/// The open ledger of one user.
#[derive(Debug)]
pub(crate) struct SqliteLedger {
    pub(crate) connection: OpenConnection,
    /// Entries that were found damaged. The next append deletes them.
    damaged: Vec<derived::Name>,
}

impl SqliteLedger {
    pub(crate) fn new(connection: OpenConnection) -> Self {
        Self { connection, damaged: Vec::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.connection.path
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.connection.folder
    }

    /// Closes a ledger that no other connection has open, leaving a single file.
    pub(crate) fn into_one_file(self) -> Result<(), StoreError> {
        let is_empty = connection::empty_log(&self.connection).map_err(self.fail("close"))?;
        let path = self.path().to_owned();
        // Closing the last connection removes SQLite's files.
        drop(self);
        if !is_empty || disk::exists(&disk::beside(&path, "-wal")) {
            return Err(StoreError::Unavailable(format!("{} is still in use and cannot be closed", path.display())));
        }
        Ok(())
    }

    /// Runs `work` in one durable transaction. Fails if the ledger is abandoned.
    ///
    /// The transaction takes the write lock at the start: upgrading a read transaction fails at once if another writer
    /// was faster, whatever the busy timeout.
    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let path = self.path().to_owned();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        mark::refuse(&transaction)?;
        let done = work(&transaction)?;
        disk::note("commit", &path);
        transaction.commit()?;
        Ok(done)
    }

    /// Returns valid data and records damaged entries.
    fn whole<T>(&mut self, found: DerivedRead<T>, name: derived::Name) -> Option<T> {
        match found {
            DerivedRead::Whole(value) => return Some(value),
            DerivedRead::Damaged if !self.damaged.contains(&name) => self.damaged.push(name),
            DerivedRead::Damaged | DerivedRead::Nothing => {}
        }
        None
    }

    fn fail(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
        let path = self.path().to_owned();
        move |error| fault::of_sqlite(&path, doing, &error)
    }

    /// Looks up one value by statement and key.
    fn find<T>(
        &self,
        sql: &str,
        key: impl rusqlite::Params,
        take: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let found = self.connection.prepare_cached(sql).and_then(|mut query| query.query_row(key, take).optional());
        found.map_err(self.fail("read"))
    }
}

/// Appends events if the head is at `expected`.
pub(crate) fn append(transaction: &Transaction<'_>, expected: Seq, events: &[SealedEvent]) -> Result<(), Failure> {
    let head = rows::head(transaction)?.seq;
    if head != expected {
        return Err(StoreError::Conflict { expected, head }.into());
    }
    for (seq, event) in (expected + 1..).zip(events) {
        if event.seq != seq {
            return Err(StoreError::Corrupt(format!(
                "an event with position {} was given to be appended at {seq}. Nothing was changed. This is a bug in Quipu",
                event.seq
            ))
            .into());
        }
        rows::insert(transaction, event).map_err(|error| taken(event, error))?;
    }
    Ok(())
}

/// Fails if an erasure, a revert or a fork came after version `level`, which the data was derived from.
fn not_before_control(transaction: &Transaction<'_>, level: Seq) -> Result<(), Failure> {
    let mut query = transaction.prepare_cached(include_str!("sql/last_control.sql"))?;
    let last = query.query_row([], |row| row.get::<_, Option<Position>>(0))?.map_or(0, |last| last.0);
    if last > level {
        return Err(StoreError::Conflict { expected: level, head: rows::head(transaction)?.seq }.into());
    }
    Ok(())
}

fn taken(event: &SealedEvent, error: rusqlite::Error) -> Failure {
    let text = match (fault::taken_column(&error), &event.idempotency) {
        (Some("event.idempotency_key"), Some((key, _))) => format!("the idempotency key {key:?} was used before"),
        (Some("event.id"), _) => format!("the event {} is in the ledger already", event.id),
        _ => return error.into(),
    };
    StoreError::Exists(text).into()
}

impl UserLedger for SqliteLedger {
    fn head(&mut self) -> Result<Head, StoreError> {
        rows::head(&self.connection).map_err(self.fail("read"))
    }

    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
        self.folder().has_room()?;
        let damaged = self.damaged.clone();
        let done = self.write(|transaction| {
            append(transaction, expected, events)?;
            Ok(derived::drop_damaged(transaction, &damaged)?)
        });
        done.map_err(|failure| failure.tell(self.path(), "append to"))?;
        self.damaged.clear();
        Ok(())
    }

    fn read(
        &mut self,
        range: RangeInclusive<Seq>,
        each: &mut dyn FnMut(SealedEvent) -> bool,
    ) -> Result<(), StoreError> {
        // Each batch is read completely before it is passed on: a slow reader would keep the write-ahead log from
        // shrinking and erasures from finishing.
        let (mut first, last) = range.into_inner();
        while first <= last {
            let events = rows::batch(&self.connection, self.path(), include_str!("sql/read_events.sql"), first, last)?;
            let Some(end) = events.last().map(|event| event.seq) else { return Ok(()) };
            for event in events {
                if !each(event) {
                    return Ok(());
                }
            }
            first = end + 1;
        }
        Ok(())
    }

    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError> {
        let mut all = Vec::new();
        loop {
            let first = all.last().map_or(1, |event: &SealedEvent| event.seq + 1);
            let events =
                rows::batch(&self.connection, self.path(), include_str!("sql/read_controls.sql"), first, up_to)?;
            if events.is_empty() {
                return Ok(all);
            }
            all.extend(events);
        }
    }

    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError> {
        self.find(include_str!("sql/position_of.sql"), [id.as_bytes()], |row| Ok(row.get::<_, Position>(0)?.0))
    }

    fn key_use(&mut self, key: &str) -> Result<Option<KeyUse>, StoreError> {
        self.find(include_str!("sql/key_use.sql"), [key], |row| {
            Ok(KeyUse { seq: row.get::<_, Position>(0)?.0, request: row.get::<_, StoredHash>(1)?.0 })
        })
    }

    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError> {
        // Rounded down, also before 1970, so that an event of the next microsecond is excluded.
        let micros = i64::try_from(time.as_nanosecond().div_euclid(1000)).unwrap_or(i64::MAX);
        let seq = self.find(include_str!("sql/position_at.sql"), [micros], |row| row.get::<_, Option<Position>>(0))?;
        Ok(seq.flatten().map_or(0, |seq| seq.0))
    }

    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError> {
        erase::erase(self, expected, targets, event)
    }

    fn reseal(&mut self, name: &str, holder: u64, changes: &[ResealedChange]) -> Result<(), StoreError> {
        self.folder().has_room()?;
        let done = self.write(|transaction| {
            lease::check(transaction, &LeaseClaim { name: name.to_owned(), holder })?;
            let mut put = transaction.prepare_cached(include_str!("sql/reseal_change.sql"))?;
            for ResealedChange { target, from, to } in changes {
                put.execute(params![rows::stored(target.seq), target.index, to.bytes, to.salt, from])?;
            }
            Ok(())
        });
        done.map_err(|failure| failure.tell(self.path(), "seal again in"))
    }

    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError> {
        derived::snapshots(&self.connection).map_err(self.fail("read"))
    }

    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        let found =
            derived::snapshot(&mut self.connection, seq).map_err(|failure| failure.tell(self.path(), "read"))?;
        Ok(self.whole(found, derived::Name::Snapshot(seq)))
    }

    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError> {
        let found =
            derived::projection(&mut self.connection, name).map_err(|failure| failure.tell(self.path(), "read"))?;
        Ok(self.whole(found, derived::Name::Projection(name.to_owned())))
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.folder().has_room()?;
        let done = self.write(|transaction| {
            not_before_control(transaction, checkpoint.level)?;
            if let Some(claim) = &checkpoint.lease {
                lease::check(transaction, claim)?;
            }
            derived::write_checkpoint(transaction, checkpoint)
        });
        done.map_err(|failure| failure.tell(self.path(), "write a checkpoint to"))?;
        // The transaction is durable; the rest is housekeeping that the next checkpoint repeats.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        let _ = erase::scrub_if_pending(self);
        let _ = self.folder().ballast.restore();
        Ok(())
    }

    fn drop_projections(&mut self) -> Result<(), StoreError> {
        let done = self.write(|transaction| Ok(derived::drop_all(transaction)?));
        done.map_err(|failure| failure.tell(self.path(), "drop the projections of"))
    }

    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError> {
        self.folder().has_room()?;
        let done = self.write(|transaction| {
            not_before_control(transaction, level)?;
            Ok(derived::put_vectors(transaction, tag, vectors)?)
        });
        done.map_err(|failure| failure.tell(self.path(), "add vectors to"))
    }

    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError> {
        let done = self.write(|transaction| lease::take(transaction, request));
        done.map_err(|failure| failure.tell(self.path(), "take a lease of"))
    }

    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError> {
        let done = self.write(|transaction| lease::release(transaction, name, holder));
        done.map_err(|failure| failure.tell(self.path(), "give back a lease of"))
    }

    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError> {
        derived::vectors(&mut self.connection, tag).map_err(self.fail("read"))
    }

    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError> {
        mark::refuse(&self.connection).map_err(|failure| failure.tell(self.path(), "copy"))?;
        copy::backup(&self.connection, self.path(), to)
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        checks::ledger(&self.connection, self.path())
    }

    fn bytes(&mut self) -> Result<u64, StoreError> {
        let size = |path: &Path| fs::metadata(path).map(|found| found.len());
        let file = size(self.path()).map_err(|error| fault::of_disk(self.path(), "look at", &error))?;
        Ok(disk::SIDECARS.iter().fold(file, |sum, end| sum + size(&disk::beside(self.path(), end)).unwrap_or(0)))
    }
}
