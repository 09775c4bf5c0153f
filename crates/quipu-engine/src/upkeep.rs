//! Keeping the recall index level with the memory: adding, embedding, saving, reading back.
//!
//! "Passages without a vector" is a state, not a queue: a crash between an append and its vectors only means that the
//! next command embeds them.

use std::collections::HashMap;

use quipu_core::Memory;
use quipu_core::id::UserId;
use quipu_core::limit;
use quipu_core::recall::{DerivedIndex, EmbeddingInput, IMAGE_TAG, Index, StoredVector, TokenCode, embedding_key};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::keeper::{Keeper, State};
use crate::meaning;
use crate::ports::{Checkpoint, Projection, UserLedger, VectorKey};

/// Name of the index among a ledger's projections.
const RECALL: &str = "recall";

/// How far a long piece of work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Turns read and made durable so far.
    Imported(u64),
    /// Passages embedded, of how many.
    Embedded(u64, u64),
    /// Events checked or replayed, of how many.
    Events(u64, u64),
}

/// Told about progress; does nothing when nobody watches.
pub type Watch<'a> = &'a mut dyn FnMut(Progress);

pub(crate) fn empty_index(engine: &Engine) -> Index {
    let model = engine.embedder.model();
    Index::new(model.dimensions, &model.id)
}

/// What an index image must say to be read: the layout and the model.
fn tag(engine: &Engine) -> String {
    format!("{} {}", String::from_utf8_lossy(IMAGE_TAG), engine.embedder.model().id)
}

/// Hash over the first `count` items, which an image names so that it is never put under other items.
fn items_hash(memory: &Memory, count: usize) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("quipu index items v1");
    for held in &memory.sources()[..count] {
        hasher.update(&[held.source.id.kind as u8]);
        hasher.update(&held.source.id.bits.to_le_bytes());
    }
    hasher.finalize()
}

/// Adds the sources from position `from` on.
pub(crate) fn index_new(index: &mut Index, memory: &Memory, from: usize) {
    for (ordinal, held) in memory.sources().iter().enumerate().skip(from) {
        index.add(ordinal as u32, &held.source);
    }
}

/// An index over a memory that takes over every vector `old` has for the same text.
pub(crate) fn rebuild_index(engine: &Engine, memory: &Memory, old: &Index) -> Index {
    let mut index = empty_index(engine);
    index_new(&mut index, memory, 0);
    index.reuse_vectors(old, memory.sources());
    index
}

/// The index of a memory: from its image if that still fits, with what was embedded since.
pub(crate) fn load_index(engine: &Engine, ledger: &mut dyn UserLedger, memory: &Memory) -> Result<Index> {
    let mut index = match read_image(engine, ledger)? {
        Some((count, hash, image)) if count <= memory.sources().len() && items_hash(memory, count) == hash => {
            let mut index = image;
            index_new(&mut index, memory, count);
            index
        }
        Some((_, _, stale)) => rebuild_index(engine, memory, &stale),
        None => rebuild_index(engine, memory, &empty_index(engine)),
    };
    if waiting(&index) > 0 {
        let saved: HashMap<VectorKey, Vec<u8>> = ledger.vectors(&tag(engine))?.into_iter().collect();
        let absent: Vec<(u32, VectorKey)> =
            index.missing(memory.sources(), 0).map(|(passage, input)| (passage, embedding_key(&input.text))).collect();
        for (passage, key) in absent {
            if let Some((scale, steps, codes)) =
                saved.get(&key).and_then(|bytes| read_single(bytes, index.dimensions()))
            {
                index.set_stored(passage, &StoredVector { key, scale, steps: &steps, codes: &codes });
            }
        }
    }
    Ok(index)
}

/// A vector as it waits for the next checkpoint: scale, then steps, then the codes of the tokens.
fn single_vector(index: &Index, passage: u32) -> Option<(VectorKey, Vec<u8>)> {
    let vector = index.vector(passage)?;
    let steps = vector.steps.iter().map(|step| step.cast_unsigned());
    let codes = vector.codes.as_flattened().iter().flat_map(|word| word.to_le_bytes());
    Some((vector.key, vector.scale.to_le_bytes().into_iter().chain(steps).chain(codes).collect()))
}

