//! The watch on a ledger, and whether what is watched is what the memory was read from.

use quipu_core::event::NO_HASH;
use quipu_core::id::UserId;

use crate::error::{Error, Result};
use crate::ports::{Head, LedgerStore, LedgerWatch, StoreError, UserLedger, WatchEvent};

/// The watch on a ledger, and the newest event it has told of.
pub(crate) struct Watched {
    watch: Option<Box<dyn LedgerWatch>>,
    head: Head,
    /// The ledger that is watched is the one the memory was read from. While nobody watched, the user may have been deleted and
    /// made anew.
    is_checked: bool,
}

impl Watched {
    /// Watches nothing.
    pub(crate) fn none() -> Self {
        Self { watch: None, head: Head { seq: 0, hash: NO_HASH }, is_checked: false }
    }

    /// Goes on with a watch on a ledger that was read up to `head`.
    pub(crate) fn on(watch: Box<dyn LedgerWatch>, head: Head) -> Self {
        Self { watch: Some(watch), head, is_checked: true }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.watch.is_none()
    }

    /// To be called when the ledger was found to hold what the watch has told of.
    pub(crate) fn checked(&mut self) {
        self.is_checked = true;
    }

    /// The newest event anybody has appended, and whether the ledger is known to be the right one; none if it was removed.
    pub(crate) fn look(
        &mut self,
        store: &dyn LedgerStore,
        user: &UserId,
    ) -> std::result::Result<Option<(Head, bool)>, StoreError> {
        if self.watch.is_none() {
            *self = Self { watch: Some(store.watch(user)?), ..Self::none() };
        }
        let Some(watch) = &mut self.watch else { return Ok(None) };
        match watch.look()? {
            WatchEvent::Same => {}
            WatchEvent::Changed(head) => self.head = head,
            WatchEvent::Removed => return Ok(None),
        }
        Ok(Some((self.head, self.is_checked)))
    }
}

/// True if a ledger has this event: then it is the one the event was seen in, or a copy of it.
pub(crate) fn holds(ledger: &mut dyn UserLedger, event: Head) -> Result<bool> {
    if event.seq == 0 {
        return Ok(true);
    }
    let mut hash = None;
    ledger.read(event.seq..=event.seq, &mut |sealed| {
        hash = Some(sealed.hash);
        false
    })?;
    Ok(hash == Some(event.hash))
}

pub(crate) fn made_anew(user: &UserId) -> Error {
    Error::Conflict(format!("the memory of user {user} was deleted and made anew meanwhile; try again"))
}
