//! The folder `aside`, which holds ledgers that were replaced by a restore or an upgrade.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use quipu_engine::ports::StoreError;

use crate::data_folder::disk;
use crate::data_folder::fault;
use crate::folder::Folder;

impl Folder {
    /// Every database that was set aside.
    pub(crate) fn all_copies(&self) -> Vec<PathBuf> {
        let names = disk::names(&self.aside).unwrap_or_default();
        names.iter().filter(|name| split_copy(name).is_some()).map(|name| self.aside.join(name)).collect()
    }

    /// The copies that were set aside of the database at a path. For a damaged database these may be only the files
    /// beside it.
    pub(crate) fn copies_of(&self, path: &Path) -> Result<Vec<PathBuf>, StoreError> {
        let numbers = self.copy_numbers(path)?;
        Ok(numbers.into_iter().map(|number| self.copy_path(path, number)).collect())
    }

    /// An unused path in `aside` for the database at a path.
    pub(crate) fn new_copy_path(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let last = self.copy_numbers(path)?.last().copied().unwrap_or(0);
        Ok(self.copy_path(path, last + 1))
    }

    /// Sets a database, or what remains of one, aside. The new name is durable on return.
    pub(crate) fn set_aside(&self, path: &Path) -> Result<Option<PathBuf>, StoreError> {
        let copy = self.new_copy_path(path)?;
        let mut moved = false;
        // The files beside it are moved as well: SQLite would apply a remaining log to the next database.
        for end in std::iter::once("").chain(disk::SIDECARS) {
            let done = disk::rename_if_there(&disk::beside(path, end), &disk::beside(&copy, end));
            moved |= done.map_err(|error| fault::of_disk(path, "set aside", &error))?;
        }
        for folder in [&self.aside, &self.users] {
            disk::sync_folder(folder).map_err(|error| fault::of_disk(folder, "write", &error))?;
        }
        Ok(moved.then_some(copy))
    }

    fn copy_path(&self, path: &Path, number: u64) -> PathBuf {
        disk::beside(&self.aside.join(path.file_name().unwrap_or_default()), &format!(".{number}"))
    }

    fn copy_numbers(&self, path: &Path) -> Result<BTreeSet<u64>, StoreError> {
        let names = match disk::names(&self.aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names.map_err(|error| fault::of_disk(&self.aside, "list", &error))?,
        };
        let file = path.file_name().and_then(|name| name.to_str());
        let bare = |name: &str| disk::SIDECARS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned();
        let copies = names.iter().map(|name| bare(name));
        Ok(copies
            .filter_map(|name| split_copy(&name).filter(|(base, _)| Some(*base) == file).map(|(_, number)| number))
            .collect())
    }
}

/// `u-me.db.2` is copy 2 of `u-me.db`.
fn split_copy(name: &str) -> Option<(&str, u64)> {
    let (base, number) = name.rsplit_once('.')?;
    if base.ends_with(".db") { Some((base, number.parse().ok()?)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_copies_are_read_back() {
        assert_eq!(split_copy("u-me.db.12"), Some(("u-me.db", 12)));
        for other in ["u-me.db", "u-me.db.1-wal", "u-me.db.x", "notes.1"] {
            assert_eq!(split_copy(other), None, "{other}");
        }
    }
}
