//! Novelty: a value that means the same as one that is known is that one, said in other words.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quipu_core::Memory;
use quipu_core::extract::FactCandidate;
use quipu_core::id::ItemId;
use quipu_core::item::{Fact, FactType};
use quipu_core::limit;
use quipu_core::writing::slot_of;

use crate::engine::Engine;

/// Vectors of values that were compared before.
#[derive(Default)]
pub(crate) struct Values(Mutex<HashMap<String, Vec<f32>>>);

/// The active fact of the same subject and relation whose value is nearest in meaning, with the cosine of the two values.
///
/// Only values are compared: sentences of one relation are alike whatever they say. `None` where a small difference
/// matters more than likeness (names, places, rules, numbers), and if the embedder fails: then a value is taken as new.
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
    let held: Vec<&Fact> = memory.items().in_slot(&slot).filter(alike).take(limit::VALUES_COMPARED_MAX).collect();
    if held.is_empty() {
        return None;
    }
    let mut texts: Vec<&str> = held.iter().map(|fact| fact.object.as_str()).collect();
    texts.push(&candidate.object);
    let vectors = values.of(engine, &texts)?;
    let (own, others) = vectors.split_last()?;
    let cosines = others.iter().map(|other| own.iter().zip(other).map(|(a, b)| a * b).sum::<f32>());
    held.iter().map(|fact| fact.id).zip(cosines).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
}

impl Values {
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn of(&self, engine: &Engine, texts: &[&str]) -> Option<Vec<Vec<f32>>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&str> = texts.iter().copied().filter(|text| !known.contains_key(*text)).collect();
        if !missing.is_empty() {
            if known.len() + missing.len() > limit::VALUES_KEPT_MAX {
                known.clear();
                return engine.embedder.embed(texts).ok();
            }
            let made = engine.embedder.embed(&missing).ok()?;
            known.extend(missing.iter().map(|text| (*text).to_owned()).zip(made));
        }
        texts.iter().map(|text| known.get(*text).cloned()).collect()
    }
}

/// The numbers of a value: two that differ in one are two values.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}
