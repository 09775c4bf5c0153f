//! The state readers see of an open memory, and the state of its writer.

use std::collections::BTreeSet;

use quipu_core::Memory;
use quipu_core::history::History;
use quipu_core::id::{Seq, UserId};
use quipu_core::recall::{DerivedIndex, Index};

use crate::engine::Engine;
use crate::memory::index;
use crate::ports::UserLedger;

/// The state readers see at one version: the memory, its history, and the indexes over its items.
pub(crate) struct State {
    pub(crate) memory: Memory,
    pub(crate) history: History,
    pub(crate) index: Index,
    pub(crate) derived: DerivedIndex,
}

impl State {
    /// The state before the first event.
    pub(crate) fn empty(engine: &Engine, user: &UserId) -> Self {
        Self {
            memory: Memory::new(user.clone(), BTreeSet::new()),
            history: History::default(),
            index: index::empty(engine),
            derived: DerivedIndex::default(),
        }
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes() + self.index.memory_bytes() + self.derived.bytes()
    }
}

/// State that only the writer uses.
pub(crate) struct Writer {
    pub(crate) ledger: Box<dyn UserLedger>,
    /// Position of the newest snapshot.
    pub(crate) snapshot_seq: Seq,
}
