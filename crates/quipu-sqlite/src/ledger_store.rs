//! The ledgers of many users in one folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Head, LedgerStore, LedgerWatch, StoreError, UserLedger};
use rusqlite::Connection;

use crate::connection::{self, Access, check_sqlite_version, connect, identify, settle};
use crate::copy;
use crate::data_folder::disk;
use crate::data_folder::fault;
use crate::erase;
use crate::examine;
use crate::folder::{Folder, file_name, user_of};
use crate::mark::{self, AbandonedMark};
use crate::migration;
use crate::open::OpenConnection;
use crate::user_ledger::SqliteLedger;
use crate::watch::SqliteWatch;

/// How often opening is retried if other processes remove and create the same ledger in the meantime.
const ROUNDS_MAX: u32 = 8;
/// Minimum page size of an SQLite database.
const PAGE_BYTES_MIN: u64 = 512;

/// Options of [`SqliteStore::open`].
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Opens for reading only; default off. No ledger is changed, and other processes may write in the meantime.
    ///
    /// In a writable folder this process registers there as a user of the folder, and SQLite creates its files beside
    /// open ledgers. In a folder that is not writable, this process keeps writers out if it was first; if a writer was
    /// first, only the ledgers that it has open can be read. Without a readable lock file there is no protection from
    /// writers with other rights, and a ledger that was not closed cleanly can be opened only if its `-shm` file
    /// exists.
    pub read_only: bool,
    /// Space reserved for erasures on a full disk, in bytes; 0 for none. Default 16 MiB.
    pub ballast_bytes: u64,
    /// Minimum free disk space in bytes, below which appends and checkpoints fail, while reading and erasing still
    /// work. 0 for no minimum. Default 8 MiB. Not enforced on systems that do not report the free space.
    pub free_bytes_min: u64,
    /// Maximum size of one user's database, in pages of 4096 bytes. Default: no limit.
    pub pages_max: Option<u32>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { read_only: false, ballast_bytes: 16 << 20, free_bytes_min: 8 << 20, pages_max: None }
    }
}

/// Ledgers in a local folder, one SQLite database for each user.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    folder: Arc<Folder>,
}

impl SqliteStore {
    /// Opens a data folder and creates it if it is missing. Any number of processes may have it open. Steps that were
    /// interrupted by the end of a process are finished or undone.
    ///
    /// # Errors
    /// - `Unavailable`: another process holds the exclusive lock for too long, the folder is not writable, or the
    ///   linked SQLite has a known bug that loses data.
    /// - `NotFound`: the folder is missing and `read_only` is set.
    pub fn open(folder: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        check_sqlite_version()?;
        Ok(Self { folder: Arc::new(Folder::open(folder, options)?) })
    }

    /// Deletes the ballast and returns its size in bytes. It is recreated when the store is opened or a checkpoint is
    /// written, if at least four times its size is free.
    ///
    /// # Errors
    /// `Unavailable` if the file cannot be deleted.
    pub fn release_ballast(&self) -> Result<u64, StoreError> {
        self.folder.writable("release the ballast")?;
        let released = self.folder.ballast.release();
        released.map_err(|error| fault::of_disk(&self.folder.root, "release the ballast of", &error))
    }

    /// A connection to the ledger of `user`; `None` if there is none. It is opened under the file lock, after
    /// finishing an interrupted step.
    fn connection(&self, user: &UserId, access: Access) -> Result<Option<OpenConnection>, StoreError> {
        let folder = &self.folder;
        let path = folder.path_of(user);
        for _ in 0..ROUNDS_MAX {
            let turn = folder.stripes.shared(&path)?;
            if folder.options.read_only || !folder.is_interrupted(&path) {
                if !is_database_file(&path)? {
                    return Ok(None);
                }
                let connection = OpenConnection::new(self.connect(user, &path, access)?, &path, folder);
                match mark::read(&connection).map_err(|error| fault::of_sqlite(&path, "open", &error))? {
                    None => return Ok(Some(connection)),
                    Some(AbandonedMark::Removed) if folder.options.read_only => return Ok(None),
                    Some(AbandonedMark::Replaced) if folder.options.read_only => return Ok(Some(connection)),
                    Some(_) => {}
                }
            }
            drop(turn);
            let _turn = folder.stripes.alone(&path)?;
            folder.finish_interrupted(&path)?;
        }
        Err(StoreError::Unavailable(format!(
            "the ledger of {user} is made and removed again and again by others. Nothing was changed. Try again"
        )))
    }

