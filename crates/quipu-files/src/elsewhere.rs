//! Stub for systems without the calls that keep links out.

use std::path::PathBuf;

use quipu_core::id::UserId;
use quipu_engine::ports::{UserVault, Vault, VaultError};

/// A folder with one folder for each user.
#[derive(Debug)]
pub struct FolderVault {
    root: PathBuf,
}

impl FolderVault {
    /// Creates nothing until the first user is opened.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }
}

impl Vault for FolderVault {
    fn open(&self, _: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>, VaultError> {
        if !create && !self.root.exists() {
            return Ok(None);
        }
        Err(VaultError::Unavailable("plain files are kept on Unix systems only so far".to_owned()))
    }
}
