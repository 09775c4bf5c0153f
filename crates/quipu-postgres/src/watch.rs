//! Detects appends to a ledger by any process.

use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_engine::ports::{Head, LedgerWatch, StoreError, WatchEvent};
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connection::{Access, Database, Step};
use crate::handle::ASIDE;
use crate::rows::{column, hash, position};

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
        let step =
            Step::new(include_str!("sql/head.sql"), [(&self.user as _, Type::TEXT), (&self.fence as _, Type::UUID)]);
        let answers = self.database.repeat(Access::Watch, &self.user, "watch", &[step])?;
        let Some(row) = answers.iter().flatten().next().filter(|row| row.try_get(2).ok() != Some(ASIDE)) else {
            self.is_removed = true;
            return Ok(WatchEvent::Removed);
        };
        column::<i32>(row, 2)?;
        let head = Head { seq: position(row, 0)?, hash: hash(row, 1)? };
        if self.seen == Some(head) {
            return Ok(WatchEvent::Same);
        }
        self.seen = Some(head);
        Ok(WatchEvent::Changed(head))
    }
}
