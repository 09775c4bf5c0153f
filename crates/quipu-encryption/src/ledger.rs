//! One user's ledger, sealed.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::event::ChangeRef;
use quipu_core::id::{EventId, Seq};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{
    BackupFile, Checkpoint, Head, KeyRotation, KeyUse, LeaseRequest, Projection, ResealedChange, StoreError,
    UserKeyState, UserLedger, VectorKey,
};

use crate::keyring::Keyring;
use crate::rotation;
use crate::seal::{BlobKind, UserKey};

/// The ledger under a sealed one.
pub(crate) enum Inner<'a> {
    Owned(Box<dyn UserLedger>),
    Lent(&'a mut dyn UserLedger),
}

impl<'a> Inner<'a> {
    pub(crate) fn get(&mut self) -> &mut (dyn UserLedger + 'a) {
        match self {
            Self::Owned(ledger) => ledger.as_mut(),
            Self::Lent(ledger) => *ledger,
        }
    }
}

/// Seals what is written to a ledger, and opens what is read from it.
pub(crate) struct EncryptedLedger<'a> {
    pub(crate) inner: Inner<'a>,
    pub(crate) ring: Keyring,
}

impl EncryptedLedger<'_> {
    /// The key for a write at version `at`; `None` if encryption is off.
    fn key(&mut self, at: Seq) -> Result<Option<Arc<UserKey>>, StoreError> {
        self.ring.for_writing(self.inner.get(), at)
    }

    fn seal_all(&mut self, at: Seq, events: &[SealedEvent]) -> Result<Option<Vec<SealedEvent>>, StoreError> {
        let Some(key) = self.key(at)? else { return Ok(None) };
        events.iter().map(|event| self.ring.seal(&key, event)).collect::<Result<_, _>>().map(Some)
    }
}

