//! The open memories of an engine, in order of use, and their eviction.
//!
//! Eviction never blocks: sizes are atomics, memories in use are skipped, and evicted memories are dropped after the
//! table is unlocked.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use quipu_core::id::{Seq, UserId};
use quipu_core::limit;

use crate::lock::{Mutex, MutexGuard, Rank};
use crate::memory::open::SharedMemory;

/// Limits on what an engine keeps open. Beyond them the least recently used memories are closed and read again when
/// needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenLimits {
    /// Open memories. Default 100,000.
    pub memories_max: usize,
    /// Estimated bytes of open memories. Default 4 GiB.
    pub bytes_max: usize,
    /// Memories with an open ledger, each with a few file handles. Default 64.
    pub ledgers_max: usize,
}

impl Default for OpenLimits {
    fn default() -> Self {
        Self {
            memories_max: limit::OPEN_MEMORIES_MAX,
            bytes_max: limit::ACTIVE_BYTES_MAX,
            ledgers_max: limit::OPEN_LEDGERS_MAX,
        }
    }
}

/// Totals over all open memories.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Estimated bytes.
    pub(crate) bytes: AtomicUsize,
    /// Memories with an open ledger.
    pub(crate) connected: AtomicUsize,
    /// Memories that were read from the store since the start.
    pub(crate) opened: AtomicU64,
}

/// The open memories of an engine.
pub(crate) struct Catalog {
    table: Mutex<Table>,
    totals: Arc<Totals>,
    limits: OpenLimits,
}

#[derive(Default)]
struct Table {
    open: HashMap<UserId, CatalogEntry>,
    /// Users by the turn of their last use, oldest first.
    by_turn: BTreeMap<u64, UserId>,
    turn: u64,
    /// Locks of the memories that are being opened, so that only callers of the same memory wait.
    opening: HashMap<UserId, Arc<Mutex<()>>>,
}

struct CatalogEntry {
    memory: Arc<SharedMemory>,
    turn: u64,
}

impl Table {
    fn touch(&mut self, user: &UserId) -> Option<Arc<SharedMemory>> {
        let entry = self.open.get_mut(user)?;
        self.turn += 1;
        self.by_turn.remove(&entry.turn);
        entry.turn = self.turn;
        self.by_turn.insert(self.turn, user.clone());
        Some(entry.memory.clone())
    }

    fn insert(&mut self, user: &UserId, memory: Arc<SharedMemory>) -> Arc<SharedMemory> {
        self.turn += 1;
        self.by_turn.insert(self.turn, user.clone());
        self.open.insert(user.clone(), CatalogEntry { memory: memory.clone(), turn: self.turn });
        memory
    }

    fn remove(&mut self, user: &UserId) -> Option<Arc<SharedMemory>> {
        let entry = self.open.remove(user)?;
        self.by_turn.remove(&entry.turn);
        Some(entry.memory)
    }

    /// Removes the least recently used idle memories until the limits are met.
    fn evict(&mut self, totals: &Totals, limits: &OpenLimits, keep: &UserId) -> Vec<Arc<SharedMemory>> {
        let mut total = totals.bytes.load(Ordering::Relaxed);
        let mut gone = Vec::new();
        while total > limits.bytes_max || self.open.len() > limits.memories_max {
            let is_idle = |user: &&UserId| {
                *user != keep && self.open.get(*user).is_some_and(|entry| Arc::strong_count(&entry.memory) == 1)
            };
            let Some(user) = self.by_turn.values().find(is_idle).cloned() else { break };
            let Some(memory) = self.remove(&user) else { break };
            total = total.saturating_sub(memory.bytes());
            gone.push(memory);
        }
        gone
    }
}

