//! Verifies that a ledger is unchanged since it was written.

use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::{Pin, SealedEvent, Verification, Verifier};
use quipu_core::limit;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::{AbsentLedger, Progress, Watch};
use crate::ports::{StoreError, UserLedger};

/// Result of verifying a user's ledger and its storage.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyReport {
    /// Result for the hash chain.
    #[serde(flatten)]
    pub ledger: Verification,
    /// Faults found by the storage's own checks.
    pub medium: Vec<String>,
}

impl VerifyReport {
    /// Returns true if nothing is damaged and every pin matches.
    pub fn is_intact(&self) -> bool {
        self.ledger.is_intact() && self.medium.is_empty()
    }
}

/// Checks every event, digest and link of a user's ledger on disk, and the structure of the storage.
///
/// Changes nothing. Damage is reported, not returned as an error.
///
/// # Errors
/// `Corrupt` if the ledger cannot be opened at all. A user without a memory has an empty ledger, which is intact.
pub fn verify(engine: &Engine, user: &UserId, pins: &[Pin], watch: Watch<'_>) -> Result<VerifyReport> {
    // Opened separately from the memory in use, because a ledger that cannot be replayed must still be checked.
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
        // An erasure in progress is not a fault.
        medium = ledger.check()?;
    }
    Ok(VerifyReport { ledger: checked, medium })
}

/// Checks the headers of a ledger and their chain, without a key: `ledger` is one of the store under an encrypting one.
///
/// # Errors
/// As [`verify`].
pub fn verify_headers(ledger: &mut dyn UserLedger, user: &UserId, pins: &[Pin]) -> Result<Verification> {
    at_one_moment(ledger, &mut |ledger, head| {
        let mut verifier = Verifier::new(user.clone(), pins).headers_only();
        ledger.read(1..=head, &mut |event| {
            verifier.check(&event);
            true
        })?;
        Ok(verifier.finish())
    })
}

/// Reads a ledger up to its head, and again if an erasure happened meanwhile. A ledger is read in batches; a mix of
/// batches from before and after an erasure would look damaged.
///
/// # Errors
/// `Conflict` if that happened on every retry; otherwise as `read` and the store.
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

/// Verifies events outside a store, such as those of a file.
pub fn verify_events<'a>(user: &UserId, events: impl Iterator<Item = &'a SealedEvent>, pins: &[Pin]) -> Verification {
    let mut verifier = Verifier::new(user.clone(), pins);
    events.for_each(|event| verifier.check(event));
    verifier.finish()
}
