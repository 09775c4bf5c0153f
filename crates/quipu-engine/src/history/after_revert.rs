//! Consequences of a revert: records again what depended on the reverted events only in part, and updates the core
//! document to match the facts.
//!
//! These events name the revert, and the event they restore, as causes. They are reverted with either, so reverting a
//! revert restores everything exactly once.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Event, Header, SourceKind};
use quipu_core::id::{EventId, ItemId, Seq};
use quipu_core::item::{DerivedChange, Fact};
use quipu_core::ledger::SealedEvent;
use quipu_core::limit;
use quipu_core::reconcile::SkippedEvent;

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::commit;
use crate::memory::scan;
use crate::memory::{OpenMemory, fold};
use crate::ports::UserLedger;

/// Rationale of an event that records an orphan again; together with the causes it identifies such events.
const RESTORED: &str = "it did not depend on what was reverted";
/// Rationale of an event that updates the core document.
const LEVELLED: &str = "the core document follows the facts";

/// Returns true for an event of this module.
fn is_consequence(header: &Header) -> bool {
    let why = header.rationale.as_deref();
    header.actor == Actor::System && !header.caused_by.is_empty() && (why == Some(RESTORED) || why == Some(LEVELLED))
}

/// Adds to events those that were recorded as a consequence of one of them.
///
/// # Errors
/// Any error of the store.
pub(crate) fn with_consequences(ledger: &mut dyn UserLedger, events: &[Seq]) -> Result<Vec<Seq>> {
    let Some(&first) = events.iter().min() else { return Ok(Vec::new()) };
    let mut all: BTreeSet<Seq> = events.iter().copied().collect();
    let mut ids: BTreeSet<EventId> = BTreeSet::new();
    let head = ledger.head()?.seq;
    scan::headers(ledger, first..=head, &mut |header| {
        let follows = is_consequence(&header) && header.caused_by.iter().any(|cause| ids.contains(cause));
        if follows || all.contains(&header.seq) {
            all.insert(header.seq);
            ids.insert(header.id);
        }
    })?;
    Ok(all.into_iter().collect())
}

/// An orphan, with the causes to name when it is recorded again.
struct Orphaned {
    event: Event,
    causes: Vec<EventId>,
    originals: BTreeMap<ItemId, Fact>,
}

/// Orphans that no event restores, although they counted or were restored in the memory `before`.
fn orphaned(ledger: &mut dyn UserLedger, before: &Memory, after: &Memory) -> Result<Vec<Orphaned>> {
    if after.orphans().is_empty() {
        return Ok(Vec::new());
    }
    let mut restoring: Vec<(Seq, Vec<EventId>)> = Vec::new();
    let mut ids: BTreeMap<Seq, EventId> = BTreeMap::new();
    let orphans = |memory: &Memory| memory.orphans().iter().map(|orphan| orphan.seq).collect::<BTreeSet<Seq>>();
    let (were, are) = (orphans(before), orphans(after));
    scan::headers(ledger, 1..=after.seq(), &mut |header| {
        if is_consequence(&header) {
            restoring.push((header.seq, header.caused_by.clone()));
        }
        if are.contains(&header.seq) {
            ids.insert(header.seq, header.id);
        }
    })?;
    let restored = |memory: &Memory, orphans: &BTreeSet<Seq>, id: &EventId| {
        let counts = |seq: Seq| seq <= memory.seq() && !memory.skipped().contains(&seq) && !orphans.contains(&seq);
        restoring.iter().any(|(seq, causes)| counts(*seq) && causes.contains(id))
    };
    let mut found = Vec::new();
    for (seq, id) in &ids {
        let lost_before = were.contains(seq) && !restored(before, &were, id);
        if lost_before || restored(after, &are, id) {
            continue;
        }
        let event = fold::event_at(ledger, *seq)?;
        let own = if is_consequence(&event.header) { event.header.caused_by.get(1..) } else { None };
        let causes = own.unwrap_or_default().iter().copied().chain([*id]).take(limit::CAUSES_MAX - 1).collect();
        let originals = originals(ledger, before, &event)?;
        found.push(Orphaned { event, causes, originals });
    }
    Ok(found)
}

