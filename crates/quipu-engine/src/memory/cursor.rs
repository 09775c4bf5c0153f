//! Cursors: positions of background work on a memory, stored beside the ledger so that it continues after a restart.
//!
//! A cursor is a projection. If it is lost, its type defines where to start; repeated work never changes what was
//! recorded.

use quipu_core::id::Seq;

use crate::error::Result;
use crate::lock::{Mutex, MutexGuard, Rank};
use crate::memory::SharedMemory;
use crate::memory::lease::Lease;
use crate::ports::{Checkpoint, Projection, UserLedger};

/// A cursor contains no text, so an erasure does not invalidate it.
const ANY_LEVEL: Seq = Seq::MAX >> 1;

/// The content of a cursor.
pub(crate) trait Position: Clone + Send {
    /// Its name among a ledger's projections.
    const NAME: &'static str;

    /// The position in a ledger that ends at `head`, given the stored projection.
    fn load(saved: Option<Projection>, head: Seq) -> Self;

    /// The projection to store, with the memory at `level`; `None` if there is nothing to store yet.
    fn stored(&self, level: Seq) -> Option<Projection>;
}

/// The position of some work on a memory.
pub(crate) struct Cursor<T>(Mutex<T>);

impl<T: Position + Default> Default for Cursor<T> {
    fn default() -> Self {
        Self(Mutex::new(Rank::Detail, T::default()))
    }
}

impl<T: Position> Cursor<T> {
    /// Loads the cursor from the ledger. A stored position beyond the end of the ledger is ignored.
    pub(crate) fn load(ledger: &mut dyn UserLedger, head: Seq) -> Result<Self> {
        Ok(Self(Mutex::new(Rank::Detail, read(ledger, head)?)))
    }

    /// Loads what another process may have stored.
    pub(crate) fn refresh(&self, ledger: &mut dyn UserLedger, head: Seq) -> Result<()> {
        let saved = read(ledger, head)?;
        *self.get() = saved;
        Ok(())
    }

    /// The current position.
    pub(crate) fn get(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }

    /// The cursor as stored in a checkpoint.
    pub(crate) fn stored(&self, level: Seq) -> Option<(&'static str, Projection)> {
        self.get().stored(level).map(|projection| (T::NAME, projection))
    }

    /// Moves to a position and stores it durably. If that fails, the cursor does not move.
    pub(crate) fn save(&self, memory: &SharedMemory, position: T) -> Result<()> {
        let level = memory.read().memory.seq();
        write(memory, &position, level)?;
        *self.get() = position;
        Ok(())
    }

    /// As [`save`](Self::save), but only while a lease is held: a process that lost it moves nothing.
    pub(crate) fn save_under(&self, lease: &Lease<'_>, memory: &SharedMemory, position: T) -> Result<()> {
        let level = memory.read().memory.seq();
        if let Some(projection) = position.stored(level) {
            let projections = vec![(T::NAME, projection)];
            let checkpoint =
                Checkpoint { projections, level: ANY_LEVEL, lease: Some(lease.claim()), ..Checkpoint::default() };
            memory.writer()?.ledger.checkpoint(&checkpoint)?;
        }
        *self.get() = position;
        Ok(())
    }

    /// Stores the current position durably.
    pub(crate) fn save_as_it_is(&self, memory: &SharedMemory) -> Result<()> {
        let level = memory.read().memory.seq();
        let position = self.get().clone();
        write(memory, &position, level)
    }
}

fn read<T: Position>(ledger: &mut dyn UserLedger, head: Seq) -> Result<T> {
    Ok(T::load(ledger.projection(T::NAME)?.filter(|saved| saved.seq <= head), head))
}

fn write<T: Position>(memory: &SharedMemory, position: &T, level: Seq) -> Result<()> {
    position.stored(level).map_or(Ok(()), |projection| store(memory, T::NAME, projection))
}

/// Loads the cursors that another process may have moved under a lease. Must be called before all cursors are stored
/// again.
pub(crate) fn refresh_leased(memory: &SharedMemory, ledger: &mut dyn UserLedger) -> Result<()> {
    let head = ledger.head()?.seq;
    memory.studied.refresh(ledger, head)?;
    memory.reflected.refresh(ledger, head)?;
    memory.maintained.refresh(ledger, head)
}

/// All cursors of a memory at `level`, as a checkpoint.
pub(crate) fn all(memory: &SharedMemory, level: Seq) -> Checkpoint {
    let stored = [
        memory.unread.stored(level),
        memory.studied.stored(level),
        memory.shown_items.stored(level),
        memory.reflected.stored(level),
        memory.maintained.stored(level),
    ];
    Checkpoint { projections: stored.into_iter().flatten().collect(), level: ANY_LEVEL, ..Checkpoint::default() }
}

/// Stores a position durably.
pub(crate) fn store(memory: &SharedMemory, name: &'static str, projection: Projection) -> Result<()> {
    let projections = vec![(name, projection)];
    memory.writer()?.ledger.checkpoint(&Checkpoint { projections, level: ANY_LEVEL, ..Checkpoint::default() })?;
    Ok(())
}
