//! Stores snapshots, projections and vectors, which can all be rebuilt from the ledger.
//!
//! Each has a checksum over its bytes and its metadata and is used only if the checksum matches. Otherwise it counts
//! as absent and is rebuilt.

use std::collections::BTreeMap;

use quipu_core::id::Seq;
use quipu_engine::ports::{Checkpoint, Projection, StoreError, VectorKey};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Access, Answers, Step, Value};
use crate::fault::removed;
use crate::handle::{ASIDE, PostgresLedger};
use crate::rows::{column, position, stored};

/// Size of the pieces of large blobs, far below the server's limit for a value.
const PIECE_BYTES: usize = 8 << 20;
const CHECKSUM_BYTES: usize = 32;

pub(crate) fn snapshot_name(seq: Seq) -> String {
    format!("snapshot:{seq}")
}

pub(crate) fn projection_name(name: &str) -> String {
    format!("projection:{name}")
}

pub(crate) fn snapshots(ledger: &PostgresLedger) -> Result<Vec<Seq>, StoreError> {
    ledger.rows(include_str!("sql/snapshots.sql"), [])?.iter().map(|row| position(row, 0)).collect()
}

/// A snapshot or a projection, if it is there and valid.
pub(crate) fn blob(ledger: &PostgresLedger, name: &str) -> Result<Option<Projection>, StoreError> {
    let rows = ledger.rows(include_str!("sql/pieces.sql"), [(&name as _, Type::TEXT)])?;
    Ok(joined(name, &rows))
}

/// Joins the pieces of a blob; `None` if there is none, or it is damaged.
fn joined(name: &str, rows: &[Row]) -> Option<Projection> {
    let first = rows.first()?;
    let (seq, tag): (i64, String) = (first.try_get(0).ok()?, first.try_get(1).ok()?);
    let seq = Seq::try_from(seq).ok()?;
    let mut bytes = Vec::new();
    for row in rows {
        bytes.extend_from_slice(row.try_get(3).ok()?);
    }
    let written: &[u8] = first.try_get(2).ok()?;
    (written == blob_checksum(name, seq, &tag, &bytes)).then_some(Projection { seq, tag, bytes })
}

/// Writes a checkpoint in one transaction, which is sent as a whole.
pub(crate) fn write_checkpoint(ledger: &PostgresLedger, checkpoint: &Checkpoint) -> Result<(), StoreError> {
    let level = stored(checkpoint.level);
    let snapshot = checkpoint.snapshot.as_ref().map(|(seq, bytes)| Blob::new(snapshot_name(*seq), *seq, "", bytes));
    let projections = checkpoint
        .projections
        .iter()
        .map(|(name, projection)| Blob::new(projection_name(name), projection.seq, &projection.tag, &projection.bytes));
    // In order of name, so that two checkpoints do not wait for each other's rows.
    let mut blobs: Vec<Blob<'_>> = snapshot.into_iter().chain(projections).collect();
    blobs.sort_by(|one, other| one.name.cmp(&other.name));
    let kept = checkpoint.snapshots_kept.max(1) as i64;
    let mut steps = vec![ledger.step(include_str!("sql/lock_shared.sql"), [])];
    let lease = checkpoint.lease.as_ref().map(|claim| &claim.name);
    let holder = checkpoint.lease.as_ref().map(|claim| claim.holder.cast_signed());
    let claim = [(&lease as _, Type::TEXT), (&holder as _, Type::INT8)];
    if lease.is_some() {
        steps.push(ledger.step(include_str!("sql/lock_lease.sql"), claim.clone()));
    }
    blobs.iter().for_each(|blob| blob.put(ledger, &level, &claim, &mut steps));
    if checkpoint.snapshot.is_some() {
        let values = [(&level as _, Type::INT8), (&kept as _, Type::INT8)];
        steps.push(ledger.step(include_str!("sql/keep_snapshots.sql"), values));
    }
    if checkpoint.clear_vectors {
        steps.push(ledger.step(include_str!("sql/clear_vectors.sql"), [(&level as _, Type::INT8)]));
    }
    let answers = ledger.repeat(Access::Write, "write a checkpoint to", &steps)?;
    is_stored(&answers, checkpoint.level)?;
    match &checkpoint.lease {
        Some(claim) if answers.get(1).is_none_or(Vec::is_empty) => Err(claim.lost()),
        _ => Ok(()),
    }
}

/// Whether the statements after `lock_shared.sql` stored something: they do so unless the ledger is gone, or a control
/// event came after `level`.
fn is_stored(answers: &Answers, level: Seq) -> Result<(), StoreError> {
    let row = answers.first().and_then(|rows| rows.first()).ok_or_else(removed)?;
    if column::<i32>(row, 2)? == ASIDE {
        return Err(removed());
    }
    if position(row, 1)? > level {
        return Err(StoreError::Conflict { expected: level, head: position(row, 0)? });
    }
    Ok(())
}

/// A snapshot or a projection that is written.
struct Blob<'a> {
    name: String,
    seq: i64,
    tag: &'a str,
    checksum: Vec<u8>,
    /// Numbered pieces; a single empty one if there are no bytes.
    pieces: Vec<(i32, &'a [u8])>,
    end: i32,
}

impl<'a> Blob<'a> {
    fn new(name: String, seq: Seq, tag: &'a str, bytes: &'a [u8]) -> Self {
        let checksum = blob_checksum(&name, seq, tag, bytes).to_vec();
        let mut pieces: Vec<(i32, &[u8])> = (0..).zip(bytes.chunks(PIECE_BYTES)).collect();
        if pieces.is_empty() {
            pieces.push((0, bytes));
        }
        Self { name, seq: stored(seq), tag, checksum, end: pieces.len() as i32, pieces }
    }

