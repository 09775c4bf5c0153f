//! Stores snapshots, projections and vectors, which can all be rebuilt from the ledger.
//!
//! Each has a checksum over its bytes and its metadata and is used only if the checksum matches. Otherwise it counts
//! as absent and is rebuilt.

use quipu_core::id::Seq;
use quipu_engine::ports::{Checkpoint, Projection, VectorKey};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::connection::meta;
use crate::data_folder::fault::Failure;
use crate::rows::{Position, stored};

/// Size of the pieces of large blobs. It bounds the free space that cleaning up needs on a full disk.
const PIECE_BYTES: usize = 1 << 20;
const CHECKSUM_BYTES: usize = 32;
/// Prefix of the tag of vectors with a checksum. Vectors with other tags have an older layout.
const VECTOR_LAYOUT: &str = "checked:";

type Vector = (VectorKey, Vec<u8>);

/// Result of a read.
pub(crate) enum DerivedRead<T> {
    /// Valid data.
    Whole(T),
    /// Nothing, or data from before checksums were introduced.
    Nothing,
    /// Data with a wrong checksum.
    Damaged,
}

pub(crate) fn snapshots(connection: &Connection) -> rusqlite::Result<Vec<Seq>> {
    let mut query = connection.prepare_cached(include_str!("sql/snapshots.sql"))?;
    query.query_map([], |row| Ok(row.get::<_, Position>(0)?.0))?.collect()
}

pub(crate) fn snapshot(connection: &mut Connection, seq: Seq) -> Result<DerivedRead<Vec<u8>>, Failure> {
    // One transaction, since another connection may replace the blob in between.
    let view = connection.transaction()?;
    Ok(find_snapshot(&view, seq)?)
}

fn find_snapshot(view: &Connection, seq: Seq) -> rusqlite::Result<DerivedRead<Vec<u8>>> {
    let mut query = view.prepare_cached(include_str!("sql/snapshot_length.sql"))?;
    let Some(length) = query.query_row([stored(seq)], |row| Ok(number(row, 0))).optional()? else {
        return Ok(DerivedRead::Nothing);
    };
    let owner = snapshot_owner(seq);
    blob(view, &owner, length, |bytes| blob_checksum(&owner, seq, "", bytes))
}

pub(crate) fn projection(connection: &mut Connection, name: &str) -> Result<DerivedRead<Projection>, Failure> {
    let view = connection.transaction()?;
    Ok(find_projection(&view, name)?)
}

/// The key of a snapshot or a projection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
    Snapshot(Seq),
    Projection(String),
}

