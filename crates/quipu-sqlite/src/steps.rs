//! Steps that move databases: each has its whole effect or none, also when the process dies inside it. What is not complete
//! lies in the folder `unfinished`, under a name that says what it is:
//!
//! - `u-me.db.partial`: a new, empty ledger. Dropped.
//! - `u-me.db.building.PID-N.M`: a ledger that process PID builds. Dropped when that process is gone.
//! - `u-me.db.incoming`: complete, and waits for the old ledger to be set aside. Dropped while the old one is in place, put
//!   in place when it is not.
//! - `u-me.db.removing`: first an empty note that a removal begins, then the ledger itself on its way out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_core::id::{Seq, UserId};
use quipu_engine::ports::StoreError;

use crate::connection::{Access, connect};
use crate::folder::{Folder, user_of};
use crate::mark::{self, AbandonedMark};
use crate::{disk, fault, migration};

const PARTIAL: &str = ".partial";
const BUILDING: &str = ".building.";
const INCOMING: &str = ".incoming";
const REMOVING: &str = ".removing";

impl Folder {
    /// Where an empty ledger is made. Whoever makes one has the turn at `path` alone.
    pub(crate) fn partial(&self, path: &Path) -> PathBuf {
        self.unfinished_of(path, PARTIAL)
    }

    /// Where this process may build a ledger for as long as it likes; another name each time.
    pub(crate) fn building(&self, path: &Path) -> PathBuf {
        let number = self.built.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.unfinished_of(path, &format!("{BUILDING}{}.{number}", self.lock.name()))
    }

    fn unfinished_of(&self, path: &Path, end: &str) -> PathBuf {
        disk::beside(&self.unfinished.join(path.file_name().unwrap_or_default()), end)
    }

    /// Puts a complete, closed database where none is. The caller has the turn at `path` alone.
    pub(crate) fn place(&self, complete: &Path, path: &Path) -> Result<(), StoreError> {
        if disk::SIDECARS.iter().any(|end| disk::exists(&disk::beside(path, end))) {
            self.set_aside(path)?;
        }
        migration::place(complete, path)
    }

    /// Puts a complete, closed database in the place of another, which is set aside; returns where. The caller has the turn
    /// at `path`, and the folder, alone.
    pub(crate) fn replace(&self, complete: &Path, path: &Path, user: &UserId) -> Result<Option<PathBuf>, StoreError> {
        let incoming = self.unfinished_of(path, INCOMING);
        // From here on the new ledger is named and durable: a crash in the middle can no longer leave none at all.
        migration::place(complete, &incoming)?;
        // Whoever still has the old one open in this process must not write to it any more. What is too damaged for a mark
        // is too damaged to be written to.
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

    /// Deletes a database and its copies. Once it is marked, a crash only delays the rest. The caller has the turn alone.
    pub(crate) fn remove(&self, path: &Path, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        let note = self.unfinished_of(path, REMOVING);
        let on_disk = |error| fault::of_disk(path, "remove", &error);
        disk::create_file(&note).map_err(on_disk)?;
        disk::sync_folder(&self.unfinished).map_err(on_disk)?;
        match mark::give_up(path, user, expected, AbandonedMark::Removed) {
            Ok(()) => {}
            // Nothing can be marked in what is damaged; then only nobody else may have it open.
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

    /// True if a step at this database was interrupted, or is under way.
    pub(crate) fn is_interrupted(&self, path: &Path) -> bool {
        [INCOMING, REMOVING].iter().any(|end| disk::exists(&self.unfinished_of(path, end)))
    }

    /// Finishes or undoes the step at one database that was interrupted. The caller has the turn at `path` alone: who began
    /// the step is gone.
    pub(crate) fn finish_interrupted(&self, path: &Path) -> Result<(), StoreError> {
        let on_disk = |error| fault::of_disk(path, "finish an interrupted step at", &error);
        let whose = whose(path);
        if disk::remove_database(&self.partial(path)).map_err(on_disk)? {
            self.tell(format!("dropped an unfinished new ledger of {whose}"));
        }
        let (incoming, removing) = (self.unfinished_of(path, INCOMING), self.unfinished_of(path, REMOVING));
        if disk::exists(&incoming) {
            if disk::exists(path) {
                // It was not replaced yet, and the caller was not told that it was.
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
                // It was not marked, and the caller was not told that it was removed.
                disk::remove_if_there(&removing).map_err(on_disk)?;
            } else {
                self.finish_removing(path).map_err(on_disk)?;
                self.tell(format!("finished the removal of {whose}"));
            }
        }
        disk::sync_folder(&self.unfinished).map_err(on_disk)
    }

    /// Finishes or undoes every step whose process is gone. Costs nothing a ledger that is not concerned.
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

/// The user of a file, or the file's name where that does not say.
fn whose(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = name.split_once(".db").map_or_else(|| name.clone().into_owned(), |(stem, _)| format!("{stem}.db"));
    user_of(&file).map_or(file, |user| user.to_string())
}

fn belongs_to_another(path: &Path, user: &UserId) -> bool {
    let owner = connect(path, Access::Write).and_then(|connection| crate::connection::identify(&connection, path));
    owner.is_ok_and(|owner| owner != *user)
}

/// Before a database is set aside: brings everything into its one file. One that is too damaged for that is set aside
/// with the files beside it.
fn merge_log(path: &Path) {
    if let Ok(connection) = connect(path, Access::Write) {
        let _ = connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()));
    }
}
