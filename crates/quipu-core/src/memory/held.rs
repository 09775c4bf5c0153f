//! A source in memory, with its provenance.

use serde::{Deserialize, Serialize};

use crate::event::{SourceKind, Trust};
use crate::id::{ItemId, ItemKind, Seq};
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
