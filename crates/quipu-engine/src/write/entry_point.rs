//! Entry points: the interface made for other systems' clients through which an event came in, and the key it came with.
//!
//! Both stand in the event's header, as `api:mem0` or `api:mem0:1a2b3c4d5e6f` in its `reference`. They are sealed with the event,
//! so they survive a restart and a rebuild, and `log` and `revert` can select by them.

use std::collections::BTreeSet;

use quipu_core::event::{Change, Event};
use quipu_core::id::{ItemId, Seq, UserId};

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::scan;
use crate::memory::{OpenMemory, fold};
use crate::read::memories;

/// Begins the reference of an event that came in through an entry point.
const BEGINNING: &str = "api:";

/// An interface made for other systems' clients, and the key a caller of it came with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    interface: &'static str,
    key_id: Option<String>,
}

impl EntryPoint {
    /// An interface by its name, such as `mem0`, and the public id of the caller's key. A caller without a key stands for every
    /// caller of the interface.
    pub fn new(interface: &'static str, key_id: Option<&str>) -> Self {
        Self { interface, key_id: key_id.map(str::to_owned) }
    }

    /// The interface's name.
    pub fn interface(&self) -> &'static str {
        self.interface
    }

    /// What stands in the header of an event that comes in here.
    pub fn reference(&self) -> String {
        match &self.key_id {
            Some(key) => format!("{BEGINNING}{}:{key}", self.interface),
            None => format!("{BEGINNING}{}", self.interface),
        }
    }

    /// True if an event with this reference came in through the same interface with the same key; without a key, through the
    /// same interface.
    pub fn admits(&self, reference: Option<&str>) -> bool {
        let Some(came) = reference.and_then(|reference| reference.strip_prefix(BEGINNING)) else { return false };
        let (interface, key) = came.split_once(':').map_or((came, None), |(interface, key)| (interface, Some(key)));
        interface == self.interface && (self.key_id.is_none() || self.key_id.as_deref() == key)
    }
}

/// True for the reference of an event that came in through some entry point.
pub(crate) fn is(reference: &str) -> bool {
    reference.starts_with(BEGINNING)
}

/// The entry point an item came in through, as it stands in the header of the event that recorded it.
pub(crate) fn reference_of(open: &OpenMemory, item: ItemId) -> Result<Option<String>> {
    let recorded = {
        let state = open.read();
        let first = state.memory.items();
        let source = first.fact(item).and_then(|fact| fact.evidence.first()).map(|at| at.source);
        let source = source.or_else(|| first.task(item).and_then(|task| task.evidence.first()).map(|at| at.source));
        let source = source.or_else(|| first.note(item).and_then(|note| note.evidence.first()).map(|at| at.source));
        let words = state.memory.get(source.unwrap_or(item)).map(|held| held.seq);
        words.or_else(|| first.made_by(item))
    };
    let Some(seq) = recorded else { return Ok(None) };
    let event = fold::event_at(open.writer()?.ledger.as_mut(), seq)?;
    Ok(event.header.origin.reference.filter(|reference| is(reference)))
}

/// What of a memory came in through an entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnteredItems {
    /// The version that was looked at.
    pub version: Seq,
    /// True if the memory was begun there.
    pub began: bool,
    /// The events that recorded what came in there, with their session, in order.
    pub events: Vec<(Seq, Option<String>)>,
    /// How many events recorded something that came in elsewhere.
    pub elsewhere: usize,
}

/// What of a memory came in through an entry point. Costs one pass over the ledger.
///
/// # Errors
/// `NotFound` without such a user; `Corrupt` if an event cannot be read.
pub fn entered(engine: &Engine, user: &UserId, entry: &EntryPoint) -> Result<EnteredItems> {
    let open = engine.open(user)?;
    let (version, skipped) = {
        let state = open.read();
        (state.memory.seq(), state.memory.skipped().clone())
    };
    let mut found = EnteredItems { version, began: false, events: Vec::new(), elsewhere: 0 };
    scan::events(open.writer()?.ledger.as_mut(), 1..=version, &mut |event| {
        let header = &event.header;
        let is_here = entry.admits(header.origin.reference.as_deref());
        found.began |= header.seq == 1 && is_here;
        if skipped.contains(&header.seq) || !records_words(&event) {
            return;
        }
        match is_here {
            true => found.events.push((header.seq, header.origin.session.clone())),
            false => found.elsewhere += 1,
        }
    })?;
    Ok(found)
}

fn records_words(event: &Event) -> bool {
    // What Quipu writes for itself rests on something that was recorded before.
    event.header.caused_by.is_empty()
        && event.changes.iter().any(|change| matches!(change, Some(Change::SourceRecorded(_))))
}

/// The first of some memories that did not come in through an entry point, or not with its key, by name.
///
/// # Errors
/// `NotFound` if one of them is not there.
pub fn first_foreign(engine: &Engine, user: &UserId, names: &[String], entry: &EntryPoint) -> Result<Option<String>> {
    let open = engine.open(user)?;
    let mut known: BTreeSet<ItemId> = BTreeSet::new();
    for name in names {
        let told = memories::memory(engine, user, name)?;
        let rests = if told.sources.is_empty() { vec![told.current] } else { told.sources };
        for item in rests {
            if known.insert(item) && !entry.admits(reference_of(&open, item)?.as_deref()) {
                return Ok(Some(name.clone()));
            }
        }
    }
    Ok(None)
}

/// Users whose memory was begun through an entry point, in order. Reads the first event of each user.
///
/// # Errors
/// What the store said.
pub fn users_entered(engine: &Engine, entry: &EntryPoint) -> Result<Vec<UserId>> {
    let mut found = Vec::new();
    for user in engine.store.users()? {
        let mut ledger = match engine.store.open(&user, false) {
            Ok(ledger) => ledger,
            // Deleted since the list was made.
            Err(crate::ports::StoreError::NotFound(_)) => continue,
            Err(other) => return Err(other.into()),
        };
        let mut began = false;
        scan::headers(ledger.as_mut(), 1..=1, &mut |header| began = entry.admits(header.origin.reference.as_deref()))?;
        if began {
            found.push(user);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::EntryPoint;

    #[test]
    fn a_key_stands_for_itself_and_no_key_for_all() {
        let (any, one) = (EntryPoint::new("mem0", None), EntryPoint::new("mem0", Some("1a2b")));
        for (reference, by_any, by_one) in [
            (Some("api:mem0"), true, false),
            (Some("api:mem0:1a2b"), true, true),
            (Some("api:mem0:1a2c"), true, false),
            (Some("api:mem00"), false, false),
            (Some("api:langgraph:1a2b"), false, false),
            (Some("mem0:1a2b"), false, false),
            (None, false, false),
        ] {
            assert_eq!((any.admits(reference), one.admits(reference)), (by_any, by_one), "{reference:?}");
        }
        assert_eq!(one.reference(), "api:mem0:1a2b");
    }
}
