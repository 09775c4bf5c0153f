//! The operations of one user's ledger.

use std::ops::RangeInclusive;
use std::path::Path;

use jiff::Timestamp;
use quipu_core::event::ChangeRef;
use quipu_core::id::{EventId, Seq};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{
    BackupFile, Checkpoint, Head, KeyUse, LeaseRequest, Projection, ResealedChange, StoreError, UserLedger, VectorKey,
};
use tokio_postgres::types::Type;

use crate::checks;
use crate::connection::{Access, Step};
use crate::copy;
use crate::derived;
use crate::erase;
use crate::handle::PostgresLedger;
use crate::lease;
use crate::rows::{self, Selected, column, hash, position};

impl PostgresLedger {
    /// Passes the events of a range to `each` in order, until it returns false.
    fn scan(
        &self,
        selected: Selected,
        range: RangeInclusive<Seq>,
        each: &mut dyn FnMut(SealedEvent) -> bool,
    ) -> Result<(), StoreError> {
        let run = |steps: &[Step<'_>]| self.repeat(Access::Read, "read", steps);
        rows::batches(&self.key(), selected, *range.start(), *range.end(), run, |events| {
            Ok(events.into_iter().all(&mut *each))
        })
    }
}

impl UserLedger for PostgresLedger {
    fn head(&mut self) -> Result<Head, StoreError> {
        self.live_head()
    }

    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
        self.write(expected, events, None)
    }

    fn read(
        &mut self,
        range: RangeInclusive<Seq>,
        each: &mut dyn FnMut(SealedEvent) -> bool,
    ) -> Result<(), StoreError> {
        self.scan(Selected::All, range, each)
    }

    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError> {
        let mut all = Vec::new();
        self.scan(Selected::Controls, 1..=up_to, &mut |event| {
            all.push(event);
            true
        })?;
        Ok(all)
    }

    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError> {
        let rows = self.rows(include_str!("sql/position_of.sql"), [(&id as _, Type::UUID)])?;
        rows.first().map(|row| position(row, 0)).transpose()
    }

    fn key_use(&mut self, key: &str) -> Result<Option<KeyUse>, StoreError> {
        let rows = self.rows(include_str!("sql/key_use.sql"), [(&key.as_bytes() as _, Type::BYTEA)])?;
        rows.first().map(|row| Ok(KeyUse { seq: position(row, 0)?, request: hash(row, 1)? })).transpose()
    }

    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError> {
        // Rounded down, also before 1970, so that an event of the next microsecond is excluded.
        let micros = i64::try_from(time.as_nanosecond().div_euclid(1000)).unwrap_or(i64::MAX);
        let rows = self.rows(include_str!("sql/position_at.sql"), [(&micros as _, Type::INT8)])?;
        let seq = rows.first().map(|row| column::<Option<i64>>(row, 0)).transpose()?.flatten();
        Ok(seq.and_then(|seq| Seq::try_from(seq).ok()).unwrap_or(0))
    }

    /// Removes the payloads and salts of the targets from the rows of this ledger and of those that were set aside, in the
    /// transaction that appends the event. What remains until the server reuses the space: old versions of the rows, in
    /// the pages of the tables until a vacuum, and in the write-ahead log, its archive and backups of the server.
    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError> {
        self.write(expected, std::slice::from_ref(event), Some(targets))
    }

    fn reseal(&mut self, name: &str, holder: u64, changes: &[ResealedChange]) -> Result<(), StoreError> {
        erase::reseal(self, name, holder, changes)
    }

    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError> {
        derived::snapshots(self)
    }

    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(derived::blob(self, &derived::snapshot_name(seq))?.map(|projection| projection.bytes))
    }

    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError> {
        derived::blob(self, &derived::projection_name(name))
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        derived::write_checkpoint(self, checkpoint)
    }

    fn drop_projections(&mut self) -> Result<(), StoreError> {
        derived::drop_all(self)
    }

    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError> {
        derived::put_vectors(self, level, tag, vectors)
    }

    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError> {
        lease::take(self, request)
    }

    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError> {
        lease::release(self, name, holder)
    }

    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError> {
        derived::vectors(self, tag)
    }

    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError> {
        copy::backup(self, to)
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        checks::ledger(self)
    }

    fn bytes(&mut self) -> Result<u64, StoreError> {
        let rows = self.rows(include_str!("sql/bytes.sql"), [])?;
        rows.first().map_or(Ok(0), |row| position(row, 0))
    }
}
