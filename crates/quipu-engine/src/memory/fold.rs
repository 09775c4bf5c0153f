//! Folds a ledger into the memory at a version, and reads single events.

use std::collections::BTreeSet;

use quipu_core::Memory;
use quipu_core::event::{Change, Event};
use quipu_core::history::History;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::ledger::{self, SealedEvent};

use crate::error::{Error, Result};
use crate::memory::OpenMemory;
use crate::ports::UserLedger;

/// Collects the effects of the ledger's control events.
pub(crate) fn read_history(ledger: &mut dyn UserLedger, head: Seq) -> Result<History> {
    let mut history = History::default();
    for sealed in ledger.controls(head)? {
        history.note(&ledger::open(&sealed)?);
    }
    Ok(history)
}

/// Folds the memory at a version, from the newest valid snapshot or else from the first event.
///
/// A snapshot is valid if the events it skipped are exactly those that do not count now.
pub(crate) fn fold_to(ledger: &mut dyn UserLedger, user: &UserId, history: &History, version: Seq) -> Result<Memory> {
    fold_skipping(ledger, user, history.skipped_at(version), version)
}

/// Folds the memory at a version as if exactly these events did not count.
pub(crate) fn fold_skipping(
    ledger: &mut dyn UserLedger,
    user: &UserId,
    skipped: BTreeSet<Seq>,
    version: Seq,
) -> Result<Memory> {
    let mut memory = None;
    for seq in ledger.snapshots()?.into_iter().rev().filter(|&seq| seq <= version) {
        let Some(bytes) = ledger.snapshot(seq)? else { continue };
        // A snapshot of an older layout is ignored; it is rebuilt from the ledger.
        let Ok(candidate) = Memory::decode(&bytes) else { continue };
        if candidate.user() == user && candidate.skipped().iter().eq(skipped.range(..=seq)) {
            memory = Some(candidate);
            break;
        }
    }
    let mut memory = memory.unwrap_or_else(|| Memory::new(user.clone(), skipped.clone()));
    memory.set_skipped(skipped);
    replay(ledger, &mut memory, version)?;
    Ok(memory)
}

/// Folds the memory at a version from the first event on, without snapshots.
pub(crate) fn fold_from_start(
    ledger: &mut dyn UserLedger,
    user: &UserId,
    history: &History,
    version: Seq,
) -> Result<Memory> {
    let mut memory = Memory::new(user.clone(), history.skipped_at(version));
    replay(ledger, &mut memory, version)?;
    Ok(memory)
}

fn replay(ledger: &mut dyn UserLedger, memory: &mut Memory, version: Seq) -> Result<()> {
    let mut expected = memory.seq() + 1;
    let mut fault = None;
    ledger.read(expected..=version, &mut |sealed| {
        if !ledger::is_intact(&sealed) {
            // An event that does not match its digest is never folded in.
            fault = Some(Error::Corrupt(format!("event {} is damaged; `quipu verify` says where", sealed.seq)));
            return false;
        }
        match ledger::open(&sealed) {
            Ok(event) if event.header.seq == expected && !is_heeded(memory, &event) => {
                let text =
                    format!("event {expected} reverts events, and the store does not list it; run `quipu verify`");
                fault = Some(Error::Corrupt(text));
                false
            }
            Ok(event) if event.header.seq == expected => {
                memory.apply(event);
                expected += 1;
                true
            }
            Ok(event) => {
                let found = event.header.seq;
                fault = Some(Error::Corrupt(format!("event {expected} is missing before {found}; run `quipu verify`")));
                false
            }
            Err(error) => {
                fault = Some(Error::Corrupt(format!("event {}: {error}; run `quipu verify`", sealed.seq)));
                false
            }
        }
    })?;
    match fault {
        Some(fault) => Err(fault),
        None if expected <= version => {
            Err(Error::Corrupt(format!("events {expected} to {version} are missing; run `quipu verify`")))
        }
        None => Ok(()),
    }
}

/// Returns false for a counting revert whose targets the memory does not skip. In that case the store's list of control
/// events is damaged, and replaying would restore reverted events.
fn is_heeded(memory: &Memory, event: &Event) -> bool {
    let (seq, skipped) = (event.header.seq, memory.skipped());
    skipped.contains(&seq)
        || event.changes.iter().flatten().all(|change| match change {
            Change::Reverted { events } => events.iter().all(|target| *target >= seq || skipped.contains(target)),
            _ => true,
        })
}

/// One event by position, as stored.
pub(crate) fn sealed_at(ledger: &mut dyn UserLedger, seq: Seq) -> Result<SealedEvent> {
    let mut found = None;
    ledger.read(seq..=seq, &mut |sealed| {
        found = Some(sealed);
        false
    })?;
    let head = ledger.head()?.seq;
    found.ok_or_else(|| Error::NotFound(format!("there is no event {seq}; the ledger ends at {head}")))
}

/// One event by position.
pub(crate) fn event_at(ledger: &mut dyn UserLedger, seq: Seq) -> Result<Event> {
    Ok(ledger::open(&sealed_at(ledger, seq)?)?)
}

/// The event of a source that was recorded alone, or with nothing but its marks.
pub(crate) fn own_event(open: &OpenMemory, item: ItemId) -> Result<Option<Seq>> {
    let seq = match open.read().memory.get(item) {
        Some(held) => held.seq,
        None => return Ok(None),
    };
    let event = event_at(open.writer()?.ledger.as_mut(), seq)?;
    let is_mark = |change: &Option<Change>| matches!(change, Some(Change::ItemMarked(_)));
    let alone = matches!(event.changes.first(), Some(Some(Change::SourceRecorded(_))))
        && event.changes.iter().skip(1).all(is_mark);
    Ok(alone.then_some(seq))
}
