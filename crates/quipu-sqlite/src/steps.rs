//! Steps that move databases. Each is atomic, even if the process dies. Incomplete results are in the folder
//! `unfinished`, with names that tell their state:
//!
//! - `u-me.db.partial`: a new, empty ledger. Deleted after a crash.
//! - `u-me.db.building.PID-N.M`: a ledger that process PID builds. Deleted when that process is gone.
//! - `u-me.db.incoming`: a complete ledger that replaces an old one. Deleted if the old one is still in place,
//!   otherwise moved into place.
//! - `u-me.db.removing`: at first an empty file that announces a removal, then the ledger being removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_core::id::{Seq, UserId};
use quipu_engine::ports::StoreError;

use crate::connection::{Access, connect};
use crate::data_folder::disk;
use crate::data_folder::fault;
use crate::folder::{Folder, user_of};
use crate::mark::{self, AbandonedMark};
use crate::migration;

const PARTIAL: &str = ".partial";
const BUILDING: &str = ".building.";
const INCOMING: &str = ".incoming";
const REMOVING: &str = ".removing";

impl Folder {
    /// The path at which an empty ledger is created, under the exclusive file lock of `path`.
    pub(crate) fn partial(&self, path: &Path) -> PathBuf {
        self.unfinished_of(path, PARTIAL)
    }

    /// A new path at which this process may build a ledger, for any length of time.
    pub(crate) fn building(&self, path: &Path) -> PathBuf {
        let number = self.built.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.unfinished_of(path, &format!("{BUILDING}{}.{number}", self.lock.name()))
    }

    fn unfinished_of(&self, path: &Path, end: &str) -> PathBuf {
        disk::beside(&self.unfinished.join(path.file_name().unwrap_or_default()), end)
    }

    /// Moves a complete, closed database to a free path. The caller holds the exclusive file lock of `path`.
    pub(crate) fn place(&self, complete: &Path, path: &Path) -> Result<(), StoreError> {
        if disk::SIDECARS.iter().any(|end| disk::exists(&disk::beside(path, end))) {
            self.set_aside(path)?;
        }
        migration::place(complete, path)
    }

    /// Replaces a database by a complete, closed one and sets the old one aside; returns its new path. The caller
    /// holds the exclusive file lock of `path` and the exclusive lock of the folder.
    pub(crate) fn replace(&self, complete: &Path, path: &Path, user: &UserId) -> Result<Option<PathBuf>, StoreError> {
        let incoming = self.unfinished_of(path, INCOMING);
        // From here on the new ledger is named and durable, so a crash can no longer lose both.
        migration::place(complete, &incoming)?;
        // Connections of this process to the old ledger must stop writing. A ledger too damaged for the mark is also
        // too damaged to be written to.
        match mark::give_up(path, user, None, AbandonedMark::Replaced) {
            Ok(()) | Err(StoreError::Corrupt(_)) => {}
            Err(error) => {
                self.finish_interrupted(path)?;
                return Err(error);
            }
        }
        merge_log(path);
        let old = self.set_aside(path)?;
        migration::place(&incoming, path)?;
        Ok(old)
    }

    /// Deletes a database and its copies. Once it is marked, a crash only delays the rest. The caller holds the
    /// exclusive file lock.
    pub(crate) fn remove(&self, path: &Path, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        let note = self.unfinished_of(path, REMOVING);
        let on_disk = |error| fault::of_disk(path, "remove", &error);
        disk::create_file(&note).map_err(on_disk)?;
        disk::sync_folder(&self.unfinished).map_err(on_disk)?;
        match mark::give_up(path, user, expected, AbandonedMark::Removed) {
            Ok(()) => {}
            // A damaged database cannot be marked; no other process may have it open then.
            Err(StoreError::Corrupt(_)) if expected.is_none() && !belongs_to_another(path, user) => {
                let alone = self.lock.alone("remove a damaged ledger");
                if alone.is_err() {
                    disk::remove_if_there(&note).map_err(on_disk)?;
                }
                drop(alone?);
            }
            Err(error) => {
                disk::remove_if_there(&note).map_err(on_disk)?;
                return Err(error);
            }
        }
        self.finish_removing(path).map_err(on_disk)
    }

    fn finish_removing(&self, path: &Path) -> io::Result<()> {
        let removing = self.unfinished_of(path, REMOVING);
        disk::rename_if_there(path, &removing)?;
        disk::sync_folder(&self.unfinished)?;
        disk::sync_folder(&self.users)?;
        for copy in self.copies_of(path).map_err(io::Error::other)? {
            disk::remove_database(&copy)?;
        }
        disk::sync_folder(&self.aside)?;
        disk::remove_database(path)?;
        disk::sync_folder(&self.users)?;
        disk::remove_if_there(&removing)?;
        disk::sync_folder(&self.unfinished)
    }

