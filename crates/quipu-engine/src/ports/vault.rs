//! Where plain files go: one folder a user, of which Quipu writes only what it names itself.
//!
//! Duties of an implementation:
//! - **Beneath**: nothing is read or written outside the user's folder; a link in the way is refused, not followed.
//! - **Atomic**: a file is there whole, as it was or as it is to be, also when the process dies inside a call.
//! - **Durable**: a call that writes returns only when a power cut can no longer undo it.
//! - **Private**: other users of the machine cannot read what is written.

use std::path::PathBuf;

use quipu_core::artifact::{Schemas, VaultPath};
use quipu_core::id::UserId;
use thiserror::Error;

/// Why a folder could not do what was asked.
#[derive(Debug, Error)]
pub enum VaultError {
    /// Something is in the way that Quipu did not put there: a link, a folder where a file belongs.
    #[error("{0}")]
    Refused(String),
    /// The medium says no for now: full, read-only, not permitted. The text says what to do.
    #[error("{0}")]
    Unavailable(String),
}

/// Something a folder holds, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// True for a folder.
    pub is_folder: bool,
}

/// One place with many users' folders.
pub trait Vault: Send + Sync {
    /// Opens a user's folder; with `create`, makes it if there is none. `None` without one.
    fn open(&self, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>, VaultError>;
}

/// One user's folder.
pub trait UserVault: Send {
    /// Where it is, to be told to people.
    fn place(&self) -> PathBuf;

    /// Waits until nobody else writes here, and keeps them from it until this is dropped. False if the folder was taken away
    /// meanwhile. A place that only this process can reach needs nothing.
    ///
    /// # Errors
    /// `Unavailable` if others go on for too long.
    fn alone(&self) -> Result<bool, VaultError> {
        Ok(true)
    }

    /// The versions its files are written in. Older ones are read, and left as they are.
    fn schemas(&self) -> Schemas {
        Schemas::NOW
    }

    /// A file's bytes; `None` if there is none.
    ///
    /// # Errors
    /// `Refused` for a link, a folder, or a file beyond `limit::VAULT_FILE_BYTES_MAX`.
    fn read(&mut self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError>;

    /// What a folder holds, by name: regular files and folders, without hidden ones. Nothing if there is no such folder;
    /// `None` lists the user's folder itself.
    fn list(&mut self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, VaultError>;

    /// Puts files in place, each whole or not at all, and makes folders on the way.
    fn write(&mut self, files: &[(VaultPath, Vec<u8>)]) -> Result<(), VaultError>;

    /// Adds to the end of a file that has exactly `at` bytes.
    ///
    /// # Errors
    /// `Refused` if it has not.
    fn append(&mut self, path: &VaultPath, at: u64, bytes: &[u8]) -> Result<(), VaultError>;

    /// Takes files away, and the folders that are empty then. What is not there is not missed.
    fn remove(&mut self, files: &[VaultPath]) -> Result<(), VaultError>;

    /// Takes away what writes left unfinished when a process died in them.
    fn sweep(&mut self) -> Result<(), VaultError>;

    /// Takes away the folder with everything in it.
    fn remove_all(self: Box<Self>) -> Result<(), VaultError>;
}
