//! Episodes: cutting what was said into small stories.
//!
//! A predicate over state, not a queue: a stretch is told once no later turn can change it, or once its session is over.
//! Telling the same stretch again gives the same episode.

use std::collections::BTreeMap;

use quipu_core::Memory;
use quipu_core::episode::{self, SegmentOptions, Turn};
use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::{Drawn, Episode};
use quipu_core::limit;
use quipu_core::memory::Held;

use crate::commit::{self, Receipt};
use crate::engine::Engine;
use crate::error::Result;
use crate::keeper::{Keeper, State};
use crate::upkeep;

/// How many turns come together before a session that goes on is looked at again.
const TURNS_BETWEEN_LOOKS: usize = 8;

/// Tells what can be told of every session: of those that go on, what no later turn can change.
///
/// # Errors
/// As for every append.
pub fn tell_episodes(engine: &Engine, user: &UserId) -> Result<Vec<Receipt>> {
    let keeper = engine.keeper(user, false)?;
    let sessions: Vec<String> = keeper.read().memory.sessions().iter().map(|session| session.id.to_string()).collect();
    let mut receipts = Vec::new();
    for session in sessions {
        receipts.extend(tell(engine, &keeper, &session, None)?);
    }
    upkeep::after_append(engine, &keeper, false, &mut |_| {});
    Ok(receipts)
}

/// Looks at the session that was just added to, when enough came together, and at the one before it, which is over now.
pub(crate) fn after_turn(engine: &Engine, keeper: &Keeper) -> Result<()> {
    let (current, before) = {
        let state = keeper.read();
        let sources = state.memory.sources();
        let mut names = sources.iter().rev().take(2).map(|held| held.source.session.clone());
        (names.next().flatten(), names.next().flatten())
    };
    if let Some(before) = before.filter(|before| current.as_ref() != Some(before)) {
        tell(engine, keeper, &before, None)?;
    }
    let Some(current) = current else { return Ok(()) };
    let waiting = { turns_untold(&keeper.read().memory, &current).len() };
    if waiting > 0 && waiting.is_multiple_of(TURNS_BETWEEN_LOOKS) {
        tell(engine, keeper, &current, None)?;
    }
    Ok(())
}

/// Tells one session as far as possible; to its end if `over`, or if the silence since says that it is over.
pub(crate) fn tell(engine: &Engine, keeper: &Keeper, session: &str, over: Option<bool>) -> Result<Vec<Receipt>> {
    let options = SegmentOptions::default();
    commit::commit(engine, keeper, None, &mut |state: &State| {
        let held = turns_untold(&state.memory, session);
        let Some(last) = held.last() else { return Ok(Vec::new()) };
        let silent = last.source.said_at.is_some_and(|last| episode::is_over(last, engine.now(), &options));
        let told = told(&state.memory, session, &held, over.unwrap_or(silent), &options)?;
        let changes: Vec<Change> =
            told.into_iter().map(|one| Change::Drawn(Drawn::EpisodeRecorded(Box::new(one)))).collect();
        let draft = |changes: &[Change]| Draft {
            origin: Origin { session: Some(session.to_owned()), ..Origin::of(SourceKind::Inferred) },
            rationale: Some("told by rules".to_owned()),
            ..Draft::new(Actor::System, SourceKind::Inferred, changes.to_vec())
        };
        Ok(changes.chunks(limit::EPISODES_PER_EVENT).map(draft).collect())
    })
}

/// The turns of a session that no episode has told yet, in order.
fn turns_untold<'a>(memory: &'a Memory, session: &str) -> Vec<&'a Held> {
    let told = memory.items().episodes().filter(|one| one.session_id.as_deref() == Some(session));
    let until = told.map(|one| one.turn_range.1 + 1).max().unwrap_or(0);
    turns(memory, session).into_iter().skip(until as usize).collect()
}

fn turns<'a>(memory: &'a Memory, session: &str) -> Vec<&'a Held> {
    let ordinals = memory.session(session).map(|found| found.sources.as_slice()).unwrap_or_default();
    let held = ordinals.iter().filter_map(|&ordinal| memory.sources().get(ordinal as usize));
    held.filter(|held| held.source.kind() == ItemKind::Turn).collect()
}

fn told(memory: &Memory, session: &str, held: &[&Held], over: bool, options: &SegmentOptions) -> Result<Vec<Episode>> {
    let turns: Vec<Turn<'_>> = held
        .iter()
        .map(|held| Turn {
            id: held.source.id,
            text: &held.source.text,
            speaker: held.source.speaker(),
            role: held.source.role,
            said_at: held.source.said_at,
            vector: None,
        })
        .collect();
    let read = episode::Session::read(&turns);
    let ranges = if over { read.segment(options) } else { read.segment_so_far(options).closed };
    let facts = facts_by_source(memory);
    let first = self::turns(memory, session).len() - held.len();
    let mut all = Vec::new();
    for range in ranges {
        let facts: Vec<(ItemId, Option<String>)> =
            turns[range.clone()].iter().flat_map(|turn| facts.get(&turn.id).cloned().unwrap_or_default()).collect();
        let bits = turns[range.start].id.bits;
        let mut one = read.compose(ItemId { kind: ItemKind::Episode, bits }, Some(session), range, &facts)?;
        let offset = u32::try_from(first).unwrap_or(u32::MAX);
        one.turn_range = (one.turn_range.0.saturating_add(offset), one.turn_range.1.saturating_add(offset));
        all.push(one);
    }
    Ok(all)
}

/// Facts by the sources they were read from.
fn facts_by_source(memory: &Memory) -> BTreeMap<ItemId, Vec<(ItemId, Option<String>)>> {
    let mut found: BTreeMap<ItemId, Vec<_>> = BTreeMap::new();
    for fact in memory.items().facts() {
        for place in &fact.evidence {
            found.entry(place.source).or_default().push((fact.id, fact.core_path.clone()));
        }
    }
    found
}
