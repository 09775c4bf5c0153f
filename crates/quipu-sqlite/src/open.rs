//! A connection to a ledger whose file other processes may move.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use crate::data_folder::stripe::StripeGuard;
use crate::folder::Folder;

/// An open connection. It is closed under the file lock: SQLite checks that the database is still at its path before
/// it removes the log beside it, and no other database may be placed there between the check and the removal.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    // Closed before the lock is released: fields are dropped in this order.
    connection: Connection,
    closing: Option<StripeGuard>,
    pub(crate) path: PathBuf,
    pub(crate) folder: Arc<Folder>,
}

impl OpenConnection {
    pub(crate) fn new(connection: Connection, path: &Path, folder: &Arc<Folder>) -> Self {
        Self { connection, closing: None, path: path.to_owned(), folder: Arc::clone(folder) }
    }
}

impl Deref for OpenConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for OpenConnection {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        // Without the lock the connection is closed as well, protected only by SQLite's check.
        self.closing = self.folder.stripes.shared(&self.path).ok();
    }
}
