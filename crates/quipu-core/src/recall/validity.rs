//! Which of the drawn items a question is about: what holds now, what held then, or all that ever did.

use jiff::Timestamp;
use serde::Serialize;

use crate::id::{ItemId, ItemKind};
use crate::item::{FactStatus, TenetStatus};
use crate::items::Items;

/// The time for which statements are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// What holds; with a time, what holds at that time, as known today.
    Now(Option<Timestamp>),
    /// What held at some time in a stretch, its end left out.
    Within(Timestamp, Timestamp),
    /// Whatever held or was said to hold, its history with it.
    Ever,
}

impl Default for Validity {
    fn default() -> Self {
        Self::Now(None)
    }
}

impl Validity {
    /// True if an item may be shown. What was taken back, corrected or never sure is not; what is contested is, so that
    /// both sides can be told.
    pub fn admits(&self, items: &Items, id: ItemId) -> bool {
        if items.is_hidden(id) {
            return false;
        }
        match id.kind {
            ItemKind::Fact => items.fact(id).is_some_and(|fact| match (fact.status, self) {
                (FactStatus::Contested, _) => true,
                (FactStatus::Active, Self::Now(None)) => true,
                (FactStatus::Active | FactStatus::Superseded, Self::Now(Some(time))) => fact.held_at(*time),
                (FactStatus::Active | FactStatus::Superseded, Self::Within(from, until)) => {
                    fact.valid_from.or(fact.first_seen).is_none_or(|start| start < *until)
                        && fact.valid_to.is_none_or(|end| end > *from)
                }
                (FactStatus::Active | FactStatus::Superseded, Self::Ever) => true,
                _ => false,
            }),
            // A line of the self-model counts once the user confirmed it.
            ItemKind::Tenet => {
                items.tenet(id).is_some_and(|tenet| *self == Self::Ever || tenet.status == TenetStatus::Confirmed)
            }
            ItemKind::Episode | ItemKind::Task | ItemKind::Note => items.has(id),
            ItemKind::Review | ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import => false,
        }
    }
}
