//! Locks on ledger files, between threads and processes: exclusive for creating, placing, replacing or removing a
//! database, shared for opening or closing a connection to one.
//!
//! A lock lasts for one step, not for as long as a ledger is open. It is a `flock` on one of 64 files, which the
//! system releases when the process ends: when a lock is free, the process of an interrupted step is gone.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_engine::ports::StoreError;

use crate::data_folder::disk;

use crate::data_folder::fault;

/// Number of lock files.
const STRIPES: u8 = 64;
/// Number of attempts to take a lock, over about ten seconds, which is longer than any step.
const TRIES: u32 = 2000;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// The folder `locks` of a data folder.
#[derive(Debug)]
pub(crate) struct Stripes {
    folder: PathBuf,
    /// Whether to proceed without a lock if there is no file to lock, as for readers without write access.
    optional: bool,
}

/// A lock on one stripe, released when dropped.
#[derive(Debug)]
pub(crate) struct StripeGuard(Option<File>);

impl Stripes {
    pub(crate) fn new(root: &Path, optional: bool) -> Self {
        Self { folder: root.join("locks"), optional }
    }

    /// The folder of the lock files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes the shared lock for opening or closing a connection to the database at `path`.
    ///
    /// # Errors
    /// `Unavailable` if another process holds it exclusively for too long.
    pub(crate) fn shared(&self, path: &Path) -> Result<StripeGuard, StoreError> {
        self.wait(path, File::try_lock_shared)
    }

    /// Takes the exclusive lock for creating, placing or removing the database at `path`.
    ///
    /// # Errors
    /// `Unavailable` if it is held for too long.
    pub(crate) fn alone(&self, path: &Path) -> Result<StripeGuard, StoreError> {
        self.wait(path, File::try_lock)
    }

    /// As [`alone`](Self::alone), without waiting; `None` if the lock is held.
    pub(crate) fn alone_now(&self, path: &Path) -> Result<Option<StripeGuard>, StoreError> {
        let Some(file) = self.file(path)? else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => Ok(Some(StripeGuard(Some(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(fault::of_disk(&self.folder, "lock a file in", &error)),
        }
    }

    fn wait(&self, path: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<StripeGuard, StoreError> {
        let Some(file) = self.file(path)? else { return Ok(StripeGuard(None)) };
        for _ in 0..TRIES {
            match lock(&file) {
                Ok(()) => return Ok(StripeGuard(Some(file))),
                Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
                Err(TryLockError::Error(error)) => return Err(fault::of_disk(&self.folder, "lock a file in", &error)),
            }
        }
        Err(StoreError::Unavailable(format!(
            "the ledger {} is being moved by another thread or process, and that takes too long. Nothing was changed. Try \
             again; if it stays so, stop the other processes that have the folder open",
            path.display()
        )))
    }

    fn file(&self, path: &Path) -> Result<Option<File>, StoreError> {
        let name = path.file_name().unwrap_or_default();
        let number = blake3::hash(name.as_encoded_bytes()).as_bytes()[0] % STRIPES;
        let at = self.folder.join(format!("{number:02}"));
        let made = disk::private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(&at);
        match made.or_else(|error| File::open(&at).map_err(|_| error)) {
            Ok(file) => Ok(Some(file)),
            Err(_) if self.optional => Ok(None),
            Err(error) => Err(fault::of_disk(&at, "open", &error)),
        }
    }
}

impl Drop for StripeGuard {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // Unlocked explicitly, because a child process that is being started holds a copy of every open file.
            let _ = file.unlock();
        }
    }
}
