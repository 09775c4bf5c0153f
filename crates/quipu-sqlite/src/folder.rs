//! Maps users to the files of a data folder.
//!
//! ```text
//! quipu.lock           shared by every process that has the folder open (`lock.rs`)
//! processes/1234-0     one file for each of these processes
//! locks/07             locks on ledger files (`stripe.rs`)
//! ballast              reserved space
//! registry.db          keys, independent of the folder lock (`key_store.rs`)
//! users/u-me.db        one database for each user, with -wal and -shm files while it is open
//! unfinished/          results of incomplete steps (`steps.rs`)
//! aside/u-me.db.1      databases replaced by a restore or an upgrade (`copies.rs`)
//! ```

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use quipu_core::id::UserId;
use quipu_engine::ports::StoreError;

use crate::StoreOptions;
use crate::connection::Access;
use crate::data_folder::ballast::Ballast;
use crate::data_folder::disk;
use crate::data_folder::fault;
use crate::data_folder::lock::{FolderLock, Reading};
use crate::data_folder::stripe::Stripes;

/// Maximum length of a user id that is used in a file name unchanged.
const PLAIN_NAME_MAX: usize = 64;

/// An open data folder.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    pub(crate) users: PathBuf,
    pub(crate) aside: PathBuf,
    pub(crate) unfinished: PathBuf,
    pub(crate) options: StoreOptions,
    pub(crate) ballast: Ballast,
    pub(crate) stripes: Stripes,
    pub(crate) lock: FolderLock,
    /// Access of the connections that only read.
    pub(crate) reading: Access,
    /// Number of ledgers this process has started to build.
    pub(crate) built: AtomicU64,
    /// Users of the hashed file names, as read from the files. An entry never changes.
    pub(crate) hashed: Mutex<HashMap<String, UserId>>,
    finished: Mutex<Vec<String>>,
}

impl Folder {
    pub(crate) fn open(root: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let (lock, reading) = if options.read_only {
            if !root.is_dir() {
                return Err(StoreError::NotFound(format!("there is no memory folder at {}", root.display())));
            }
            FolderLock::for_reading(root)?
        } else {
            make(root)?;
            (FolderLock::for_writing(root)?, Reading::Shared)
        };
        let folder = Self {
            root: root.to_owned(),
            users: root.join("users"),
            aside: root.join("aside"),
            unfinished: root.join("unfinished"),
            ballast: Ballast::new(root, options.ballast_bytes),
            stripes: Stripes::new(root, options.read_only),
            lock,
            reading: match reading {
                Reading::Shared => Access::Share,
                Reading::Bystander => Access::Watch,
                Reading::Frozen => Access::Read,
            },
            built: AtomicU64::default(),
            hashed: Mutex::default(),
            finished: Mutex::default(),
            options,
        };
        if !folder.options.read_only {
            for path in [&folder.users, &folder.aside, &folder.unfinished, folder.stripes.folder()] {
                make(path)?;
            }
            folder.sweep()?;
            // `examine` reports whether it exists. A full disk must not prevent opening.
            let _ = folder.ballast.restore();
        } else if reading == Reading::Shared {
            // If it cannot be created, readers work without stripe locks.
            let _ = disk::create_folder(folder.stripes.folder());
        }
        Ok(folder)
    }

    /// Access of the connections to this folder's ledgers.
    pub(crate) fn access(&self) -> Access {
        if self.options.read_only { self.reading } else { Access::Write }
    }

    /// Adds a line about an interrupted step for [`examine`](crate::examine).
    pub(crate) fn tell(&self, line: String) {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// The lines about interrupted steps since the folder was opened.
    pub(crate) fn told(&self) -> Vec<String> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Fails when the free space falls below the limit that erasures and checkpoints need.
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

    /// Fails if the folder is open for reading only.
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

    /// The databases of all users, ordered by file name.
    pub(crate) fn databases(&self) -> Result<Vec<PathBuf>, StoreError> {
        match disk::names(&self.users) {
            Ok(names) => {
                Ok(names.iter().filter(|name| name.ends_with(".db")).map(|name| self.users.join(name)).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(fault::of_disk(&self.users, "list", &error)),
        }
    }

    /// Names in `users` that are neither ledgers nor SQLite's files beside one.
    pub(crate) fn strangers(&self) -> Vec<String> {
        let mut names = disk::names(&self.users).unwrap_or_default();
        names.retain(|name| {
            let mut known = std::iter::once("").chain(disk::SIDECARS);
            !known.any(|end| name.ends_with(&format!(".db{end}")))
        });
        names
    }
}

/// Creates a folder with its parents and makes their names durable.
fn make(path: &Path) -> Result<(), StoreError> {
    disk::create_folder_durably(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => StoreError::Unavailable(format!(
            "cannot keep memories in {}: it is a file, or lies under one. Choose a folder",
            path.display()
        )),
        _ => fault::of_disk(path, "create the folder", &error),
    })
}

/// The file name of a user. A short id with only characters that every file system distinguishes is used unchanged;
/// any other is hashed. The id is also stored in the file and verified on every opening.
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

/// The user of a file name that is not hashed.
pub(crate) fn user_of(name: &str) -> Option<UserId> {
    let user = UserId::parse(name.strip_prefix("u-")?.strip_suffix(".db")?).ok()?;
    (file_name(&user) == name).then_some(user)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn file_names_tell_users_apart_on_any_file_system() {
        let name = |id: &str| file_name(&UserId::parse(id).unwrap());
        assert_eq!(name("me"), "u-me.db");
        assert_eq!(user_of("u-me.db"), UserId::parse("me").ok());
        for none in ["u-Me.db", "u-.db", "h-me.db", "u-me", "u-me.db.1", "u--.db"] {
            assert_eq!(user_of(none), None, "{none}");
        }
        assert_eq!(name("7_a-b"), "u-7_a-b.db");
        assert_eq!(name("con"), "u-con.db");
        assert_eq!(name(&"a".repeat(64)), format!("u-{}.db", "a".repeat(64)));
        for hashed in ["Me", "alice@example.com", "a.b", "a:b", "a+b", &"a".repeat(65), &"Z".repeat(128)] {
            let name = name(hashed);
            assert!(name.starts_with("h-") && name.len() == 37, "{hashed} became {name}");
        }
        assert_ne!(name("Me"), name("mE"));
    }
}
