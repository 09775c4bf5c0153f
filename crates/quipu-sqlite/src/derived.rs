//! Snapshots, projections and vectors: whatever can be rebuilt from the ledger.

use quipu_core::id::Seq;
use quipu_engine::ports::{Checkpoint, Projection, StoreError, VectorKey};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::connection::meta;
use crate::fault::Failure;
use crate::rows::{Position, stored};

/// Large blobs are kept in pieces of this size. It bounds the room a full disk must have for cleaning up.
const PIECE_BYTES: usize = 1 << 20;

pub(crate) fn snapshots(connection: &Connection) -> rusqlite::Result<Vec<Seq>> {
    let mut query = connection.prepare_cached(include_str!("sql/snapshots.sql"))?;
    query.query_map([], |row| Ok(row.get::<_, Position>(0)?.0))?.collect()
}

pub(crate) fn snapshot(connection: &mut Connection, seq: Seq) -> Result<Option<Vec<u8>>, Failure> {
    // One view of both tables, also if another handle replaces the blob meanwhile.
    let view = connection.transaction()?;
    let mut query = view.prepare_cached(include_str!("sql/snapshot_length.sql"))?;
    let length = query.query_row([stored(seq)], |row| row.get(0)).optional()?;
    length.map(|length| blob(&view, &snapshot_owner(seq), length)).transpose()
}

pub(crate) fn projection(connection: &mut Connection, name: &str) -> Result<Option<Projection>, Failure> {
    let view = connection.transaction()?;
    let mut query = view.prepare_cached(include_str!("sql/projection.sql"))?;
    let found =
        query.query_row([name], |row| Ok((row.get::<_, Position>(0)?.0, row.get(1)?, row.get(2)?))).optional()?;
    let Some((seq, tag, length)) = found else { return Ok(None) };
    let bytes = blob(&view, &projection_owner(name), length)?;
    Ok(Some(Projection { seq, tag, bytes }))
}

/// Everything of a checkpoint, in the transaction of the caller.
pub(crate) fn write_checkpoint(transaction: &Transaction<'_>, checkpoint: &Checkpoint) -> Result<(), Failure> {
    if let Some((seq, bytes)) = &checkpoint.snapshot {
        put_blob(transaction, &snapshot_owner(*seq), bytes)?;
        transaction
            .prepare_cached(include_str!("sql/put_snapshot.sql"))?
            .execute(params![stored(*seq), bytes.len() as i64])?;
        keep_snapshots(transaction, checkpoint.snapshots_kept.max(1))?;
    }
    for (name, projection) in &checkpoint.projections {
        put_blob(transaction, &projection_owner(name), &projection.bytes)?;
        transaction.prepare_cached(include_str!("sql/put_projection.sql"))?.execute(params![
            name,
            stored(projection.seq),
            projection.tag,
            projection.bytes.len() as i64
        ])?;
    }
    if checkpoint.clear_vectors {
        transaction.prepare_cached(include_str!("sql/clear_vectors.sql"))?.execute([])?;
    }
    Ok(())
}

fn keep_snapshots(transaction: &Transaction<'_>, kept: usize) -> rusqlite::Result<()> {
    let mut query = transaction.prepare_cached(include_str!("sql/surplus_snapshots.sql"))?;
    let surplus: Vec<Seq> =
        query.query_map([kept as i64], |row| Ok(row.get::<_, Position>(0)?.0))?.collect::<rusqlite::Result<_>>()?;
    for seq in surplus {
        drop_pieces_from(transaction, &snapshot_owner(seq), 0)?;
        transaction.prepare_cached(include_str!("sql/drop_snapshot.sql"))?.execute([stored(seq)])?;
    }
    Ok(())
}

/// Drops every snapshot, projection and vector.
pub(crate) fn drop_all(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(include_str!("sql/drop_derived.sql"))
}

pub(crate) fn put_vectors(
    transaction: &Transaction<'_>,
    tag: &str,
    vectors: &[(VectorKey, Vec<u8>)],
) -> rusqlite::Result<()> {
    if vector_tag(transaction)?.as_deref() != Some(tag) {
        transaction.prepare_cached(include_str!("sql/clear_vectors.sql"))?.execute([])?;
        transaction.prepare_cached(include_str!("sql/put_meta.sql"))?.execute([meta::VECTOR_TAG, tag])?;
    }
    let mut put = transaction.prepare_cached(include_str!("sql/put_vector.sql"))?;
    for (key, bytes) in vectors {
        put.execute(params![key, bytes])?;
    }
    Ok(())
}

pub(crate) fn vectors(connection: &mut Connection, tag: &str) -> rusqlite::Result<Vec<(VectorKey, Vec<u8>)>> {
    let view = connection.transaction()?;
    if vector_tag(&view)?.as_deref() != Some(tag) {
        return Ok(Vec::new());
    }
    let mut query = view.prepare_cached(include_str!("sql/vectors.sql"))?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn vector_tag(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.prepare_cached(include_str!("sql/meta.sql"))?.query_row([meta::VECTOR_TAG], |row| row.get(0)).optional()
}

fn snapshot_owner(seq: Seq) -> String {
    format!("snapshot:{seq}")
}

fn projection_owner(name: &str) -> String {
    format!("projection:{name}")
}

/// Replaces a blob. Pieces of the same size are overwritten where they are.
fn put_blob(transaction: &Transaction<'_>, owner: &str, bytes: &[u8]) -> rusqlite::Result<()> {
    let mut put = transaction.prepare_cached(include_str!("sql/put_piece.sql"))?;
    let mut parts = 0;
    for (part, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        put.execute(params![owner, part as i64, piece])?;
        parts = part as i64 + 1;
    }
    drop_pieces_from(transaction, owner, parts)
}

fn drop_pieces_from(transaction: &Transaction<'_>, owner: &str, part: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached(include_str!("sql/drop_pieces_from.sql"))?.execute(params![owner, part]).map(|_| ())
}

fn blob(connection: &Connection, owner: &str, length: i64) -> Result<Vec<u8>, Failure> {
    // A damaged length must not reserve memory: the pieces decide how much there is.
    let mut bytes = Vec::new();
    let mut query = connection.prepare_cached(include_str!("sql/pieces.sql"))?;
    let mut rows = query.query([owner])?;
    while let Some(row) = rows.next()? {
        bytes.extend_from_slice(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?);
    }
    if bytes.len() as i64 == length {
        return Ok(bytes);
    }
    Err(StoreError::Corrupt(format!(
        "{owner} has {} of {length} bytes. The ledger itself is not touched by this: drop the projections, they are \
         rebuilt",
        bytes.len()
    ))
    .into())
}
