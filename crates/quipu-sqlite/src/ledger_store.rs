//! Many users' ledgers in one folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_engine::ports::{LedgerStore, StoreError, UserLedger};
use rusqlite::Connection;

use crate::connection::{self, Access, check_sqlite_version, connect, identify, settle};
use crate::folder::{Folder, file_name};
use crate::lock::{OpenMark, turn};
use crate::user_ledger::SqliteLedger;
use crate::{copy, erase, examine, fault, migration};

/// Smallest page of any SQLite database.
const PAGE_BYTES_MIN: u64 = 512;

/// How a [`SqliteStore`] is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Open for reading only; default off. No ledger is changed. Where the folder is writable, the lock file is made,
    /// and SQLite's files beside a ledger that was not closed cleanly. Where it is not, no lock is taken unless the lock
    /// file can be read: make sure that no writer with other rights is at it; and a ledger that was not closed cleanly
    /// opens only if its `-shm` file is there too.
    pub read_only: bool,
    /// Space kept in reserve for erasing on a full disk, in bytes; 0 for none. Default 16 MiB.
    pub ballast_bytes: u64,
    /// With less than this free on the disk nothing is appended or cached any more, in bytes; reading and erasing go on.
    /// 0 for no floor. Default 8 MiB. Where the system cannot say how much is free, there is no floor.
    pub free_bytes_min: u64,
    /// Largest database of one user, in pages of 4096 bytes. Default: as large as the disk allows.
    pub pages_max: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self { read_only: false, ballast_bytes: 16 << 20, free_bytes_min: 8 << 20, pages_max: None }
    }
}

/// Ledgers in a folder of the local disk, one SQLite database a user.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    folder: Arc<Folder>,
}

impl SqliteStore {
    /// Opens a data folder, and creates it if it is missing. It stays locked until the store and every ledger opened
    /// from it are dropped.
    ///
    /// # Errors
    /// - `Unavailable`: another process, or another store in this one, has the folder open; the folder is not writable;
    ///   or the SQLite this was built with has a known way to lose data.
    /// - `NotFound`: the folder is missing and `read_only` is on.
    pub fn open(folder: &Path, options: Options) -> Result<Self, StoreError> {
        check_sqlite_version()?;
        Ok(Self { folder: Arc::new(Folder::open(folder, options)?) })
    }

    /// Gives the space kept in reserve back to the disk; returns how many bytes that was. It is taken again when the
    /// store is opened, or a checkpoint is written, while at least four times as much is free.
    ///
    /// # Errors
    /// `Unavailable` if the file cannot be deleted.
    pub fn release_ballast(&self) -> Result<u64, StoreError> {
        self.folder.writable("release the ballast")?;
        let released = self.folder.ballast.release();
        released.map_err(|error| fault::of_disk(&self.folder.root, "release the ballast of", &error))
    }

    /// An open connection to a ledger of `user`, ready to be used.
    fn connect(&self, user: &UserId, path: &Path) -> Result<Connection, StoreError> {
        let read_only = self.folder.options.read_only;
        let mut connection = connect(path, if read_only { Access::Read } else { Access::Write })?;
        let owner = identify(&connection, path)?;
        if owner != *user {
            return Err(misplaced(path, &owner));
        }
        if !read_only {
            migration::upgrade(&mut connection, path, || self.folder.new_copy_path(path))?;
            settle(&connection, path, self.folder.options.pages_max)?;
        }
        Ok(connection)
    }
}