/// The facts that an event repeats, as they were first recorded.
fn originals(ledger: &mut dyn UserLedger, before: &Memory, event: &Event) -> Result<BTreeMap<ItemId, Fact>> {
    let mut found = BTreeMap::new();
    for change in event.changes.iter().flatten() {
        let Change::Drawn(DerivedChange::FactSeen { fact: id, .. }) = change else { continue };
        let Some(made_by) = before.items().made_by(*id) else { continue };
        let made = fold::event_at(ledger, made_by)?;
        let original = made.changes.into_iter().flatten().find_map(|change| match change {
            Change::Drawn(DerivedChange::FactAsserted { fact, .. }) if fact.id == *id => Some(*fact),
            _ => None,
        });
        found.extend(original.map(|fact| (*id, fact)));
    }
    Ok(found)
}

/// The event that records an orphan again; `None` if none of it is valid.
fn restored(engine: &Engine, memory: &Memory, before: &Memory, orphan: &Orphaned, cause: EventId) -> Option<Draft> {
    let skipped = SkippedEvent { event: &orphan.event, before, originals: &orphan.originals };
    let changes = engine.desk(memory).restored(&skipped);
    let header = &orphan.event.header;
    (!changes.is_empty()).then(|| Draft {
        origin: header.origin.clone(),
        confidence: header.confidence,
        rationale: Some(RESTORED.to_owned()),
        caused_by: std::iter::once(cause).chain(orphan.causes.iter().copied()).collect(),
        ..Draft::new(Actor::System, header.origin.kind, changes)
    })
}

/// The event that updates the core document to match the facts; `None` if it does already.
fn levelled(engine: &Engine, memory: &Memory, before: &Memory, cause: Option<EventId>) -> Option<Draft> {
    let untouched = |memory: &Memory| memory.items().is_empty() && memory.schema().is_empty();
    if untouched(memory) && untouched(before) {
        return None;
    }
    let changes = engine.desk(memory).level(before);
    (!changes.is_empty()).then(|| Draft {
        rationale: Some(LEVELLED.to_owned()),
        caused_by: cause.into_iter().collect(),
        ..Draft::new(Actor::System, SourceKind::UserEdited, changes)
    })
}

/// Updates the core document to match the facts: an erasure or a revert may have removed a change of the document but
/// not its fact, or a fact but not its value in the document.
pub(crate) fn level(engine: &Engine, open: &OpenMemory, before: &Memory, cause: Option<EventId>) -> Result<()> {
    commit::commit(engine, open, None, &mut |state| {
        Ok(levelled(engine, &state.memory, before, cause).into_iter().collect())
    })?;
    Ok(())
}

/// The consequences of a revert, computed on a copy of the memory.
pub(crate) struct RevertAftermath {
    /// The events that record them, each sealed after the one before.
    pub(crate) events: Vec<SealedEvent>,
    /// The events that are recorded again.
    pub(crate) kept: BTreeSet<Seq>,
}

/// Computes the events that record again what the revert `cause` orphans. `ahead` is the memory after the revert on
/// entry, and the memory after these events on return.
pub(crate) fn settle(
    engine: &Engine,
    ledger: &mut dyn UserLedger,
    before: &Memory,
    ahead: &mut Memory,
    cause: EventId,
) -> Result<RevertAftermath> {
    let mut settled = RevertAftermath { events: Vec::new(), kept: BTreeSet::new() };
    for orphan in &orphaned(ledger, before, ahead)? {
        if let Some(draft) = restored(engine, ahead, before, orphan, cause) {
            settled.events.push(commit::seal_next(engine, None, ahead, draft)?);
            settled.kept.insert(orphan.event.header.seq);
        }
    }
    if let Some(draft) = levelled(engine, ahead, before, Some(cause)) {
        settled.events.push(commit::seal_next(engine, None, ahead, draft)?);
    }
    Ok(settled)
}
