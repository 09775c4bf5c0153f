//! Extends held leases in the background, so that a lease can be short although a model call takes long.
//!
//! A lease of a process that died ends within [`LASTS`], because nothing extends it any more.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::memory::SharedMemory;
use crate::ports::{Clock, LeaseRequest};

/// Duration of a lease unless extended.
pub(crate) const LASTS: SignedDuration = SignedDuration::from_secs(20);
/// Interval at which held leases are extended, so that one failure or a short pause of the process does not lose them.
const EXTENDED_EVERY: Duration = Duration::from_secs(5);
/// How long a lease is extended in the background after the work under it last did so itself. Longer than one model
/// call may take; work that hangs loses its lease then.
const EXTENDED_FOR: SignedDuration = SignedDuration::from_secs(180);

/// A lease to extend.
#[derive(Clone)]
struct HeldLease {
    memory: Arc<SharedMemory>,
    name: String,
    holder: u64,
    clock: Arc<dyn Clock>,
    /// When the work under it last extended it.
    used_at: Timestamp,
}

#[derive(Default)]
struct Table {
    held: BTreeMap<u64, HeldLease>,
    next: u64,
    has_thread: bool,
    is_over: bool,
}

#[derive(Default)]
struct Inner {
    table: Mutex<Table>,
    changed: Condvar,
}

/// The leases that an engine holds, and the thread that extends them. The thread starts with the first lease.
#[derive(Default)]
pub(crate) struct LeaseKeeper(Arc<Inner>);

impl LeaseKeeper {
    /// Extends a lease until [`Self::end`]. Returns its number.
    pub(crate) fn begin(&self, memory: &Arc<SharedMemory>, name: &str, holder: u64, clock: &Arc<dyn Clock>) -> u64 {
        let mut table = self.0.table();
        let number = table.next;
        table.next += 1;
        let held = HeldLease {
            memory: Arc::clone(memory),
            name: name.to_owned(),
            holder,
            clock: Arc::clone(clock),
            used_at: clock.now(),
        };
        // The thread wakes for the first lease only: it would wait anew whenever it is woken.
        let is_first = table.held.is_empty();
        table.held.insert(number, held);
        if !table.has_thread {
            let inner = Arc::clone(&self.0);
            let spawned = std::thread::Builder::new().name("quipu-leases".to_owned()).spawn(move || inner.run());
            // Without the thread the lease ends by itself, and another process may continue the work.
            table.has_thread = spawned.is_ok();
        }
        drop(table);
        if is_first {
            self.0.changed.notify_all();
        }
        number
    }

    /// Records that the work under a lease has extended it.
    pub(crate) fn used(&self, number: u64, now: Timestamp) {
        if let Some(held) = self.0.table().held.get_mut(&number) {
            held.used_at = now;
        }
    }

    /// Stops extending a lease. The caller releases it afterwards.
    pub(crate) fn end(&self, number: u64) {
        let gone = self.0.table().held.remove(&number);
        drop(gone);
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        self.0.table().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Inner {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut table = self.table();
        while !table.is_over {
            if table.held.is_empty() {
                table = self.changed.wait(table).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.changed.wait_timeout(table, EXTENDED_EVERY).unwrap_or_else(PoisonError::into_inner);
            table = waited.0;
            if !waited.1.timed_out() {
                continue;
            }
            let held: Vec<(u64, HeldLease)> = table.held.iter().map(|(number, one)| (*number, one.clone())).collect();
            drop(table);
            held.into_iter().for_each(|(number, one)| self.extend(number, &one));
            table = self.table();
        }
    }

    /// Extends a lease that is still held.
    fn extend(&self, number: u64, held: &HeldLease) {
        let now = held.clock.now();
        if now.duration_since(held.used_at) > EXTENDED_FOR {
            return;
        }
        let Ok(mut writer) = held.memory.writer() else { return };
        // It is released under the same lock, so it cannot be taken again after its release.
        if !self.table().held.contains_key(&number) {
            return;
        }
        let until = now.checked_add(LASTS).unwrap_or(now);
        let request = LeaseRequest { name: &held.name, holder: held.holder, now, until };
        // If that fails, it is tried again. If another process has taken the lease, the work learns it when it extends it.
        let _ = writer.ledger.lease(&request);
    }
}
