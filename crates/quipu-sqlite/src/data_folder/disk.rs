//! File operations outside SQLite. They must not be applied to an open database, because closing any handle to its
//! file drops SQLite's locks.
//!
//! Every change to the file system goes through this module, so that tests can record each of them and end the process
//! there.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Suffixes of the files that SQLite creates beside a database.
pub(crate) const SIDECARS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Appends `end` to the last component: `a.db` and `-wal` give `a.db-wal`.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

/// Creates a folder, with its parents, that only this user can access. An existing folder keeps its mode.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    note("create folder", path);
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a folder and its missing parents as [`create_folder`] does, and makes each name durable.
pub(crate) fn create_folder_durably(path: &Path) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.is_dir();
    let mut missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    while let Some(folder) = missing.pop() {
        create_folder(folder)?;
        sync_folder(folder.parent().unwrap_or(folder)).inspect_err(|_| {
            // Otherwise the next attempt would find the folder and take its name for durable.
            let _ = fs::remove_dir(folder);
        })?;
    }
    Ok(())
}

/// Creates an empty file that only this user can read.
///
/// # Errors
/// `AlreadyExists` if the path exists.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    note("create", path);
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Makes files created with `options` readable by this user only.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes a file's content durable.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    note("sync file", path);
    // Some systems sync only files that are open for writing.
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Makes created, moved and removed names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    note("sync folder", path);
    if cfg!(unix) {
        File::open(if path.as_os_str().is_empty() { Path::new(".") } else { path })?.sync_all()
    } else {
        Ok(())
    }
}

/// Renames a file atomically, on the same disk. Durable once both folders are synced.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    note("rename", from);
    fs::rename(from, to)?;
    note("renamed", to);
    Ok(())
}

/// Moves a file if it exists. Returns whether it did.
pub(crate) fn rename_if_there(from: &Path, to: &Path) -> io::Result<bool> {
    match rename(from, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether the path exists; a dangling link counts.
pub(crate) fn exists(path: &Path) -> bool {
    note("look", path);
    fs::symlink_metadata(path).is_ok()
}

/// Removes a file if it exists. Returns whether it did.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<bool> {
    note("remove", path);
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a database and the files that SQLite created beside it. Returns whether any of them existed.
pub(crate) fn remove_database(path: &Path) -> io::Result<bool> {
    let mut removed = false;
    for end in SIDECARS {
        removed |= remove_if_there(&beside(path, end))?;
    }
    Ok(remove_if_there(path)? || removed)
}

/// The names in a folder, sorted. Names that are not UTF-8 are skipped, as Quipu creates none.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    note("list", folder);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Free bytes for this user on the disk of a folder; `None` if the system does not report them.
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

/// Whether the disk of a folder is mounted read-only.
pub(crate) fn is_read_only(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

/// The permission bits of a path; `None` on systems without them.
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

/// Records a call for the tests; does nothing otherwise.
pub(crate) fn note(call: &'static str, path: &Path) {
    #[cfg(test)]
    trace::note(call, path);
    #[cfg(not(test))]
    let _ = (call, path);
}

/// Trace of the calls of the current thread, for tests.
#[cfg(test)]
pub(crate) mod trace {
    use std::cell::{Cell, RefCell};
    use std::path::{Path, PathBuf};

    thread_local! {
        static CALLS: RefCell<Vec<(&'static str, PathBuf)>> = const { RefCell::new(Vec::new()) };
        static CALLS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(super) fn note(call: &'static str, path: &Path) {
        match CALLS_LEFT.get() {
            Some(0) => std::process::abort(),
            left => CALLS_LEFT.set(left.map(|left| left - 1)),
        }
        CALLS.with_borrow_mut(|calls| calls.push((call, path.to_owned())));
    }

    /// Returns and clears the recorded calls.
    pub(crate) fn take() -> Vec<(&'static str, PathBuf)> {
        CALLS.with_borrow_mut(std::mem::take)
    }

    /// Aborts the process, like a kill, before the call that follows the next `calls` calls.
    pub(crate) fn abort_after(calls: u32) {
        CALLS_LEFT.set(Some(calls));
    }
}