/// Deletes data that was found damaged and still is, so that it is rebuilt when it is next needed.
pub(crate) fn drop_damaged(transaction: &Transaction<'_>, found: &[Name]) -> rusqlite::Result<()> {
    for name in found {
        match name {
            Name::Snapshot(seq) if matches!(find_snapshot(transaction, *seq)?, DerivedRead::Damaged) => {
                drop_snapshot(transaction, *seq)?;
            }
            Name::Projection(name) if matches!(find_projection(transaction, name)?, DerivedRead::Damaged) => {
                drop_pieces_from(transaction, &projection_owner(name), 0)?;
                transaction.prepare_cached(include_str!("sql/drop_projection.sql"))?.execute([name])?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn drop_snapshot(transaction: &Transaction<'_>, seq: Seq) -> rusqlite::Result<()> {
    drop_pieces_from(transaction, &snapshot_owner(seq), 0)?;
    transaction.prepare_cached(include_str!("sql/drop_snapshot.sql"))?.execute([stored(seq)]).map(|_| ())
}

fn find_projection(view: &Connection, name: &str) -> rusqlite::Result<DerivedRead<Projection>> {
    let mut query = view.prepare_cached(include_str!("sql/projection.sql"))?;
    let tag = |row: &Row<'_>| row.get::<_, String>(1).ok();
    let found = query.query_row([name], |row| Ok((number(row, 0), tag(row), number(row, 2)))).optional()?;
    let Some((seq, tag, length)) = found else { return Ok(DerivedRead::Nothing) };
    let (Some(seq), Some(tag)) = (seq.and_then(|seq| Seq::try_from(seq).ok()), tag) else {
        return Ok(DerivedRead::Damaged);
    };
    let owner = projection_owner(name);
    Ok(match blob(view, &owner, length, |bytes| blob_checksum(&owner, seq, &tag, bytes))? {
        DerivedRead::Whole(bytes) => DerivedRead::Whole(Projection { seq, tag, bytes }),
        DerivedRead::Nothing => DerivedRead::Nothing,
        DerivedRead::Damaged => DerivedRead::Damaged,
    })
}

/// The integer in a column; `None` if the value is damaged.
fn number(row: &Row<'_>, column: usize) -> Option<i64> {
    row.get(column).ok()
}

/// Returns one line for each damaged snapshot and projection, and one for all damaged vectors.
pub(crate) fn damage(connection: &Connection, faults: &mut Vec<String>) -> rusqlite::Result<()> {
    // One transaction, since another process may replace the data in between.
    let view = connection.unchecked_transaction()?;
    for seq in snapshots(&view)? {
        if matches!(find_snapshot(&view, seq)?, DerivedRead::Damaged) {
            faults
                .push(format!("the snapshot of version {seq} is damaged and not used; `quipu rebuild` makes it again"));
        }
    }
    let mut query = view.prepare_cached(include_str!("sql/projections.sql"))?;
    let names: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for name in names {
        if matches!(find_projection(&view, &name)?, DerivedRead::Damaged) {
            faults.push(format!("the projection {name} is damaged and not used; `quipu rebuild` makes it again"));
        }
    }
    let Some(tag) = vector_tag(&view)? else { return Ok(()) };
    let Some(tag) = tag.strip_prefix(VECTOR_LAYOUT) else { return Ok(()) };
    let (_, damaged) = checked_vectors(&view, tag)?;
    if damaged > 0 {
        faults.push(format!(
            "{damaged} vectors are damaged and not used; the next change or `quipu rebuild` makes them again"
        ));
    }
    Ok(())
}

/// Writes a checkpoint in the transaction of the caller.
pub(crate) fn write_checkpoint(transaction: &Transaction<'_>, checkpoint: &Checkpoint) -> Result<(), Failure> {
    if let Some((seq, bytes)) = &checkpoint.snapshot {
        let owner = snapshot_owner(*seq);
        put_blob(transaction, &owner, bytes, &blob_checksum(&owner, *seq, "", bytes))?;
        transaction
            .prepare_cached(include_str!("sql/put_snapshot.sql"))?
            .execute(params![stored(*seq), bytes.len() as i64])?;
        keep_snapshots(transaction, checkpoint.snapshots_kept.max(1))?;
    }
    for (name, projection) in &checkpoint.projections {
        let (owner, Projection { seq, tag, bytes }) = (projection_owner(name), projection);
        put_blob(transaction, &owner, bytes, &blob_checksum(&owner, *seq, tag, bytes))?;
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
    surplus.into_iter().try_for_each(|seq| drop_snapshot(transaction, seq))
}

/// Deletes every snapshot, projection and vector.
pub(crate) fn drop_all(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(include_str!("sql/drop_derived.sql"))
}

pub(crate) fn put_vectors(
    transaction: &Transaction<'_>,
    tag: &str,
    vectors: &[(VectorKey, Vec<u8>)],
) -> rusqlite::Result<()> {
    let layout = format!("{VECTOR_LAYOUT}{tag}");
    if vector_tag(transaction)?.as_ref() != Some(&layout) {
        transaction.prepare_cached(include_str!("sql/clear_vectors.sql"))?.execute([])?;
        transaction.prepare_cached(include_str!("sql/put_meta.sql"))?.execute([meta::VECTOR_TAG, &layout])?;
    }
    let mut put = transaction.prepare_cached(include_str!("sql/put_vector.sql"))?;
    for (key, bytes) in vectors {
        put.execute(params![key, [bytes.as_slice(), &vector_checksum(tag, key, bytes)].concat()])?;
    }
    Ok(())
}

pub(crate) fn vectors(connection: &mut Connection, tag: &str) -> rusqlite::Result<Vec<(VectorKey, Vec<u8>)>> {
    let view = connection.transaction()?;
    if vector_tag(&view)? != Some(format!("{VECTOR_LAYOUT}{tag}")) {
        return Ok(Vec::new());
    }
    Ok(checked_vectors(&view, tag)?.0)
}

/// The valid vectors, and the number of damaged ones.
fn checked_vectors(view: &Connection, tag: &str) -> rusqlite::Result<(Vec<Vector>, usize)> {
    let mut query = view.prepare_cached(include_str!("sql/vectors.sql"))?;
    let mut rows = query.query([])?;
    let (mut whole, mut damaged) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let found = row.get::<_, VectorKey>(0).ok().zip(row.get::<_, Vec<u8>>(1).ok());
        let checked = found.and_then(|(key, mut bytes)| {
            let checksum = bytes.split_off(bytes.len().checked_sub(CHECKSUM_BYTES)?);
            (checksum == vector_checksum(tag, &key, &bytes)).then_some((key, bytes))
        });
        match checked {
            Some(vector) => whole.push(vector),
            None => damaged += 1,
        }
    }
    Ok((whole, damaged))
}

fn vector_checksum(tag: &str, key: &VectorKey, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("quipu stored vector v1");
    hasher.update(&(tag.len() as u64).to_le_bytes()).update(tag.as_bytes()).update(key).update(bytes);
    hasher.finalize().into()
}

fn blob_checksum(owner: &str, seq: Seq, tag: &str, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("quipu stored projection v1");
    for part in [owner, tag] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.update(&seq.to_le_bytes()).update(bytes);
    hasher.finalize().into()
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

/// Replaces a blob and its checksum. Pieces of equal size are overwritten in place.
fn put_blob(
    transaction: &Transaction<'_>,
    owner: &str,
    bytes: &[u8],
    checksum: &[u8; CHECKSUM_BYTES],
) -> rusqlite::Result<()> {
    let mut put = transaction.prepare_cached(include_str!("sql/put_piece.sql"))?;
    let mut parts = 0;
    for (part, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        put.execute(params![owner, part as i64, piece])?;
        parts = part as i64 + 1;
    }
    put.execute(params![owner, parts, checksum])?;
    drop_pieces_from(transaction, owner, parts + 1)
}

fn drop_pieces_from(transaction: &Transaction<'_>, owner: &str, part: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached(include_str!("sql/drop_pieces_from.sql"))?.execute(params![owner, part]).map(|_| ())
}

/// The bytes of a blob, if they match its checksum.
fn blob(
    connection: &Connection,
    owner: &str,
    length: Option<i64>,
    checksum: impl FnOnce(&[u8]) -> [u8; CHECKSUM_BYTES],
) -> rusqlite::Result<DerivedRead<Vec<u8>>> {
    // The capacity is not reserved from the stored length, which may be damaged.
    let mut bytes = Vec::new();
    let mut query = connection.prepare_cached(include_str!("sql/pieces.sql"))?;
    let mut rows = query.query([owner])?;
    let mut pieces = 0;
    while let Some(row) = rows.next()? {
        let Ok(piece) = row.get_ref(0)?.as_blob() else { return Ok(DerivedRead::Damaged) };
        bytes.extend_from_slice(piece);
        pieces += 1;
    }
    if length == i64::try_from(bytes.len()).ok() && pieces == bytes.len().div_ceil(PIECE_BYTES) {
        // Written before checksums were introduced.
        return Ok(DerivedRead::Nothing);
    }
    let Some(body) = bytes.len().checked_sub(CHECKSUM_BYTES) else { return Ok(DerivedRead::Damaged) };
    let written = bytes.split_off(body);
    if length == i64::try_from(body).ok() && written == checksum(&bytes) {
        return Ok(DerivedRead::Whole(bytes));
    }
    Ok(DerivedRead::Damaged)
}
