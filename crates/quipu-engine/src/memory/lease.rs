//! Leases: limit work on a memory, such as paid model calls, to one process at a time.
//!
//! A lease is short and kept in the store. If its holder dies, it expires; finished work is in the ledger or behind a
//! cursor, so the next holder continues from there.

use jiff::SignedDuration;

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::OpenMemory;
use crate::ports::LeaseRequest;

/// Duration of a lease unless extended; longer than one model call may take.
const LASTS: SignedDuration = SignedDuration::from_secs(180);

/// Why work was left to another process.
pub(crate) const HELD_ELSEWHERE: &str = "another process is doing this now; what it leaves is done another time";

/// A lease held by this process; released on drop.
pub(crate) struct Lease<'a> {
    memory: &'a OpenMemory,
    name: &'static str,
    holder: u64,
}

/// Takes a lease; `None` if another process holds it.
///
/// # Errors
/// `Unavailable` from the store.
pub(crate) fn take<'a>(engine: &Engine, memory: &'a OpenMemory, name: &'static str) -> Result<Option<Lease<'a>>> {
    let lease = Lease { memory, name, holder: engine.holder() };
    if lease.prolong(engine)? {
        return Ok(Some(lease));
    }
    // The lease was not taken, so it must not be released.
    std::mem::forget(lease);
    Ok(None)
}

impl Lease<'_> {
    /// Extends the lease. Returns false if it expired and another process has taken it.
    ///
    /// # Errors
    /// `Unavailable` from the store.
    pub(crate) fn prolong(&self, engine: &Engine) -> Result<bool> {
        let now = engine.clock.now();
        let until = now.checked_add(LASTS).unwrap_or(now);
        let request = LeaseRequest { name: self.name, holder: self.holder, now, until };
        Ok(self.memory.writer()?.ledger.lease(&request)?)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // If the release fails, the lease expires.
        if let Ok(mut writer) = self.memory.writer() {
            let _ = writer.ledger.release(self.name, self.holder);
        }
    }
}
