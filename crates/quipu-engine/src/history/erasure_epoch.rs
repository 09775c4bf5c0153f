//! Which ledger a user has, and how much of it has been erased or taken back: lets a cache tell whether what it holds may still
//! be used.

use quipu_core::id::{EventId, UserId};

use crate::engine::Engine;
use crate::error::Result;

/// Identifies a user's ledger and counts what has been erased and reverted in it.
///
/// Two equal epochs mean that nothing was erased or taken back between them, and that the user was not deleted and made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureEpoch {
    /// Id of the first event. A user who is deleted and made again under the same name has another one.
    pub ledger: EventId,
    /// Number of erased changes. It only grows.
    pub erasures: usize,
    /// Number of events that revert others. It only grows.
    pub reverts: usize,
    /// Number of sources and items that are hidden because somebody took them back.
    pub hidden: usize,
}

/// Returns the present epoch of a user's ledger; `None` if the user has no ledger, or one without events. No page is read if
/// the memory is open.
///
/// # Errors
/// As for every read, but never `NotFound`.
pub fn erasure_epoch(engine: &Engine, user: &UserId) -> Result<Option<ErasureEpoch>> {
    let open = engine.open(user)?;
    let ledger = open.first_event()?;
    let (erasures, reverts, hidden) = {
        let state = open.read();
        (state.history.erasures().len(), state.history.reverts(), state.memory.items().hidden_count())
    };
    Ok(ledger.map(|ledger| ErasureEpoch { ledger, erasures, reverts, hidden }))
}

/// Every text that the engine keeps in memory beside a user's memory itself: what was recalled lately, values that were
/// compared, pages that were shown. For finding out whether something erased is still there.
///
/// # Errors
/// As for every read, but never `NotFound`.
pub fn texts_kept(engine: &Engine, user: &UserId) -> Result<Vec<String>> {
    Ok(engine.open(user)?.texts_kept())
}
