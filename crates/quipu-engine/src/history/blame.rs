//! Blame: lists the events that shaped a value of the core document or an item.

use quipu_core::Memory;
use quipu_core::event::Change;
use quipu_core::id::{ItemId, UserId};
use quipu_core::ledger;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::log::{self, LogEntry};
use crate::memory::OpenMemory;
use crate::read::items;

/// One step in the history of a value or an item.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameStep {
    /// The event.
    #[serde(flatten)]
    pub event: LogEntry,
    /// The value before it.
    pub before: Option<Value>,
    /// The value after it.
    pub after: Option<Value>,
}

/// Lists the changes of a value of the core document, given by pointer, or of an item, given by id or prefix; oldest
/// first.
///
/// Events that do not count are left out. Replays the ledger once.
///
/// # Errors
/// `Invalid` if the text is neither a pointer nor an item id; `NotFound` if nothing ever existed there.
pub fn blame(engine: &Engine, user: &UserId, what: &str) -> Result<Vec<BlameStep>> {
    let open = engine.open(user)?;
    let is_pointer = what.is_empty() || what.starts_with('/');
    let item = if is_pointer { None } else { Some(named(&open, what)?) };
    let mut writer = open.writer()?;
    let state = open.read();
    let mut memory = Memory::new(user.clone(), state.memory.skipped().clone());
    let mut steps = Vec::new();
    let mut fault = None;
    writer.ledger.read(1..=state.memory.seq(), &mut |sealed| match ledger::open(&sealed) {
        Ok(event) => {
            let touched = match &item {
                Some(id) => event.changes.iter().flatten().any(|change| change.is_about(*id)),
                None => event.changes.iter().flatten().any(Change::is_of_core),
            };
            if !touched {
                memory.apply(event);
                return true;
            }
            let look = |memory: &Memory| match &item {
                Some(id) => item_value(memory, *id),
                None => memory.core().pointer(what).cloned(),
            };
            let before = look(&memory);
            let entry = log::entry(&state, &event);
            memory.apply(event);
            let after = look(&memory);
            if before != after {
                steps.push(BlameStep { event: entry, before, after });
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
        None if steps.is_empty() => Err(Error::NotFound(format!("nothing ever existed at {what:?}"))),
        None => Ok(steps),
    }
}

/// Parses or looks up an item id, including the id of an item that no longer exists.
fn named(open: &OpenMemory, what: &str) -> Result<ItemId> {
    if let Ok(id) = what.parse::<ItemId>() {
        return Ok(id);
    }
    items::find_id(&open.read().memory, what).map_err(|error| match error {
        Error::NotFound(_) => {
            Error::Invalid(format!("{what:?} is neither a path like /location/city nor the id of an item"))
        }
        other => other,
    })
}

/// Text, status and marks of an item; `None` while it does not exist.
fn item_value(memory: &Memory, id: ItemId) -> Option<Value> {
    let marks = memory.marks(id);
    if let Some(held) = memory.get(id) {
        return Some(json!({"text": held.source.text, "pinned": marks.pinned, "rating": marks.rating}));
    }
    let items = memory.items();
    let (text, standing) = (items.text(id)?, items.standing(id));
    Some(json!({"text": text, "standing": standing, "pinned": marks.pinned, "rating": marks.rating}))
}