    fn connect(&self, user: &UserId, path: &Path, access: Access) -> Result<Connection, StoreError> {
        let mut connection = connect(path, access)?;
        let owner = identify(&connection, path)?;
        if owner != *user {
            return Err(misplaced(path, &owner));
        }
        if access == Access::Write {
            if migration::is_older(&connection, path)? {
                let _alone = self.folder.lock.alone("upgrade a ledger")?;
                let partial = self.folder.building(path);
                migration::upgrade(&mut connection, path, &partial, || self.folder.new_copy_path(path))?;
            }
            settle(&connection, path, self.folder.options.pages_max)?;
        }
        Ok(connection)
    }

    /// Creates an empty ledger if there is none.
    fn make(&self, user: &UserId) -> Result<(), StoreError> {
        self.folder.writable("create a ledger")?;
        let path = self.folder.path_of(user);
        let _turn = self.folder.stripes.alone(&path)?;
        if self.folder.is_interrupted(&path) {
            self.folder.finish_interrupted(&path)?;
        }
        if is_database_file(&path)? {
            return Ok(());
        }
        let partial = self.folder.partial(&path);
        migration::create(&partial, user)?;
        self.folder.place(&partial, &path)
    }

    /// Builds a closed ledger with `make` at a temporary path and moves it into place.
    fn put(
        &self,
        user: &UserId,
        replace: bool,
        make: impl FnOnce(&Path) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let folder = &self.folder;
        let path = folder.path_of(user);
        let is_there = || {
            if folder.is_interrupted(&path) {
                let _turn = folder.stripes.alone(&path)?;
                folder.finish_interrupted(&path)?;
            }
            Ok(disk::exists(&path))
        };
        let there = is_there()?;
        if there && !replace {
            return Err(kept(user));
        }
        // The folder lock comes first, so that a conflict is reported before the ledger is built.
        let _alone = if there { Some(folder.lock.alone("replace a ledger")?) } else { None };
        let built = folder.building(&path);
        let put = make(&built).and_then(|()| {
            let _turn = folder.stripes.alone(&path)?;
            match disk::exists(&path) {
                true if there => folder.replace(&built, &path, user),
                // Another process created one in the meantime.
                true => Err(kept(user)),
                false => folder.place(&built, &path).map(|()| None),
            }
        });
        if put.is_err() {
            // Errors of the clean-up are ignored; the next opening removes the file.
            let _ = disk::remove_database(&built);
        }
        put
    }

    /// Every user, verified by reading each database.
    pub(crate) fn checked_users(&self) -> Vec<Result<UserId, StoreError>> {
        let databases = self.folder.databases();
        let paths = match databases {
            Ok(paths) => paths,
            Err(error) => return vec![Err(error)],
        };
        paths.iter().filter_map(|path| self.owner_of(path).transpose()).collect()
    }

    /// The user stored in the database at a path; `None` if the database is gone.
    fn owner_of(&self, path: &Path) -> Result<Option<UserId>, StoreError> {
        let _turn = self.folder.stripes.shared(path)?;
        if !is_database_file(path)? {
            return Ok(None);
        }
        let user = identify(&connect(path, self.folder.reading)?, path)?;
        if path.file_name().and_then(|name| name.to_str()) != Some(&file_name(&user)) {
            return Err(misplaced(path, &user));
        }
        Ok(Some(user))
    }

    fn owner_of_hashed(&self, path: &Path, name: &str) -> Result<Option<UserId>, StoreError> {
        let known = |folder: &Folder| folder.hashed.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(user) = known(&self.folder) {
            return Ok(Some(user));
        }
        let found = self.owner_of(path)?;
        if let Some(user) = &found {
            let mut hashed = self.folder.hashed.lock().unwrap_or_else(PoisonError::into_inner);
            hashed.insert(name.to_owned(), user.clone());
        }
        Ok(found)
    }
}

