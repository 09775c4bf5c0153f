//! Marks abandoned ledgers. The mark is committed before any file moves, so that every connection to the ledger, in
//! any process, finds it in the transaction that would write.

use std::path::Path;

use quipu_core::id::{Seq, UserId};
use quipu_engine::ports::StoreError;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::connection::{Access, connect, identify, meta, settle};
use crate::data_folder::disk;
use crate::data_folder::fault;
use crate::data_folder::fault::Failure;
use crate::ledger_store;
use crate::rows;

/// Why a ledger is abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AbandonedMark {
    /// It is being removed; whoever finds the mark completes the removal.
    Removed,
    /// It is being replaced. If the file is still in place after a crash, the replacement was not acknowledged and the
    /// mark is cleared.
    Replaced,
}

const REMOVED: &str = "removed";
const REPLACED: &str = "replaced";

/// The mark of an open ledger.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Option<AbandonedMark>> {
    let mut query = connection.prepare_cached(include_str!("sql/meta.sql"))?;
    let found = query.query_row([meta::GIVEN_UP], |row| row.get::<_, String>(0)).optional()?;
    Ok(found.map(|word| if word == REMOVED { AbandonedMark::Removed } else { AbandonedMark::Replaced }))
}

/// Fails if the ledger is abandoned. Called inside the transaction that would write.
pub(crate) fn refuse(connection: &Connection) -> Result<(), Failure> {
    match read(connection)? {
        None => Ok(()),
        Some(mark) => {
            let done = if mark == AbandonedMark::Removed { "was removed" } else { "was replaced by another" };
            Err(StoreError::Removed(format!(
                "the ledger {done} while it was open here. Nothing was written. Open the user again"
            ))
            .into())
        }
    }
}

/// Marks a ledger of `user` as abandoned, if its head is `expected`. Durable on return.
///
/// # Errors
/// `Conflict` if its head is at another position; `Corrupt` if it is not a ledger of the user.
pub(crate) fn give_up(
    path: &Path,
    user: &UserId,
    expected: Option<Seq>,
    mark: AbandonedMark,
) -> Result<(), StoreError> {
    let mut connection = connect(path, Access::Write)?;
    let owner = identify(&connection, path)?;
    if owner != *user {
        return Err(ledger_store::misplaced(path, &owner));
    }
    settle(&connection, path, None)?;
    set(&mut connection, path, expected, mark).map_err(|failure| failure.tell(path, "remove"))
}

fn set(connection: &mut Connection, path: &Path, expected: Option<Seq>, mark: AbandonedMark) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let head = rows::head(&transaction)?.seq;
    if let Some(expected) = expected.filter(|expected| *expected != head) {
        return Err(StoreError::Conflict { expected, head }.into());
    }
    let word = if mark == AbandonedMark::Removed { REMOVED } else { REPLACED };
    transaction.execute(include_str!("sql/put_meta.sql"), [meta::GIVEN_UP, word])?;
    disk::note("commit", path);
    transaction.commit()?;
    disk::note("committed", path);
    Ok(())
}

/// The mark of a ledger that is not open here; `None` if the file is missing or damaged.
pub(crate) fn of_file_if_there(path: &Path) -> Option<AbandonedMark> {
    if !disk::exists(path) {
        return None;
    }
    let connection = connect(path, Access::Write).ok()?;
    identify(&connection, path).ok()?;
    read(&connection).ok()?
}

/// Clears the mark of a ledger that is not open here.
pub(crate) fn clear(path: &Path) -> Result<(), StoreError> {
    let connection = connect(path, Access::Write)?;
    settle(&connection, path, None)?;
    let cleared = connection.execute(include_str!("sql/drop_meta.sql"), [meta::GIVEN_UP]);
    cleared.map(|_| ()).map_err(|error| fault::of_sqlite(path, "open", &error))
}
