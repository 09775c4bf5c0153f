//! A dry-run folder: reads an existing folder and holds writes in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use quipu_core::artifact::{Schemas, VaultPath};

use crate::ports::{FolderEntry, UserVault, VaultError};

/// The content a folder would have. `None` in `changed` is a removed file.
pub(super) struct DryRunFolder {
    beneath: Option<Box<dyn UserVault>>,
    changed: BTreeMap<String, Option<Vec<u8>>>,
}

impl DryRunFolder {
    /// Creates a dry run over a folder that may not exist.
    pub(super) fn over(beneath: Option<Box<dyn UserVault>>) -> Self {
        Self { beneath, changed: BTreeMap::new() }
    }
}

impl UserVault for DryRunFolder {
    fn place(&self) -> PathBuf {
        self.beneath.as_ref().map(|beneath| beneath.place()).unwrap_or_default()
    }

    fn schemas(&self) -> Schemas {
        self.beneath.as_ref().map_or(Schemas::NOW, |beneath| beneath.schemas())
    }

    fn read(&mut self, path: &VaultPath) -> Result<Option<Vec<u8>>, VaultError> {
        match (self.changed.get(path.as_str()), &mut self.beneath) {
            (Some(bytes), _) => Ok(bytes.clone()),
            (None, Some(beneath)) => beneath.read(path),
            (None, None) => Ok(None),
        }
    }

    fn list(&mut self, folder: Option<&VaultPath>) -> Result<Vec<FolderEntry>, VaultError> {
        let mut named: BTreeSet<FolderEntry> = match &mut self.beneath {
            Some(beneath) => beneath.list(folder)?.into_iter().collect(),
            None => BTreeSet::new(),
        };
        let prefix = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
        for (path, bytes) in &self.changed {
            let Some(rest) = path.strip_prefix(&prefix) else { continue };
            let (name, is_folder) = rest.split_once('/').map_or((rest, false), |(first, _)| (first, true));
            let found = FolderEntry { name: name.to_owned(), is_folder };
            match bytes {
                Some(_) => drop(named.insert(found)),
                None if !is_folder => drop(named.remove(&found)),
                None => {}
            }
        }
        Ok(named.into_iter().collect())
    }

    fn write(&mut self, files: &[(VaultPath, Vec<u8>)]) -> Result<(), VaultError> {
        self.changed.extend(files.iter().map(|(path, bytes)| (path.to_string(), Some(bytes.clone()))));
        Ok(())
    }

    fn append(&mut self, path: &VaultPath, at: u64, bytes: &[u8]) -> Result<(), VaultError> {
        let mut all = self.read(path)?.unwrap_or_default();
        if all.len() as u64 != at {
            return Err(VaultError::Refused(format!("{path} has {} bytes, not {at}", all.len())));
        }
        all.extend_from_slice(bytes);
        self.changed.insert(path.to_string(), Some(all));
        Ok(())
    }

    fn remove(&mut self, files: &[VaultPath]) -> Result<(), VaultError> {
        self.changed.extend(files.iter().map(|path| (path.to_string(), None)));
        Ok(())
    }

    fn sweep(&mut self) -> Result<(), VaultError> {
        Ok(())
    }

    fn remove_all(self: Box<Self>) -> Result<(), VaultError> {
        Ok(())
    }
}
