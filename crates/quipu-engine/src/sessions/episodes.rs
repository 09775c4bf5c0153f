//! Episodes: segments sessions into short episodes.
//!
//! What is due is computed from the state: a segment is recorded once no later turn can change it, or once its session
//! is over. Recording the same segment again gives the same episode.

use std::collections::BTreeSet;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::episode::{self, EpisodeTurn, SegmentOptions};
use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::id::{EventId, ItemId, ItemKind, UserId};
use quipu_core::item::{DerivedChange, Episode};
use quipu_core::ledger::SealedEvent;
use quipu_core::limit;
use quipu_core::memory::HeldSource;

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::GoOn;
use crate::memory::checkpoint;
use crate::memory::{OpenMemory, State};
use crate::memory::{Receipt, commit};

/// Rationale of an episode.
const TOLD: &str = "told by rules";
/// Rationale of an episode recorded after a revert or an erasure, which is the event's cause.
const TOLD_AGAIN: &str = "told again by rules";
/// Number of new turns after which a running session is segmented again.
const TURNS_BETWEEN_LOOKS: usize = 8;

/// Records the episodes that are due in every session; in running sessions, those that no later turn can change.
///
/// # Errors
/// As for every append.
pub fn tell_episodes(engine: &Engine, user: &UserId) -> Result<Vec<Receipt>> {
    tell_episodes_while(engine, user, &mut || Ok(true))
}

/// As [`tell_episodes`], while `go_on` returns true; it is called before each session.
pub(crate) fn tell_episodes_while(engine: &Engine, user: &UserId, go_on: GoOn<'_>) -> Result<Vec<Receipt>> {
    let open = engine.open(user)?;
    let named: Vec<String> = open.read().memory.sessions().iter().map(|session| session.id.to_string()).collect();
    let mut receipts = Vec::new();
    for session in named.iter().map(|name| Some(name.as_str())).chain([None]) {
        if !go_on()? {
            break;
        }
        receipts.extend(tell(engine, &open, session, None)?);
    }
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(receipts)
}

/// Number of sessions that are over and have turns without an episode.
pub(crate) fn waiting(memory: &Memory, now: Timestamp) -> usize {
    let options = SegmentOptions::default();
    let is_due = |session: Option<&str>| {
        let untold = turns_untold(memory, session);
        let last = untold.last().and_then(|held| held.source.said_at);
        last.is_some_and(|last| episode::is_over(last, now, &options))
    };
    let sessions = memory.sessions().iter().filter(|session| is_due(Some(&session.id))).count();
    sessions + usize::from(is_due(None))
}

/// Segments the session of a new turn after a silence or enough new turns, and the session before it, which is over
/// now.
pub(crate) fn after_turn(engine: &Engine, open: &OpenMemory) -> Result<()> {
    let (session, before, look) = {
        let state = open.read();
        let mut latest = state.memory.sources().iter().rev();
        let (Some(last), before) = (latest.next(), latest.next()) else { return Ok(()) };
        let session = last.source.session.clone();
        let gap = before.and_then(|before| before.source.said_at).zip(last.source.said_at);
        let silent = gap.is_some_and(|(then, now)| episode::is_over(then, now, &SegmentOptions::default()));
        let untold = turns_untold(&state.memory, session.as_deref()).len();
        let before = before.map(|before| before.source.session.clone()).filter(|before| *before != session);
        (session, before, silent || untold.is_multiple_of(TURNS_BETWEEN_LOOKS))
    };
    if let Some(before) = before {
        tell(engine, open, before.as_deref(), None)?;
    }
    if look {
        tell(engine, open, session.as_deref(), None)?;
    }
    Ok(())
}

