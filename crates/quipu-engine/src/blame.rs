//! Blame: which events made a part of the core document, or an item, what it is.

use quipu_core::Memory;
use quipu_core::event::Change;
use quipu_core::id::{ItemId, UserId};
use quipu_core::ledger;
use serde::Serialize;
use serde_json::Value;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::log::{self, Entry};

/// One step in the life of a value or an item.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// The event that took it.
    #[serde(flatten)]
    pub event: Entry,
    /// What stood there before.
    pub before: Option<Value>,
    /// What stands there after.
    pub after: Option<Value>,
}

/// Who changed the value at a pointer of the core document, or the item of an id; oldest first.
///
/// Events that do not count are left out. Costs one replay of the ledger.
///
/// # Errors
/// `Invalid` if the text is neither a pointer nor an item id; `NotFound` if nothing ever stood there.
pub fn blame(engine: &Engine, user: &UserId, what: &str) -> Result<Vec<Step>> {
    let open = engine.open(user)?;
    let item = what.parse::<ItemId>();
    if item.is_err() && !what.is_empty() && !what.starts_with('/') {
        return Err(Error::Invalid(format!("{what:?} is neither a path like /location/city nor an item id")));
    }
    let mut writer = open.writer()?;
    let state = open.read();
    let mut memory = Memory::new(user.clone(), state.memory.skipped().clone());
    let mut steps = Vec::new();
    let mut fault = None;
    writer.ledger.read(1..=state.memory.seq(), &mut |sealed| match ledger::open(&sealed) {
        Ok(event) => {
            let touched = match &item {
                Ok(id) => event.changes.iter().flatten().any(|change| names_item(change, *id)),
                Err(_) => event.changes.iter().flatten().any(Change::is_of_core),
            };
            if !touched {
                memory.apply(event);
                return true;
            }
            let look = |memory: &Memory| match &item {
                Ok(id) => memory.get(*id).map(|held| item_value(memory, held)),
                Err(_) => memory.core().pointer(what).cloned(),
            };
            let before = look(&memory);
            let entry = log::entry(&state, &event);
            memory.apply(event);
            let after = look(&memory);
            if before != after {
                steps.push(Step { event: entry, before, after });
            }
            true
        }
        Err(error) => {
            fault = Some(Error::from(error));
            false
        }
    })?;
    match fault {
        Some(fault) => Err(fault),
        None if steps.is_empty() => Err(Error::NotFound(format!("nothing ever stood at {what:?}"))),
        None => Ok(steps),
    }
}

fn names_item(change: &Change, id: ItemId) -> bool {
    match change {
        Change::SourceRecorded(source) => source.id == id,
        Change::ItemMarked(mark) => mark.item == id,
        _ => false,
    }
}

fn item_value(memory: &Memory, held: &quipu_core::memory::Held) -> Value {
    let marks = memory.marks(held.source.id);
    serde_json::json!({"text": held.source.text, "pinned": marks.pinned, "rating": marks.rating})
}