/// What [`single_vector`] wrote; none if it has another length, and then the passage is embedded again.
fn read_single(bytes: &[u8], dimensions: usize) -> Option<(f32, Vec<i8>, Vec<TokenCode>)> {
    let (scale, rest) = bytes.split_first_chunk::<4>()?;
    let (steps, codes) = rest.split_at_checked(dimensions)?;
    let (words, left) = codes.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let (codes, half) = words.as_chunks();
    let whole = left.is_empty() && half.is_empty();
    let steps = steps.iter().map(|&step| step.cast_signed()).collect();
    whole.then(|| (f32::from_le_bytes(*scale), steps, codes.to_vec()))
}

/// Passages without a vector.
pub(crate) fn waiting(index: &Index) -> usize {
    index.passage_count() - index.vector_count()
}

type Image = (usize, blake3::Hash, Index);

fn read_image(engine: &Engine, ledger: &mut dyn UserLedger) -> Result<Option<Image>> {
    let Some(projection) = ledger.projection(RECALL)? else { return Ok(None) };
    if projection.tag != tag(engine) {
        return Ok(None);
    }
    // An image that cannot be read is made again; it is never the only copy of anything.
    let Some((count, rest)) = projection.bytes.split_first_chunk::<8>() else { return Ok(None) };
    let Some((hash, image)) = rest.split_first_chunk::<32>() else { return Ok(None) };
    let count = usize::try_from(u64::from_le_bytes(*count)).unwrap_or(usize::MAX);
    Ok(Index::decode(image).ok().map(|index| (count, blake3::Hash::from_bytes(*hash), index)))
}

