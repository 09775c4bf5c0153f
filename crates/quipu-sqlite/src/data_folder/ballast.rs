//! Reserves disk space. SQLite needs space even to delete, so a full disk could not be cleaned without releasing this
//! file.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::data_folder::disk;

/// The ballast is created only if at least this many times its size is free.
const ROOM_FACTOR: u64 = 4;

/// The `ballast` file of a data folder.
#[derive(Debug)]
pub(crate) struct Ballast {
    path: PathBuf,
    bytes: u64,
    /// Locked while the file changes: several ledgers may find the disk full at once.
    turn: Mutex<()>,
}

impl Ballast {
    pub(crate) fn new(folder: &Path, bytes: u64) -> Self {
        Self { path: folder.join("ballast"), bytes, turn: Mutex::new(()) }
    }

    /// Its current size; 0 if there is none.
    pub(crate) fn present_bytes(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |found| found.len())
    }

    /// Its intended size.
    pub(crate) fn wanted_bytes(&self) -> u64 {
        self.bytes
    }

    /// Creates the file if it is missing and there is enough space. Returns whether it exists now.
    pub(crate) fn restore(&self) -> io::Result<bool> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.present_bytes() == self.bytes {
            return Ok(true);
        }
        let Some(folder) = self.path.parent() else { return Ok(false) };
        if disk::free_bytes(folder).is_some_and(|free| free < self.bytes.saturating_mul(ROOM_FACTOR)) {
            return Ok(false);
        }
        let partial = disk::beside(&self.path, ".partial");
        disk::remove_if_there(&partial)?;
        let written = self.write(&partial).and_then(|()| disk::rename(&partial, &self.path));
        if written.is_err() {
            disk::remove_if_there(&partial)?;
        }
        written?;
        disk::sync_folder(folder)?;
        Ok(true)
    }

    /// Writes pseudorandom bytes rather than zeros, for which a compressing file system would allocate no blocks.
    fn write(&self, path: &Path) -> io::Result<()> {
        let mut noise = blake3::Hasher::new().update(b"quipu ballast").finalize_xof().take(self.bytes);
        let mut file = disk::create_file(path)?;
        let mut block = vec![0; 1 << 20];
        loop {
            let filled = noise.read(&mut block)?;
            if filled == 0 {
                return file.sync_all();
            }
            file.write_all(block.get(..filled).unwrap_or_default())?;
        }
    }

    /// Deletes the file and returns the number of bytes released.
    pub(crate) fn release(&self) -> io::Result<u64> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.present_bytes();
        if disk::remove_if_there(&self.path)?
            && let Some(folder) = self.path.parent()
        {
            disk::sync_folder(folder)?;
        }
        Ok(bytes)
    }
}
