//! Watches a ledger, and checks that it is the one the memory was read from.

use quipu_core::event::NO_HASH;
use quipu_core::id::UserId;

use crate::error::{Error, Result};
use crate::ports::{Head, LedgerStore, LedgerWatch, StoreError, UserLedger, WatchEvent};

/// The watch on a ledger, and the newest event it has reported.
pub(crate) struct Watched {
    watch: Option<Box<dyn LedgerWatch>>,
    head: Head,
    /// True if the watched ledger is the one the memory was read from. Without a watch, the user may have been deleted
    /// and created again.
    is_checked: bool,
}

impl Watched {
    /// Watches nothing.
    pub(crate) fn none() -> Self {
        Self { watch: None, head: Head { seq: 0, hash: NO_HASH }, is_checked: false }
    }

    /// Continues with a watch on a ledger that was read up to `head`.
    pub(crate) fn on(watch: Box<dyn LedgerWatch>, head: Head) -> Self {
        Self { watch: Some(watch), head, is_checked: true }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.watch.is_none()
    }

    /// Must be called once the ledger is known to contain the reported event.
    pub(crate) fn checked(&mut self) {
        self.is_checked = true;
    }

    /// The newest event appended by any process, and whether the ledger is known to be the right one; `None` if it was
    /// removed.
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

/// Returns true if a ledger contains this event, which means that it is the same ledger or a copy.
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
