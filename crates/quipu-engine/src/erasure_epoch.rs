//! Which ledger a user has, and how much of it has been erased: lets a cache tell whether what it holds may still be used.

use quipu_core::id::{EventId, UserId};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::keeper;

/// Identifies a user's ledger and counts what has been erased in it.
///
/// Two equal epochs mean that nothing was erased between them, and that the user was not deleted and made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureEpoch {
    /// Id of the first event. A user who is deleted and made again under the same name has another one.
    pub ledger: EventId,
    /// Number of erased changes. It only grows.
    pub erasures: usize,
}

/// Returns the present epoch of a user's ledger; `None` if the user has no ledger, or one without events.
///
/// # Errors
/// As for every read, but never `NotFound`.
pub fn erasure_epoch(engine: &Engine, user: &UserId) -> Result<Option<ErasureEpoch>> {
    let opened = match engine.keeper(user, false) {
        Ok(opened) => opened,
        Err(Error::NotFound(_)) => return Ok(None),
        Err(other) => return Err(other),
    };
    if opened.read().memory.seq() == 0 {
        return Ok(None);
    }
    let ledger = keeper::sealed_at(opened.writer().ledger.as_mut(), 1)?.id;
    let erasures = opened.read().history.erasures().len();
    Ok(Some(ErasureEpoch { ledger, erasures }))
}
