//! Port for plain files: one folder per user, in which Quipu writes only names of its own.
//!
//! An implementation must be:
//! - **Confined**: nothing is read or written outside the user's folder; links are refused, not followed.
//! - **Atomic**: a file has its old or its new content, even if the process dies during a call.
//! - **Durable**: a call that writes returns only when a power cut can no longer undo it.
//! - **Private**: other users of the machine cannot read what is written.

use std::path::PathBuf;

use quipu_core::artifact::{Schemas, VaultPath};
use quipu_core::id::UserId;
use thiserror::Error;

/// Why a folder operation failed.
#[derive(Debug, Error)]
pub enum VaultError {
    /// A foreign object is in the way: a link, or a folder in place of a file.
    #[error("{0}")]
    Refused(String),
    /// Temporarily impossible: the storage is full, read-only or not permitted. The text says what to do.
    #[error("{0}")]
    Unavailable(String),
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// True for a folder.
    pub is_folder: bool,
}

/// A store of the folders of many users.
pub trait Vault: Send + Sync {
    /// Opens a user's folder; with `create`, creates it if there is none. `None` if it does not exist.
    fn open(&self, user: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>, VaultError>;
}

/// One user's folder.
pub trait UserVault: Send {
    /// Its path, for display.
    fn place(&self) -> PathBuf;

    /// Waits for exclusive write access, which lasts until `self` is dropped. Returns false if the folder was removed
    /// meanwhile. A place that only this process can reach needs no lock.
    ///
    /// # Errors
    /// `Unavailable` if others hold it for too long.
    fn alone(&self) -> Result<bool, VaultError> {
        Ok(true)
    }

    /// The format versions of new files. Files of older versions are readable and not rewritten.
    fn schemas(&self) -> Schemas {
        Schemas::NOW
    }

    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    /// `Refused` for a link, a folder, or a file beyond `limit::VAULT_FILE_BYTES_MAX`.
    fn read(&mut self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError>;

    /// Lists a folder by name: regular files and folders, without hidden ones. Empty if the folder does not exist;
    /// `None` lists the user's folder itself.
    fn list(&mut self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, VaultError>;

    /// Writes files, each atomically, and creates missing folders.
    fn write(&mut self, files: &[(VaultPath, Vec<u8>)]) -> Result<(), VaultError>;

    /// Appends to a file that has exactly `at` bytes.
    ///
    /// # Errors
    /// `Refused` if the length differs.
    fn append(&mut self, path: &VaultPath, at: u64, bytes: &[u8]) -> Result<(), VaultError>;

    /// Removes files, and folders that become empty. Missing files are ignored.
    fn remove(&mut self, files: &[VaultPath]) -> Result<(), VaultError>;

    /// Removes leftovers of writes that were interrupted by a crash.
    fn sweep(&mut self) -> Result<(), VaultError>;

    /// Removes the folder with everything in it.
    fn remove_all(self: Box<Self>) -> Result<(), VaultError>;
}
