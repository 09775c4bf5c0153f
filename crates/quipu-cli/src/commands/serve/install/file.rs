//! Reads and replaces the settings file of another program, and keeps a copy of the previous version.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quipu_engine::{Error, Result};

/// Longest file that is edited, in bytes.
const BYTES_MAX: u64 = 16 << 20;
/// Suffix of the copy.
const BACKUP_SUFFIX: &str = ".before-quipu";

/// A settings file, and its copy from before Quipu was added.
pub(in crate::commands::serve) struct SettingsFile {
    path: PathBuf,
    backup: PathBuf,
    text: Option<String>,
    kept: Option<String>,
}

impl SettingsFile {
    /// # Errors
    /// `Refused` for a file that is not UTF-8 or too long; `Unavailable` if it cannot be read.
    pub(in crate::commands::serve) fn open(path: PathBuf) -> Result<Self> {
        // A link is resolved here: its target is edited, and the link stays.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let mut backup = path.clone().into_os_string();
        backup.push(BACKUP_SUFFIX);
        let backup = PathBuf::from(backup);
        Ok(Self { text: read(&path)?, kept: read(&backup)?, path, backup })
    }

    pub(in crate::commands::serve) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn backup(&self) -> &Path {
        &self.backup
    }

    /// The text; `None` if there is no such file.
    pub(in crate::commands::serve) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The text from before Quipu was added.
    pub(super) fn kept(&self) -> Option<&str> {
        self.kept.as_deref()
    }

    /// Writes the copy, or removes it if there was no file.
    pub(super) fn keep(&mut self, before: Option<&str>) -> Result<()> {
        match before {
            Some(before) => replace(&self.backup, before, &self.path),
            None => self.forget(),
        }
    }

    /// Removes the copy.
    pub(super) fn forget(&mut self) -> Result<()> {
        remove(&self.backup)
    }

    /// Replaces the text atomically.
    pub(in crate::commands::serve) fn write(&mut self, text: &str) -> Result<()> {
        replace(&self.path, text, &self.path)
    }

    /// Removes the file.
    pub(super) fn remove(&mut self) -> Result<()> {
        remove(&self.path)
    }
}

fn read(path: &Path) -> Result<Option<String>> {
    let fault = |error: io::Error| Error::Unavailable(format!("cannot read {}: {error}", path.display()));
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error)),
        Ok(found) if found.len() > BYTES_MAX => {
            return Err(super::refused(path, format!("it is longer than {BYTES_MAX} bytes")));
        }
        Ok(_) => {}
    }
    let bytes = fs::read(path).map_err(fault)?;
    String::from_utf8(bytes).map(Some).map_err(|_| super::refused(path, "it is not UTF-8"))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::Unavailable(format!("cannot remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Replaces a file atomically, with the permissions of `like`, as it may contain keys.
fn replace(path: &Path, text: &str, like: &Path) -> Result<()> {
    let fault = |error: io::Error| Error::Unavailable(format!("cannot write {}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(fault)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fault)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(fault)?;
    if let Ok(found) = fs::metadata(like) {
        file.as_file().set_permissions(found.permissions()).map_err(fault)?;
    }
    file.persist(path).map(drop).map_err(|error| fault(error.error))
}
