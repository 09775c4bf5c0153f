//! The few things done to files without SQLite. Never to a database that is open: closing any handle to it would drop
//! SQLite's locks.
//!
//! Every change to the file system goes through this module, so that tests see each of them, and can end the process there.

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
    note("create folder", path);
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
    note("create", path);
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
    note("sync file", path);
    // Some systems sync only what is open for writing.
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Returns once names created, moved or removed in the folder would survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    note("sync folder", path);
    if cfg!(unix) {
        File::open(if path.as_os_str().is_empty() { Path::new(".") } else { path })?.sync_all()
    } else {
        Ok(())
    }
}

/// Moves a file to another name on the same disk, in one step. Durable once both folders are synced.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    note("rename", from);
    fs::rename(from, to)?;
    note("renamed", to);
    Ok(())
}

/// Moves a file if it is there; says whether it was.
pub(crate) fn rename_if_there(from: &Path, to: &Path) -> io::Result<bool> {
    match rename(from, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// True if something has this name, a link that leads nowhere included.
pub(crate) fn exists(path: &Path) -> bool {
    note("look", path);
    fs::symlink_metadata(path).is_ok()
}

/// Removes a file if it is there; says whether it was.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<bool> {
    note("remove", path);
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a database that nobody needs any more, and what SQLite kept beside it; says whether there was any of it.
pub(crate) fn remove_database(path: &Path) -> io::Result<bool> {
    let mut removed = false;
    for end in SIDECARS {
        removed |= remove_if_there(&beside(path, end))?;
    }
    Ok(remove_if_there(path)? || removed)
}

/// The names in a folder, sorted. Names that are not UTF-8 are none of ours and left out.
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

/// True if nobody at all can write to the disk of a folder.
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

/// Tells the tests what is about to be done; does nothing in a program.
pub(crate) fn note(call: &'static str, path: &Path) {
    #[cfg(test)]
    trace::note(call, path);
    #[cfg(not(test))]
    let _ = (call, path);
}

/// What a test sees of the calls of its own thread.
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

    /// The calls since the last time.
    pub(crate) fn take() -> Vec<(&'static str, PathBuf)> {
        CALLS.with_borrow_mut(std::mem::take)
    }

    /// Ends the process, as a kill does, before the call after so many more.
    pub(crate) fn abort_after(calls: u32) {
        CALLS_LEFT.set(Some(calls));
    }
}