/// Records the episodes of one session, or of turns outside any session; up to the end if `over`, or if the time since
/// the last turn means that the session is over.
pub(crate) fn tell(
    engine: &Engine,
    open: &OpenMemory,
    session: Option<&str>,
    over: Option<bool>,
) -> Result<Vec<Receipt>> {
    let options = SegmentOptions::default();
    commit::commit(engine, open, None, &mut |state: &State| {
        let (first, held) = turns_untold_from(&state.memory, session);
        let Some(last) = held.last() else { return Ok(Vec::new()) };
        let silent = last.source.said_at.is_some_and(|last| episode::is_over(last, engine.now(), &options));
        let told = told(&state.memory, session, first, &held, over.unwrap_or(silent), &options)?;
        Ok(drafts(session, told, None))
    })
}

/// Records again the episodes lost by a revert or an erasure: an event may contain several episodes and is lost as a
/// whole with one of their turns. Episodes that were reverted themselves are not restored.
pub(crate) fn retell(engine: &Engine, open: &OpenMemory, before: &Memory, cause: EventId) -> Result<Vec<Receipt>> {
    let (sessions, loose) = untold_again(before, &open.read().memory);
    let mut receipts = Vec::new();
    for session in sessions {
        receipts.extend(commit::commit(engine, open, None, &mut |state: &State| {
            let told = told_anew(&state.memory, session.as_deref(), &loose, engine.now())?;
            Ok(drafts(session.as_deref(), told, Some(cause)))
        })?);
    }
    Ok(receipts)
}

/// As [`retell`], but returns events sealed after `ahead`, to be appended in the same step as the revert.
pub(crate) fn retold(engine: &Engine, before: &Memory, ahead: &mut Memory, cause: EventId) -> Result<Vec<SealedEvent>> {
    let (sessions, loose) = untold_again(before, ahead);
    let mut events = Vec::new();
    for session in sessions {
        let told = told_anew(ahead, session.as_deref(), &loose, engine.now())?;
        for draft in drafts(session.as_deref(), told, Some(cause)) {
            events.push(commit::seal_next(engine, None, ahead, draft)?);
        }
    }
    Ok(events)
}

/// Sessions with turns that lost their episode or were restored, and those turns.
fn untold_again(before: &Memory, after: &Memory) -> (BTreeSet<Option<String>>, BTreeSet<ItemId>) {
    if before.items().episodes().next().is_none() {
        // Without episodes before, there is nothing to restore.
        return (BTreeSet::new(), BTreeSet::new());
    }
    let gone = |one: &&Episode| {
        let made_by = before.items().made_by(one.id);
        after.items().episode(one.id).is_none() && made_by.is_some_and(|seq| !after.skipped().contains(&seq))
    };
    let mut loose: BTreeSet<ItemId> =
        before.items().episodes().filter(gone).flat_map(|one| one.sources.iter().copied()).collect();
    let back = after.sources().iter().map(|held| held.source.id).filter(|&id| before.find(id).is_none());
    loose.extend(back);
    let found = loose.iter().filter_map(|&id| after.get(id));
    let sessions = found.map(|held| held.source.session.as_deref().map(str::to_owned)).collect();
    (sessions, loose)
}

/// The episodes of those unsegmented stretches of a session that contain one of the sources in `loose`.
fn told_anew(memory: &Memory, session: Option<&str>, loose: &BTreeSet<ItemId>, now: Timestamp) -> Result<Vec<Episode>> {
    let options = SegmentOptions::default();
    let mut turns: Vec<&HeldSource> = turns_backwards(memory, session).collect();
    turns.reverse();
    let is_told = |held: &&HeldSource| memory.items().told_by(held.source.id).is_some();
    let mut all = Vec::new();
    let mut first = 0;
    for stretch in turns.chunk_by(|one, next| is_told(one) == is_told(next)) {
        let last = stretch.last();
        if last.is_some_and(|held| !is_told(held)) && stretch.iter().any(|held| loose.contains(&held.source.id)) {
            // A stretch before recorded episodes is complete; the last one may continue.
            let ended = first + stretch.len() < turns.len();
            let said = last.and_then(|held| held.source.said_at);
            let over = ended || said.is_some_and(|last| episode::is_over(last, now, &options));
            all.extend(told(memory, session, first as u32, stretch, over, &options)?);
        }
        first += stretch.len();
    }
    Ok(all)
}

