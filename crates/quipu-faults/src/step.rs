//! What is recorded.

use std::path::PathBuf;
use std::sync::Arc;

/// Identifies a file through renames and removals.
pub type FileId = usize;

/// A successful change below the recorded folder. Paths are relative to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A new, empty file got its first name.
    Create(PathBuf, FileId),
    /// A new folder.
    CreateFolder(PathBuf),
    /// Another name for a file.
    Link(PathBuf, FileId),
    /// A file got another name. The id is that of the file.
    Rename(PathBuf, PathBuf, FileId),
    /// A name of a file, or an empty folder, was removed.
    Remove(PathBuf),
    /// Bytes were written at an offset.
    Write(FileId, u64, Arc<[u8]>),
    /// A file got this length.
    Truncate(FileId, u64),
    /// A file was synced.
    Sync(FileId),
    /// A sync of a file failed, so what was written to it may be lost even if a later sync succeeds.
    FailedSync(FileId),
    /// A folder was synced.
    SyncFolder(PathBuf),
    /// The whole file system was synced.
    SyncAll,
}

/// The kinds of system calls that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// Opening a file or folder.
    Open,
    /// Reading from a file.
    Read,
    /// Writing to a file.
    Write,
    /// Changing the length of a file.
    Truncate,
    /// Syncing a file or folder.
    Sync,
    /// Renaming or linking a file.
    Rename,
    /// Removing a file or folder.
    Remove,
    /// Creating a folder.
    CreateFolder,
}

impl CallKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Read,
        Self::Write,
        Self::Truncate,
        Self::Sync,
        Self::Rename,
        Self::Remove,
        Self::CreateFolder,
    ];
}
