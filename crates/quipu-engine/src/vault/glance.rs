//! A glance: what the pages of a memory say, without a folder.

use std::collections::BTreeMap;

use quipu_core::artifact::{self, GlobalMemory, Slug, Summary, TopicMemory};
use quipu_core::id::UserId;
use serde::Serialize;

use super::days;
use crate::engine::Engine;
use crate::error::Result;

/// A memory as its pages show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Glance {
    /// The whole.
    pub global: GlobalMemory,
    /// Topic by topic, by name of folder.
    pub topics: Vec<TopicMemory>,
}

/// Makes the pages of a memory from its ledger, and writes nothing.
///
/// # Errors
/// `NotFound` without such a user; `Corrupt` if the ledger cannot be read.
pub fn glance(engine: &Engine, user: &UserId) -> Result<Glance> {
    let keeper = engine.keeper(user, false)?;
    let head = keeper.read().memory.seq();
    let mut told: BTreeMap<Slug, Vec<(Summary, bool)>> = BTreeMap::new();
    let mut used: BTreeMap<(Slug, jiff::civil::Date), usize> = BTreeMap::new();
    if head > 0 {
        days::each(&keeper, user, 1, head, &mut |day, before, memory, closed| {
            let entries = artifact::entries(day, before, memory, &mut |topic, date| {
                let count = used.entry((topic.clone(), date)).or_default();
                *count += 1;
                *count - 1
            });
            for entry in entries {
                told.entry(entry.topic).or_default().push((entry.summary, !closed));
            }
            Ok(())
        })?;
    }
    let topics: Vec<TopicMemory> =
        told.into_iter().filter_map(|(topic, summaries)| TopicMemory::build(&topic, summaries)).collect();
    Ok(Glance { global: GlobalMemory::build(user, &topics)?, topics })
}
