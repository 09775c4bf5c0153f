//! Hits: how often an item was shown. Counted beside the ledger, because recall appends nothing on its path, and written
//! down in batches.
//!
//! A batch has a number, and the event that writes it down has the number as its key: however often that is tried, it counts
//! once. What was counted and not kept is lost with the process; nothing depends on it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, SourceKind};
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::item::{DerivedChange, ItemHits};
use quipu_core::limit;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::cursor::{Cursor, Position};
use crate::memory::{Receipt, commit};
use crate::ports::Projection;

/// Name of the batch among a ledger's projections.
const HITS: &str = "hits";

/// What was shown and is not written down.
pub(crate) type PendingHits = Cursor<Batch>;

/// What was shown since the last batch was written down.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Batch {
    /// 0 for one that nobody has named yet.
    number: u64,
    hits: BTreeMap<ItemId, (u64, Timestamp)>,
    /// The batch as the store keeps it is another one.
    is_unsaved: bool,
}

/// A batch as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredBatch {
    number: u64,
    hits: Vec<ItemHits>,
}

impl Position for Batch {
    const NAME: &'static str = HITS;

    /// A batch that cannot be read is no batch.
    fn load(saved: Option<Projection>, _: Seq) -> Self {
        let kept: Option<StoredBatch> = saved.and_then(|saved| serde_json::from_slice(&saved.bytes).ok());
        let batch = kept.map(|kept| {
            let hits = kept.hits.into_iter().map(|one| (one.item, (one.count, one.last_at))).collect();
            Self { number: kept.number, hits, is_unsaved: false }
        });
        batch.unwrap_or_default()
    }

    fn stored(&self, level: Seq) -> Option<Projection> {
        if self.number == 0 {
            return None;
        }
        let one = |(&item, &(count, last_at)): (&ItemId, &(u64, Timestamp))| ItemHits { item, count, last_at };
        let kept = StoredBatch { number: self.number, hits: self.hits.iter().map(one).collect() };
        let bytes = serde_json::to_vec(&kept).ok()?;
        Some(Projection { seq: level, tag: "1".to_owned(), bytes })
    }
}

impl Cursor<Batch> {
    /// Counts what was shown.
    pub(crate) fn count(&self, items: impl IntoIterator<Item = ItemId>, now: Timestamp) {
        let mut batch = self.get();
        for item in items {
            if batch.hits.len() >= limit::HITS_PENDING_MAX && !batch.hits.contains_key(&item) {
                continue;
            }
            let (count, last) = batch.hits.entry(item).or_insert((0, now));
            *count = count.saturating_add(1);
            *last = now.max(*last);
            batch.is_unsaved = true;
        }
    }

    /// Items whose hits are not written down.
    pub(crate) fn waiting(&self) -> usize {
        self.get().hits.len()
    }
}

/// Keeps what was shown until it is written down, also across restarts. To be called when nobody waits for an answer any
/// more; without anything new it writes nothing.
///
/// # Errors
/// `NotFound` without such a user; what the store said.
pub fn keep_hits(engine: &Engine, user: &UserId) -> Result<()> {
    let open = engine.open(user)?;
    if !open.shown_items.get().is_unsaved {
        return Ok(());
    }
    save(engine, &open)
}

fn save(engine: &Engine, open: &OpenMemory) -> Result<()> {
    {
        let mut batch = open.shown_items.get();
        if batch.number == 0 {
            batch.number = new_number(engine);
        }
        batch.is_unsaved = false;
    }
    open.shown_items.save_as_it_is(open)
}

fn new_number(engine: &Engine) -> u64 {
    let mut random = [0u8; 8];
    engine.entropy.fill(&mut random);
    u64::from_le_bytes(random).max(1)
}

/// Writes down what was shown, if it is not written down yet. What is gone by now is left out.
///
/// # Errors
/// `NotFound` without such a user; else as for every append.
pub fn flush_hits(engine: &Engine, user: &UserId) -> Result<Option<Receipt>> {
    let open = engine.open(user)?;
    flush(engine, &open)
}

/// The same, once enough has come together to be worth an event.
pub(crate) fn flush_by_the_way(engine: &Engine, open: &OpenMemory) -> Result<()> {
    if open.shown_items.waiting() < limit::HITS_UNFLUSHED_MAX {
        return Ok(());
    }
    flush(engine, open).map(drop)
}

fn flush(engine: &Engine, open: &OpenMemory) -> Result<Option<Receipt>> {
    let batch = {
        let mut batch = open.shown_items.get();
        if batch.hits.is_empty() {
            return Ok(None);
        }
        if batch.number == 0 {
            batch.number = new_number(engine);
        }
        batch.clone()
    };
    let key = format!("hits:{:016x}", batch.number);
    let request = commit::idempotency(Some(&key), &[key.as_bytes()]);
    let receipts = commit::commit(engine, open, request.as_ref(), &mut |state| Ok(draft(&state.memory, &batch)));
    let receipt = match receipts {
        Ok(mut receipts) => receipts.pop(),
        // A batch of that number was written down and erased since: it does not count again.
        Err(Error::Refused(why)) => match open.writer()?.ledger.key_use(&key)? {
            Some(_) => None,
            None => return Err(Error::Refused(why)),
        },
        Err(other) => return Err(other),
    };
    {
        // What was shown in between goes into the next batch.
        let mut now = open.shown_items.get();
        for (item, (count, _)) in &batch.hits {
            if let Some(held) = now.hits.get_mut(item) {
                held.0 = held.0.saturating_sub(*count);
            }
        }
        now.hits.retain(|_, (count, _)| *count > 0);
        now.number = 0;
    }
    save(engine, open)?;
    checkpoint::after_append(engine, open, false, &mut |_| {});
    Ok(receipt)
}

/// One event, some hundred items a change.
fn draft(memory: &Memory, batch: &Batch) -> Vec<Draft> {
    let there = batch.hits.iter().filter(|(item, _)| memory.has(**item));
    let hits: Vec<ItemHits> = there.map(|(&item, &(count, last_at))| ItemHits { item, count, last_at }).collect();
    let changes: Vec<Change> = hits
        .chunks(limit::HITS_PER_CHANGE)
        .map(|part| Change::Drawn(DerivedChange::HitsCounted { hits: part.to_vec() }))
        .collect();
    let draft = |changes| Draft {
        rationale: Some("what was shown".to_owned()),
        ..Draft::new(Actor::System, SourceKind::Inferred, changes)
    };
    (!changes.is_empty()).then(|| draft(changes)).into_iter().collect()
}
