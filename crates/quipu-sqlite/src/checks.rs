//! Read-only checks for damage.

use std::path::Path;

use quipu_engine::ports::StoreError;
use rusqlite::Connection;

use crate::data_folder::fault;
use crate::derived;
use crate::erase;
use crate::rows::Position;

/// Maximum number of reported faults of one kind. A damaged disk can cause thousands of similar ones.
const FAULTS_MAX: i64 = 100;

/// Returns one line for each fault of an open ledger.
///
/// # Errors
/// `Unavailable` if the checks cannot run. Damage that stops a check is reported as a line, not as an error.
pub(crate) fn ledger(connection: &Connection, path: &Path) -> Result<Vec<String>, StoreError> {
    let mut faults = Vec::new();
    for check in [pages, references, positions, changes, derived::damage, pending] {
        match check(connection, &mut faults) {
            Ok(()) => {}
            Err(error) => match fault::of_sqlite(path, "check", &error) {
                StoreError::Corrupt(text) => faults.push(text),
                other => return Err(other),
            },
        }
    }
    faults.dedup();
    Ok(faults)
}

fn pages(connection: &Connection, faults: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut query = connection.prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            faults.push(format!("database pages: {line}"));
        }
    }
    Ok(())
}

fn references(connection: &Connection, faults: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut query = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = query.query([])?;
    let mut left = FAULTS_MAX;
    while let (Some(row), 1..) = (rows.next()?, left) {
        let table: String = row.get(0)?;
        let place: Option<i64> = row.get(1)?;
        faults.push(format!("row {} of {table} belongs to an event that is missing", place.unwrap_or(0)));
        left -= 1;
    }
    Ok(())
}

fn positions(connection: &Connection, faults: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut query = connection.prepare(include_str!("sql/check_positions.sql"))?;
    let mut rows = query.query([FAULTS_MAX])?;
    while let Some(row) = rows.next()? {
        faults.push(format!("events are missing before event {}", row.get::<_, Position>(0)?.0));
    }
    Ok(())
}

fn changes(connection: &Connection, faults: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut query = connection.prepare(include_str!("sql/check_changes.sql"))?;
    let mut rows = query.query([FAULTS_MAX])?;
    while let Some(row) = rows.next()? {
        faults.push(format!("a change of event {} is missing", row.get::<_, Position>(0)?.0));
    }
    Ok(())
}

fn pending(connection: &Connection, faults: &mut Vec<String>) -> rusqlite::Result<()> {
    if erase::is_pending(connection)? {
        faults.push(
            "an erasure is not finished: a log or a copy set aside may still hold what was erased. Open the ledger for \
             writing to finish it"
                .into(),
        );
    }
    Ok(())
}
