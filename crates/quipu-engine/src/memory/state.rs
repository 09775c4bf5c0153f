//! What readers see of an open memory, and what only its writer touches.

use std::collections::BTreeSet;

use quipu_core::Memory;
use quipu_core::history::History;
use quipu_core::id::{Seq, UserId};
use quipu_core::recall::{DerivedIndex, Index};

use crate::engine::Engine;
use crate::memory::index;
use crate::ports::UserLedger;

/// What readers see: a memory, what it knows of its events, and the index over its items. Always at one version.
pub(crate) struct State {
    pub(crate) memory: Memory,
    pub(crate) history: History,
    pub(crate) index: Index,
    pub(crate) derived: DerivedIndex,
}

impl State {
    /// What there is before the first event.
    pub(crate) fn empty(engine: &Engine, user: &UserId) -> Self {
        Self {
            memory: Memory::new(user.clone(), BTreeSet::new()),
            history: History::default(),
            index: index::empty(engine),
            derived: DerivedIndex::default(),
        }
    }

    /// What it takes, in bytes, estimated.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes() + self.index.memory_bytes() + self.derived.bytes()
    }
}

/// What only the writer touches.
pub(crate) struct Writer {
    pub(crate) ledger: Box<dyn UserLedger>,
    /// The newest snapshot's position.
    pub(crate) snapshot_seq: Seq,
}