/// Events with a few episodes each.
fn drafts(session: Option<&str>, told: Vec<Episode>, cause: Option<EventId>) -> Vec<Draft> {
    let changes: Vec<Change> =
        told.into_iter().map(|one| Change::Drawn(DerivedChange::EpisodeRecorded(Box::new(one)))).collect();
    let draft = |changes: &[Change]| Draft {
        origin: Origin { session: session.map(str::to_owned), ..Origin::of(SourceKind::Inferred) },
        rationale: Some(cause.map_or(TOLD, |_| TOLD_AGAIN).to_owned()),
        caused_by: cause.into_iter().collect(),
        ..Draft::new(Actor::System, SourceKind::Inferred, changes.to_vec())
    };
    changes.chunks(limit::EPISODES_PER_EVENT).map(draft).collect()
}

fn turns_untold<'a>(memory: &'a Memory, session: Option<&str>) -> Vec<&'a HeldSource> {
    turns_untold_from(memory, session).1
}

/// The last turns of a session without an episode, in order, and the position of the first of them.
fn turns_untold_from<'a>(memory: &'a Memory, session: Option<&str>) -> (u32, Vec<&'a HeldSource>) {
    let mut untold: Vec<&HeldSource> = Vec::new();
    let mut place = 0;
    for held in turns_backwards(memory, session).take(limit::TURNS_UNTOLD_MAX) {
        if let Some(told) = memory.items().told_by(held.source.id) {
            place = told.turn_range.1 + 1;
            break;
        }
        untold.push(held);
    }
    untold.reverse();
    (place, untold)
}

/// The id of an episode follows from its first source, so that recording it again gives the same id.
fn named_after(source: ItemId) -> ItemId {
    ItemId { kind: ItemKind::Episode, bits: source.bits }
}

fn turns_backwards<'a>(memory: &'a Memory, session: Option<&str>) -> Box<dyn Iterator<Item = &'a HeldSource> + 'a> {
    let is_turn = |held: &&HeldSource| held.source.kind() == ItemKind::Turn;
    match session {
        Some(name) => {
            let ordinals = memory.session(name).map(|found| found.sources.as_slice()).unwrap_or_default();
            let held = ordinals.iter().rev().filter_map(|&ordinal| memory.sources().get(ordinal as usize));
            Box::new(held.filter(is_turn))
        }
        None => Box::new(memory.sources().iter().rev().filter(is_turn).filter(|held| held.source.session.is_none())),
    }
}

fn told(
    memory: &Memory,
    session: Option<&str>,
    first: u32,
    held: &[&HeldSource],
    over: bool,
    options: &SegmentOptions,
) -> Result<Vec<Episode>> {
    let turns: Vec<EpisodeTurn<'_>> = held
        .iter()
        .map(|held| EpisodeTurn {
            id: held.source.id,
            text: &held.source.text,
            speaker: held.source.speaker(),
            role: held.source.role,
            said_at: held.source.said_at,
            vector: None,
        })
        .collect();
    let read = episode::AnalysedSession::read(&turns);
    let ranges = if over { read.segment(options) } else { read.segment_so_far(options).closed };
    let mut all = Vec::new();
    for range in ranges {
        let facts: Vec<(ItemId, Option<String>)> =
            turns[range.clone()].iter().flat_map(|turn| facts_quoting(memory, turn.id)).collect();
        let name = named_after(turns[range.start].id);
        let mut one = read.compose(name, session, range, &facts)?;
        one.turn_range = (one.turn_range.0.saturating_add(first), one.turn_range.1.saturating_add(first));
        all.push(one);
    }
    Ok(all)
}

/// The facts with evidence in a source, once for each piece of evidence, with their place in the core document.
fn facts_quoting(memory: &Memory, source: ItemId) -> impl Iterator<Item = (ItemId, Option<String>)> {
    memory.items().quoting(source).flat_map(move |fact| {
        let quotes = fact.evidence.iter().filter(move |at| at.source == source);
        quotes.map(move |_| (fact.id, fact.core_path.clone()))
    })
}
