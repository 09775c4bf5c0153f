//! Erases payloads from the database, its write-ahead log and the copies set aside.
//!
//! A crash, a full disk or a busy reader may prevent the cleaning of the other files after the commit. The mark
//! `scrub` is committed with the erasure and removed after the cleaning; if it remains, the next opening of the ledger
//! finishes the cleaning.

use std::fs;
use std::path::Path;

use quipu_core::event::ChangeRef;
use quipu_core::id::Seq;
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::StoreError;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::connection::{self, Access, connect, identify, meta};
use crate::data_folder::disk;
use crate::data_folder::fault::{self, Failure};
use crate::derived;
use crate::rows::stored;
use crate::user_ledger::{SqliteLedger, append};

/// Pieces deleted per transaction on a full disk: less than a quarter of the default ballast.
const PIECES_A_STEP: i64 = 2;
/// Vectors deleted per transaction on a full disk.
const VECTORS_A_STEP: i64 = 500;

/// See [`UserLedger::erase`](quipu_engine::ports::UserLedger::erase).
pub(crate) fn erase(
    ledger: &mut SqliteLedger,
    expected: Seq,
    targets: &[ChangeRef],
    event: &SealedEvent,
) -> Result<(), StoreError> {
    let mut done = erase_once(ledger, expected, targets, event);
    if done.as_ref().is_err_and(Failure::is_full) {
        let room = make_room(ledger);
        done = room.and_then(|()| erase_once(ledger, expected, targets, event));
    }
    done.map_err(|failure| failure.tell(ledger.path(), "erase from"))?;
    let scrubbed = scrub(ledger);
    // `examine` reports whether the ballast exists again.
    let _ = ledger.folder().ballast.restore();
    scrubbed
}

fn erase_once(
    ledger: &mut SqliteLedger,
    expected: Seq,
    targets: &[ChangeRef],
    event: &SealedEvent,
) -> Result<(), Failure> {
    ledger.write(|transaction| {
        append(transaction, expected, std::slice::from_ref(event))?;
        for target in targets {
            overwrite(transaction, *target)?;
        }
        derived::drop_all(transaction)?;
        transaction.execute(include_str!("sql/put_meta.sql"), [meta::SCRUB, "pending"])?;
        Ok(())
    })
}

fn overwrite(transaction: &Transaction<'_>, target: ChangeRef) -> Result<(), Failure> {
    let at = params![stored(target.seq), target.index];
    let erased = transaction.prepare_cached(include_str!("sql/erase_change.sql"))?.execute(at)?;
    if erased == 0 && !transaction.prepare_cached(include_str!("sql/has_change.sql"))?.exists(at)? {
        return Err(StoreError::NotFound(format!("there is no change {target} to erase. Nothing was changed")).into());
    }
    Ok(())
}

/// Makes room on a full disk: releases the ballast, then deletes what can be rebuilt, in small steps since each one
/// needs space.
fn make_room(ledger: &mut SqliteLedger) -> Result<(), Failure> {
    let released = ledger.folder().ballast.release();
    released.map_err(|error| fault::of_disk(&ledger.folder().root, "release the ballast of", &error))?;
    truncate_log(ledger)?;
    ledger.write(|transaction| Ok(transaction.execute_batch(include_str!("sql/drop_derived_names.sql"))?))?;
    for (sql, step) in
        [(include_str!("sql/drop_pieces.sql"), PIECES_A_STEP), (include_str!("sql/drop_vectors.sql"), VECTORS_A_STEP)]
    {
        while ledger.write(|transaction| Ok(transaction.execute(sql, [step])?))? > 0 {
            truncate_log(ledger)?;
        }
    }
    Ok(())
}

/// Finishes an erasure that was interrupted after its commit.
pub(crate) fn scrub_if_pending(ledger: &mut SqliteLedger) -> Result<(), StoreError> {
    let pending = is_pending(&ledger.connection).map_err(|error| fault::of_sqlite(ledger.path(), "read", &error))?;
    if pending { scrub(ledger) } else { Ok(()) }
}

/// Whether an erasure is unfinished.
pub(crate) fn is_pending(connection: &Connection) -> rusqlite::Result<bool> {
    let found = connection.query_row(include_str!("sql/meta.sql"), [meta::SCRUB], |_| Ok(()));
    Ok(found.optional()?.is_some())
}

fn scrub(ledger: &mut SqliteLedger) -> Result<(), StoreError> {
    let cleaned = truncate_log(ledger).map_err(|failure| failure.tell(ledger.path(), "clean the log of"));
    cleaned.and_then(|()| clean_copies(ledger)).map_err(|error| {
        StoreError::Unavailable(format!(
            "the erasure is recorded, but a file still holds a copy of what was erased: {error}. It is cleaned when the \
             ledger is opened next or writes its next checkpoint"
        ))
    })?;
    let unmarked =
        ledger.write(|transaction| Ok(transaction.execute(include_str!("sql/drop_meta.sql"), [meta::SCRUB])?));
    // Everything is clean. If the mark remains, the next opening only repeats the cleaning.
    drop(unmarked);
    Ok(())
}

/// Empties the write-ahead log, or fails.
fn truncate_log(ledger: &SqliteLedger) -> Result<(), Failure> {
    if connection::empty_log(&ledger.connection)? {
        return Ok(());
    }
    let log = disk::beside(ledger.path(), "-wal");
    Err(StoreError::Unavailable(format!(
        "another connection is reading, and keeps {} from being emptied",
        log.display()
    ))
    .into())
}

/// Repeats all erasures of the ledger in the user's copies set aside.
fn clean_copies(ledger: &SqliteLedger) -> Result<(), StoreError> {
    for copy in ledger.folder().copies_of(ledger.path())? {
        clean_copy(&ledger.connection, &copy).map_err(|error| {
            StoreError::Unavailable(format!(
                "{} cannot be cleaned ({error}). Delete it if you do not need it",
                copy.display()
            ))
        })?;
    }
    Ok(())
}

fn clean_copy(ledger: &Connection, path: &Path) -> Result<(), StoreError> {
    if fs::symlink_metadata(path).is_err() {
        // A log without its database can be neither read nor cleaned.
        return disk::remove_database(path).map(drop).map_err(|error| fault::of_disk(path, "remove", &error));
    }
    let mut copy = connect(path, Access::Write)?;
    identify(&copy, path)?;
    overwrite_copy(ledger, &mut copy).map_err(|error| fault::of_sqlite(path, "erase from", &error))?;
    copy.close().map_err(|(_, error)| fault::of_sqlite(path, "close", &error))
}

fn overwrite_copy(ledger: &Connection, copy: &mut Connection) -> rusqlite::Result<()> {
    // Merges and removes a log that was copied with it.
    copy.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    copy.execute_batch("PRAGMA synchronous = FULL; PRAGMA secure_delete = 1")?;
    let transaction = copy.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    {
        let mut erased = ledger.prepare_cached(include_str!("sql/erased.sql"))?;
        let mut position = transaction.prepare(include_str!("sql/position_of.sql"))?;
        let mut overwrite = transaction.prepare(include_str!("sql/erase_change.sql"))?;
        let mut rows = erased.query([])?;
        while let Some(row) = rows.next()? {
            let (id, index): ([u8; 16], u32) = (row.get(0)?, row.get(1)?);
            // The copy may be older than the event, or have another history.
            if let Some(seq) = position.query_row([id], |row| row.get::<_, i64>(0)).optional()? {
                overwrite.execute(params![seq, index])?;
            }
        }
    }
    derived::drop_all(&transaction)?;
    transaction.commit()
}
