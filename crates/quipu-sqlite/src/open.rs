//! A connection to a ledger that others may move.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;

use crate::folder::Folder;
use crate::stripe::StripeGuard;

/// An open connection. It is closed while no file of its ledger moves: SQLite looks whether the database is still the one at
/// its path before it removes the log beside it, and between the look and the removal nothing may come there.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    // Closed before the turn is given back: fields drop in this order.
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
        // Without a turn it is closed all the same; SQLite's own look is left then.
        self.closing = self.folder.stripes.shared(&self.path).ok();
    }
}
