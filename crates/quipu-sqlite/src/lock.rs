//! One process a data folder, and inside it one count of open ledgers a user.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quipu_engine::ports::StoreError;

use crate::{disk, fault};

const NAME: &str = "quipu.lock";

/// A process that is being started holds what its parent holds, until its own program begins: a lock that was just given
/// back may be held a moment longer.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Locks a folder for one writer. The lock goes with the process, however it ends; the file stays and is reused.
///
/// # Errors
/// `Unavailable` names the folder and the process that holds it, or says that the folder is not writable.
pub(crate) fn for_writing(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(NAME);
    let open = disk::private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(&path);
    let mut file = open.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::IsADirectory => {
            StoreError::Unavailable(format!(
                "cannot write in the memory folder {}: {error}. Make it writable for this user, choose another folder, or \
                 open it for reading only",
                folder.display()
            ))
        }
        _ => fault::of_disk(&path, "create", &error),
    })?;
    taken(folder, &mut file, File::try_lock)?;
    let note = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())?;
        file.sync_data()
    };
    // The note only helps the message of the next one who asks: a full disk must not keep anyone out.
    let _ = note(&mut file);
    Ok(file)
}

/// Keeps writers out while reading; several readers may share a folder. `None` when the folder cannot hold a lock,
/// because it is not writable: then nothing keeps a writer with other rights out.
///
/// # Errors
/// `Unavailable` when a writer holds the folder.
pub(crate) fn for_reading(folder: &Path) -> Result<Option<File>, StoreError> {
    let path = folder.join(NAME);
    let made = disk::private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(&path);
    let Ok(mut file) = made.or_else(|_| File::open(&path)) else { return Ok(None) };
    taken(folder, &mut file, File::try_lock_shared)?;
    Ok(Some(file))
}

fn taken(folder: &Path, file: &mut File, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<(), StoreError> {
    let mut tries = 1;
    let outcome = loop {
        match lock(file) {
            Err(TryLockError::WouldBlock) if tries < TRIES => std::thread::sleep(BETWEEN_TRIES),
            outcome => break outcome,
        }
        tries += 1;
    };
    match outcome {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.take(20).read_to_string(&mut holder);
            let holder = holder.trim();
            let holder = if holder.is_empty() { String::new() } else { format!(" (pid {holder})") };
            Err(StoreError::Unavailable(format!(
                "the memory folder {} is in use by another quipu process{holder}. Stop that process, or send the request \
                 to it; the folder is free as soon as it ends",
                folder.display()
            )))
        }
        Err(TryLockError::Error(error)) => Err(StoreError::Unavailable(format!(
            "cannot lock the memory folder {}: {error}. Put it on a local disk: network file systems may not lock",
            folder.display()
        ))),
    }
}

/// How many ledgers of each user this process has open.
#[derive(Debug, Default)]
pub(crate) struct OpenLedgers(Mutex<HashMap<String, Arc<Mutex<usize>>>>);

impl OpenLedgers {
    /// The count of one file; whoever opens, places or removes the file holds its lock meanwhile.
    pub(crate) fn of(&self, file: &str) -> Arc<Mutex<usize>> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(files.entry(file.to_owned()).or_default())
    }
}

/// Waits for the turn at a count.
pub(crate) fn turn(count: &Mutex<usize>) -> MutexGuard<'_, usize> {
    count.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts one open ledger for as long as it lives.
#[derive(Debug)]
pub(crate) struct OpenMark(Arc<Mutex<usize>>);

impl OpenMark {
    /// Counts one more; `count` is the locked value of `slot`.
    pub(crate) fn new(slot: &Arc<Mutex<usize>>, mut count: MutexGuard<'_, usize>) -> Self {
        *count += 1;
        Self(Arc::clone(slot))
    }
}

impl Drop for OpenMark {
    fn drop(&mut self) {
        *turn(&self.0) -= 1;
    }
}
