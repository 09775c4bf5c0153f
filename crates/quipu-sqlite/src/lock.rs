//! Who is in a data folder: every process that has it open shares one lock, and says so with its pid; some steps need the
//! folder alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_engine::ports::StoreError;

use crate::{disk, fault};

const NAME: &str = "quipu.lock";
const PROCESSES: &str = "processes";

/// A process that is being started holds what its parent holds, until its own program begins: a lock that was just given
/// back may be held a moment longer.
const TRIES: u32 = 20;
/// How often a shared lock is asked for: about five seconds. Who has the folder alone at opening needs milliseconds.
const TRIES_SHARED: u32 = 500;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The hold of a data folder. It goes with the process, however that ends; the file stays and is used again.
#[derive(Debug)]
pub(crate) struct FolderLock {
    root: PathBuf,
    /// Without one, nothing keeps anybody out: the folder cannot hold a lock, because this user cannot write there.
    file: Option<File>,
    presence: Option<Presence>,
    /// One of this process's threads at a time has the folder alone.
    turn: Mutex<()>,
}

/// How far a reader's hold goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Others may write meanwhile, and this process may make the files SQLite needs to see that.
    Shared,
    /// Others may write meanwhile, and nothing may be made in the folder.
    Bystander,
    /// Nobody writes meanwhile: kept out, or not able to.
    Frozen,
}

impl FolderLock {
    /// Shares a folder with every other process that has it open for writing or reading.
    ///
    /// # Errors
    /// `Unavailable` if the folder is not writable, or another process has it alone for long.
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
            // Alone: nobody can be entering, so every note nobody holds is left over.
            drop_stale_notes(root);
            let _ = file.unlock();
        }
        share(root, &file)?;
        let presence = match Presence::enter(root) {
            Ok(presence) => Some(presence),
            // Others know all the same that somebody is here, only not who. A full disk must not keep anyone out.
            Err(error) if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => None,
            Err(error) => return Err(fault::of_disk(root, "create a file in", &error)),
        };
        Ok(Self { root: root.to_owned(), file: Some(file), presence, turn: Mutex::default() })
    }

    /// Enters a folder to read in it.
    ///
    /// # Errors
    /// `Unavailable` when another process has it alone for long.
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

    /// True if other processes can see that this one is here.
    pub(crate) fn is_held(&self) -> bool {
        self.file.is_some()
    }

    /// The name of this process among those in the folder: no other that is alive has it.
    pub(crate) fn name(&self) -> &str {
        self.presence.as_ref().map_or("", |presence| presence.name.as_str())
    }

    /// True while the process of this [`name`](Self::name) has the folder open.
    pub(crate) fn is_present(&self, name: &str) -> bool {
        is_held(&self.root.join(PROCESSES).join(name))
    }

    /// The pids of the other processes in the folder, as far as they say.
    pub(crate) fn others(&self) -> Vec<u32> {
        let folder = self.root.join(PROCESSES);
        let names = disk::names(&folder).unwrap_or_default();
        let others = names.iter().filter(|name| *name != self.name() && is_held(&folder.join(name)));
        let mut pids: Vec<u32> = others.filter_map(|name| name.split('-').next()?.parse().ok()).collect();
        pids.dedup();
        pids
    }

    /// Keeps every other process out until the guard is dropped.
    ///
    /// # Errors
    /// `Unavailable`, with their pids, if there are others in the folder.
    pub(crate) fn alone(&self, doing: &str) -> Result<Alone<'_>, StoreError> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &self.file else { return Err(self.in_use(doing, &[])) };
        // A shared lock becomes an exclusive one by giving it up first. Whoever comes in between finds the note of this
        // process, and does not take the folder for its own.
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

/// Holds a folder alone; shares it again when dropped.
#[derive(Debug)]
pub(crate) struct Alone<'a> {
    file: &'a File,
    _turn: MutexGuard<'a, ()>,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let _ = self.file.unlock();
        // Others hold the folder alone for moments only, unless they are alone in it, and this process is there.
        let _ = self.file.lock_shared();
    }
}

/// A note that a process is in the folder, locked as long as it is.
#[derive(Debug)]
struct Presence {
    path: PathBuf,
    name: String,
    /// Locked; closed after the note is gone.
    _file: File,
}

impl Presence {
    /// Called with the folder's lock shared, so that nobody takes the new note for a stale one before it is locked.
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

/// True if somebody holds the lock of a file.
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
