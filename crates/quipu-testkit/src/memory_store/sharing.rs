//! Leases and watches of the store in memory.

use quipu_engine::ports::{LeaseClaim, LeaseRequest, LedgerWatch, StoreError, WatchEvent};

use super::{Shared, StoredUser, lock};

impl StoredUser {
    pub(super) fn lease(&mut self, request: &LeaseRequest<'_>) -> bool {
        let taken = self.leases.get(request.name);
        if taken.is_some_and(|(holder, until)| *holder != request.holder && *until > request.now) {
            return false;
        }
        self.leases.insert(request.name.to_owned(), (request.holder, request.until));
        true
    }

    pub(super) fn is_leased(&self, claim: &LeaseClaim) -> bool {
        self.leases.get(&claim.name).is_some_and(|(holder, _)| *holder == claim.holder)
    }

    pub(super) fn release(&mut self, name: &str, holder: u64) {
        if self.leases.get(name).is_some_and(|(by, _)| *by == holder) {
            self.leases.remove(name);
        }
    }
}

/// Detects changes to one ledger.
pub(super) struct MemoryWatch {
    held: Shared,
    seen: Option<u64>,
}

impl MemoryWatch {
    pub(super) fn new(held: Shared) -> Self {
        Self { held, seen: None }
    }
}

impl LedgerWatch for MemoryWatch {
    fn look(&mut self) -> Result<WatchEvent, StoreError> {
        let held = lock(&self.held);
        if held.given_up {
            return Ok(WatchEvent::Removed);
        }
        if self.seen == Some(held.changes) {
            return Ok(WatchEvent::Same);
        }
        self.seen = Some(held.changes);
        Ok(WatchEvent::Changed(held.head()))
    }
}
