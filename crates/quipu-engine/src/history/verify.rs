//! Verify: proof that a ledger is what was written.

use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::{Pin, SealedEvent, Verification, Verifier};
use quipu_core::limit;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::{AbsentLedger, Progress, Watch};
use crate::ports::{StoreError, UserLedger};

/// The verdict on a user's ledger and its medium.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReport {
    /// The chain's verdict.
    #[serde(flatten)]
    pub ledger: Verification,
    /// Faults the medium's own checks found.
    pub medium: Vec<String>,
}

impl VerifyReport {
    /// True if nothing is damaged and every pin holds.
    pub fn is_intact(&self) -> bool {
        self.ledger.is_intact() && self.medium.is_empty()
    }
}

/// Checks every event, digest and link of a user's ledger as it is on disk, and the medium's own structure.
///
/// Never changes anything, and finds what it finds rather than failing: damage is in the report.
///
/// # Errors
/// `Corrupt` if the ledger cannot even be opened. A user without a memory has an empty ledger, which is intact.
pub fn verify(engine: &Engine, user: &UserId, pins: &[Pin], watch: Watch<'_>) -> Result<VerifyReport> {
    // Opened apart from the memory in use: a ledger that cannot be replayed must still be checked.
    let mut ledger = match engine.store.open(user, false) {
        Err(StoreError::NotFound(_)) => Box::new(AbsentLedger::new(user)),
        outcome => outcome?,
    };
    let checked = at_one_moment(ledger.as_mut(), &mut |ledger, head| {
        let mut verifier = Verifier::new(user.clone(), pins);
        ledger.read(1..=head, &mut |event| {
            verifier.check(&event);
            if event.seq % 1024 == 0 {
                watch(Progress::Events(event.seq, head));
            }
            true
        })?;
        Ok(verifier.finish())
    })?;
    let mut medium = ledger.check()?;
    if !medium.is_empty()
        && let Ok(open) = engine.open(user)
        && let Ok(_nobody_writes) = open.writer()
    {
        // An erasure that was just being finished is no fault.
        medium = ledger.check()?;
    }
    Ok(VerifyReport { ledger: checked, medium })
}

/// Reads a ledger up to the head it is called with, again if an erasure came in between: a ledger is read in batches, and
/// payloads of one batch with the erasure of a later one, or a hole without the event that made it, would pass for damage.
///
/// # Errors
/// `Conflict` if that happened again and again; else as `read` and the store.
pub(crate) fn at_one_moment<T>(
    ledger: &mut dyn UserLedger,
    read: &mut dyn FnMut(&mut dyn UserLedger, Seq) -> Result<T>,
) -> Result<T> {
    for _ in 0..=limit::CONFLICT_RETRIES_MAX {
        let head = ledger.head()?.seq;
        let done = read(ledger, head)?;
        let mut is_steady = true;
        ledger.read(head + 1..=u64::MAX >> 1, &mut |event| {
            is_steady &= !event.control;
            is_steady
        })?;
        if is_steady {
            return Ok(done);
        }
    }
    Err(Error::Conflict("the ledger was changed again and again while it was read; try again".to_owned()))
}

/// Checks events that are not in a store, such as those of a file.
pub fn verify_events<'a>(user: &UserId, events: impl Iterator<Item = &'a SealedEvent>, pins: &[Pin]) -> Verification {
    let mut verifier = Verifier::new(user.clone(), pins);
    events.for_each(|event| verifier.check(event));
    verifier.finish()
}
