//! The empty, read-only ledger of a user without a memory, or of a memory that was closed.

use std::ops::RangeInclusive;
use std::path::Path;

use jiff::Timestamp;
use quipu_core::event::{ChangeRef, NO_HASH};
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::SealedEvent;

use crate::ports::{
    BackupFile, Checkpoint, Head, KeyUse, LeaseRequest, Projection, ResealedChange, StoreError, UserLedger, VectorKey,
};

type Result<T> = std::result::Result<T, StoreError>;

/// An empty ledger that cannot be appended to.
pub(crate) struct AbsentLedger {
    user: UserId,
}

impl AbsentLedger {
    pub(crate) fn new(user: &UserId) -> Self {
        Self { user: user.clone() }
    }

    fn missing<T>(&self) -> Result<T> {
        let user = &self.user;
        Err(StoreError::NotFound(format!(
            "there is no memory of user {user} yet; `quipu add` or `quipu import` starts one"
        )))
    }
}

impl UserLedger for AbsentLedger {
    fn head(&mut self) -> Result<Head> {
        Ok(Head { seq: 0, hash: NO_HASH })
    }

    fn append(&mut self, _: Seq, _: &[SealedEvent]) -> Result<()> {
        self.missing()
    }

    fn read(&mut self, _: RangeInclusive<Seq>, _: &mut dyn FnMut(SealedEvent) -> bool) -> Result<()> {
        Ok(())
    }

    fn controls(&mut self, _: Seq) -> Result<Vec<SealedEvent>> {
        Ok(Vec::new())
    }

    fn position_of(&mut self, _: EventId) -> Result<Option<Seq>> {
        Ok(None)
    }

    fn key_use(&mut self, _: &str) -> Result<Option<KeyUse>> {
        Ok(None)
    }

    fn position_at(&mut self, _: Timestamp) -> Result<Seq> {
        Ok(0)
    }

    fn erase(&mut self, _: Seq, _: &[ChangeRef], _: &SealedEvent) -> Result<()> {
        self.missing()
    }

    fn reseal(&mut self, _: &str, _: u64, _: &[ResealedChange]) -> Result<()> {
        self.missing()
    }

    fn snapshots(&mut self) -> Result<Vec<Seq>> {
        Ok(Vec::new())
    }

    fn snapshot(&mut self, _: Seq) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn projection(&mut self, _: &str) -> Result<Option<Projection>> {
        Ok(None)
    }

    fn checkpoint(&mut self, _: &Checkpoint) -> Result<()> {
        self.missing()
    }

    fn drop_projections(&mut self) -> Result<()> {
        self.missing()
    }

    fn put_vectors(&mut self, _: Seq, _: &str, _: &[(VectorKey, Vec<u8>)]) -> Result<()> {
        self.missing()
    }

    fn vectors(&mut self, _: &str) -> Result<Vec<(VectorKey, Vec<u8>)>> {
        Ok(Vec::new())
    }

    fn lease(&mut self, _: &LeaseRequest<'_>) -> Result<bool> {
        Ok(false)
    }

    fn release(&mut self, _: &str, _: u64) -> Result<()> {
        Ok(())
    }

    fn backup(&mut self, _: &Path) -> Result<BackupFile> {
        self.missing()
    }

    fn check(&mut self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}
