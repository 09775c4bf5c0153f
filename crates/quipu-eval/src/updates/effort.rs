//! Cost of reading and deciding: replays a world, and reads and decides every message of the user again on the memory
//! at that time, storing nothing.

use std::collections::BTreeSet;
use std::time::Instant;

use quipu_core::core_document::Registry;
use quipu_core::event::{Change, Event, SourceKind};
use quipu_core::extract::Reading;
use quipu_core::id::{ItemId, UserId};
use quipu_core::memory::{HeldSource, Memory};
use quipu_core::predicate::Predicates;
use quipu_core::reconcile::{self, OutcomeKind, Policy, ReconcileInput};
use quipu_core::{ledger, source};
use quipu_engine::ports::Extractor;
use quipu_engine::{Error, Result};

use super::place::SeededEngine;

/// Length of the turns that are also reported separately, in words.
const FORTY_WORDS: std::ops::RangeInclusive<usize> = 35..=45;

/// Milliseconds for a turn.
#[derive(Debug, Default)]
pub(super) struct Effort {
    pub(super) all: Vec<f64>,
    pub(super) forty_words: Vec<f64>,
}

pub(super) fn measure(place: &SeededEngine, user: &UserId, effort: &mut Effort) -> Result<()> {
    let mut memory = Memory::new(user.clone(), BTreeSet::new());
    let (predicates, registry, policy) =
        (Predicates::default_registry(), Registry::default_registry(), Policy::default());
    for event in events(place, user)? {
        let spoken = event.changes.iter().flatten().find_map(spoken);
        memory.apply(event);
        let Some(held) = spoken.and_then(|id| memory.get(id)) else { continue };
        if held.from != SourceKind::UserSaid || held.source.role != source::Role::User {
            continue;
        }
        let ms = one(place, &memory, held, (&predicates, &registry, &policy))?;
        effort.all.push(ms);
        if FORTY_WORDS.contains(&held.source.text.split_whitespace().count()) {
            effort.forty_words.push(ms);
        }
    }
    Ok(())
}

fn spoken(change: &Change) -> Option<ItemId> {
    match change {
        Change::SourceRecorded(source) => Some(source.id),
        _ => None,
    }
}

fn events(place: &SeededEngine, user: &UserId) -> Result<Vec<Event>> {
    let mut ledger = place.engine.store().open(user, false)?;
    let head = ledger.head()?;
    let mut sealed = Vec::new();
    ledger.read(1..=head.seq, &mut |event| {
        sealed.push(event);
        true
    })?;
    sealed.iter().map(|event| ledger::open(event).map_err(|error| Error::Corrupt(error.to_string()))).collect()
}

#[expect(clippy::disallowed_methods, reason = "an evaluation measures real time")]
fn now() -> Instant {
    Instant::now()
}

fn one(
    place: &SeededEngine,
    memory: &Memory,
    held: &HeldSource,
    with: (&Predicates, &Registry, &Policy),
) -> Result<f64> {
    let said_at = held.source.said_at;
    let reading = Reading::of_user(&held.source.text, said_at);
    let start = now();
    let found = place.extractor.read(&reading).map_err(|error| Error::Bug(error.to_string()))?;
    let case = ReconcileInput {
        memory,
        predicates: with.0,
        registry: with.1,
        policy: with.2,
        source: held.source.id,
        reading,
        standing: OutcomeKind { kind: held.from, trust: held.trust },
        now: said_at.unwrap_or_default(),
        shown: &|_| false,
        nearest: &|_| None,
    };
    let mut next = 0;
    let decided = reconcile::decide(&case, &found, &mut |kind| {
        next += 1;
        ItemId { kind, bits: next }
    });
    let ms = start.elapsed().as_secs_f64() * 1e3;
    drop(decided);
    Ok(ms)
}
