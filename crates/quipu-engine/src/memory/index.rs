//! The recall index of an open memory: adds, embeds, saves and loads passages.
//!
//! A missing vector is a state of a passage, not an entry of a queue: after a crash between an append and its vectors,
//! the next command embeds them.

use std::collections::HashMap;

use quipu_core::Memory;
use quipu_core::id::Seq;
use quipu_core::limit;
use quipu_core::recall::{EmbeddingInput, IMAGE_TAG, Index, StoredVector, TokenCode, embedding_key};

use crate::engine::Engine;
use crate::error::Result;
use crate::lock::before_slow_call;
use crate::memory::progress::{Progress, Watch};
use crate::memory::{OpenMemory, SharedMemory, State, Writer};
use crate::ports::{Projection, StoreError, UserLedger, VectorKey};
use crate::read::meaning::{self, Understood};

/// Name of the index among a ledger's projections.
pub(crate) const RECALL: &str = "recall";

pub(crate) fn empty(engine: &Engine) -> Index {
    let model = engine.embedder.model();
    Index::new(model.dimensions, &model.id)
}

/// The tag of a readable index image: layout and embedding model.
fn tag(engine: &Engine) -> String {
    format!("{} {}", String::from_utf8_lossy(IMAGE_TAG), engine.embedder.model().id)
}

/// Hash of the first `count` items, stored in an image so that it is not applied to other items.
fn items_hash(memory: &Memory, count: usize) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("quipu index items v1");
    for held in &memory.sources()[..count] {
        hasher.update(&[held.source.id.kind as u8]);
        hasher.update(&held.source.id.bits.to_le_bytes());
    }
    hasher.finalize()
}

/// Adds the sources from position `from` on.
pub(crate) fn add_new(index: &mut Index, memory: &Memory, from: usize) {
    for (ordinal, held) in memory.sources().iter().enumerate().skip(from) {
        index.add(ordinal as u32, &held.source);
    }
}

/// Builds an index over a memory, reusing vectors of `old` for the same text.
pub(crate) fn rebuilt(engine: &Engine, memory: &Memory, old: &Index) -> Index {
    let mut index = empty(engine);
    add_new(&mut index, memory, 0);
    index.reuse_vectors(old, memory.sources());
    index
}

/// Loads the index of a memory from its image, if that is still valid, and from the vectors stored since.
pub(crate) fn load(engine: &Engine, ledger: &mut dyn UserLedger, memory: &Memory) -> Result<Index> {
    let mut index = match read_image(engine, ledger)? {
        Some((count, hash, image)) if count <= memory.sources().len() && items_hash(memory, count) == hash => {
            let mut index = image;
            add_new(&mut index, memory, count);
            index
        }
        Some((_, _, stale)) => rebuilt(engine, memory, &stale),
        None => rebuilt(engine, memory, &empty(engine)),
    };
    if waiting(&index) > 0 {
        let saved = ledger.vectors(&tag(engine))?.into_iter().collect();
        adopt(&mut index, memory, &saved);
    }
    Ok(index)
}

/// Loads vectors that another process has stored.
pub(crate) fn adopt_saved(engine: &Engine, open: &SharedMemory, writer: &mut Writer) -> Result<()> {
    if waiting(&open.read().index) > 0 {
        let saved = writer.ledger.vectors(&tag(engine))?.into_iter().collect();
        let State { memory, index, .. } = &mut *open.write();
        adopt(index, memory, &saved);
    }
    Ok(())
}

fn adopt(index: &mut Index, memory: &Memory, saved: &HashMap<VectorKey, Vec<u8>>) {
    let absent: Vec<(u32, VectorKey)> =
        index.missing(memory.sources(), 0).map(|(passage, input)| (passage, embedding_key(&input.text))).collect();
    for (passage, key) in absent {
        if let Some((scale, steps, codes)) = saved.get(&key).and_then(|bytes| read_single(bytes, index.dimensions())) {
            index.set_stored(passage, &StoredVector { key, scale, steps: &steps, codes: &codes });
        }
    }
}

/// Encodes a vector for storage until the next checkpoint: scale, steps, token codes.
fn single_vector(index: &Index, passage: u32) -> Option<(VectorKey, Vec<u8>)> {
    let vector = index.vector(passage)?;
    let steps = vector.steps.iter().map(|step| step.cast_unsigned());
    let codes = vector.codes.as_flattened().iter().flat_map(|word| word.to_le_bytes());
    Some((vector.key, vector.scale.to_le_bytes().into_iter().chain(steps).chain(codes).collect()))
}

/// Decodes the output of [`single_vector`]; `None` for another length, in which case the passage is embedded again.
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

