//! Expected: a verb that is done only if the memory is still at the version its caller has seen.
//!
//! The condition belongs to the call, not to any one verb: it is kept with the thread that runs the verb, and judged where the
//! verb takes the writer, before it decides. Nobody can append in between.

use std::cell::RefCell;

use quipu_core::id::{Seq, UserId};

use crate::error::{Error, Result};

thread_local! {
    static EXPECTED: RefCell<Option<(UserId, Seq)>> = const { RefCell::new(None) };
}

/// Takes the condition away however the verb ends.
struct Held;

impl Drop for Held {
    fn drop(&mut self) {
        EXPECTED.set(None);
    }
}

/// Runs a verb on the condition that the memory of `user` is at `version` when it appends for the first time; what the verb
/// appends after that follows from it. A request whose answer is known by its idempotency key gets that answer.
///
/// # Errors
/// `Stale` if the memory is at another version: nothing was appended. Else as the verb.
pub fn expecting<T>(user: &UserId, version: Seq, verb: impl FnOnce() -> Result<T>) -> Result<T> {
    EXPECTED.set(Some((user.clone(), version)));
    let _held = Held;
    verb()
}

/// The version at which a memory has to be now, if the verb that runs cares.
pub(crate) fn of(user: &UserId) -> Option<Seq> {
    EXPECTED.with_borrow(|held| held.as_ref().filter(|(whose, _)| whose == user).map(|(_, version)| *version))
}

/// Refuses another version.
pub(crate) fn check(expected: Option<Seq>, version: Seq) -> Result<()> {
    match expected {
        Some(wanted) if wanted != version => Err(Error::Stale(format!(
            "the memory is at version {version}, not at {wanted}. Nothing was changed; read it again and decide again"
        ))),
        _ => Ok(()),
    }
}

/// The verb has appended: what it does from here on follows from that.
pub(crate) fn met(user: &UserId) {
    if of(user).is_some() {
        EXPECTED.set(None);
    }
}
