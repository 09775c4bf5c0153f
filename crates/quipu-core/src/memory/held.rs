//! A source as the memory holds it.

use serde::{Deserialize, Serialize};

use crate::event::{SourceKind, Trust};
use crate::id::{ItemId, ItemKind, Seq};
use crate::source::Source;

/// A source and the event that recorded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldSource {
    /// What was said.
    pub source: Source,
    /// The event that recorded it.
    pub seq: Seq,
    /// Which of the event's changes.
    pub change: u32,
    /// How far it may reach: the event's trust, and no further than its role's.
    pub trust: Trust,
    /// The class of what delivered it.
    pub from: SourceKind,
}

impl HeldSource {
    /// The item in whose place a person put these words.
    pub fn instead_of(&self) -> Option<ItemId> {
        let by_hand = self.from == SourceKind::UserEdited && self.source.kind() == ItemKind::Entry;
        by_hand.then_some(self.source.native_id.as_deref())??.parse().ok()
    }
}
