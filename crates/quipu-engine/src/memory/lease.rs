//! Leases: limit work on a memory, such as paid model calls, to one process at a time.
//!
//! A lease is short and kept in the store. If its holder dies, it expires; finished work is in the ledger or behind a
//! cursor, so the next holder continues from there.

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::OpenMemory;
use crate::memory::lease_keeper::LASTS;
use crate::ports::{LeaseClaim, LeaseRequest};

/// Why work was left to another process.
pub(crate) const HELD_ELSEWHERE: &str = "another process is doing this now; what it leaves is done another time";

/// A lease held by this process, which is extended in the background; released on drop.
pub(crate) struct Lease<'a> {
    engine: &'a Engine,
    memory: &'a OpenMemory,
    name: String,
    number: u64,
}

/// Takes a lease; `None` if another process holds it. Within a process, the caller's own lock must ensure that only one
/// thread takes it.
///
/// # Errors
/// `Unavailable` from the store.
pub(crate) fn take<'a>(engine: &'a Engine, memory: &'a OpenMemory, name: &str) -> Result<Option<Lease<'a>>> {
    if !extend(engine, memory, name)? {
        return Ok(None);
    }
    let number = engine.leases.begin(memory.shared(), name, engine.holder(), &engine.clock);
    Ok(Some(Lease { engine, memory, name: name.to_owned(), number }))
}

fn extend(engine: &Engine, memory: &OpenMemory, name: &str) -> Result<bool> {
    let now = engine.clock.now();
    let until = now.checked_add(LASTS).unwrap_or(now);
    let request = LeaseRequest { name, holder: engine.holder(), now, until };
    Ok(memory.writer()?.ledger.lease(&request)?)
}

impl Lease<'_> {
    /// Extends the lease. Returns false if it expired and another process has taken it.
    ///
    /// # Errors
    /// `Unavailable` from the store.
    pub(crate) fn prolong(&self) -> Result<bool> {
        self.engine.leases.used(self.number, self.engine.clock.now());
        extend(self.engine, self.memory, &self.name)
    }

    /// The condition that this process holds the lease, for a write of the store.
    pub(crate) fn claim(&self) -> LeaseClaim {
        LeaseClaim { name: self.name.clone(), holder: self.engine.holder() }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.engine.leases.end(self.number);
        // If the release fails, the lease expires.
        if let Ok(mut writer) = self.memory.writer() {
            let _ = writer.ledger.release(&self.name, self.engine.holder());
        }
    }
}
