//! Compaction: merges near-duplicates, promotes repeated claims to the profile, and removes unused items from the
//! active index. Nothing is deleted, and one revert undoes all of it.

use quipu_core::growth::{ActiveIndex, active_index};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::growth::consolidate::{self, ConsolidateOptions, ConsolidateReport, Decide};
use crate::memory::MemoryRef;
use crate::memory::checkpoint;

/// The decisions of a compaction, in order.
pub(crate) const DECIDES: [Decide; 4] =
    [|desk, _| desk.duplicates(), |desk, _| desk.promotions(), |desk, _| desk.outdated(), |desk, _| desk.demotions()];

/// Result of a compaction.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactReport {
    /// What was done.
    #[serde(flatten)]
    pub grown: ConsolidateReport,
    /// The active index before.
    pub before: ActiveIndex,
    /// The active index after.
    pub after: ActiveIndex,
}

/// Compacts a memory.
///
/// Returns once everything is durable. Reverting its events restores the memory byte for byte.
///
/// # Errors
/// `NotFound` if there is no such user; otherwise as for every append.
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
