//! Hits: counts how often an item was shown. Recall appends nothing, so hits are counted beside the ledger and recorded
//! in batches.
//!
//! The number of a batch is the idempotency key of its event, so retries record it once. Unsaved counts are lost if the
//! process ends; nothing depends on them.

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

/// Hits that are not recorded yet.
pub(crate) type PendingHits = Cursor<Batch>;

/// Hits since the last recorded batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Batch {
    /// 0 until a number is assigned.
    number: u64,
    hits: BTreeMap<ItemId, (u64, Timestamp)>,
    /// True if the stored batch differs.
    is_unsaved: bool,
}

/// A batch as stored.
#[derive(Serialize, Deserialize)]
struct StoredBatch {
    number: u64,
    hits: Vec<ItemHits>,
}

impl Position for Batch {
    const NAME: &'static str = HITS;

    /// An unreadable batch is ignored.
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
    /// Counts hits of items.
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

    /// Number of items with unrecorded hits.
    pub(crate) fn waiting(&self) -> usize {
        self.get().hits.len()
    }
}

/// Saves unrecorded hits beside the ledger, so that they survive a restart. Call it outside of the path of a request;
/// without new hits it writes nothing.
///
/// # Errors
/// `NotFound` if there is no such user; any error of the store.
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

/// Records unrecorded hits as an event, if there are any. Items that no longer exist are left out.
///
/// # Errors
/// `NotFound` if there is no such user; otherwise as for every append.
pub fn flush_hits(engine: &Engine, user: &UserId) -> Result<Option<Receipt>> {
    let open = engine.open(user)?;
    flush(engine, &open)
}

/// As [`flush_hits`], but only if there are enough hits to be worth an event.
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
        // A batch with this number was recorded and erased since; it is not recorded again.
        Err(Error::Refused(why)) => match open.writer()?.ledger.key_use(&key)? {
            Some(_) => None,
            None => return Err(Error::Refused(why)),
        },
        Err(other) => return Err(other),
    };
    {
        // Hits counted meanwhile go into the next batch.
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

/// One event, with some hundred items per change.
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
