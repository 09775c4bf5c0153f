//! Verify: proof that a ledger is what was written.

use quipu_core::id::UserId;
use quipu_core::ledger::{Pin, SealedEvent, Verification, Verifier};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::{AbsentLedger, Progress, Watch};
use crate::ports::StoreError;

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
    let head = ledger.head()?.seq;
    let mut verifier = Verifier::new(user.clone(), pins);
    ledger.read(1..=u64::MAX >> 1, &mut |event| {
        verifier.check(&event);
        if event.seq % 1024 == 0 {
            watch(Progress::Events(event.seq, head));
        }
        true
    })?;
    let medium = ledger.check()?;
    Ok(VerifyReport { ledger: verifier.finish(), medium })
}

/// Checks events that are not in a store, such as those of a file.
pub fn verify_events<'a>(user: &UserId, events: impl Iterator<Item = &'a SealedEvent>, pins: &[Pin]) -> Verification {
    let mut verifier = Verifier::new(user.clone(), pins);
    events.for_each(|event| verifier.check(event));
    verifier.finish()
}
