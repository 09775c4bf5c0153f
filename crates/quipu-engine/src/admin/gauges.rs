//! Standing: what waits in the memories that are open, for whoever watches a server.

use std::collections::BTreeMap;

use quipu_core::item::ReviewKind;
use serde::Serialize;

use crate::engine::Engine;

/// What the open memories add up to. A memory that nobody has asked for is not read for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gauges {
    /// Memories that are open.
    pub open: usize,
    /// What they take, in bytes, estimated.
    pub bytes: usize,
    /// Closed exchanges that are not summarised.
    pub unsummarized: usize,
    /// What waits for a person, by why it waits.
    pub reviews: BTreeMap<ReviewKind, usize>,
}

/// What waits in the memories that are open. Nothing is opened, and no page is read.
pub fn gauges(engine: &Engine) -> Gauges {
    let mut all = Gauges::default();
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
