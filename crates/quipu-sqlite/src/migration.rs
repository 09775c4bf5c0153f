//! Creates empty ledgers and migrates older ones.

use std::path::{Path, PathBuf};

use quipu_core::id::UserId;
use quipu_engine::ports::StoreError;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::connection::{APPLICATION_ID, meta};
use crate::copy;
use crate::data_folder::disk;
use crate::data_folder::fault;

/// Migration steps, one for each version; the first creates version 1. Append only; never edit a released step.
const STEPS: [&str; 1] = [include_str!("sql/migrations/0001_ledger.sql")];

/// The current format version, stored as SQLite's `user_version`.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Page size of new databases, in bytes. Measured: 8192 writes blobs of 30 MB about a sixth faster, but small commits,
/// which determine the latency for users, are no faster and write twice as many bytes to the log.
const PAGE_BYTES: u32 = 4096;

/// Creates an empty, closed ledger of a user at a path that is not in use yet.
pub(crate) fn create(path: &Path, user: &UserId) -> Result<(), StoreError> {
    let on_disk = |error| fault::of_disk(path, "create", &error);
    disk::remove_database(path).map_err(on_disk)?;
    disk::create_file(path).map_err(on_disk)?;
    build(path, user).map_err(|error| fault::of_sqlite(path, "create", &error))
}

fn build(path: &Path, user: &UserId) -> rusqlite::Result<()> {
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch(&format!("PRAGMA page_size = {PAGE_BYTES}; PRAGMA secure_delete = 1"))?;
    climb(&mut connection, &STEPS, |transaction| {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.execute(include_str!("sql/put_meta.sql"), [meta::USER, user.as_str()])?;
        Ok(())
    })?;
    // Stored in the file, so that opening it later changes nothing.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Moves a complete, closed database to its final path, durably. The caller ensures that the path is free.
pub(crate) fn place(complete: &Path, path: &Path) -> Result<(), StoreError> {
    let on_disk = |error| fault::of_disk(path, "put in place", &error);
    disk::sync_file(complete).map_err(on_disk)?;
    disk::rename(complete, path).map_err(on_disk)?;
    let folders = [path.parent(), complete.parent()];
    folders.into_iter().flatten().try_for_each(disk::sync_folder).map_err(|error| {
        // Otherwise the next attempt would find it in place and take its name for durable.
        let _ = disk::rename(path, complete);
        on_disk(error)
    })
}

/// Whether a ledger has an older format version.
pub(crate) fn is_older(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let found = version(connection).map_err(|error| fault::of_sqlite(path, "read", &error))?;
    Ok(found < STEPS.len())
}

/// Migrates an older ledger. A copy is first written to `partial` and, once complete, moved to `keep_at`.
pub(crate) fn upgrade(
    connection: &mut Connection,
    path: &Path,
    partial: &Path,
    keep_at: impl FnOnce() -> Result<PathBuf, StoreError>,
) -> Result<(), StoreError> {
    upgrade_by(connection, path, &STEPS, partial, keep_at)
}

fn upgrade_by(
    connection: &mut Connection,
    path: &Path,
    steps: &[&str],
    partial: &Path,
    keep_at: impl FnOnce() -> Result<PathBuf, StoreError>,
) -> Result<(), StoreError> {
    let fail = |error: rusqlite::Error| fault::of_sqlite(path, "upgrade", &error);
    if version(connection).map_err(fail)? >= steps.len() {
        return Ok(());
    }
    let kept = keep_at()?;
    copy::copy_database(connection, path, partial)?;
    place(partial, &kept)?;
    climb(connection, steps, |_| Ok(())).map_err(fail)
}

/// Runs all missing steps and `finish` in one transaction.
fn climb(
    connection: &mut Connection,
    steps: &[&str],
    finish: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again under the write lock.
    let from = version(&transaction)?;
    for step in steps.iter().skip(from) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    finish(&transaction)?;
    transaction.commit()
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(0))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::connection::{Access, connect, identify};

    const NEXT: &str = "ALTER TABLE event ADD COLUMN colour TEXT";

    fn partial(path: &Path) -> PathBuf {
        disk::beside(path, ".partial")
    }

    fn ledger(folder: &Path) -> PathBuf {
        let path = folder.join("u-me.db");
        create(&path, &UserId::parse("me").unwrap()).unwrap();
        path
    }

    #[test]
    fn an_upgrade_keeps_a_copy_of_the_older_format() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (ledger(folder.path()), folder.path().join("kept.db"));
        let mut connection = connect(&path, Access::Write).unwrap();
        upgrade_by(&mut connection, &path, &[STEPS[0], NEXT], &partial(&path), || Ok(kept.clone())).unwrap();
        assert_eq!(version(&connection), Ok(2));
        connection.prepare("SELECT colour FROM event").unwrap();
        let old = connect(&kept, Access::Read).unwrap();
        assert_eq!(version(&old), Ok(1));
        assert_eq!(identify(&old, &kept).unwrap().as_str(), "me");
    }

    #[test]
    fn a_failing_upgrade_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (ledger(folder.path()), folder.path().join("kept.db"));
        let mut connection = connect(&path, Access::Write).unwrap();
        let steps = [STEPS[0], NEXT, "SELECT no_such_function()"];
        let failed = upgrade_by(&mut connection, &path, &steps, &partial(&path), || Ok(kept));
        assert!(failed.is_err());
        assert_eq!(version(&connection), Ok(1));
        assert!(connection.prepare("SELECT colour FROM event").is_err());
    }

    #[test]
    fn a_ledger_of_this_format_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = ledger(folder.path());
        let mut connection = connect(&path, Access::Write).unwrap();
        upgrade(&mut connection, &path, &partial(&path), || panic!("asked for a place for a copy")).unwrap();
    }
}
