//! Translates errors of SQLite and the file system into errors that say what the caller can do.

use std::io;
use std::path::Path;

use quipu_engine::ports::StoreError;
use rusqlite::{ErrorCode, ffi};

/// Maximum size of a single value, in bytes. Larger blobs are stored in pieces.
pub(crate) const VALUE_BYTES_MAX: i32 = 64 << 20;

/// Why a transaction was rolled back.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the store.
    Ours(StoreError),
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Ours(error)
    }
}

impl Failure {
    /// Whether the disk was full.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Sqlite(error) if is_full(error))
    }

    /// The error for the caller; see [`of_sqlite`].
    pub(crate) fn tell(self, path: &Path, doing: &str) -> StoreError {
        match self {
            Self::Ours(error) => error,
            Self::Sqlite(error) => of_sqlite(path, doing, &error),
        }
    }
}

/// Translates an SQLite error that occurred while `doing` something ("append to") with the ledger at `path`.
pub(crate) fn of_sqlite(path: &Path, doing: &str, error: &rusqlite::Error) -> StoreError {
    let at = path.display();
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return StoreError::Corrupt(format!(
            "could not {doing} the ledger {at}: it holds a value that was never written this way ({error}). Nothing was \
             changed. Run a check; if it confirms the damage, restore a backup"
        ));
    };
    match failure.code {
        _ if is_full(error) => StoreError::Unavailable(format!(
            "could not {doing} the ledger {at}: its disk or quota is full. Nothing that was acknowledged is lost and \
             reading still works. Free space there, then try again"
        )),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Unavailable(format!(
            "could not {doing} the ledger {at}: it was locked for longer than 5 s. Close other programs that have it \
             open, then try again"
        )),
        ErrorCode::ReadOnly => StoreError::Unavailable(format!(
            "could not {doing} the ledger {at}: it is open for reading only, or its file or folder is not writable. Open \
             the store for writing, or make both writable for this user"
        )),
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            StoreError::Unavailable(format!(
                "could not {doing} the ledger {at}: {error}. Make the file and its folder readable and writable for this \
                 user. In a read-only folder, a ledger that was not closed cleanly cannot be opened: copy the folder \
                 to a writable place and open it there"
            ))
        }
        ErrorCode::SystemIoFailure => StoreError::Unavailable(format!(
            "could not {doing} the ledger {at}: the disk reports an error ({error}). What was acknowledged before stays. \
             If this was a write, look at the head before repeating it: the disk may have kept it. Check the disk"
        )),
        ErrorCode::NotADatabase => StoreError::Corrupt(format!(
            "{at} is not a Quipu ledger: it is not an SQLite database, or its first page is damaged. Nothing was changed. \
             Restore a backup, or move the file away if it does not belong there"
        )),
        // SQLite also reports this if the disk fails to read (`SQLITE_IOERR_CORRUPTFS`).
        ErrorCode::DatabaseCorrupt => StoreError::Corrupt(format!(
            "could not {doing} the ledger {at}: it is damaged, or the disk cannot read it ({error}). Nothing was changed. \
             Check the disk and try again. If it stays, keep a copy of the file and of those beside it, then restore a backup"
        )),
        ErrorCode::OutOfMemory
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted
        | ErrorCode::NoLargeFileSupport => {
            StoreError::Unavailable(format!("could not {doing} the ledger {at}: {error}. Try again"))
        }
        ErrorCode::TooBig => StoreError::Unavailable(format!(
            "could not {doing} the ledger {at}: a value is larger than {} bytes. Nothing was changed. Split it",
            VALUE_BYTES_MAX
        )),
        _ => StoreError::Corrupt(format!(
            "could not {doing} the ledger {at}: {error}. Its tables are not those Quipu made. Nothing was changed. Run a \
             check; if it confirms the damage, restore a backup"
        )),
    }
}

/// Whether a check of SQLite found a page that the disk failed to read, which says nothing about the page. It gives the
/// error code as text.
pub(crate) fn is_unread(verdict: &str) -> bool {
    let mut codes = verdict.split("unable to get the page. error code=").skip(1);
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<i32>().ok()
    };
    codes.any(|text| number(text).is_some_and(|code| code & 0xff == ffi::SQLITE_IOERR))
}

/// Whether the disk is full. In this case SQLite has already rolled the transaction back.
pub(crate) fn is_full(error: &rusqlite::Error) -> bool {
    // Failing to extend the shared index of a write-ahead log has its own error code.
    let extended = error.sqlite_error().map(|failure| failure.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || extended == Some(ffi::SQLITE_IOERR_SHMSIZE)
}

/// The column that violates a uniqueness constraint, if this is the error.
pub(crate) fn taken_column(error: &rusqlite::Error) -> Option<&str> {
    let rusqlite::Error::SqliteFailure(failure, Some(text)) = error else { return None };
    (failure.extended_code == ffi::SQLITE_CONSTRAINT_UNIQUE).then(|| text.rsplit(' ').next().unwrap_or(text))
}

/// Translates a file system error that occurred while `doing` something ("create") with `path`.
pub(crate) fn of_disk(path: &Path, doing: &str, error: &io::Error) -> StoreError {
    let at = path.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists(format!("could not {doing} {at}: it exists and is kept")),
        io::ErrorKind::NotFound => StoreError::NotFound(format!("could not {doing} {at}: it does not exist")),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Unavailable(format!(
            "could not {doing} {at}: the disk is full. Nothing that was acknowledged is lost. Free space, then try again"
        )),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreError::Unavailable(format!(
            "could not {doing} {at}: {error}. Make it writable for this user, or open the store for reading only"
        )),
        _ => StoreError::Unavailable(format!("could not {doing} {at}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::is_unread;

    #[test]
    fn a_page_that_cannot_be_read_is_no_damage() {
        assert!(is_unread("*** in database main ***\nTree 11 page 11: unable to get the page. error code=8458"));
        assert!(!is_unread("Tree 11 page 11: unable to get the page. error code=11"));
        assert!(!is_unread("ok"));
    }
}
