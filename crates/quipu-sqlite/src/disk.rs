//! The few things done to files without SQLite. Never to a database that is open: closing any handle to it would drop
//! SQLite's locks.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What SQLite keeps beside a database.
pub(crate) const SIDECARS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The path with `end` after its last name: `a.db` and `-wal` make `a.db-wal`.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

/// Creates a folder only this user can enter, with its parents. A folder that is there keeps its mode.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates an empty file only this user can read.
///
/// # Errors
/// `AlreadyExists` if there is one.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Makes files that `options` create readable by this user only.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Returns once the file's bytes would survive a power cut.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    // Some systems sync only what is open for writing.
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Returns once names created, moved or removed in the folder would survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(if path.as_os_str().is_empty() { Path::new(".") } else { path })?.sync_all()
    } else {
        Ok(())
    }
}

/// Removes a file if it is there; says whether it was.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a database that nobody has open, and what SQLite kept beside it.
pub(crate) fn remove_database(path: &Path) -> io::Result<()> {
    for end in SIDECARS {
        remove_if_there(&beside(path, end))?;
    }
    remove_if_there(path).map(|_| ())
}

/// The names in a folder, sorted. Names that are not UTF-8 are none of ours and left out.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Bytes this user may still write on the disk of a folder; `None` where the system does not say.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(folder).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// The permission bits of a path; `None` where there are none.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    {
        let found = fs::metadata(path).ok()?;
        Some(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o7777)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