    fn values<'s>(&'s self, level: &'s i64, part: &'s i32, bytes: &'s &'a [u8]) -> [Value<'s>; 7] {
        [
            (level as _, Type::INT8),
            (&self.name as _, Type::TEXT),
            (part as _, Type::INT4),
            (&self.seq as _, Type::INT8),
            (&self.tag as _, Type::TEXT),
            (&self.checksum as _, Type::BYTEA),
            (bytes as _, Type::BYTEA),
        ]
    }

    /// Adds the statements that replace it. `claim` is the lease that the holder must have and the holder, or null.
    fn put<'s>(
        &'s self,
        ledger: &'s PostgresLedger,
        level: &'s i64,
        claim: &[Value<'s>; 2],
        steps: &mut Vec<Step<'s>>,
    ) {
        for (part, bytes) in &self.pieces {
            let values = self.values(level, part, bytes).into_iter().chain(claim.clone());
            steps.push(ledger.step(include_str!("sql/put_piece.sql"), values));
        }
        let values = [(level as _, Type::INT8), (&self.name as _, Type::TEXT), (&self.end as _, Type::INT4)];
        let values = values.into_iter().chain(claim.clone());
        steps.push(ledger.step(include_str!("sql/drop_pieces.sql"), values));
    }
}

/// Deletes every snapshot, projection and vector.
pub(crate) fn drop_all(ledger: &PostgresLedger) -> Result<(), StoreError> {
    let sql =
        [include_str!("sql/lock_shared.sql"), include_str!("sql/drop_blobs.sql"), include_str!("sql/drop_vectors.sql")];
    let answers = ledger.repeat(Access::Write, "drop the projections of", &sql.map(|sql| ledger.step(sql, [])))?;
    is_stored(&answers, Seq::MAX)
}

pub(crate) fn put_vectors(
    ledger: &PostgresLedger,
    level: Seq,
    tag: &str,
    vectors: &[(VectorKey, Vec<u8>)],
) -> Result<(), StoreError> {
    // One statement cannot replace a row twice; of a key that is given twice, the last vector counts.
    let unique: BTreeMap<&VectorKey, Vec<u8>> = vectors
        .iter()
        .map(|(key, bytes)| (key, [bytes.as_slice(), &vector_checksum(tag, key, bytes)].concat()))
        .collect();
    let keys: Vec<&[u8]> = unique.keys().map(|key| key.as_slice()).collect();
    let bytes: Vec<&[u8]> = unique.values().map(Vec::as_slice).collect();
    let at = stored(level);
    let steps = [
        ledger.step(include_str!("sql/lock_shared.sql"), []),
        ledger.step(include_str!("sql/drop_other_vectors.sql"), [(&at as _, Type::INT8), (&tag as _, Type::TEXT)]),
        ledger.step(
            include_str!("sql/put_vectors.sql"),
            [
                (&at as _, Type::INT8),
                (&tag as _, Type::TEXT),
                (&keys as _, Type::BYTEA_ARRAY),
                (&bytes as _, Type::BYTEA_ARRAY),
            ],
        ),
    ];
    is_stored(&ledger.repeat(Access::Write, "add vectors to", &steps)?, level)
}

pub(crate) fn vectors(ledger: &PostgresLedger, tag: &str) -> Result<Vec<(VectorKey, Vec<u8>)>, StoreError> {
    let rows = ledger.rows(include_str!("sql/vectors.sql"), [(&tag as _, Type::TEXT)])?;
    Ok(rows.iter().filter_map(|row| whole_vector(row, tag)).collect())
}

/// A vector, if it is valid.
fn whole_vector(row: &Row, tag: &str) -> Option<(VectorKey, Vec<u8>)> {
    let key: VectorKey = row.try_get::<_, &[u8]>(0).ok()?.try_into().ok()?;
    let mut bytes: Vec<u8> = row.try_get(1).ok()?;
    let checksum = bytes.split_off(bytes.len().checked_sub(CHECKSUM_BYTES)?);
    (checksum == vector_checksum(tag, &key, &bytes)).then_some((key, bytes))
}

/// Adds one line for each damaged snapshot and projection, and one for all damaged vectors.
pub(crate) fn damage(ledger: &PostgresLedger, faults: &mut Vec<String>) -> Result<(), StoreError> {
    for row in ledger.rows(include_str!("sql/blob_names.sql"), [])? {
        let name: String = column(&row, 0)?;
        let pieces = ledger.rows(include_str!("sql/pieces.sql"), [(&name as _, Type::TEXT)])?;
        if !pieces.is_empty() && joined(&name, &pieces).is_none() {
            faults.push(format!("the {name} is damaged and not used; `quipu rebuild` makes it again"));
        }
    }
    let rows = ledger.rows(include_str!("sql/all_vectors.sql"), [])?;
    let is_damaged = |row: &&Row| row.try_get(2).map_or(true, |tag| whole_vector(row, tag).is_none());
    match rows.iter().filter(is_damaged).count() {
        0 => {}
        damaged => faults.push(format!(
            "{damaged} vectors are damaged and not used; the next change or `quipu rebuild` makes them again"
        )),
    }
    Ok(())
}

fn vector_checksum(tag: &str, key: &VectorKey, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("quipu stored vector v1");
    hasher.update(&(tag.len() as u64).to_le_bytes()).update(tag.as_bytes()).update(key).update(bytes);
    hasher.finalize().into()
}

fn blob_checksum(name: &str, seq: Seq, tag: &str, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("quipu stored projection v1");
    for part in [name, tag] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.update(&seq.to_le_bytes()).update(bytes);
    hasher.finalize().into()
}