impl LedgerStore for SqliteStore {
    fn users(&self) -> Result<Vec<UserId>, StoreError> {
        let mut users = Vec::new();
        for path in self.folder.databases()? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let slot = self.folder.ledgers.of(name);
            let _turn = turn(&slot);
            if !is_database_file(&path)? {
                continue; // removed since the folder was listed
            }
            let access = if self.folder.options.read_only { Access::Read } else { Access::Write };
            let user = identify(&connect(&path, access)?, &path)?;
            if file_name(&user) != name {
                return Err(misplaced(&path, &user));
            }
            users.push(user);
        }
        users.sort();
        Ok(users)
    }

    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError> {
        let path = self.folder.path_of(user);
        let slot = self.folder.ledgers.of(&file_name(user));
        let count = turn(&slot);
        if !is_database_file(&path)? {
            if !create {
                return Err(no_ledger(user));
            }
            self.folder.writable("create a ledger")?;
            self.folder.set_aside(&path)?;
            migration::create(&path, user)?;
        }
        let connection = self.connect(user, &path)?;
        let mark = OpenMark::new(&slot, count);
        let mut ledger = SqliteLedger { connection, path, folder: Arc::clone(&self.folder), _mark: mark };
        if !self.folder.options.read_only {
            // If something is still in the way, the ledger can be used all the same, and `check` keeps telling.
            let _ = erase::scrub_if_pending(&mut ledger);
        }
        Ok(Box::new(ledger))
    }

    fn remove(&self, user: &UserId) -> Result<(), StoreError> {
        self.folder.writable("remove a ledger")?;
        let path = self.folder.path_of(user);
        let slot = self.folder.ledgers.of(&file_name(user));
        let count = turn(&slot);
        if fs::symlink_metadata(&path).is_err() {
            return Err(no_ledger(user));
        }
        closed(*count, user, "removed")?;
        self.folder.remove(&path).map_err(|error| fault::of_disk(&path, "remove", &error))
    }

    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
        self.folder.writable("restore a backup")?;
        let path = self.folder.path_of(user);
        let slot = self.folder.ledgers.of(&file_name(user));
        let count = turn(&slot);
        let there = fs::symlink_metadata(&path).is_ok();
        if there && !replace {
            return Err(StoreError::Exists(format!(
                "{user} has a ledger, and it is kept. Restore with `replace` to set it aside first"
            )));
        }
        closed(*count, user, "replaced")?;
        let partial = self.folder.partial(&path);
        copy::take_in(from, user, &partial)?;
        if there {
            merge_log(&path);
        }
        let aside = self.folder.replace(&partial, &path)?;
        Ok(aside.filter(|_| there))
    }

    fn examine(&self) -> Vec<Result<String, String>> {
        examine::store(&self.folder, self.users())
    }
}

/// Before a database is set aside: brings everything into its one file. One that is too damaged for that is set aside
/// with the files beside it.
fn merge_log(path: &Path) {
    if let Ok(connection) = connect(path, Access::Write) {
        let _ = connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()));
    }
}

/// True if there is a file to open, false if there is none.
fn is_database_file(path: &Path) -> Result<bool, StoreError> {
    let at = path.display();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(fault::of_disk(path, "look at", &error)),
        // A second name for a database makes SQLite miss the log that belongs to it.
        Ok(found) if !found.is_file() => Err(StoreError::Corrupt(format!(
            "{at} is not a Quipu ledger: it is not a regular file. Nothing was changed. Put the file itself there"
        ))),
        // SQLite would take a file without a whole page for a new database. A ledger gets its name when it is complete,
        // so this is none that was just begun.
        Ok(found) if found.len() < PAGE_BYTES_MIN => Err(StoreError::Corrupt(format!(
            "{at} has {} bytes: its content is lost. Nothing was changed. Restore a backup",
            found.len()
        ))),
        Ok(_) => Ok(true),
    }
}

fn closed(open: usize, user: &UserId, done: &str) -> Result<(), StoreError> {
    if open == 0 {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!(
        "the ledger of {user} is open and cannot be {done}. Nothing was changed. Close it, then try again"
    )))
}

fn no_ledger(user: &UserId) -> StoreError {
    StoreError::NotFound(format!("{user} has no ledger here"))
}

fn misplaced(path: &Path, owner: &UserId) -> StoreError {
    StoreError::Corrupt(format!(
        "{} is the ledger of {owner}, which belongs into the file {}. Nothing was changed. Rename it back, or move it away \
         and restore it as a backup",
        path.display(),
        file_name(owner)
    ))
}

/// The settings of one ledger's connection as SQLite reports them: for [`examine`].
pub(crate) fn settings_of(folder: &Folder, path: &Path) -> Result<(String, Option<String>), StoreError> {
    let connection = connect(path, Access::Write)?;
    settle(&connection, path, folder.options.pages_max)?;
    connection::read_back(&connection).map_err(|error| fault::of_sqlite(path, "read", &error))
}
