//! Edits of single items by a person: retract, close, correct, merge, score, tick off. Everything stays in the history.

use jiff::Timestamp;
use quipu_core::event::{Actor, Change, Draft, SourceKind};
use quipu_core::id::ItemId;
use quipu_core::item::{DerivedChange, FactChange, TaskChange, TaskStatus};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::MemoryRef;
use crate::memory::checkpoint;
use crate::memory::{OpenMemory, State};
use crate::memory::{Receipt, commit};
use crate::read::items;
use crate::write::hand_words;

/// Retracts an item. The value of a fact is not extracted from old sources again.
///
/// # Errors
/// `NotFound` if there is no such item; `Refused` for a source (erase it) or an item that is retracted already.
pub fn retract<'a>(engine: &Engine, memory: impl Into<MemoryRef<'a>>, name: &str, reason: &str) -> Result<Receipt> {
    by_hand(engine, memory.into(), Some(reason), &mut |state| {
        let item = items::find_id(&state.memory, name)?;
        let mut changes = engine.desk(&state.memory).retract(item, reason)?;
        changes.extend(hand_words::put_away(&state.memory, item, reason));
        Ok(changes)
    })
}

/// Ends the validity of a fact at a time.
///
/// # Errors
/// `NotFound` if there is no such fact; `Invalid` if it would end before it began; `Refused` if it does not hold.
pub fn close_fact<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    name: &str,
    valid_to: Timestamp,
) -> Result<Receipt> {
    by_hand(engine, memory.into(), None, &mut |state| {
        let item = items::find_id(&state.memory, name)?;
        Ok(engine.desk(&state.memory).close(item, quipu_core::calendar::to_micros(valid_to))?)
    })
}

/// Corrects a fact that was never true by another value. For a fact that changed, close it and write a new one.
///
/// # Errors
/// `NotFound` if there is no such fact; `Invalid` for an empty or unchanged value; `Refused` if the fact does not
/// count.
pub fn correct_fact<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    name: &str,
    object: &str,
) -> Result<Receipt> {
    by_hand(engine, memory.into(), None, &mut |state| {
        let item = items::find_id(&state.memory, name)?;
        let changes = engine.desk(&state.memory).correct(item, object, &mut |kind| engine.new_item_id(kind))?;
        hand_words::with_words(engine, &state.memory, item, changes)
    })
}

/// Merges items of one kind into one.
///
/// # Errors
/// `NotFound` if an item does not exist; `Invalid` for items of different kinds.
pub fn merge<'a>(engine: &Engine, memory: impl Into<MemoryRef<'a>>, from: &[String], into: &str) -> Result<Receipt> {
    by_hand(engine, memory.into(), None, &mut |state| {
        let into = items::find_id(&state.memory, into)?;
        let from: Vec<ItemId> = from.iter().map(|name| items::find_id(&state.memory, name)).collect::<Result<_>>()?;
        Ok(engine.desk(&state.memory).merge(&from, into)?)
    })
}

/// Sets the user's score of a fact, 0 to 10.
///
/// # Errors
/// `Invalid` above 10; `NotFound` if there is no such fact.
pub fn score_fact<'a>(engine: &Engine, memory: impl Into<MemoryRef<'a>>, name: &str, score: u8) -> Result<Receipt> {
    if score > 10 {
        return Err(Error::Invalid("a score goes from 0 to 10".to_owned()));
    }
    by_hand(engine, memory.into(), None, &mut |state| {
        let fact = items::find_id(&state.memory, name)?;
        if state.memory.items().fact(fact).is_none() {
            return Err(Error::NotFound(format!("{fact} is not a fact")));
        }
        let change = FactChange { user_fact_score: Some(score), ..FactChange::of(fact) };
        Ok(vec![Change::Drawn(DerivedChange::FactChanged(change))])
    })
}

/// Sets the status of a task, goal or problem: ticks it off, drops it, or opens it again.
///
/// # Errors
/// `NotFound` if there is no such task; `Refused` for a task that is retracted or has this status already.
pub fn set_task_status<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    name: &str,
    status: TaskStatus,
) -> Result<Receipt> {
    let why = format!("{} by hand", word_of(status));
    by_hand(engine, memory.into(), Some(&why), &mut |state| {
        let id = items::find_id(&state.memory, name)?;
        let items = state.memory.items();
        let task = items.task(id).ok_or_else(|| Error::NotFound(format!("{id} is not a task")))?;
        if items.is_hidden(id) {
            return Err(Error::Refused(format!("{id} is retracted: revert the event that retracted it first")));
        }
        if task.status == status {
            return Err(Error::Refused(format!("{id} was {} already: nothing was changed", word_of(status))));
        }
        let change = TaskChange {
            task: id,
            status: Some(status),
            due: None,
            priority: None,
            attempt: None,
            evidence: None,
            at: Some(engine.now()),
        };
        Ok(vec![Change::Drawn(DerivedChange::TaskChanged(change))])
    })
}

/// What gives a task a status.
fn word_of(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Active => "opened",
        TaskStatus::Stalled => "put on hold",
        TaskStatus::Done => "ticked off",
        TaskStatus::Dropped => "dropped",
    }
}

fn by_hand(
    engine: &Engine,
    memory: MemoryRef<'_>,
    rationale: Option<&str>,
    decide: &mut dyn FnMut(&State) -> Result<Vec<Change>>,
) -> Result<Receipt> {
    let open = engine.open(memory)?;
    let mut receipt = commit_decided(engine, &open, Actor::User, rationale, decide)?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(receipt)
}

/// Appends a person's decision. Patches are a separate event after it, so the decision survives a failed patch.
pub(crate) fn commit_decided(
    engine: &Engine,
    open: &OpenMemory,
    by: Actor,
    rationale: Option<&str>,
    decide: &mut dyn FnMut(&State) -> Result<Vec<Change>>,
) -> Result<Receipt> {
    let receipts = commit::commit(engine, open, None, &mut |state| {
        let changes = decide(state)?;
        // A promotion and the patches that move its values are one event.
        let whole = changes.iter().any(|change| matches!(change, Change::Drawn(DerivedChange::SchemaPromoted(_))));
        let (patches, decided): (Vec<Change>, Vec<Change>) =
            changes.into_iter().partition(|change| !whole && change.is_of_core());
        let parts = [decided, patches].into_iter().filter(|changes| !changes.is_empty());
        let draft = |changes| Draft {
            rationale: rationale.map(str::to_owned),
            ..Draft::new(by, SourceKind::UserEdited, changes)
        };
        Ok(parts.map(draft).collect())
    })?;
    receipts.into_iter().next().ok_or_else(|| Error::Bug("a decision made no event".to_owned()))
}
