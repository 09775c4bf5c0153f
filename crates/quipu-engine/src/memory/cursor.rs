//! Cursors: how far some work on a memory has come, kept beside the ledger so that it goes on after a restart.
//!
//! A cursor is a projection. If it is lost, its owner says where it begins; work behind it is done again or not at all, as that
//! owner says, and never changes what was recorded.

use quipu_core::id::Seq;

use crate::error::Result;
use crate::lock::{Mutex, MutexGuard, Rank};
use crate::memory::SharedMemory;
use crate::ports::{Checkpoint, Projection, UserLedger};

/// A cursor holds no words, so no erasure can make it obsolete.
const ANY_LEVEL: Seq = Seq::MAX >> 1;

/// What a cursor keeps.
pub(crate) trait Position: Clone + Send {
    /// Its name among a ledger's projections.
    const NAME: &'static str;

    /// Where the work stands in a ledger that ends at `head`, if this was saved.
    fn load(saved: Option<Projection>, head: Seq) -> Self;

    /// What is saved of it, with the memory at `level`; none if there is nothing to save yet.
    fn stored(&self, level: Seq) -> Option<Projection>;
}

/// How far some work on a memory has come.
pub(crate) struct Cursor<T>(Mutex<T>);

impl<T: Position + Default> Default for Cursor<T> {
    fn default() -> Self {
        Self(Mutex::new(Rank::Detail, T::default()))
    }
}

impl<T: Position> Cursor<T> {
    /// The cursor as the ledger has it. One that is ahead of the ledger is none.
    pub(crate) fn load(ledger: &mut dyn UserLedger, head: Seq) -> Result<Self> {
        Ok(Self(Mutex::new(Rank::Detail, read(ledger, head)?)))
    }

    /// Takes over what another process may have saved.
    pub(crate) fn refresh(&self, ledger: &mut dyn UserLedger, head: Seq) -> Result<()> {
        let saved = read(ledger, head)?;
        *self.get() = saved;
        Ok(())
    }

    /// Where the work stands.
    pub(crate) fn get(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }

    /// The cursor as a checkpoint keeps it.
    pub(crate) fn stored(&self, level: Seq) -> Option<(&'static str, Projection)> {
        self.get().stored(level).map(|projection| (T::NAME, projection))
    }

    /// Moves to a position and makes it durable. If that fails, the cursor stays where it was.
    pub(crate) fn save(&self, memory: &SharedMemory, position: T) -> Result<()> {
        let level = memory.read().memory.seq();
        write(memory, &position, level)?;
        *self.get() = position;
        Ok(())
    }

    /// Makes the position durable as it stands.
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

/// Every cursor of a memory, with the memory at `level`, as a checkpoint.
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

/// Makes a position durable.
pub(crate) fn store(memory: &SharedMemory, name: &'static str, projection: Projection) -> Result<()> {
    let projections = vec![(name, projection)];
    memory.writer()?.ledger.checkpoint(&Checkpoint { projections, level: ANY_LEVEL, ..Checkpoint::default() })?;
    Ok(())
}
