//! Detects appends to a ledger by any process.

use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_engine::ports::{Head, LedgerWatch, StoreError, WatchEvent};
use uuid::Uuid;

use crate::connection::{Access, Database};
use crate::handle::{StoredHead, read_head};

/// Reads the head of one ledger, on connections that are used for nothing else.
#[derive(Debug)]
pub(crate) struct PostgresWatch {
    database: Arc<Database>,
    user: String,
    fence: Uuid,
    seen: Option<Head>,
    is_removed: bool,
}

impl PostgresWatch {
    pub(crate) fn new(database: &Arc<Database>, user: &UserId, fence: Uuid) -> Self {
        Self { database: Arc::clone(database), user: user.to_string(), fence, seen: None, is_removed: false }
    }
}

impl LedgerWatch for PostgresWatch {
    /// One read of a row by its key. It takes the time of a round trip to the server, also if nothing changed.
    fn look(&mut self) -> Result<WatchEvent, StoreError> {
        if self.is_removed {
            return Ok(WatchEvent::Removed);
        }
        let found = read_head(&self.database, Access::Watch, "watch", &self.user, &self.fence)?;
        let Some(StoredHead { head, is_aside: false }) = found else {
            self.is_removed = true;
            return Ok(WatchEvent::Removed);
        };
        if self.seen == Some(head) {
            return Ok(WatchEvent::Same);
        }
        self.seen = Some(head);
        Ok(WatchEvent::Changed(head))
    }
}
