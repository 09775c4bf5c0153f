//! Locks with a defined order.
//!
//! A thread may take a lock only if every lock it holds has a lower [`Rank`]. Builds with debug assertions check this
//! at every acquisition and panic on a violation, so that a wrong order is found even if no deadlock occurs. They also
//! check that nothing slow is called while a lock of an open memory is held (`before_slow_call`). Other builds have no
//! overhead.
//!
//! A panic does not poison these locks: the data is consistent after every critical section.

use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError, TryLockError};

/// What a lock guards, from the outermost to the innermost.
///
/// | rank | guards | held across slow calls |
/// |---|---|---|
/// | `Maintenance` | the order of maintenance runs of a user | yes |
/// | `Files` | the plain files of a user | yes |
/// | `Turn` | the order of readings, summaries and reflections of a user | yes |
/// | `Opening` | a user's memory while it is read from the store | no |
/// | `Catalog` | the table of open memories | no |
/// | `Writer` | a user's ledger | no |
/// | `State` | what readers of a user's memory see | no |
/// | `Watch` | the watch on a user's ledger | no |
/// | `Detail` | a cursor or a cache; no other lock is taken while one is held | no |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The order of maintenance runs of a user.
    Maintenance,
    /// The plain files of a user.
    Files,
    /// The order of readings, summaries and reflections of a user.
    Turn,
    /// A user's memory while it is read from the store.
    Opening,
    /// The table of open memories.
    Catalog,
    /// A user's ledger.
    Writer,
    /// What readers of a user's memory see.
    State,
    /// The watch on a user's ledger.
    Watch,
    /// A cursor or a cache.
    Detail,
}

#[cfg(debug_assertions)]
mod held {
    use std::cell::RefCell;

    use super::Rank;

    thread_local! {
        static HELD: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
    }

    /// One lock this thread holds.
    #[derive(Debug)]
    pub(super) struct Held(Rank);

    impl Held {
        /// Records a lock before waiting for it.
        pub(super) fn waiting(rank: Rank) -> Self {
            HELD.with_borrow(|held| {
                let wrong = held.iter().find(|other| **other >= rank);
                assert!(wrong.is_none(), "lock order: {rank:?} is taken while {held:?} are held");
            });
            Self::taken(rank)
        }

        /// Records a lock that was free.
        pub(super) fn taken(rank: Rank) -> Self {
            HELD.with_borrow_mut(|held| held.push(rank));
            Self(rank)
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            // Guards may be dropped in any order, also while their thread ends.
            let _ = HELD.try_with(|held| {
                let mut held = held.borrow_mut();
                if let Some(place) = held.iter().rposition(|other| *other == self.0) {
                    held.remove(place);
                }
            });
        }
    }

    /// The locks of an open memory that this thread holds.
    pub(super) fn of_memory() -> Vec<Rank> {
        HELD.with_borrow(|held| held.iter().copied().filter(|rank| *rank >= Rank::Opening).collect())
    }
}

#[cfg(not(debug_assertions))]
mod held {
    use super::Rank;

    #[derive(Debug)]
    pub(super) struct Held;

    impl Held {
        pub(super) fn waiting(_: Rank) -> Self {
            Self
        }

        pub(super) fn taken(_: Rank) -> Self {
            Self
        }
    }

    pub(super) fn of_memory() -> Vec<Rank> {
        Vec::new()
    }
}

use held::Held;

/// Must be called before an embedder, a model, a tokenizer or anything else that may take long.
///
/// # Panics
/// With debug assertions, if this thread holds a lock of an open memory.
pub(crate) fn before_slow_call(what: &str) {
    let held = held::of_memory();
    debug_assert!(held.is_empty(), "{what} is called while {held:?} are held");
}

/// A mutex with a rank.
#[derive(Debug)]
pub struct Mutex<T> {
    rank: Rank,
    inner: sync::Mutex<T>,
}

