//! Entry points: the compatibility interface and the key through which an event was received.
//!
//! Both are in the `reference` of the event's header, as `api:mem0` or `api:mem0:1a2b3c4d5e6f`. They are sealed with
//! the event, so they survive a restart and a rebuild, and `log` and `revert` can select by them.

use quipu_core::event::{Change, Event};
use quipu_core::id::{ItemId, Seq, UserId};

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::scan;
use crate::memory::{OpenMemory, fold};

/// Prefix of the reference of such an event.
const BEGINNING: &str = "api:";

/// A compatibility interface, and the key of its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    interface: &'static str,
    key_id: Option<String>,
}

impl EntryPoint {
    /// Creates an entry point from the name of an interface, such as `mem0`, and the public id of the caller's key.
    /// Without a key it matches every caller of the interface.
    pub fn new(interface: &'static str, key_id: Option<&str>) -> Self {
        Self { interface, key_id: key_id.map(str::to_owned) }
    }

    /// Name of the interface.
    pub fn interface(&self) -> &'static str {
        self.interface
    }

    /// The reference in the header of its events.
    pub fn reference(&self) -> String {
        match &self.key_id {
            Some(key) => format!("{BEGINNING}{}:{key}", self.interface),
            None => format!("{BEGINNING}{}", self.interface),
        }
    }

    /// Returns true if an event with this reference was received through the same interface and key; without a key,
    /// through the same interface.
    pub fn admits(&self, reference: Option<&str>) -> bool {
        let Some(came) = reference.and_then(|reference| reference.strip_prefix(BEGINNING)) else { return false };
        let (interface, key) = came.split_once(':').map_or((came, None), |(interface, key)| (interface, Some(key)));
        interface == self.interface && (self.key_id.is_none() || self.key_id.as_deref() == key)
    }
}

/// Returns true for the reference of an event received through any entry point.
pub(crate) fn is(reference: &str) -> bool {
    reference.starts_with(BEGINNING)
}

/// The reference of the entry point through which an item was received.
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

/// The part of a memory that was received through an entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnteredItems {
    /// The version that was read.
    pub version: Seq,
    /// True if the first event was received there.
    pub began: bool,
    /// The events that recorded something received there, with their session, in order.
    pub events: Vec<(Seq, Option<String>)>,
    /// Number of events that recorded something received elsewhere.
    pub elsewhere: usize,
}

/// Finds what was received through an entry point. Reads the ledger once.
///
/// # Errors
/// `NotFound` if there is no such user; `Corrupt` if an event cannot be read.
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
    // Events with a cause follow from earlier records.
    event.header.caused_by.is_empty()
        && event.changes.iter().any(|change| matches!(change, Some(Change::SourceRecorded(_))))
}

/// Lists the users whose first event was received through an entry point, in order. Reads the first event of each user.
///
/// # Errors
/// Any error of the store.
pub fn users_entered(engine: &Engine, entry: &EntryPoint) -> Result<Vec<UserId>> {
    let mut found = Vec::new();
    for user in engine.store.users()? {
        let mut ledger = match engine.store.open(&user, false) {
            Ok(ledger) => ledger,
            // Deleted since the list was read.
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
