//! Plain files in memory, for the targets that change what Quipu has written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quipu_core::artifact::VaultPath;
use quipu_core::id::UserId;
use quipu_engine::ports::{FolderEntry, UserVault, Vault, VaultError};

/// The files of one user. Clones share them.
#[derive(Clone, Default)]
pub(super) struct MemoryFolder(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl MemoryFolder {
    /// The files by path.
    pub(super) fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Vault for MemoryFolder {
    fn open(&self, _: &UserId, create: bool) -> Result<Option<Box<dyn UserVault>>, VaultError> {
        let is_there = create || !self.files().is_empty();
        Ok(is_there.then(|| Box::new(self.clone()) as Box<dyn UserVault>))
    }
}

impl UserVault for MemoryFolder {
    fn place(&self) -> PathBuf {
        PathBuf::from("memory")
    }

    fn read(&mut self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        Ok(self.files().get(path.as_str()).cloned())
    }

    fn list(&mut self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, VaultError> {
        let prefix = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
        let entry = |path: &String| {
            let rest = path.strip_prefix(&prefix)?;
            let (name, is_folder) = rest.split_once('/').map_or((rest, false), |(first, _)| (first, true));
            Some(FolderEntry { name: name.to_owned(), is_folder })
        };
        Ok(self.files().keys().filter_map(entry).collect::<BTreeSet<_>>().into_iter().collect())
    }

    fn write(&mut self, files: &[(VaultPath, Vec<u8>)]) -> Result<(), VaultError> {
        self.files().extend(files.iter().map(|(path, bytes)| (path.to_string(), bytes.clone())));
        Ok(())
    }

    fn append(&mut self, path: &VaultPath, at: u64, bytes: &[u8]) -> Result<(), VaultError> {
        let mut files = self.files();
        let file = files.get_mut(path.as_str()).filter(|file| file.len() as u64 == at);
        let file = file.ok_or_else(|| VaultError::Refused(format!("{path} does not have {at} bytes")))?;
        file.extend_from_slice(bytes);
        Ok(())
    }

    fn remove(&mut self, files: &[VaultPath]) -> Result<(), VaultError> {
        files.iter().for_each(|path| drop(self.files().remove(path.as_str())));
        Ok(())
    }

    fn sweep(&mut self) -> Result<(), VaultError> {
        Ok(())
    }

    fn remove_all(self: Box<Self>) -> Result<(), VaultError> {
        self.files().clear();
        Ok(())
    }
}