/// Number of passages without a vector.
pub(crate) fn waiting(index: &Index) -> usize {
    index.passage_count() - index.vector_count()
}

type Image = (usize, blake3::Hash, Index);

fn read_image(engine: &Engine, ledger: &mut dyn UserLedger) -> Result<Option<Image>> {
    let Some(projection) = ledger.projection(RECALL)? else { return Ok(None) };
    if projection.tag != tag(engine) {
        return Ok(None);
    }
    // An unreadable image is rebuilt; it is never the only copy of anything.
    let Some((count, rest)) = projection.bytes.split_first_chunk::<8>() else { return Ok(None) };
    let Some((hash, image)) = rest.split_first_chunk::<32>() else { return Ok(None) };
    let count = usize::try_from(u64::from_le_bytes(*count)).unwrap_or(usize::MAX);
    Ok(Index::decode(image).ok().map(|index| (count, blake3::Hash::from_bytes(*hash), index)))
}

pub(crate) fn write_image(engine: &Engine, memory: &Memory, index: &Index) -> Projection {
    let count = memory.sources().len();
    let mut bytes = (count as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(items_hash(memory, count).as_bytes());
    bytes.extend_from_slice(&index.encode());
    Projection { seq: memory.seq(), tag: tag(engine), bytes }
}

/// Embeds every passage without a vector. Returns how many.
///
/// # Errors
/// Any error of the embedder or the store. Vectors made before the error stay.
pub(crate) fn embed(engine: &Engine, open: &OpenMemory, watch: Watch<'_>) -> Result<u64> {
    let total = waiting(&open.read().index) as u64;
    let (mut done, mut from) = (0, 0);
    loop {
        let batch = next_batch(&open.read(), from);
        let Some((last, _)) = batch.last() else { return Ok(done) };
        from = last + 1;
        before_slow_call("the embedder");
        let understood = meaning::of_passages(engine.embedder.as_ref(), &batch)?;
        save(engine, open, &batch, &understood)?;
        done += batch.len() as u64;
        watch(Progress::Embedded(done, total.max(done)));
    }
}

/// Embeds, before a recall, the passages that have no vector now; later appends are not waited for. While another
/// thread appends, the vectors are only held in memory and stored with the next index image; a process that opens the
/// memory before that embeds these passages again.
///
/// # Errors
/// As [`embed`].
pub(crate) fn embed_before_read(engine: &Engine, open: &OpenMemory) -> Result<()> {
    let until = open.read().index.passage_count() as u32;
    let mut from = 0;
    loop {
        let mut batch = next_batch(&open.read(), from);
        batch.retain(|(passage, _)| *passage < until);
        let Some((last, _)) = batch.last() else { return Ok(()) };
        from = last + 1;
        before_slow_call("the embedder");
        let understood = meaning::of_passages(engine.embedder.as_ref(), &batch)?;
        // A writer holds this lock until its events are on disk.
        if open.writer.try_lock().is_none() {
            set_vectors(&mut open.write(), &batch, &understood);
        } else {
            save(engine, open, &batch, &understood)?;
        }
    }
}

/// Sets the vectors of passages whose text is unchanged since the embedder was called.
fn set_vectors(state: &mut State, batch: &[(u32, EmbeddingInput)], understood: &[Understood]) {
    let State { memory, index, .. } = state;
    for ((passage, input), (vector, codes)) in batch.iter().zip(understood) {
        if index.embedding_input(memory.sources(), *passage).as_ref() == Some(input) {
            index.set_vector(*passage, &input.text, vector, codes);
        }
    }
}

/// As [`set_vectors`], and stores the vectors until the next index image.
fn save(engine: &Engine, open: &OpenMemory, batch: &[(u32, EmbeddingInput)], understood: &[Understood]) -> Result<()> {
    let mut writer = open.writer()?;
    let (level, saved): (Seq, Vec<_>) = {
        let state = &mut *open.write();
        set_vectors(state, batch, understood);
        let saved = batch.iter().filter_map(|(passage, _)| single_vector(&state.index, *passage)).collect();
        (state.memory.seq(), saved)
    };
    match writer.ledger.put_vectors(level, &tag(engine), &saved) {
        // Another process has erased or reverted something meanwhile; the remaining passages are embedded later.
        Err(StoreError::Conflict { .. }) => open.catch_up(engine, &mut writer)?,
        outcome => outcome?,
    }
    Ok(())
}

/// The next passages to embed, starting at `from`, with their texts.
pub(crate) fn next_batch(state: &State, from: u32) -> Vec<(u32, EmbeddingInput)> {
    state.index.missing(state.memory.sources(), from).take(limit::EMBED_BATCH).collect()
}
