//! Gauges over the open memories, for server metrics.

use std::collections::BTreeMap;

use quipu_core::item::ReviewKind;
use serde::Serialize;

use crate::engine::Engine;

/// Totals over the open memories. Closed memories are not opened for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gauges {
    /// Number of open memories.
    pub open: usize,
    /// How often a memory was read from the store since the start, because it was not open.
    pub opened: u64,
    /// Estimated size in memory, in bytes.
    pub bytes: usize,
    /// Closed exchanges without a summary.
    pub unsummarized: usize,
    /// Open reviews, by kind.
    pub reviews: BTreeMap<ReviewKind, usize>,
}

/// Sums up the open memories, without opening a memory or reading a page.
pub fn gauges(engine: &Engine) -> Gauges {
    let mut all = Gauges { opened: engine.memories_opened(), ..Gauges::default() };
    for open in engine.open_memories() {
        let state = open.read();
        all.open += 1;
        all.unsummarized += crate::sessions::overview::unsummarized(&state.memory);
        for review in state.memory.items().waiting() {
            *all.reviews.entry(review.kind).or_default() += 1;
        }
        drop(state);
        all.bytes += open.bytes() + open.glanced.bytes();
    }
    all
}
