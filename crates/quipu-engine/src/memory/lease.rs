//! Leases: work on a memory that one process at a time does, such as asking a model that costs money.
//!
//! A lease is short and kept in the store. A process that dies leaves one that ends by itself; what it had done is in the ledger
//! or behind a cursor, so the next holder goes on from there.

use jiff::SignedDuration;

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::OpenMemory;
use crate::ports::LeaseRequest;

/// How long a lease lasts if it is not prolonged: longer than one call of a model may take.
const LASTS: SignedDuration = SignedDuration::from_secs(180);

/// Why something was left to another process.
pub(crate) const HELD_ELSEWHERE: &str = "another process is doing this now; what it leaves is done another time";

/// A lease that this process holds; it is given back when it is dropped.
pub(crate) struct Lease<'a> {
    memory: &'a OpenMemory,
    name: &'static str,
    holder: u64,
}

/// Takes a lease; none if another process holds it.
///
/// # Errors
/// `Unavailable` as the store says.
pub(crate) fn take<'a>(engine: &Engine, memory: &'a OpenMemory, name: &'static str) -> Result<Option<Lease<'a>>> {
    let lease = Lease { memory, name, holder: engine.holder() };
    if lease.prolong(engine)? {
        return Ok(Some(lease));
    }
    // Nothing is given back that was not taken.
    std::mem::forget(lease);
    Ok(None)
}

impl Lease<'_> {
    /// Holds it for as long again. False if it ended and another process has it.
    ///
    /// # Errors
    /// `Unavailable` as the store says.
    pub(crate) fn prolong(&self, engine: &Engine) -> Result<bool> {
        let now = engine.clock.now();
        let until = now.checked_add(LASTS).unwrap_or(now);
        let request = LeaseRequest { name: self.name, holder: self.holder, now, until };
        Ok(self.memory.writer()?.ledger.lease(&request)?)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // If it cannot be given back now, it ends by itself.
        if let Ok(mut writer) = self.memory.writer() {
            let _ = writer.ledger.release(self.name, self.holder);
        }
    }
}
