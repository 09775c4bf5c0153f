//! A data folder: which file is whose, and moving closed databases into and out of their place.
//!
//! ```text
//! quipu.lock        held while a process has the folder open; its pid
//! ballast           space in reserve
//! registry.db       keys; held by nobody in particular (`key_store.rs`)
//! users/u-me.db     one database a user; -wal and -shm beside it while it is open
//! aside/u-me.db.1   what a restore or an upgrade replaced
//! ```
//! Three endings mark a step that a crash interrupted; the next opening finishes or undoes it: `.partial` is unfinished
//! and dropped, `.incoming` is complete and waits for the old ledger to be set aside, `.removing` is on its way out.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use quipu_core::id::UserId;
use quipu_engine::ports::StoreError;

use crate::ballast::Ballast;
use crate::lock::OpenLedgers;
use crate::{Options, disk, fault, lock, migration};

const PARTIAL: &str = ".partial";
const INCOMING: &str = ".incoming";
const REMOVING: &str = ".removing";
/// Longest user id that stands in a file name as it is.
const PLAIN_NAME_MAX: usize = 64;

/// A data folder that this process holds.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    pub(crate) users: PathBuf,
    pub(crate) options: Options,
    pub(crate) ballast: Ballast,
    pub(crate) ledgers: OpenLedgers,
    aside: PathBuf,
    lock: Option<File>,
}

impl Folder {
    pub(crate) fn open(root: &Path, options: Options) -> Result<Self, StoreError> {
        let lock = if options.read_only {
            if !root.is_dir() {
                return Err(StoreError::NotFound(format!("there is no memory folder at {}", root.display())));
            }
            lock::for_reading(root)?
        } else {
            make(root)?;
            Some(lock::for_writing(root)?)
        };
        let folder = Self {
            root: root.to_owned(),
            users: root.join("users"),
            aside: root.join("aside"),
            ballast: Ballast::new(root, options.ballast_bytes),
            ledgers: OpenLedgers::default(),
            options,
            lock,
        };
        if !folder.options.read_only {
            make(&folder.users)?;
            make(&folder.aside)?;
            folder.sweep().map_err(|error| fault::of_disk(&folder.users, "finish an interrupted step in", &error))?;
            // Whether it is there shows in `examine`; a full disk must not keep anyone out.
            let _ = folder.ballast.restore();
        }
        Ok(folder)
    }

    /// True while no other process can write to the folder.
    pub(crate) fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Stops writing while there is still room to erase and to checkpoint.
    pub(crate) fn has_room(&self) -> Result<(), StoreError> {
        let floor = self.options.free_bytes_min;
        match disk::free_bytes(&self.root).filter(|free| *free < floor) {
            Some(free) => Err(StoreError::Unavailable(format!(
                "the disk of {} is nearly full: {free} bytes are free, and below {floor} nothing more is written. Nothing \
                 was changed; reading and erasing still work. Make room on the disk",
                self.root.display()
            ))),
            None => Ok(()),
        }
    }

    /// Refuses what a folder open for reading only cannot do.
    pub(crate) fn writable(&self, doing: &str) -> Result<(), StoreError> {
        if !self.options.read_only {
            return Ok(());
        }
        Err(StoreError::Unavailable(format!(
            "cannot {doing} in the memory folder {}: it is open for reading only. Open it for writing",
            self.root.display()
        )))
    }

    /// The database of a user.
    pub(crate) fn path_of(&self, user: &UserId) -> PathBuf {
        self.users.join(file_name(user))
    }

