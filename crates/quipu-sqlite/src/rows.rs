//! Converts between events and rows of the ledger.

use std::path::Path;

use quipu_core::event::{Hash, NO_HASH};
use quipu_core::id::{EventId, Seq};
use quipu_core::ledger::{SealedChange, SealedEvent};
use quipu_engine::ports::{Head, StoreError};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::data_folder::fault;

/// A batch of a longer read ends with the event that reaches this number, or the limit in bytes.
pub(crate) const BATCH_EVENTS: usize = 512;
const BATCH_BYTES: usize = 8 << 20;

/// A position as stored in SQLite. Positions above 2^63 do not occur; as an upper bound they mean "all".
pub(crate) fn stored(seq: Seq) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// A position read from SQLite.
pub(crate) struct Position(pub(crate) Seq);

impl FromSql for Position {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let stored = value.as_i64()?;
        Seq::try_from(stored).map(Self).map_err(|_| FromSqlError::OutOfRange(stored))
    }
}

/// A hash read from SQLite.
pub(crate) struct StoredHash(pub(crate) Hash);

impl FromSql for StoredHash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(Hash::from_bytes(FromSql::column_result(value)?)))
    }
}

/// The position and hash of the newest event.
pub(crate) fn head(connection: &Connection) -> rusqlite::Result<Head> {
    let mut query = connection.prepare_cached(include_str!("sql/head.sql"))?;
    let found =
        query.query_row([], |row| Ok(Head { seq: row.get::<_, Position>(0)?.0, hash: row.get::<_, StoredHash>(1)?.0 }));
    Ok(found.optional()?.unwrap_or(Head { seq: 0, hash: NO_HASH }))
}

/// Writes one event and its changes.
pub(crate) fn insert(connection: &Connection, event: &SealedEvent) -> rusqlite::Result<()> {
    let (key, request) = match &event.idempotency {
        Some((key, request)) => (Some(key), Some(request.as_bytes())),
        None => (None, None),
    };
    connection.prepare_cached(include_str!("sql/append_event.sql"))?.execute(params![
        stored(event.seq),
        event.id.as_bytes(),
        event.format,
        event.recorded_at_micros,
        event.control,
        key,
        request,
        event.header,
        event.hash.as_bytes(),
    ])?;
    let mut insert = connection.prepare_cached(include_str!("sql/append_change.sql"))?;
    for (index, change) in event.changes.iter().enumerate() {
        let erased = change.bytes.is_none() && change.salt.is_none();
        insert.execute(params![stored(event.seq), index as i64, erased, change.bytes, change.salt])?;
    }
    Ok(())
}

/// Runs `read_events.sql` or `read_controls.sql` between two positions, up to one batch.
///
/// # Errors
/// `Corrupt` if a change is missing or a value is malformed.
pub(crate) fn batch(
    connection: &Connection,
    path: &Path,
    sql: &str,
    first: Seq,
    last: Seq,
) -> Result<Vec<SealedEvent>, StoreError> {
    let fail = |error: rusqlite::Error| fault::of_sqlite(path, "read", &error);
    let mut events: Vec<SealedEvent> = Vec::new();
    let mut bytes = 0;
    let mut query = connection.prepare_cached(sql).map_err(fail)?;
    let mut rows = query.query([stored(first), stored(last)]).map_err(fail)?;
    while let Some(row) = rows.next().map_err(fail)? {
        let seq = row.get::<_, Position>(0).map_err(fail)?.0;
        if events.last().is_none_or(|event| event.seq != seq) {
            if events.len() >= BATCH_EVENTS || bytes >= BATCH_BYTES {
                break;
            }
            let event = event(row).map_err(fail)?;
            bytes += event.header.len();
            events.push(event);
        }
        let Some(index) = row.get::<_, Option<u32>>(9).map_err(fail)? else { continue };
        let Some(event) = events.last_mut() else { continue };
        if index as usize != event.changes.len() {
            return Err(StoreError::Corrupt(format!(
                "the ledger {} has lost change {} of event {seq}. Nothing was changed. Restore a backup",
                path.display(),
                event.changes.len()
            )));
        }
        let change = change(row).map_err(fail)?;
        bytes += change.bytes.as_ref().map_or(0, Vec::len);
        event.changes.push(change);
    }
    Ok(events)
}

fn event(row: &Row<'_>) -> rusqlite::Result<SealedEvent> {
    let request = row.get::<_, Option<StoredHash>>(6)?;
    let key = row.get::<_, Option<String>>(5)?;
    Ok(SealedEvent {
        seq: row.get::<_, Position>(0)?.0,
        id: EventId::from_bytes(row.get(1)?),
        format: row.get(2)?,
        recorded_at_micros: row.get(3)?,
        control: row.get(4)?,
        idempotency: key.zip(request.map(|request| request.0)),
        header: row.get(7)?,
        hash: row.get::<_, StoredHash>(8)?.0,
        changes: Vec::new(),
    })
}

fn change(row: &Row<'_>) -> rusqlite::Result<SealedChange> {
    if row.get(10)? {
        return Ok(SealedChange { bytes: None, salt: None });
    }
    Ok(SealedChange { bytes: row.get(11)?, salt: row.get(12)? })
}
