//! Walks folders by open handles, never through a link.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::{Errno, Result};

/// Maximum depth of a walk.
const DEPTH_MAX: usize = 64;

/// Flags for opening a folder.
pub(crate) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the folder with this name in another one.
pub(crate) fn enter(above: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
    openat(above, name, FOLDER, Mode::empty())
}

/// Names and types of a folder's entries, without `.` and `..`. Links are not followed.
pub(crate) fn names(folder: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_owned();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(folder, &name)?,
            known => known,
        };
        found.push((name, kind));
    }
    Ok(found)
}

fn kind_of(folder: BorrowedFd<'_>, name: &CString) -> Result<FileType> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|found| FileType::from_raw_mode(found.st_mode))
}

/// Removes every file whose name matches, recursively.
pub(crate) fn sweep(folder: BorrowedFd<'_>, fits: &dyn Fn(&[u8]) -> bool, depth: usize) -> Result<()> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    for (name, kind) in names(folder)? {
        match kind {
            FileType::Directory => {
                let below = openat(folder, &name, FOLDER, Mode::empty())?;
                sweep(below.as_fd(), fits, depth + 1)?;
            }
            FileType::RegularFile if fits(name.to_bytes()) => unlinkat(folder, &name, AtFlags::empty())?,
            _ => {}
        }
    }
    Ok(())
}

/// Removes everything in a folder. Links are removed, their targets stay.
pub(crate) fn empty(folder: BorrowedFd<'_>, depth: usize) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(Errno::NAMETOOLONG);
    }
    for (name, kind) in names(folder)? {
        if kind == FileType::Directory {
            let below = openat(folder, &name, FOLDER, Mode::empty())?;
            empty(below.as_fd(), depth + 1)?;
            unlinkat(folder, &name, AtFlags::REMOVEDIR)?;
        } else {
            unlinkat(folder, &name, AtFlags::empty())?;
        }
    }
    Ok(())
}