fn write_image(engine: &Engine, memory: &Memory, index: &Index) -> Projection {
    let count = memory.sources().len();
    let mut bytes = (count as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(items_hash(memory, count).as_bytes());
    bytes.extend_from_slice(&index.encode());
    Projection { seq: memory.seq(), tag: tag(engine), bytes }
}

/// Embeds every passage that has no vector yet. Returns how many.
///
/// # Errors
/// What the embedder or the store said. What was embedded before stays.
pub(crate) fn catch_up(engine: &Engine, keeper: &Keeper, watch: Watch<'_>) -> Result<u64> {
    let total = waiting(&keeper.read().index) as u64;
    let (mut done, mut from) = (0, 0);
    loop {
        let batch = next_batch(&keeper.read(), from);
        let Some((last, _)) = batch.last() else { return Ok(done) };
        from = last + 1;
        let understood = meaning::of_passages(engine.embedder.as_ref(), &batch)?;
        let mut writer = keeper.writer();
        let saved: Vec<_> = {
            let State { memory, index, .. } = &mut *keeper.write();
            for ((passage, input), (vector, codes)) in batch.iter().zip(&understood) {
                // Another command may have changed what stands here while the model worked.
                if index.embedding_input(memory.sources(), *passage).as_ref() == Some(input) {
                    index.set_vector(*passage, &input.text, vector, codes);
                }
            }
            batch.iter().filter_map(|(passage, _)| single_vector(index, *passage)).collect()
        };
        writer.ledger.put_vectors(u64::MAX, &tag(engine), &saved)?;
        done += batch.len() as u64;
        watch(Progress::Embedded(done, total.max(done)));
    }
}

/// What follows an append: vectors, and a checkpoint if one is due, or `now`.
///
/// The append is durable whatever happens here, so a failure is no error of the command: it is said, and made good by a
/// later one.
pub(crate) fn after_append(engine: &Engine, keeper: &Keeper, now: bool, watch: Watch<'_>) -> Option<String> {
    let done = catch_up(engine, keeper, watch).and_then(|_| checkpoint(engine, keeper, now));
    done.err().map(|error| format!("it is recorded, but the search index lags behind: {error}"))
}

/// The next passages to embed, from passage `from` on, with their texts.
pub(crate) fn next_batch(state: &State, from: u32) -> Vec<(u32, EmbeddingInput)> {
    state.index.missing(state.memory.sources(), from).take(limit::EMBED_BATCH).collect()
}

/// Saves snapshot and index if enough events came since the last time, or `now`.
pub(crate) fn checkpoint(engine: &Engine, keeper: &Keeper, now: bool) -> Result<bool> {
    let mut writer = keeper.writer();
    let state = keeper.read();
    let seq = state.memory.seq();
    // A snapshot costs as much as the memory is large, so a large memory waits for more events.
    let due = writer.snapshot_seq + limit::SNAPSHOT_EVENTS.max(seq / 8);
    if seq == writer.snapshot_seq || (!now && seq < due) {
        return Ok(false);
    }
    let complete = waiting(&state.index) == 0;
    let checkpoint = Checkpoint {
        snapshot: Some((seq, state.memory.encode()?)),
        snapshots_kept: limit::SNAPSHOTS_KEPT,
        projections: std::iter::once((RECALL, write_image(engine, &state.memory, &state.index)))
            .chain(keeper.unread.position())
            .chain(keeper.studied.position())
            .chain(keeper.shown_items.position(seq))
            .chain(keeper.reflected.position())
            .collect(),
        clear_vectors: complete,
        level: seq,
    };
    drop(state);
    writer.ledger.checkpoint(&checkpoint)?;
    writer.snapshot_seq = seq;
    Ok(true)
}

/// Writes a snapshot and the index image now. Returns the version they hold.
///
/// # Errors
/// `NotFound` without such a user; what the store said.
pub fn snapshot(engine: &Engine, user: &UserId) -> Result<u64> {
    let keeper = engine.keeper(user, false)?;
    checkpoint(engine, &keeper, true)?;
    let seq = keeper.read().memory.seq();
    Ok(seq)
}

/// What a rebuild found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Rebuilt {
    /// Events replayed.
    pub events: u64,
    /// Items in the memory.
    pub items: u64,
    /// Passages embedded again.
    pub passages_embedded: u64,
    /// BLAKE3 of the memory's bytes, the same before and after.
    pub memory_hash: String,
    /// True if the rebuilt memory has the same bytes as the one that was in use.
    pub identical: bool,
}

/// Drops every projection of a user and makes them again from the ledger alone.
///
/// # Errors
/// `Corrupt` if the ledger cannot be replayed; the ledger itself is never touched.
pub fn rebuild(engine: &Engine, user: &UserId, watch: Watch<'_>) -> Result<Rebuilt> {
    let keeper = engine.keeper(user, false)?;
    let (before, after) = {
        let mut writer = keeper.writer();
        let before = keeper.read().memory.encode()?;
        let history = crate::keeper::read_history(writer.ledger.as_mut())?;
        let head = writer.ledger.head()?.seq;
        let memory = crate::keeper::fold_from_start(writer.ledger.as_mut(), user, &history, head)?;
        writer.ledger.drop_projections()?;
        writer.snapshot_seq = 0;
        let mut index = empty_index(engine);
        index_new(&mut index, &memory, 0);
        let after = memory.encode()?;
        *keeper.write() = State { derived: DerivedIndex::of(memory.items()), memory, history, index };
        (before, after)
    };
    let passages_embedded = catch_up(engine, &keeper, watch)?;
    checkpoint(engine, &keeper, true)?;
    let state = keeper.read();
    let items = state.memory.sources().iter().filter(|held| held.source.is_item()).count();
    let rebuilt = Rebuilt {
        events: state.memory.seq(),
        items: items as u64,
        passages_embedded,
        memory_hash: blake3::hash(&after).to_hex().to_string(),
        identical: before == after,
    };
    if rebuilt.identical {
        Ok(rebuilt)
    } else {
        Err(Error::Bug("the rebuilt memory differs from the one in use; the rebuilt one is kept".to_owned()))
    }
}
