//! Locks a data folder. Every process that has the folder open holds a shared lock and registers its pid; some steps
//! need the lock exclusively.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_engine::ports::StoreError;

use crate::data_folder::disk;

use crate::data_folder::fault;

const NAME: &str = "quipu.lock";
const PROCESSES: &str = "processes";

/// A child process holds the locks of its parent until it executes its own program, so a released lock may remain held
/// for a moment.
const TRIES: u32 = 20;
/// Number of attempts to take a shared lock, over about five seconds. An exclusive lock at opening lasts only
/// milliseconds.
const TRIES_SHARED: u32 = 500;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The lock on a data folder. The system releases it when the process ends; the file remains and is reused.
#[derive(Debug)]
pub(crate) struct FolderLock {
    root: PathBuf,
    /// `None` if this user cannot write to the folder, which then cannot be locked.
    file: Option<File>,
    presence: Option<Presence>,
    /// Held by the one thread of this process that has the exclusive lock.
    turn: Mutex<()>,
}

/// The protection of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Other processes may write, and this process can create the files that SQLite needs to see their changes.
    Shared,
    /// Other processes may write, and no files can be created in the folder.
    Bystander,
    /// No process writes, because of the lock or missing permissions.
    Frozen,
}

impl FolderLock {
    /// Opens a folder for writing, shared with other processes.
    ///
    /// # Errors
    /// `Unavailable` if the folder is not writable, or another process holds the exclusive lock for too long.
    pub(crate) fn for_writing(root: &Path) -> Result<Self, StoreError> {
        let path = root.join(NAME);
        let file = open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::IsADirectory => {
                StoreError::Unavailable(format!(
                    "cannot write in the memory folder {}: {error}. Make it writable for this user, choose another folder, \
                     or open it for reading only",
                    root.display()
                ))
            }
            _ => fault::of_disk(&path, "create", &error),
        })?;
        disk::create_folder(&root.join(PROCESSES))
            .map_err(|error| fault::of_disk(root, "create a folder in", &error))?;
        if file.try_lock().is_ok() {
            // The lock is exclusive, so no process is entering and every unlocked note is stale.
            drop_stale_notes(root);
            let _ = file.unlock();
        }
        share(root, &file)?;
        let presence = match Presence::enter(root) {
            Ok(presence) => Some(presence),
            // Other processes still see the lock, though not this pid. A full disk must not prevent opening.
            Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => None,
            Err(error) => return Err(fault::of_disk(root, "create a file in", &error)),
        };
        Ok(Self { root: root.to_owned(), file: Some(file), presence, turn: Mutex::default() })
    }

    /// Opens a folder for reading.
    ///
    /// # Errors
    /// `Unavailable` if another process holds the exclusive lock for too long.
    pub(crate) fn for_reading(root: &Path) -> Result<(Self, Reading), StoreError> {
        let path = root.join(NAME);
        let hold = |file, presence| Self { root: root.to_owned(), file, presence, turn: Mutex::default() };
        if disk::is_read_only(root) {
            return Ok((hold(File::open(&path).ok(), None), Reading::Frozen));
        }
        if let Ok(file) = open(&path) {
            share(root, &file)?;
            let presence = disk::create_folder(&root.join(PROCESSES)).and_then(|()| Presence::enter(root)).ok();
            return Ok((hold(Some(file), presence), Reading::Shared));
        }
        let Ok(file) = File::open(&path) else { return Ok((hold(None, None), Reading::Frozen)) };
        let alone = file.try_lock().is_ok();
        let hold = hold(Some(file), None);
        if alone && hold.others().is_empty() {
            return Ok((hold, Reading::Frozen));
        }
        if let Some(file) = &hold.file {
            let _ = file.unlock();
            share(root, file)?;
        }
        Ok((hold, Reading::Bystander))
    }

    /// Whether other processes can see that this one has the folder open.
    pub(crate) fn is_held(&self) -> bool {
        self.file.is_some()
    }

    /// The unique name of this process among those that have the folder open.
    pub(crate) fn name(&self) -> &str {
        self.presence.as_ref().map_or("", |presence| presence.name.as_str())
    }

    /// Whether the process with this [`name`](Self::name) has the folder open.
    pub(crate) fn is_present(&self, name: &str) -> bool {
        is_held(&self.root.join(PROCESSES).join(name))
    }

    /// The registered pids of the other processes that have the folder open.
    pub(crate) fn others(&self) -> Vec<u32> {
        let folder = self.root.join(PROCESSES);
        let names = disk::names(&folder).unwrap_or_default();
        let others = names.iter().filter(|name| *name != self.name() && is_held(&folder.join(name)));
        let mut pids: Vec<u32> = others.filter_map(|name| name.split('-').next()?.parse().ok()).collect();
        pids.dedup();
        pids
    }

    /// Takes the exclusive lock until the guard is dropped.
    ///
    /// # Errors
    /// `Unavailable`, with their pids, if other processes have the folder open.
    pub(crate) fn alone(&self, doing: &str) -> Result<Alone<'_>, StoreError> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &self.file else { return Err(self.in_use(doing, &[])) };
        // Making the lock exclusive releases the shared one first. A process that enters in between finds the note of
        // this process and does not treat the folder as unused.
        let _ = file.unlock();
        let got = retry(TRIES, || file.try_lock());
        let others = self.others();
        if got.is_ok() && others.is_empty() {
            return Ok(Alone { file, _turn: turn });
        }
        let _ = file.unlock();
        share(&self.root, file)?;
        match got {
            Err(TryLockError::Error(error)) => Err(cannot_lock(&self.root, &error)),
            _ => Err(self.in_use(doing, &others)),
        }
    }

    fn in_use(&self, doing: &str, others: &[u32]) -> StoreError {
        let pids: Vec<String> = others.iter().map(u32::to_string).collect();
        let who = if pids.is_empty() { String::new() } else { format!(" (pid {})", pids.join(", ")) };
        StoreError::Unavailable(format!(
            "cannot {doing} in the memory folder {} while it is in use by another quipu process{who}. Nothing was changed. \
             Stop the others, then try again; they may be started again afterwards",
            self.root.display()
        ))
    }
}