impl UserLedger for EncryptedLedger<'_> {
    fn head(&mut self) -> Result<Head, StoreError> {
        self.inner.get().head()
    }

    fn append(&mut self, expected: Seq, events: &[SealedEvent]) -> Result<(), StoreError> {
        match self.seal_all(expected, events)? {
            None => self.inner.get().append(expected, events),
            Some(sealed) => {
                self.inner.get().append(expected, &sealed)?;
                self.ring.appended(expected + events.len() as Seq);
                Ok(())
            }
        }
    }

    fn read(
        &mut self,
        range: RangeInclusive<Seq>,
        each: &mut dyn FnMut(SealedEvent) -> bool,
    ) -> Result<(), StoreError> {
        let (inner, ring) = (&mut self.inner, &mut self.ring);
        let mut failed = Ok(());
        inner.get().read(range, &mut |event| match ring.open(event) {
            Ok(event) => each(event),
            Err(error) => {
                failed = Err(error);
                false
            }
        })?;
        failed
    }

    fn controls(&mut self, up_to: Seq) -> Result<Vec<SealedEvent>, StoreError> {
        let events = self.inner.get().controls(up_to)?;
        events.into_iter().map(|event| self.ring.open(event)).collect()
    }

    fn position_of(&mut self, id: EventId) -> Result<Option<Seq>, StoreError> {
        self.inner.get().position_of(id)
    }

    fn key_use(&mut self, key: &str) -> Result<Option<KeyUse>, StoreError> {
        self.inner.get().key_use(key)
    }

    fn position_at(&mut self, time: Timestamp) -> Result<Seq, StoreError> {
        self.inner.get().position_at(time)
    }

    fn erase(&mut self, expected: Seq, targets: &[ChangeRef], event: &SealedEvent) -> Result<(), StoreError> {
        if self.ring.keys().is_none() {
            return self.inner.get().erase(expected, targets, event);
        }
        // Asked first, so that an erasure which cannot succeed makes no key.
        let head = self.head()?.seq;
        if head != expected {
            return Err(StoreError::Conflict { expected, head });
        }
        self.ring.reload()?;
        self.ring.refuse_lost(self.inner.get())?;
        if !self.ring.listed().iter().any(|key| key.state != UserKeyState::Building) {
            // A key that the erasure retires, so that what is in the clear, or sealed by a builder, is sealed again.
            self.key(expected)?;
        }
        // Each attempt has a key of its own: what was written since the one before must not be sealed with it.
        let key = self.ring.make(UserKeyState::Active, Some(event.id))?;
        let sealed = self.ring.seal(&key, event)?;
        let outcome = self.inner.get().erase(expected, targets, &sealed);
        if outcome.is_ok() {
            self.ring.appended(event.seq);
        }
        outcome
    }

    fn reseal(&mut self, _: &str, _: u64, _: &[ResealedChange]) -> Result<(), StoreError> {
        Err(StoreError::Unavailable("this store seals payloads itself. Nothing was changed".to_owned()))
    }

    fn finish_erasures(&mut self) -> Result<Option<KeyRotation>, StoreError> {
        rotation::finish(self.inner.get(), &mut self.ring)
    }

    fn snapshots(&mut self) -> Result<Vec<Seq>, StoreError> {
        self.inner.get().snapshots()
    }

    fn snapshot(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(bytes) = self.inner.get().snapshot(seq)? else { return Ok(None) };
        self.ring.open_blob(BlobKind::Snapshot { seq }, bytes)
    }

    fn projection(&mut self, name: &str) -> Result<Option<Projection>, StoreError> {
        let Some(Projection { seq, tag, bytes }) = self.inner.get().projection(name)? else { return Ok(None) };
        let opened = self.ring.open_blob(BlobKind::Projection { name, seq, tag: &tag }, bytes)?;
        Ok(opened.map(|bytes| Projection { seq, tag, bytes }))
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let Some((key, keys)) = self.key(checkpoint.level)?.zip(self.ring.keys().cloned()) else {
            return self.inner.get().checkpoint(checkpoint);
        };
        let seal = |kind: BlobKind<'_>, bytes: &[u8]| key.seal_blob(kind, bytes, keys.entropy.as_ref());
        let mut sealed = Checkpoint {
            snapshot: None,
            snapshots_kept: checkpoint.snapshots_kept,
            projections: Vec::with_capacity(checkpoint.projections.len()),
            clear_vectors: checkpoint.clear_vectors,
            level: checkpoint.level,
            lease: checkpoint.lease.clone(),
        };
        if let Some((seq, bytes)) = &checkpoint.snapshot {
            sealed.snapshot = Some((*seq, seal(BlobKind::Snapshot { seq: *seq }, bytes)?));
        }
        for (name, Projection { seq, tag, bytes }) in &checkpoint.projections {
            let bytes = seal(BlobKind::Projection { name, seq: *seq, tag }, bytes)?;
            sealed.projections.push((name, Projection { seq: *seq, tag: tag.clone(), bytes }));
        }
        self.inner.get().checkpoint(&sealed)?;
        if self.ring.listed().iter().any(|key| key.state == UserKeyState::Retired) {
            // The checkpoint is durable. If the rest fails, the next one repeats it.
            let _ = rotation::finish(self.inner.get(), &mut self.ring);
        }
        Ok(())
    }

    fn drop_projections(&mut self) -> Result<(), StoreError> {
        self.inner.get().drop_projections()
    }

    fn put_vectors(&mut self, level: Seq, tag: &str, vectors: &[(VectorKey, Vec<u8>)]) -> Result<(), StoreError> {
        let Some((key, keys)) = self.key(level)?.zip(self.ring.keys().cloned()) else {
            return self.inner.get().put_vectors(level, tag, vectors);
        };
        let mut sealed = Vec::with_capacity(vectors.len());
        for (name, bytes) in vectors {
            let stored = key.vector_name(name);
            let plain = [name.as_slice(), bytes].concat();
            let kind = BlobKind::Vector { tag, stored: &stored };
            sealed.push((stored, key.seal_blob(kind, &plain, keys.entropy.as_ref())?));
        }
        self.inner.get().put_vectors(level, tag, &sealed)
    }

    fn lease(&mut self, request: &LeaseRequest<'_>) -> Result<bool, StoreError> {
        self.inner.get().lease(request)
    }

    fn release(&mut self, name: &str, holder: u64) -> Result<(), StoreError> {
        self.inner.get().release(name, holder)
    }

    fn vectors(&mut self, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError> {
        let mut opened = Vec::new();
        for (stored, bytes) in self.inner.get().vectors(tag)? {
            if crate::seal::key_of_blob(&bytes).is_none() {
                opened.push((stored, bytes));
                continue;
            }
            let plain = self.ring.open_blob(BlobKind::Vector { tag, stored: &stored }, bytes)?;
            opened.extend(plain.and_then(|plain| {
                let (key, bytes) = plain.split_first_chunk::<16>()?;
                Some((*key, bytes.to_vec()))
            }));
        }
        Ok(opened)
    }

    fn backup(&mut self, to: &Path) -> Result<BackupFile, StoreError> {
        self.inner.get().backup(to)
    }

    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        self.inner.get().check()
    }

    fn bytes(&mut self) -> Result<u64, StoreError> {
        self.inner.get().bytes()
    }
}
