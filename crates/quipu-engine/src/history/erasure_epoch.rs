//! Identifies a user's ledger and counts what was erased or reverted in it, so that caches can be invalidated.

use quipu_core::id::{EventId, UserId};

use crate::engine::Engine;
use crate::error::Result;

/// Identifies a user's ledger and counts what has been erased and reverted in it.
///
/// If two epochs are equal, nothing was erased, reverted or retracted between them, and the user was not deleted and
/// created again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureEpoch {
    /// Id of the first event. It differs if a user is deleted and created again.
    pub ledger: EventId,
    /// Number of erased changes. It only grows.
    pub erasures: usize,
    /// Number of events that revert others. It only grows.
    pub reverts: usize,
    /// Number of sources and items hidden by a retraction.
    pub hidden: usize,
}

/// Returns the current epoch of a user's ledger; `None` if the user has no ledger, or one without events. No page is
/// read if the memory is open.
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

/// Returns every text that the engine holds in caches: recent recalls, compared values, rendered pages. Used to check
/// that erased text is gone.
///
/// # Errors
/// As for every read, but never `NotFound`.
pub fn texts_kept(engine: &Engine, user: &UserId) -> Result<Vec<String>> {
    Ok(engine.open(user)?.texts_kept())
}