/// An exclusive lock on a folder, which becomes a shared one when dropped.
#[derive(Debug)]
pub(crate) struct Alone<'a> {
    file: &'a File,
    _turn: MutexGuard<'a, ()>,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let _ = self.file.unlock();
        // Others hold the exclusive lock only briefly, unless no other process has the folder open, and this one does.
        let _ = self.file.lock_shared();
    }
}

/// A registered process: a file that is locked while the process has the folder open.
#[derive(Debug)]
struct Presence {
    path: PathBuf,
    name: String,
    /// The locked file; closed after its name is removed.
    _file: File,
}

impl Presence {
    /// The caller holds the folder's shared lock, so that the new note is not removed as stale before it is locked.
    fn enter(root: &Path) -> io::Result<Self> {
        let pid = std::process::id();
        let mut number = 0;
        loop {
            let name = format!("{pid}-{number}");
            let path = root.join(PROCESSES).join(&name);
            match disk::create_file(&path) {
                Ok(file) => {
                    file.lock()?;
                    return Ok(Self { path, name, _file: file });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = disk::remove_if_there(&self.path);
    }
}

fn drop_stale_notes(root: &Path) {
    let folder = root.join(PROCESSES);
    for name in disk::names(&folder).unwrap_or_default() {
        let path = folder.join(name);
        if !is_held(&path) {
            let _ = disk::remove_if_there(&path);
        }
    }
}

/// Whether any process holds the lock of a file.
fn is_held(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

fn open(path: &Path) -> io::Result<File> {
    disk::private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(path)
}

fn retry(tries: u32, lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    for _ in 1..tries {
        match lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
            outcome => return outcome,
        }
    }
    lock()
}

fn share(root: &Path, file: &File) -> Result<(), StoreError> {
    retry(TRIES_SHARED, || file.try_lock_shared()).map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Unavailable(format!(
            "the memory folder {} is in use by another quipu process that needs it alone, to put a ledger in another's \
             place, to upgrade one, or to read where it cannot write. Try again when that process has ended",
            root.display()
        )),
        TryLockError::Error(error) => cannot_lock(root, &error),
    })
}

fn cannot_lock(root: &Path, error: &io::Error) -> StoreError {
    StoreError::Unavailable(format!(
        "cannot lock the memory folder {}: {error}. Put it on a local disk: network file systems may not lock",
        root.display()
    ))
}