/// A held [`Mutex`].
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    inner: sync::MutexGuard<'a, T>,
    _held: Held,
}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    pub const fn new(rank: Rank, value: T) -> Self {
        Self { rank, inner: sync::Mutex::new(value) }
    }

    /// Waits for the lock.
    ///
    /// # Panics
    /// With debug assertions, if this thread holds a lock of the same or a higher rank.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let held = Held::waiting(self.rank);
        MutexGuard { inner: self.inner.lock().unwrap_or_else(PoisonError::into_inner), _held: held }
    }

    /// Takes the lock if it is free. It does not wait, so any order is allowed.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(MutexGuard { inner, _held: Held::taken(self.rank) })
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

/// A reader-writer lock with a rank.
#[derive(Debug)]
pub struct RwLock<T> {
    rank: Rank,
    inner: sync::RwLock<T>,
}

/// An [`RwLock`] held for reading.
#[derive(Debug)]
pub struct ReadGuard<'a, T> {
    inner: sync::RwLockReadGuard<'a, T>,
    _held: Held,
}

/// An [`RwLock`] held for writing.
#[derive(Debug)]
pub struct WriteGuard<'a, T> {
    inner: sync::RwLockWriteGuard<'a, T>,
    _held: Held,
}

impl<T> RwLock<T> {
    /// Creates an unlocked lock.
    pub const fn new(rank: Rank, value: T) -> Self {
        Self { rank, inner: sync::RwLock::new(value) }
    }

    /// Locks for reading. A second read by the same thread could deadlock with a waiting writer, so it counts as a
    /// violation of the order.
    ///
    /// # Panics
    /// With debug assertions, if this thread holds a lock of the same or a higher rank.
    pub fn read(&self) -> ReadGuard<'_, T> {
        let held = Held::waiting(self.rank);
        ReadGuard { inner: self.inner.read().unwrap_or_else(PoisonError::into_inner), _held: held }
    }

    /// Locks for writing.
    ///
    /// # Panics
    /// With debug assertions, if this thread holds a lock of the same or a higher rank.
    pub fn write(&self) -> WriteGuard<'_, T> {
        let held = Held::waiting(self.rank);
        WriteGuard { inner: self.inner.write().unwrap_or_else(PoisonError::into_inner), _held: held }
    }
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for WriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    fn panics(work: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        std::panic::catch_unwind(work).is_err()
    }

    #[test]
    fn a_wrong_order_is_found_without_a_second_thread() {
        let right = || {
            let (writer, state) = (Mutex::new(Rank::Writer, 1), RwLock::new(Rank::State, 2));
            let one = writer.lock();
            assert_eq!(*one + *state.read(), 3);
        };
        assert!(!panics(right));
        let wrong = || {
            let (writer, state) = (Mutex::new(Rank::Writer, 1), RwLock::new(Rank::State, 2));
            let _two = state.read();
            let _one = writer.lock();
        };
        assert!(panics(wrong));
        let twice = || {
            let state = RwLock::new(Rank::State, 2);
            let (_one, _two) = (state.read(), state.read());
        };
        assert!(panics(twice));
    }

    #[test]
    fn a_lock_that_is_free_may_be_tried_in_any_order() {
        let (catalog, writer) = (Mutex::new(Rank::Catalog, ()), Mutex::new(Rank::Writer, ()));
        let held = writer.lock();
        assert!(catalog.try_lock().is_some());
        assert!(writer.try_lock().is_none());
        drop(held);
        let (_again, _both) = (catalog.lock(), writer.lock());
    }

    #[test]
    fn nothing_slow_is_called_with_a_memory_in_hand() {
        let files = Mutex::new(Rank::Files, ());
        let _held = files.lock();
        before_slow_call("an embedder");
        assert!(panics(|| {
            let state = RwLock::new(Rank::State, ());
            let _held = state.read();
            before_slow_call("an embedder");
        }));
    }
}