    /// Whether a step at this database was interrupted or is running.
    pub(crate) fn is_interrupted(&self, path: &Path) -> bool {
        [INCOMING, REMOVING].iter().any(|end| disk::exists(&self.unfinished_of(path, end)))
    }

    /// Finishes or undoes an interrupted step at a database. The caller holds the exclusive file lock of `path`, so
    /// the process that began the step is gone.
    pub(crate) fn finish_interrupted(&self, path: &Path) -> Result<(), StoreError> {
        let on_disk = |error| fault::of_disk(path, "finish an interrupted step at", &error);
        let whose = whose(path);
        if disk::remove_database(&self.partial(path)).map_err(on_disk)? {
            self.tell(format!("dropped an unfinished new ledger of {whose}"));
        }
        let (incoming, removing) = (self.unfinished_of(path, INCOMING), self.unfinished_of(path, REMOVING));
        if disk::exists(&incoming) {
            if disk::exists(path) {
                // The replacement was neither made nor acknowledged.
                disk::remove_if_there(&incoming).map_err(on_disk)?;
                self.tell(format!("dropped a copy that was to replace the ledger of {whose}: the one before stays"));
            } else {
                self.place(&incoming, path)?;
                self.tell(format!("finished replacing the ledger of {whose}: the one before was set aside"));
            }
        }
        match mark::of_file_if_there(path) {
            Some(AbandonedMark::Removed) => {
                self.finish_removing(path).map_err(on_disk)?;
                self.tell(format!("finished the removal of {whose}"));
            }
            Some(AbandonedMark::Replaced) => mark::clear(path)?,
            None => {}
        }
        if let Ok(found) = fs::symlink_metadata(&removing) {
            if found.len() == 0 || disk::exists(path) {
                // It was not marked, and the removal was not acknowledged.
                disk::remove_if_there(&removing).map_err(on_disk)?;
            } else {
                self.finish_removing(path).map_err(on_disk)?;
                self.tell(format!("finished the removal of {whose}"));
            }
        }
        disk::sync_folder(&self.unfinished).map_err(on_disk)
    }

    /// Finishes or undoes every step whose process is gone. Costs nothing for other ledgers.
    pub(crate) fn sweep(&self) -> Result<(), StoreError> {
        let names = disk::names(&self.unfinished).map_err(|error| fault::of_disk(&self.unfinished, "list", &error))?;
        for name in names {
            let Some((stem, rest)) = name.split_once(".db") else { continue };
            let path = self.users.join(format!("{stem}.db"));
            let builder = rest.strip_prefix(BUILDING).and_then(|rest| rest.split('.').next());
            if builder.is_some_and(|builder| self.lock.is_present(builder)) {
                continue;
            }
            let Some(_turn) = self.stripes.alone_now(&path)? else { continue };
            if builder.is_some() {
                self.drop_built(&self.unfinished.join(&name))?;
            } else {
                self.finish_interrupted(&path)?;
            }
        }
        Ok(())
    }

    fn drop_built(&self, file: &Path) -> Result<(), StoreError> {
        let dropped = disk::remove_if_there(file).and_then(|dropped| {
            disk::sync_folder(&self.unfinished)?;
            Ok(dropped)
        });
        let dropped = dropped.map_err(|error| fault::of_disk(file, "drop", &error))?;
        let is_database = !disk::SIDECARS.iter().any(|end| file.as_os_str().to_string_lossy().ends_with(end));
        if dropped && is_database {
            self.tell(format!("dropped an unfinished copy of the ledger of {}", whose(file)));
        }
        Ok(())
    }
}

/// The user of a file, or the file's name if it does not contain the user.
fn whose(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = name.split_once(".db").map_or_else(|| name.clone().into_owned(), |(stem, _)| format!("{stem}.db"));
    user_of(&file).map_or(file, |user| user.to_string())
}

fn belongs_to_another(path: &Path, user: &UserId) -> bool {
    let owner = connect(path, Access::Write).and_then(|connection| crate::connection::identify(&connection, path));
    owner.is_ok_and(|owner| owner != *user)
}

/// Merges the log into the file before a database is set aside. A database too damaged for that is set aside with its
/// log.
fn merge_log(path: &Path) {
    if let Ok(connection) = connect(path, Access::Write) {
        let _ = connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()));
    }
}
