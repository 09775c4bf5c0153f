//! Fork and pick: copies a memory up to a version, or chosen events of it, to another user.

use std::borrow::Cow;
use std::collections::BTreeSet;

use quipu_core::core_document;
use quipu_core::event::{Actor, Change, ChangeRef, Draft, Hash, Origin, SourceKind};
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::item::DerivedChange;
use quipu_core::ledger::{self, SealedEvent};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::{self, EventRef, When};
use crate::memory::{OpenMemory, State};
use crate::memory::{Progress, Watch, checkpoint};
use crate::memory::{Receipt, commit};
use crate::ports::{StoreError, UserLedger};
use crate::process::unread;

/// Events copied in one durable step.
const COPY_BATCH: usize = 512;

/// Copies a memory up to a version into a new user's ledger.
///
/// The shared events have the same bytes and hashes, so a pinned head is valid for both. The copy's first own event
/// records its origin. Afterwards the two are independent.
///
/// # Errors
/// `Refused` if the new user has a memory already; `NotFound` if there is no such user or version.
pub fn fork(engine: &Engine, from: &UserId, into: &UserId, at: When, watch: Watch<'_>) -> Result<Receipt> {
    if from == into {
        return Err(Error::Invalid("a fork needs another user id".to_owned()));
    }
    let source = engine.open_existing(from)?;
    let at = versions::position(&source, at)?;
    let mut copy = |target: &mut dyn UserLedger| -> Result<()> {
        let (head, missing) = copy_events(&source, at, target, watch)?;
        // Payloads destroyed by events that are not shared: the copy records them as erased.
        let accounted = erased_before(&source, at);
        let gone: Vec<ChangeRef> = missing.into_iter().filter(|change| !accounted.contains(change)).collect();
        let mut changes = vec![Change::Forked { from: from.clone(), at, head }];
        if !gone.is_empty() {
            let reason = format!("erased by {from} before this ledger was forked");
            changes.push(Change::Erased { targets: gone, reason });
        }
        let draft = Draft::new(Actor::User, SourceKind::UserEdited, changes);
        let first = commit::seal_at(engine, into, at, head, &draft)?;
        target.append(at, &[first])?;
        // Sources that are not processed yet are processed in the copy.
        target.checkpoint(&unread::copied(&source, at))?;
        Ok(())
    };
    // The store only passes on its own error type, so the original error is kept aside.
    let mut failed = None;
    let built = engine.store.build(into, false, &mut |target| {
        copy(target).map_err(|error| {
            let told = StoreError::Unavailable(error.to_string());
            failed = Some(error);
            told
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    match built {
        Err(StoreError::Exists(_)) => {
            return Err(Error::Refused(format!("user {into} has a memory already; choose a new id")));
        }
        outcome => outcome?,
    };
    engine.forget_open(into);
    let open = engine.open_existing(into)?;
    let mut receipt = commit::receipt_at(&open, at + 1)?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, true, watch));
    Ok(receipt)
}

/// Copies the first events of a ledger; returns the hash of the last one and the changes without a payload.
fn copy_events(
    source: &OpenMemory,
    at: Seq,
    target: &mut dyn UserLedger,
    watch: Watch<'_>,
) -> Result<(Hash, Vec<ChangeRef>)> {
    let mut missing = Vec::new();
    let mut batch: Vec<SealedEvent> = Vec::with_capacity(COPY_BATCH);
    let (mut copied, mut head): (Seq, Hash) = (0, quipu_core::event::NO_HASH);
    while copied < at {
        let until = at.min(copied + COPY_BATCH as Seq);
        source.writer()?.ledger.read(copied + 1..=until, &mut |event| {
            let holes = (0u32..).zip(&event.changes).filter(|(_, change)| change.bytes.is_none());
            missing.extend(holes.map(|(index, _)| ChangeRef { seq: event.seq, index }));
            batch.push(event);
            true
        })?;
        head = batch.last().map_or(head, |event| event.hash);
        target.append(copied, &batch)?;
        copied = until;
        batch.clear();
        watch(Progress::Events(copied, at));
    }
    Ok((head, missing))
}

/// Payloads that events up to a version have destroyed.
fn erased_before(source: &OpenMemory, at: Seq) -> BTreeSet<ChangeRef> {
    let state = source.read();
    state.history.erasures().iter().filter(|(_, by)| **by <= at).map(|(target, _)| *target).collect()
}

/// Result of a pick.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PickReceipt"))]
pub struct Picked {
    /// The events appended.
    pub receipts: Vec<Receipt>,
    /// Chosen events that were omitted, and why.
    pub left_out: Vec<(Seq, String)>,
}

/// The chosen events of a memory, as stored, in the order of the ledger.
///
/// # Errors
/// `NotFound` if one does not exist.
pub fn chosen(engine: &Engine, from: &UserId, events: &[EventRef]) -> Result<Vec<SealedEvent>> {
    let open = engine.open(from)?;
    let mut seqs = events.iter().map(|&event| versions::event_position(&open, event)).collect::<Result<Vec<_>>>()?;
    seqs.sort_unstable();
    seqs.dedup();
    let mut writer = open.writer()?;
    seqs.into_iter().map(|seq| crate::memory::fold::sealed_at(writer.ledger.as_mut(), seq)).collect()
}

/// Replays chosen events into another memory. Each becomes a new event there, with the original as its cause.
///
/// An event that does not apply there is omitted and listed, and the others continue: if its item exists already, a
/// `test` of its patch fails, its payload was erased, its category does not exist, or it is about its own ledger.
///
/// # Errors
/// `Unavailable` and the like; events appended before the error stay.
pub fn pick(engine: &Engine, events: &[SealedEvent], into: &UserId, watch: Watch<'_>) -> Result<Picked> {
    let open = engine.open_or_create(into)?;
    let mut picked = Picked { receipts: Vec::new(), left_out: Vec::new() };
    for sealed in events {
        let event = ledger::open(sealed)?;
        let seq = event.header.seq;
        let Some(changes) = event.changes.into_iter().collect::<Option<Vec<Change>>>() else {
            picked.left_out.push((seq, "its payload was erased".to_owned()));
            continue;
        };
        if changes.iter().any(Change::is_control) {
            picked.left_out.push((seq, "it is about events of its own ledger".to_owned()));
            continue;
        }
        let draft = draft(event.header.id, event.header, changes);
        match commit::commit_one(engine, &open, None, &mut |state| fits(engine, state, &draft).map(|()| draft.clone()))
        {
            Ok(receipt) => picked.receipts.push(receipt),
            Err(Error::Refused(reason) | Error::NotFound(reason) | Error::Invalid(reason)) => {
                picked.left_out.push((seq, reason));
            }
            Err(other) => return Err(other),
        }
    }
    let lag = checkpoint::after_append(engine, &open, false, watch);
    if let Some(last) = picked.receipts.last_mut() {
        last.finish(&open, lag);
    }
    Ok(picked)
}

/// Rejects writes into a category that was not promoted here, which would make the document invalid for every later
/// edit.
fn fits(engine: &Engine, state: &State, draft: &Draft) -> Result<()> {
    let before = state.memory.core();
    let desk = engine.desk(&state.memory);
    let mut categories = desk.categories();
    let mut after = Cow::Borrowed(before);
    for change in &draft.changes {
        match change {
            Change::Drawn(DerivedChange::SchemaPromoted(promotion)) => categories = categories.with(&promotion.name),
            // A patch that does not apply is skipped here; the append refuses it.
            Change::CorePatched(patch) => {
                if let Ok(patched) = core_document::replay(&after, patch) {
                    after = Cow::Owned(patched);
                }
            }
            Change::Drawn(DerivedChange::CoreEdited { within, patch }) => {
                if let Ok(edited) = core_document::replay_within(&after, within, patch) {
                    after = Cow::Owned(edited);
                }
            }
            Change::Drawn(DerivedChange::CoreFieldsChanged { changes }) => {
                let place = |at: &str| state.memory.schema().place(at);
                if let Ok(changed) = core_document::change_fields(&after, changes, &place) {
                    after = Cow::Owned(changed);
                }
            }
            _ => {}
        }
    }
    match categories.validate(&after) {
        Err(faults) if categories.validate(before).is_ok() => {
            let list = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            let hint = "pick the event that promoted the category too, before it";
            Err(Error::Refused(format!("the core document would no longer be valid: {list}; {hint}")))
        }
        _ => Ok(()),
    }
}

fn draft(id: EventId, header: quipu_core::event::Header, changes: Vec<Change>) -> Draft {
    Draft {
        actor: header.actor,
        origin: Origin { ..header.origin },
        confidence: header.confidence,
        rationale: header.rationale,
        caused_by: vec![id],
        idempotency: None,
        changes,
    }
}