    /// The databases of all users, by file name.
    pub(crate) fn databases(&self) -> Result<Vec<PathBuf>, StoreError> {
        match disk::names(&self.users) {
            Ok(names) => {
                Ok(names.iter().filter(|name| name.ends_with(".db")).map(|name| self.users.join(name)).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(fault::of_disk(&self.users, "list", &error)),
        }
    }

    /// Names in `users` that are neither a ledger nor one of SQLite's files beside one.
    pub(crate) fn strangers(&self) -> Vec<String> {
        let mut names = disk::names(&self.users).unwrap_or_default();
        names.retain(|name| {
            let known = std::iter::once("").chain(disk::SIDECARS).chain([PARTIAL, INCOMING, REMOVING]);
            !known.into_iter().any(|end| name.ends_with(&format!(".db{end}")))
        });
        names
    }

    /// Every database set aside.
    pub(crate) fn all_copies(&self) -> Vec<PathBuf> {
        let names = disk::names(&self.aside).unwrap_or_default();
        names.iter().filter(|name| split_copy(name).is_some()).map(|name| self.aside.join(name)).collect()
    }

    /// What was set aside of the database at a path. Of a damaged one that may be only the files beside it.
    pub(crate) fn copies_of(&self, path: &Path) -> Result<Vec<PathBuf>, StoreError> {
        let numbers = self.copy_numbers(path)?;
        Ok(numbers.into_iter().map(|number| self.copy_path(path, number)).collect())
    }

    /// A name in `aside` for the database at a path, not in use yet.
    pub(crate) fn new_copy_path(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let last = self.copy_numbers(path)?.last().copied().unwrap_or(0);
        Ok(self.copy_path(path, last + 1))
    }

    fn copy_path(&self, path: &Path, number: u64) -> PathBuf {
        disk::beside(&self.aside.join(path.file_name().unwrap_or_default()), &format!(".{number}"))
    }

    fn copy_numbers(&self, path: &Path) -> Result<BTreeSet<u64>, StoreError> {
        let names = disk::names(&self.aside).map_err(|error| fault::of_disk(&self.aside, "list", &error))?;
        let file = path.file_name().and_then(|name| name.to_str());
        let bare = |name: &str| disk::SIDECARS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned();
        let copies = names.iter().map(|name| bare(name));
        Ok(copies
            .filter_map(|name| split_copy(&name).filter(|(base, _)| Some(*base) == file).map(|(_, number)| number))
            .collect())
    }

    /// Where a database is built before it gets its name.
    pub(crate) fn partial(&self, path: &Path) -> PathBuf {
        disk::beside(path, PARTIAL)
    }

    /// Puts a complete database in place. A closed one that is there is set aside first; returns where.
    pub(crate) fn replace(&self, complete: &Path, path: &Path) -> Result<Option<PathBuf>, StoreError> {
        let incoming = disk::beside(path, INCOMING);
        // From here on the new ledger is named and durable: a crash in the middle can no longer leave none at all.
        migration::place(complete, &incoming)?;
        let old = self.set_aside(path)?;
        migration::place(&incoming, path)?;
        Ok(old)
    }

    /// Moves a closed database, or what is left of one, out of the way. The new name is durable when it returns.
    pub(crate) fn set_aside(&self, path: &Path) -> Result<Option<PathBuf>, StoreError> {
        let copy = self.new_copy_path(path)?;
        let mut moved = false;
        // A log left behind would be taken for the log of whatever database comes next.
        for end in std::iter::once("").chain(disk::SIDECARS) {
            match fs::rename(disk::beside(path, end), disk::beside(&copy, end)) {
                Ok(()) => moved = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(fault::of_disk(path, "set aside", &error)),
            }
        }
        for folder in [&self.aside, &self.users] {
            disk::sync_folder(folder).map_err(|error| fault::of_disk(folder, "write", &error))?;
        }
        Ok(moved.then_some(copy))
    }

    /// Deletes a closed database and its copies. Once the first step is done, a crash only delays the others.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        fs::rename(path, disk::beside(path, REMOVING))?;
        disk::sync_folder(&self.users)?;
        self.finish_removing(path)
    }

    fn finish_removing(&self, path: &Path) -> io::Result<()> {
        for copy in self.copies_of(path).unwrap_or_default() {
            disk::remove_database(&copy)?;
        }
        disk::sync_folder(&self.aside)?;
        disk::remove_database(path)?;
        disk::remove_if_there(&disk::beside(path, REMOVING))?;
        disk::sync_folder(&self.users)
    }

    /// Finishes or undoes what a crash interrupted. Only this process is in the folder, and nothing is open yet.
    fn sweep(&self) -> io::Result<()> {
        for name in disk::names(&self.users)? {
            let path = self.users.join(&name);
            if let Some(base) = name.strip_suffix(INCOMING) {
                let target = self.users.join(base);
                if fs::symlink_metadata(&target).is_ok() {
                    // The ledger was not replaced yet, and the caller was not told that it was.
                    disk::remove_if_there(&path)?;
                } else {
                    self.set_aside(&target).map_err(io::Error::other)?;
                    fs::rename(&path, &target)?;
                }
            } else if let Some(base) = name.strip_suffix(REMOVING) {
                self.finish_removing(&self.users.join(base))?;
            } else if name.contains(&format!(".db{PARTIAL}")) {
                disk::remove_if_there(&path)?;
            } else {
                continue;
            }
            disk::sync_folder(&self.users)?;
        }
        Ok(())
    }
}

/// `u-me.db.2` is copy 2 of `u-me.db`.
fn split_copy(name: &str) -> Option<(&str, u64)> {
    let (base, number) = name.rsplit_once('.')?;
    if base.ends_with(".db") { Some((base, number.parse().ok()?)) } else { None }
}

/// Makes a folder and its name durable.
fn make(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    disk::create_folder(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => StoreError::Unavailable(format!(
            "cannot keep memories in {}: it is a file, or lies under one. Choose a folder",
            path.display()
        )),
        _ => fault::of_disk(path, "create the folder", &error),
    })?;
    disk::sync_folder(path.parent().unwrap_or(path)).map_err(|error| fault::of_disk(path, "create the folder", &error))
}

/// A user's file. An id that is short and has only characters every file system tells apart stands as it is; any other
/// is hashed. The id is also inside the file, and compared whenever it is opened.
pub(crate) fn file_name(user: &UserId) -> String {
    let id = user.as_str();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    let starts = id.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit());
    if id.len() <= PLAIN_NAME_MAX && starts && id.bytes().all(plain) {
        return format!("u-{id}.db");
    }
    let hash = blake3::hash(id.as_bytes()).to_hex();
    format!("h-{}.db", hash.get(..32).unwrap_or(&hash))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn file_names_tell_users_apart_on_any_file_system() {
        let name = |id: &str| file_name(&UserId::parse(id).unwrap());
        assert_eq!(name("me"), "u-me.db");
        assert_eq!(name("7_a-b"), "u-7_a-b.db");
        assert_eq!(name("con"), "u-con.db");
        assert_eq!(name(&"a".repeat(64)), format!("u-{}.db", "a".repeat(64)));
        for hashed in ["Me", "alice@example.com", "a.b", "a:b", "a+b", &"a".repeat(65), &"Z".repeat(128)] {
            let name = name(hashed);
            assert!(name.starts_with("h-") && name.len() == 37, "{hashed} became {name}");
        }
        assert_ne!(name("Me"), name("mE"));
    }

    #[test]
    fn names_of_copies_are_read_back() {
        assert_eq!(split_copy("u-me.db.12"), Some(("u-me.db", 12)));
        for other in ["u-me.db", "u-me.db.1-wal", "u-me.db.x", "notes.1"] {
            assert_eq!(split_copy(other), None, "{other}");
        }
    }
}
