//! Novelty: detects values that are equivalent in meaning to known ones.

use std::collections::{BTreeSet, HashMap};

use quipu_core::Memory;
use quipu_core::extract::FactCandidate;
use quipu_core::id::ItemId;
use quipu_core::item::{Fact, FactType};
use quipu_core::limit;
use quipu_core::reconcile::slot_of;

use crate::engine::Engine;
use crate::lock::{Mutex, Rank, before_slow_call};
use crate::memory::OpenMemory;

/// Vectors of values that were compared before.
pub(crate) struct Values(Mutex<KnownValues>);

#[derive(Default)]
struct KnownValues {
    vectors: HashMap<String, Vec<f32>>,
    /// Values that lacked a vector when they were compared.
    wanted: BTreeSet<String>,
    /// Number of times the cache was cleared.
    generation: u64,
}

impl Default for Values {
    fn default() -> Self {
        Self(Mutex::new(Rank::Detail, KnownValues::default()))
    }
}

/// The active fact of the same subject and predicate whose value is nearest in meaning, with the cosine of both values.
///
/// Only values are compared, because sentences of one predicate are always similar. `None` where a small difference
/// matters (names, places, rules, numbers), and while a vector is missing; the value then counts as new. [`prepare`]
/// makes missing vectors.
pub(crate) fn nearest(
    engine: &Engine,
    values: &Values,
    memory: &Memory,
    candidate: &FactCandidate,
) -> Option<(ItemId, f32)> {
    let predicate = engine.predicates.get(&candidate.predicate);
    if !matches!(predicate.fact_type, FactType::Preference | FactType::Trait) {
        return None;
    }
    let slot = slot_of(predicate, candidate);
    let alike = |held: &&Fact| held.is_active() && numbers(&held.object) == numbers(&candidate.object);
    let mut held: Vec<&Fact> = memory.items().in_slot(&slot).filter(alike).collect();
    held.sort_by_cached_key(|fact| std::cmp::Reverse(memory.items().creation_order(fact.id)));
    held.truncate(limit::VALUES_COMPARED_MAX);
    if held.is_empty() {
        return None;
    }
    let mut texts: Vec<&str> = held.iter().map(|fact| fact.object.as_str()).collect();
    texts.push(&candidate.object);
    let vectors = values.of(&texts)?;
    let (own, others) = vectors.split_last()?;
    let cosines = others.iter().map(|other| own.iter().zip(other).map(|(a, b)| a * b).sum::<f32>());
    // Of equally near values, the newest: `max_by` returns the last.
    held.iter().map(|fact| fact.id).zip(cosines).rev().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Embeds the values that a decision on these candidates compares. Must be called before the decision, without locks.
pub(crate) fn prepare(engine: &Engine, open: &OpenMemory, candidates: &[FactCandidate]) {
    {
        let state = open.read();
        for candidate in candidates {
            nearest(engine, &open.values, &state.memory, candidate);
        }
    }
    open.values.embed_wanted(engine);
}

impl Values {
    pub(crate) fn clear(&self) {
        let mut known = self.0.lock();
        *known = KnownValues { generation: known.generation + 1, ..KnownValues::default() };
    }

    /// The cached values.
    pub(crate) fn texts(&self) -> Vec<String> {
        let known = self.0.lock();
        known.vectors.keys().chain(&known.wanted).cloned().collect()
    }

    /// Embeds values that lacked a vector. If the embedder fails, they count as new.
    pub(crate) fn embed_wanted(&self, engine: &Engine) {
        let (wanted, generation): (Vec<String>, u64) = {
            let mut known = self.0.lock();
            (std::mem::take(&mut known.wanted).into_iter().collect(), known.generation)
        };
        if wanted.is_empty() {
            return;
        }
        before_slow_call("the embedder");
        let texts: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let Ok(made) = engine.embedder.embed(&texts) else { return };
        let mut known = self.0.lock();
        if known.generation != generation {
            // One of the values may have been erased meanwhile.
            return;
        }
        if known.vectors.len() + made.len() > limit::VALUES_KEPT_MAX {
            known.vectors.clear();
        }
        known.vectors.extend(wanted.into_iter().zip(made));
    }

    /// The vectors of these values; `None` if one is missing, which [`embed_wanted`](Self::embed_wanted) then makes.
    fn of(&self, texts: &[&str]) -> Option<Vec<Vec<f32>>> {
        let mut known = self.0.lock();
        let found: Option<Vec<Vec<f32>>> = texts.iter().map(|text| known.vectors.get(*text).cloned()).collect();
        if found.is_none() {
            let missing = texts.iter().filter(|text| !known.vectors.contains_key(**text));
            let missing: Vec<String> = missing.map(|text| (*text).to_owned()).collect();
            known.wanted.extend(missing);
        }
        found
    }
}

/// The numbers in a value; values with different numbers are never equivalent.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}
