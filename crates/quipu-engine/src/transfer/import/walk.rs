//! Lists the files of a folder, with limits and without following links.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quipu_core::limit::{IMPORT_DEPTH_MAX, IMPORT_FILES_MAX};

use super::report::Report;
use crate::error::{Error, Result};

/// A file below the folder.
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Its path relative to the folder, with `/` as separator.
    pub(super) name: String,
    pub(super) bytes: u64,
}

/// Lists every regular file below the folder, ordered by name.
///
/// Names that start with a dot, links, and folders deeper than `IMPORT_DEPTH_MAX` are counted and left out.
///
/// # Errors
/// - `NotFound`: a folder cannot be read.
/// - `Invalid`: there are more than `IMPORT_FILES_MAX` files.
pub(super) fn files(root: &Path, report: &mut Report) -> Result<Vec<FoundFile>> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, above, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| unreadable(&folder, &error))? {
            let entry = entry.map_err(|error| unreadable(&folder, &error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let name = if above.is_empty() { own.clone() } else { format!("{above}/{own}") };
            if own.starts_with('.') {
                report.leave_out("files and folders that start with a dot", 1);
            } else if kind.is_symlink() {
                report.leave_out("links", 1);
            } else if kind.is_dir() && depth == IMPORT_DEPTH_MAX {
                report.leave_out("folders that are too deep", 1);
            } else if kind.is_dir() {
                folders.push((entry.path(), name, depth + 1));
            } else if kind.is_file() {
                let bytes = entry.metadata().map_err(|error| unreadable(&entry.path(), &error))?.len();
                found.push(FoundFile { path: entry.path(), name, bytes });
            }
            if found.len() + folders.len() > IMPORT_FILES_MAX {
                let reason = format!("{} holds more than {IMPORT_FILES_MAX} files", root.display());
                return Err(Error::Invalid(format!("{reason}; import the folders below it one by one")));
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// The error for an unreadable path.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::NotFound(format!("cannot read {}: {error}", path.display()))
}
