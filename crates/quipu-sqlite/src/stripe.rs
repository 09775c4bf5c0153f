//! Turns at a ledger's file, between threads and between processes: whoever creates, places, replaces or removes a database
//! has it alone, whoever opens or closes a connection to one shares it with others who do.
//!
//! A turn lasts as long as one step of files, never as long as a ledger is open. It is a `flock` on one of 64 files, and goes
//! with the process, however it ends: what an interrupted step left behind belongs to nobody alive once its turn is free.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use quipu_engine::ports::StoreError;

use crate::{disk, fault};

/// As many turns can be taken at once.
const STRIPES: u8 = 64;
/// How often a turn is asked for: about ten seconds. No step is that long.
const TRIES: u32 = 2000;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// The folder `locks` of a data folder.
#[derive(Debug)]
pub(crate) struct Stripes {
    folder: PathBuf,
    /// A reader of a folder it cannot write to goes without where there is no file to lock.
    optional: bool,
}

/// A turn at one stripe, given back when dropped.
#[derive(Debug)]
pub(crate) struct StripeGuard(Option<File>);

impl Stripes {
    pub(crate) fn new(root: &Path, optional: bool) -> Self {
        Self { folder: root.join("locks"), optional }
    }

    /// Where the files are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A turn to open or close a connection to the database at `path`.
    ///
    /// # Errors
    /// `Unavailable` if another process has it alone for too long.
    pub(crate) fn shared(&self, path: &Path) -> Result<StripeGuard, StoreError> {
        self.wait(path, File::try_lock_shared)
    }

    /// A turn to make, place or remove the database at `path`.
    ///
    /// # Errors
    /// `Unavailable` if it is taken for too long.
    pub(crate) fn alone(&self, path: &Path) -> Result<StripeGuard, StoreError> {
        self.wait(path, File::try_lock)
    }

    /// As [`alone`](Self::alone), if nobody has a turn at this moment.
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
            // Said, not left to the closing: a process that is being started still holds a copy of every file.
            let _ = file.unlock();
        }
    }
}
