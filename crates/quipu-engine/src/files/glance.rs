//! Renders the pages of a memory without a folder, with a cache.
//!
//! The summaries of a closed day change only by erasure. While a memory is open they are cached, so that another call
//! reads only the newest day.

use std::collections::BTreeMap;
use std::sync::Arc;

use quipu_core::artifact::{self, GlobalMemory, Slug, Summary, TopicMemory};
use quipu_core::event::Hash;
use quipu_core::id::{Seq, UserId};
use serde::Serialize;

use super::days;
use crate::engine::Engine;
use crate::error::Result;
use crate::lock::{Mutex, MutexGuard, Rank};
use crate::memory::OpenMemory;

/// The pages of a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryGlance {
    /// The page of the whole memory.
    pub global: GlobalMemory,
    /// The pages of the topics, by folder name.
    pub topics: Vec<TopicMemory>,
}

/// Summaries of closed days.
#[derive(Clone, Default)]
struct PastDays {
    /// The last event of the last closed day.
    to: Seq,
    summaries: BTreeMap<Slug, Vec<Summary>>,
    /// Number of entries by topic and day.
    used: BTreeMap<(Slug, jiff::civil::Date), usize>,
}

/// The result of the last call.
struct CachedGlance {
    head: Hash,
    told: PastDays,
    glance: Arc<MemoryGlance>,
    bytes: usize,
}

/// Cache of the last result; empty after an erasure.
pub(crate) struct GlanceCache(Mutex<Last>);

impl Default for GlanceCache {
    fn default() -> Self {
        Self(Mutex::new(Rank::Detail, Last::default()))
    }
}

#[derive(Default)]
struct Last {
    kept: Option<Arc<CachedGlance>>,
    /// How often the cache was cleared.
    forgotten: u64,
}

impl GlanceCache {
    fn last(&self) -> MutexGuard<'_, Last> {
        // Every change of it is one assignment.
        self.0.lock()
    }

    /// Clears the cache, since some of its text may have been erased.
    pub(crate) fn forget(&self) {
        let mut last = self.last();
        last.kept = None;
        last.forgotten += 1;
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.last().kept.as_ref().map_or(0, |kept| kept.bytes)
    }

    /// The cached pages as JSON.
    pub(crate) fn texts(&self) -> Option<String> {
        let kept = self.last().kept.clone()?;
        serde_json::to_string(&*kept.glance).ok()
    }
}

/// Builds the pages of a memory from its ledger, without writing files.
///
/// # Errors
/// `NotFound` if there is no such user; `Corrupt` if the ledger cannot be read.
pub fn glance(engine: &Engine, user: &UserId) -> Result<Arc<MemoryGlance>> {
    let open = engine.open(user)?;
    let (kept, forgotten) = {
        let last = open.glanced.last();
        (last.kept.clone(), last.forgotten)
    };
    let (head, hash) = {
        let state = open.read();
        (state.memory.seq(), state.memory.head())
    };
    if let Some(kept) = kept.as_ref().filter(|kept| kept.head == hash) {
        return Ok(kept.glance.clone());
    }
    let mut told = kept.map(|kept| kept.told.clone()).unwrap_or_default();
    let glance = Arc::new(tell(&open, user, head, &mut told)?);
    // Counted twice, because the pages repeat every summary.
    let bytes = 2 * serde_json::to_string(&*glance).map_or(0, |text| text.len());
    let mut last = open.glanced.last();
    if last.forgotten == forgotten {
        last.kept = Some(Arc::new(CachedGlance { head: hash, told, glance: glance.clone(), bytes }));
    }
    Ok(glance)
}

/// Summarises the remaining days: closed ones into `told`, the last one only into the result.
fn tell(open: &OpenMemory, user: &UserId, head: Seq, told: &mut PastDays) -> Result<MemoryGlance> {
    let mut of_today: Vec<(Slug, Summary)> = Vec::new();
    if head > told.to {
        days::each(open, user, told.to + 1, head, &mut |day, before, memory, closed| {
            let mut used = told.used.clone();
            let entries = artifact::entries(day, before, memory, &mut |topic, date| {
                let count = used.entry((topic.clone(), date)).or_default();
                *count += 1;
                *count - 1
            });
            if !closed {
                of_today.extend(entries.into_iter().map(|entry| (entry.topic, entry.summary)));
                return Ok(());
            }
            for entry in entries {
                told.summaries.entry(entry.topic).or_default().push(entry.summary);
            }
            (told.used, told.to) = (used, day.last());
            Ok(())
        })?;
    }
    let mut topics: BTreeMap<Slug, Vec<(Summary, bool)>> = BTreeMap::new();
    for (topic, summaries) in &told.summaries {
        topics.insert(topic.clone(), summaries.iter().map(|summary| (summary.clone(), false)).collect());
    }
    for (topic, summary) in of_today {
        topics.entry(topic).or_default().push((summary, true));
    }
    let topics: Vec<TopicMemory> =
        topics.into_iter().filter_map(|(topic, summaries)| TopicMemory::build(&topic, summaries)).collect();
    Ok(MemoryGlance { global: GlobalMemory::build(user, &topics)?, topics })
}
