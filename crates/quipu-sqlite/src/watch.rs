//! Detects commits of other connections to a ledger.

use quipu_engine::ports::{LedgerWatch, StoreError, WatchEvent};

use crate::data_folder::fault;
use crate::mark;
use crate::open::OpenConnection;
use crate::rows;

/// Watches one ledger through its own connection.
#[derive(Debug)]
pub(crate) struct SqliteWatch {
    connection: OpenConnection,
    /// SQLite's counter of commits by other connections, at the last poll.
    seen: Option<i64>,
    removed: bool,
}

impl SqliteWatch {
    pub(crate) fn new(connection: OpenConnection) -> Self {
        Self { connection, seen: None, removed: false }
    }

    fn look_once(&mut self) -> rusqlite::Result<WatchEvent> {
        // Each statement is its own transaction. The counter is read first, so a commit in between is reported once
        // more.
        let mut query = self.connection.prepare_cached("PRAGMA data_version")?;
        let version: i64 = query.query_row([], |row| row.get(0))?;
        drop(query);
        if self.seen == Some(version) {
            return Ok(WatchEvent::Same);
        }
        if mark::read(&self.connection)?.is_some() {
            self.removed = true;
            return Ok(WatchEvent::Removed);
        }
        let head = rows::head(&self.connection)?;
        self.seen = Some(version);
        Ok(WatchEvent::Changed(head))
    }
}

impl LedgerWatch for SqliteWatch {
    fn look(&mut self) -> Result<WatchEvent, StoreError> {
        if self.removed {
            return Ok(WatchEvent::Removed);
        }
        self.look_once().map_err(|error| fault::of_sqlite(&self.connection.path, "watch", &error))
    }
}
