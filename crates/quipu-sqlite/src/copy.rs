//! Copies ledgers as a whole. A copy is made online, gets its final name once it is complete, and is verified before
//! it is reported.

use std::fs;
use std::path::Path;

use quipu_core::id::UserId;
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{BackupFile, Head, StoreError};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::connection::{Access, connect, identify};
use crate::data_folder::disk;
use crate::data_folder::fault;
use crate::mark;
use crate::migration;
use crate::rows;

/// Copies an open ledger to a new path. The copy is durable and verified on return.
pub(crate) fn backup(from: &Connection, path: &Path, to: &Path) -> Result<BackupFile, StoreError> {
    put_in_place(to, |partial| copy_database(from, path, partial))
}

/// Makes a ledger file with `make` under a temporary name, verifies it, and moves it to `to`, which must not exist.
fn put_in_place(to: &Path, make: impl FnOnce(&Path) -> Result<(), StoreError>) -> Result<BackupFile, StoreError> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(StoreError::Exists(format!(
            "{} exists and is kept. Choose another name for the backup",
            to.display()
        )));
    }
    // The name includes the process id, because another process may be writing the same backup.
    let partial = disk::beside(to, &format!(".{}.partial", std::process::id()));
    let made = make(&partial).and_then(|()| {
        let (_, head) = inspect(&partial)?;
        migration::place(&partial, to)?;
        Ok(head)
    });
    match made {
        Ok(head) => {
            let bytes = fs::metadata(to).map_err(|error| fault::of_disk(to, "look at", &error))?.len();
            Ok(BackupFile { path: to.to_owned(), head, bytes })
        }
        Err(error) => {
            // Errors of the clean-up are ignored in favour of the first error.
            let _ = disk::remove_database(&partial);
            Err(error)
        }
    }
}

/// Passes one event on.
pub type TakeEvent<'a> = dyn FnMut(&SealedEvent) -> Result<(), StoreError> + 'a;

/// Writes a backup of another store: a ledger file of `user` with the events that `fill` passes on, in order. The file is
/// durable and verified on return.
///
/// # Errors
/// `Exists` if there is a file at `to`; any error of `fill`.
pub fn write_backup(
    user: &UserId,
    to: &Path,
    fill: &mut dyn FnMut(&mut TakeEvent<'_>) -> Result<(), StoreError>,
) -> Result<BackupFile, StoreError> {
    put_in_place(to, |partial| {
        migration::create(partial, user)?;
        let fail = |error: rusqlite::Error| fault::of_sqlite(to, "write", &error);
        let mut connection = connect(partial, Access::Write)?;
        // The file is synced as a whole once it is complete.
        connection.execute_batch("PRAGMA synchronous = OFF").map_err(fail)?;
        let transaction = connection.transaction().map_err(fail)?;
        fill(&mut |event| rows::insert(&transaction, event).map_err(fail))?;
        transaction.commit().map_err(fail)?;
        connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).map_err(fail)?;
        connection.close().map_err(|(_, error)| fail(error))
    })
}

/// Reads a backup of `user` and passes its events to `each`, in order.
///
/// # Errors
/// `NotFound` if there is no file; `Corrupt` if it is damaged, or not a ledger of this user; any error of `each`.
pub fn read_backup(
    from: &Path,
    user: &UserId,
    each: &mut dyn FnMut(SealedEvent) -> Result<(), StoreError>,
) -> Result<Head, StoreError> {
    let (source, head) = open_backup(from, user)?;
    let mut first = 1;
    while first <= head.seq {
        let events = rows::batch(&source, from, include_str!("sql/read_events.sql"), first, head.seq)?;
        let Some(last) = events.last() else { break };
        first = last.seq + 1;
        events.into_iter().try_for_each(&mut *each)?;
    }
    Ok(head)
}

/// Copies a database into a new file, durably. `path` is its source.
pub(crate) fn copy_database(from: &Connection, path: &Path, to: &Path) -> Result<(), StoreError> {
    let on_disk = |error| fault::of_disk(to, "write", &error);
    disk::remove_database(to).map_err(on_disk)?;
    disk::create_file(to).map_err(on_disk)?;
    let done = copy_pages(from, to).map_err(|error| {
        // A full disk concerns the target, damage the source.
        fault::of_sqlite(if fault::is_full(&error) { to } else { path }, "copy", &error)
    })?;
    if !done {
        return Err(StoreError::Unavailable(format!(
            "could not copy the ledger {}: another connection holds it. Try again",
            path.display()
        )));
    }
    disk::sync_file(to).map_err(on_disk)
}

fn copy_pages(from: &Connection, to: &Path) -> rusqlite::Result<bool> {
    let mut copy = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // The file is synced as a whole once it is complete.
    copy.execute_batch("PRAGMA synchronous = OFF")?;
    // In one step: a copy in several steps restarts whenever another process writes, and may never finish.
    if Backup::new(from, &mut copy)?.step(-1)? != StepResult::Done {
        return Ok(false);
    }
    // The copy is a single file, which can also be read from a read-only folder.
    let mode: String = copy.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    copy.close().map_err(|(_, error)| error)?;
    Ok(mode == "delete")
}

/// Reads a database that no connection writes to completely, and returns its user and head.
///
/// # Errors
/// `Corrupt` if it is damaged, not a ledger, or from a newer Quipu.
pub(crate) fn inspect(path: &Path) -> Result<(UserId, Head), StoreError> {
    let connection = connect(path, Access::Read)?;
    inspect_open(&connection, path)
}

fn inspect_open(connection: &Connection, path: &Path) -> Result<(UserId, Head), StoreError> {
    let fail = |error: rusqlite::Error| fault::of_sqlite(path, "check", &error);
    let user = identify(connection, path)?;
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(fail)?;
    if fault::is_unread(&verdict) {
        return Err(StoreError::Unavailable(format!(
            "{} cannot be read completely: the disk reports an error ({verdict}). Nothing was changed. Check the disk, then \
             try again",
            path.display()
        )));
    }
    if verdict != "ok" {
        return Err(StoreError::Corrupt(format!(
            "{} is damaged: {verdict}. Nothing was changed. Use another backup",
            path.display()
        )));
    }
    Ok((user, rows::head(connection).map_err(fail)?))
}

/// Opens and verifies a backup of `user`.
fn open_backup(from: &Path, user: &UserId) -> Result<(Connection, Head), StoreError> {
    if fs::metadata(from).is_err() {
        return Err(StoreError::NotFound(format!("there is no backup at {}", from.display())));
    }
    let source = connect(from, Access::Read)?;
    let (owner, head) = inspect_open(&source, from)?;
    if owner != *user {
        return Err(StoreError::Corrupt(format!(
            "{} is the ledger of {owner}, not of {user}. Nothing was changed. Restore it for {owner}",
            from.display()
        )));
    }
    Ok((source, head))
}

/// Verifies a backup of `user` and copies it to `to`, a path that is not in use yet.
pub(crate) fn take_in(from: &Path, user: &UserId, to: &Path) -> Result<(), StoreError> {
    let (source, head) = open_backup(from, user)?;
    copy_database(&source, from, to)?;
    // A copy that was set aside carries the mark that it was replaced.
    mark::clear(to)?;
    let (_, copied) = inspect(to)?;
    if copied != head {
        return Err(StoreError::Unavailable(format!(
            "{} changed while it was copied. Nothing was changed. Make a backup of it and restore that",
            from.display()
        )));
    }
    Ok(())
}