impl LedgerStore for SqliteStore {
    fn users(&self) -> Result<Vec<UserId>, StoreError> {
        if !self.folder.options.read_only {
            self.folder.sweep()?;
        }
        let mut users = Vec::new();
        for path in self.folder.databases()? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // Damage is reported when the file is opened; a file name that contains the user's id is sufficient here.
            match user_of(name) {
                Some(user) => users.push(user),
                None => users.extend(self.owner_of_hashed(&path, name)?),
            }
        }
        users.sort();
        Ok(users)
    }

    fn open(&self, user: &UserId, create: bool) -> Result<Box<dyn UserLedger>, StoreError> {
        let mut found = self.connection(user, self.folder.access())?;
        for _ in 0..ROUNDS_MAX {
            if found.is_some() || !create {
                break;
            }
            self.make(user)?;
            found = self.connection(user, self.folder.access())?;
        }
        let connection = found.ok_or_else(|| no_ledger(user))?;
        let mut ledger = SqliteLedger::new(connection);
        if !self.folder.options.read_only {
            // If the clean-up fails, the ledger is still usable, and `check` reports it.
            let _ = erase::scrub_if_pending(&mut ledger);
        }
        Ok(Box::new(ledger))
    }

    fn watch(&self, user: &UserId) -> Result<Box<dyn LedgerWatch>, StoreError> {
        let connection = self.connection(user, self.folder.reading)?.ok_or_else(|| no_ledger(user))?;
        Ok(Box::new(SqliteWatch::new(connection)))
    }

    fn remove(&self, user: &UserId, expected: Option<Seq>) -> Result<(), StoreError> {
        self.folder.writable("remove a ledger")?;
        let path = self.folder.path_of(user);
        let _turn = self.folder.stripes.alone(&path)?;
        if self.folder.is_interrupted(&path) {
            self.folder.finish_interrupted(&path)?;
        }
        if !disk::exists(&path) {
            return Err(no_ledger(user));
        }
        self.folder.remove(&path, user, expected)
    }

    fn build(
        &self,
        user: &UserId,
        replace: bool,
        fill: &mut dyn FnMut(&mut dyn UserLedger) -> Result<(), StoreError>,
    ) -> Result<Option<PathBuf>, StoreError> {
        self.folder.writable("build a ledger")?;
        self.put(user, replace, |at| {
            migration::create(at, user)?;
            let connection = connect(at, Access::Write)?;
            settle(&connection, at, self.folder.options.pages_max)?;
            let mut ledger = SqliteLedger::new(OpenConnection::new(connection, at, &self.folder));
            fill(&mut ledger)?;
            ledger.into_one_file()
        })
    }

    fn restore(&self, user: &UserId, from: &Path, replace: bool) -> Result<Option<PathBuf>, StoreError> {
        self.folder.writable("restore a backup")?;
        self.put(user, replace, |at| copy::take_in(from, user, at))
    }

    fn read_copy(
        &self,
        user: &UserId,
        from: &Path,
        each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
    ) -> Result<Head, StoreError> {
        copy::read_backup(from, user, each)
    }

    fn examine(&self) -> Vec<Result<String, String>> {
        examine::store(&self.folder, &self.checked_users())
    }
}

/// Whether there is a file to open.
fn is_database_file(path: &Path) -> Result<bool, StoreError> {
    let at = path.display();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(fault::of_disk(path, "look at", &error)),
        // Through a second name for a database SQLite would not find its log.
        Ok(found) if !found.is_file() => Err(StoreError::Corrupt(format!(
            "{at} is not a Quipu ledger: it is not a regular file. Nothing was changed. Put the file itself there"
        ))),
        // SQLite would treat a file without a complete page as a new database. Ledgers get their names when they are
        // complete, so this file is damaged.
        Ok(found) if found.len() < PAGE_BYTES_MIN => Err(StoreError::Corrupt(format!(
            "{at} has {} bytes: its content is lost. Nothing was changed. Restore a backup",
            found.len()
        ))),
        Ok(_) => Ok(true),
    }
}

fn kept(user: &UserId) -> StoreError {
    StoreError::Exists(format!(
        "{user} has a ledger, and it is kept. To put another in its place, ask for that (`--replace` on the command line): the ledger that is there is set aside"
    ))
}

fn no_ledger(user: &UserId) -> StoreError {
    StoreError::NotFound(format!("{user} has no ledger here"))
}

pub(crate) fn misplaced(path: &Path, owner: &UserId) -> StoreError {
    StoreError::Corrupt(format!(
        "{} is the ledger of {owner}, which belongs into the file {}. Nothing was changed. Rename it back, or move it away \
         and restore it as a backup",
        path.display(),
        file_name(owner)
    ))
}

/// The settings of a ledger's connection as SQLite reports them, for [`examine`].
pub(crate) fn settings_of(folder: &Folder, path: &Path) -> Result<(String, Option<String>), StoreError> {
    let _turn = folder.stripes.shared(path)?;
    let connection = connect(path, Access::Write)?;
    settle(&connection, path, folder.options.pages_max)?;
    connection::read_back(&connection).map_err(|error| fault::of_sqlite(path, "read", &error))
}
