//! Making an empty ledger, and bringing an older one up to date.

use std::path::{Path, PathBuf};

use quipu_core::id::UserId;
use quipu_engine::ports::StoreError;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::connection::{APPLICATION_ID, meta};
use crate::{copy, disk, fault};

/// One step a version: the first makes version 1 from nothing. Add steps; never edit one that was released.
const STEPS: [&str; 1] = [include_str!("sql/migrations/0001_ledger.sql")];

/// The format this Quipu writes, SQLite's `user_version`.
pub(crate) const VERSION: i64 = STEPS.len() as i64;

/// Bytes a page of new databases. Measured: 8192 writes 30 MB blobs about a sixth faster, and small commits no faster,
/// but each of those then puts twice the bytes into the log. Small commits are what a person waits for.
const PAGE_BYTES: u32 = 4096;

/// Makes an empty, closed ledger of a user at a path nobody else looks at.
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
    // Kept in the file: whoever opens it needs not change it, beside others who open it too.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Moves a complete, closed database to its final name, durably. The caller made sure that nothing is there.
pub(crate) fn place(complete: &Path, path: &Path) -> Result<(), StoreError> {
    let on_disk = |error| fault::of_disk(path, "put in place", &error);
    disk::sync_file(complete).map_err(on_disk)?;
    disk::rename(complete, path).map_err(on_disk)?;
    for folder in [path.parent(), complete.parent()].into_iter().flatten() {
        disk::sync_folder(folder).map_err(on_disk)?;
    }
    Ok(())
}

/// True if a ledger has an older format than this Quipu writes.
pub(crate) fn is_older(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let found = version(connection).map_err(|error| fault::of_sqlite(path, "read", &error))?;
    Ok(found < STEPS.len())
}

/// Brings a ledger of an older format up to date. A copy of it goes first to `partial`, and complete to where `keep_at` says.
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

/// All missing steps and `finish` in one transaction.
fn climb(
    connection: &mut Connection,
    steps: &[&str],
    finish: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again now that no other writer can be at it.
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