impl Catalog {
    pub(crate) fn new(limits: OpenLimits) -> Self {
        Self { table: Mutex::new(Rank::Catalog, Table::default()), totals: Arc::default(), limits }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    pub(crate) fn totals(&self) -> &Arc<Totals> {
        &self.totals
    }

    /// Returns the memory of a user if it is open.
    pub(crate) fn get(&self, user: &UserId) -> Option<Arc<SharedMemory>> {
        self.table().touch(user)
    }

    /// Returns the memory of a user, reading it with `open` if it is not open yet, and whether it was read. Only
    /// callers of the same memory wait. One thread at a time reads it, because of two concurrent readings the older one
    /// could be kept.
    pub(crate) fn get_or_open<E>(
        &self,
        user: &UserId,
        open: impl FnOnce() -> Result<SharedMemory, E>,
    ) -> Result<(Arc<SharedMemory>, bool), E> {
        loop {
            if let Some(memory) = self.get(user) {
                return Ok((memory, false));
            }
            let opening = {
                let mut table = self.table();
                table.opening.entry(user.clone()).or_insert_with(|| Arc::new(Mutex::new(Rank::Opening, ()))).clone()
            };
            let _turn = opening.lock();
            // The previous holder of the lock may have read it, and it may have been closed again.
            if !self.table().opening.get(user).is_some_and(|current| Arc::ptr_eq(current, &opening)) {
                continue;
            }
            let opened = open().map(Arc::new);
            self.totals.opened.fetch_add(u64::from(opened.is_ok()), Ordering::Relaxed);
            let (memory, gone) = {
                let mut table = self.table();
                table.opening.remove(user);
                let memory = table.insert(user, opened?);
                (memory, table.evict(&self.totals, &self.limits, user))
            };
            // Closing a ledger may take a while, so the table is unlocked first.
            drop(gone);
            return Ok((memory, true));
        }
    }

    /// Closes the ledgers of the least recently used idle memories until the limit is met.
    pub(crate) fn disconnect_surplus(&self, keep: &UserId) {
        if self.totals.connected.load(Ordering::Relaxed) <= self.limits.ledgers_max {
            return;
        }
        // Starts from the most recently used, since the open ledgers are among those.
        let surplus_ones: Vec<Arc<SharedMemory>> = {
            let table = self.table();
            let latest = table.by_turn.values().rev().filter_map(|user| table.open.get(user));
            let connected = latest.filter(|entry| entry.memory.is_connected());
            let all = connected.take(self.totals.connected.load(Ordering::Relaxed));
            let beyond = all.skip(self.limits.ledgers_max).filter(|entry| entry.memory.user() != keep);
            beyond.map(|entry| entry.memory.clone()).collect()
        };
        surplus_ones.iter().for_each(|memory| memory.disconnect_if_idle());
    }

    /// Closes this memory if it is still the user's open one.
    pub(crate) fn forget(&self, memory: &Arc<SharedMemory>) {
        let mut table = self.table();
        let user = memory.user();
        let same = table.open.get(user).is_some_and(|entry| Arc::ptr_eq(&entry.memory, memory));
        let gone = same.then(|| table.remove(user)).flatten();
        drop(table);
        drop(gone);
    }

    /// Closes a user's memory; the next operation reads it again.
    pub(crate) fn forget_user(&self, user: &UserId) {
        let gone = self.table().remove(user);
        drop(gone);
    }

    /// The open memories at this moment.
    pub(crate) fn all(&self) -> Vec<Arc<SharedMemory>> {
        self.table().open.values().map(|entry| entry.memory.clone()).collect()
    }

    /// The version of each open memory; does not count as use.
    pub(crate) fn versions(&self) -> Vec<(UserId, Seq)> {
        self.table().open.iter().map(|(user, entry)| (user.clone(), entry.memory.level())).collect()
    }

    /// Closes a user's memory if it is idle.
    pub(crate) fn forget_if_idle(&self, user: &UserId) {
        let mut table = self.table();
        let is_idle = table.open.get(user).is_some_and(|entry| Arc::strong_count(&entry.memory) == 1);
        let gone = is_idle.then(|| table.remove(user)).flatten();
        drop(table);
        drop(gone);
    }

    /// Users whose memory is open, in order of id.
    pub(crate) fn users(&self) -> Vec<UserId> {
        let mut users: Vec<UserId> = self.table().open.keys().cloned().collect();
        users.sort();
        users
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test stops at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_reads_a_memory() {
        use std::sync::atomic::AtomicBool;
        use std::sync::mpsc;

        let catalog = Catalog::new(OpenLimits::default());
        let user = UserId::parse("ines").expect("a user");
        let (second_reads, third_reads) = (AtomicBool::new(false), AtomicBool::new(false));
        let (waits, second_waits) = mpsc::channel();
        std::thread::scope(|scope| {
            // Given a thread that reads a memory, and a second that waits for it
            let _ = catalog.get_or_open(&user, || {
                scope.spawn(|| {
                    waits.send(()).expect("the test listens");
                    catalog.get_or_open(&user, || {
                        second_reads.store(true, Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_millis(200));
                        let alone = !third_reads.load(Ordering::SeqCst);
                        second_reads.store(false, Ordering::SeqCst);
                        Err::<SharedMemory, bool>(alone)
                    })
                });
                second_waits.recv().expect("the second has begun");
                std::thread::sleep(std::time::Duration::from_millis(100));
                Err::<SharedMemory, ()>(())
            });
            // When the first fails and the second reads it
            while !second_reads.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            // Then a third does not read it at the same time
            let third = catalog.get_or_open(&user, || {
                third_reads.store(true, Ordering::SeqCst);
                Err::<SharedMemory, bool>(second_reads.load(Ordering::SeqCst))
            });
            assert!(matches!(third, Err(false)), "two read the same memory at once");
        });
    }
}
