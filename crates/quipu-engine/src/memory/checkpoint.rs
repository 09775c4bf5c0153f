//! Work after an append: embedding, and checkpoints with snapshot and index.

use quipu_core::id::UserId;
use quipu_core::limit;
use quipu_core::recall::DerivedIndex;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::cursor;
use crate::memory::index::{self, RECALL};
use crate::memory::{OpenMemory, State, Watch};
use crate::ports::{Checkpoint, StoreError};

/// Embeds new passages, and writes a checkpoint if one is due or `now` is set.
///
/// The append is durable already, so a failure is not an error: it is returned as text and made up for by a later call.
pub(crate) fn after_append(engine: &Engine, open: &OpenMemory, now: bool, watch: Watch<'_>) -> Option<String> {
    let done = index::embed(engine, open, watch).and_then(|_| checkpoint(engine, open, now));
    done.err().map(|error| format!("it is recorded, but the search index lags behind: {error}"))
}

/// Saves snapshot and index if enough events were appended since the last time, or if `now` is set.
pub(crate) fn checkpoint(engine: &Engine, open: &OpenMemory, now: bool) -> Result<bool> {
    let mut writer = open.writer()?;
    let state = open.read();
    let seq = state.memory.seq();
    // The cost of a snapshot grows with the memory, so a large memory waits for more events.
    let due = writer.snapshot_seq + limit::SNAPSHOT_EVENTS.max(seq / 8);
    if seq == writer.snapshot_seq || (!now && seq < due) {
        return Ok(false);
    }
    let complete = index::waiting(&state.index) == 0;
    let checkpoint = Checkpoint {
        snapshot: Some((seq, state.memory.encode()?)),
        snapshots_kept: limit::SNAPSHOTS_KEPT,
        projections: std::iter::once((RECALL, index::write_image(engine, &state.memory, &state.index)))
            // Not the positions that move under a lease: another process may have moved them, and their text would be
            // read, and paid for, again.
            .chain(open.unread.stored(seq))
            .chain(open.shown_items.stored(seq))
            .collect(),
        clear_vectors: complete,
        level: seq,
        lease: None,
    };
    drop(state);
    match writer.ledger.checkpoint(&checkpoint) {
        // Another process has erased or reverted something, so this state is outdated.
        Err(StoreError::Conflict { .. }) => {
            open.catch_up(engine, &mut writer)?;
            return Ok(false);
        }
        outcome => outcome?,
    }
    writer.snapshot_seq = seq;
    Ok(true)
}

/// Writes a snapshot and the index image now. Returns their version.
///
/// # Errors
/// `NotFound` if there is no such user; any error of the store.
pub fn snapshot(engine: &Engine, user: &UserId) -> Result<u64> {
    let open = engine.open_existing(user)?;
    checkpoint(engine, &open, true)?;
    let seq = open.read().memory.seq();
    Ok(seq)
}

/// Result of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Rebuilt {
    /// Events replayed.
    pub events: u64,
    /// Items in the memory.
    pub items: u64,
    /// Passages embedded again.
    pub passages_embedded: u64,
    /// BLAKE3 of the rebuilt memory's bytes.
    pub memory_hash: String,
    /// True if the rebuilt memory has the same bytes as the previous one.
    pub identical: bool,
}

/// Drops every projection of a user and builds them again from the ledger.
///
/// # Errors
/// `Corrupt` if the ledger cannot be replayed. The ledger itself is never changed.
pub fn rebuild(engine: &Engine, user: &UserId, watch: Watch<'_>) -> Result<Rebuilt> {
    let open = engine.open_existing(user)?;
    let (before, after) = {
        let mut writer = open.writer()?;
        // Events appended by other processes before this point are not a difference.
        open.catch_up(engine, &mut writer)?;
        // The ledger is replayed to the version of this memory, so later events are not a difference either.
        let (before, head) = {
            let state = open.read();
            (state.memory.encode()?, state.memory.seq())
        };
        let history = crate::memory::fold::read_history(writer.ledger.as_mut(), head)?;
        let memory = crate::memory::fold::fold_from_start(writer.ledger.as_mut(), user, &history, head)?;
        cursor::refresh_leased(&open, writer.ledger.as_mut())?;
        writer.ledger.drop_projections()?;
        writer.ledger.checkpoint(&cursor::all(&open, head))?;
        writer.snapshot_seq = 0;
        let mut index = index::empty(engine);
        index::add_new(&mut index, &memory, 0);
        let after = memory.encode()?;
        open.publish(State { derived: DerivedIndex::of(memory.items()), memory, history, index });
        (before, after)
    };
    let passages_embedded = index::embed(engine, &open, watch)?;
    checkpoint(engine, &open, true)?;
    let state = open.read();
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
