//! Compact: near-duplicates become one, what is said again and again becomes part of the profile, what nobody comes back to
//! leaves the active index. Nothing is deleted, and one revert takes it all back.

use quipu_core::growth::{ActiveIndex, active_index};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::growth::consolidate::{self, ConsolidateOptions, ConsolidateReport, Decide};
use crate::memory::MemoryRef;
use crate::memory::checkpoint;

/// What a compaction decides, in order.
pub(crate) const DECIDES: [Decide; 4] =
    [|desk, _| desk.duplicates(), |desk, _| desk.promotions(), |desk, _| desk.outdated(), |desk, _| desk.demotions()];

/// What a compaction did.
#[derive(Debug, Clone, Serialize)]
pub struct CompactReport {
    /// What was done.
    #[serde(flatten)]
    pub grown: ConsolidateReport,
    /// What was looked at first before.
    pub before: ActiveIndex,
    /// What is looked at first now.
    pub after: ActiveIndex,
}

/// Compacts a memory.
///
/// Returns once everything is durable. Taking back its events leaves the memory as it was, to the byte.
///
/// # Errors
/// `NotFound` without such a user; else as for every append.
pub fn compact<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    options: &ConsolidateOptions,
) -> Result<CompactReport> {
    let memory = memory.into();
    let open = engine.open(memory)?;
    let before = active_index(&open.read().memory);
    let grown = consolidate::grow(engine, &open, "compact", &DECIDES, options)?;
    let after = active_index(&open.read().memory);
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(CompactReport { grown, before, after })
}
