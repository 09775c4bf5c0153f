//! Walking folders by their open handles, never through a link.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::{Errno, Result};

/// Deepest folder a walk goes into.
const DEPTH_MAX: usize = 64;

/// How a folder is opened.
pub(crate) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folder of this name in another.
pub(crate) fn enter(above: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
    openat(above, name, FOLDER, Mode::empty())
}

/// What a folder holds: names and kinds, without `.` and `..`. A link is a link, whatever it leads to.
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

/// Takes away every file that fits, in a folder and below.
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

/// Takes away everything a folder holds; links go, what they lead to stays.
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
