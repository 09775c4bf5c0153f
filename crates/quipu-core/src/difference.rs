//! Differences between two versions of a memory: the core document as a patch, and the items one by one.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::beginning::beginning;
use crate::core_document::{self, Patch};
use crate::id::{ItemId, Seq};
use crate::memory::{Marks, Memory, Orphan};

/// How an item differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum ItemChange {
    /// Only in the later version.
    Added {
        /// The item.
        id: ItemId,
        /// The start of its text.
        text: String,
    },
    /// Only in the earlier version.
    Removed {
        /// The item.
        id: ItemId,
        /// The start of its text.
        text: String,
    },
    /// A derived item has another status or text.
    Changed {
        /// The item.
        id: ItemId,
        /// The start of its text.
        text: String,
        /// Its earlier status.
        before: String,
        /// Its later status.
        after: String,
    },
    /// Its pin or rating changed.
    Marked {
        /// The item.
        id: ItemId,
        /// Before.
        before: Marks,
        /// After.
        after: Marks,
    },
}

/// What differs between two versions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The earlier version.
    pub from: Seq,
    /// The later version.
    pub to: Seq,
    /// Turns the earlier core document into the later one (RFC 6902).
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema::JsonPatch"))]
    pub core_patch: Patch,
    /// The same difference, path by path.
    pub core_changes: Vec<core_document::PathChange>,
    /// Items added, removed, changed and marked.
    pub items: Vec<ItemChange>,
    /// Orphans only in the later version.
    pub orphans_new: Vec<Orphan>,
    /// Orphans only in the earlier version whose events still count: they apply again.
    pub orphans_healed: Vec<Orphan>,
}

impl Difference {
    /// True if nothing differs.
    pub fn is_empty(&self) -> bool {
        self.core_patch.0.is_empty()
            && self.items.is_empty()
            && self.orphans_new.is_empty()
            && self.orphans_healed.is_empty()
    }
}

/// Longest excerpt of an item's text, in characters.
const EXCERPT_CHARS: usize = 160;

fn excerpt(memory: &Memory, id: ItemId) -> String {
    memory.get(id).map(|held| excerpt_of(&held.source.text)).unwrap_or_default()
}

fn excerpt_of(text: &str) -> String {
    beginning(text, EXCERPT_CHARS).to_owned()
}

/// Compares the derived items.
fn drawn(from: &Memory, to: &Memory, changes: &mut Vec<ItemChange>) {
    let (before, after) = (from.items(), to.items());
    let text = |memory: &Memory, id| excerpt_of(memory.items().text(id).unwrap_or_default());
    for id in before.ids().filter(|id| !after.has(*id)) {
        changes.push(ItemChange::Removed { id, text: text(from, id) });
    }
    for id in after.ids() {
        if !before.has(id) {
            changes.push(ItemChange::Added { id, text: text(to, id) });
            continue;
        }
        let (stood, stands) = (before.standing(id), after.standing(id));
        if stood != stands || before.text(id) != after.text(id) {
            changes.push(ItemChange::Changed { id, text: text(to, id), before: stood, after: stands });
        }
        if from.marks(id) != to.marks(id) {
            changes.push(ItemChange::Marked { id, before: from.marks(id), after: to.marks(id) });
        }
    }
}

/// Compares two versions of one memory.
pub fn difference(from: &Memory, to: &Memory) -> Difference {
    let mut items = Vec::new();
    for held in from.sources() {
        let id = held.source.id;
        if to.find(id).is_none() {
            items.push(ItemChange::Removed { id, text: excerpt(from, id) });
        }
    }
    for held in to.sources() {
        let id = held.source.id;
        if from.find(id).is_none() {
            items.push(ItemChange::Added { id, text: excerpt(to, id) });
        } else if from.marks(id) != to.marks(id) {
            items.push(ItemChange::Marked { id, before: from.marks(id), after: to.marks(id) });
        }
    }
    drawn(from, to, &mut items);
    let only_in = |one: &Memory, other: &Memory| {
        let known: BTreeSet<Seq> = other.orphans().iter().map(|orphan| orphan.seq).collect();
        one.orphans().iter().filter(|orphan| !known.contains(&orphan.seq)).cloned().collect()
    };
    let mut orphans_healed: Vec<Orphan> = only_in(from, to);
    orphans_healed.retain(|orphan| !to.skipped().contains(&orphan.seq));
    Difference {
        from: from.seq(),
        to: to.seq(),
        core_patch: core_document::diff(from.core(), to.core()),
        core_changes: core_document::describe(from.core(), to.core()),
        items,
        orphans_new: only_in(to, from),
        orphans_healed,
    }
}
