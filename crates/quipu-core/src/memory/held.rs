//! A source in memory, with its provenance.

use serde::{Deserialize, Serialize};

use crate::event::{SourceKind, Trust};
use crate::id::{ItemId, ItemKind, Seq};
use crate::memory::Memory;
use crate::source::Source;

/// A source and the event that recorded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldSource {
    /// The source.
    pub source: Source,
    /// The event that recorded it.
    pub seq: Seq,
    /// Index of the change.
    pub change: u32,
    /// The trust of the event, limited by that of the role.
    pub trust: Trust,
    /// The source kind of the event.
    pub from: SourceKind,
}

impl HeldSource {
    /// The item that these words replace, if a person entered them as a correction.
    pub fn instead_of(&self) -> Option<ItemId> {
        let by_hand = self.from == SourceKind::UserEdited && self.source.kind() == ItemKind::Entry;
        by_hand.then_some(self.source.native_id.as_deref())??.parse().ok()
    }
}

impl Memory {
    /// The sources before and after a source in its session, without hidden ones.
    pub fn neighbours(&self, id: ItemId) -> (Option<&HeldSource>, Option<&HeldSource>) {
        let session = self.get(id).and_then(|held| held.source.session.as_deref());
        let Some((session, ordinal)) = session.and_then(|name| self.session(name)).zip(self.find(id)) else {
            return (None, None);
        };
        let at = session.sources.partition_point(|other| *other < ordinal);
        let held = |at: usize| {
            let ordinal = session.sources.get(at)?;
            let held = self.sources().get(*ordinal as usize)?;
            (!self.items().is_hidden(held.source.id)).then_some(held)
        };
        (at.checked_sub(1).and_then(held), held(at + 1))
    }
}
