//! Usage of items: hits, promoted facts and demoted items.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Items;
use crate::id::ItemId;
use crate::item::{DerivedChange, Hits};

/// The usage of items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UsageState {
    /// Hits of items and sources.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    hits: BTreeMap<ItemId, Hits>,
    /// Facts that are part of the profile.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    promoted: BTreeSet<ItemId>,
    /// Demoted items and sources.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    demoted: BTreeSet<ItemId>,
}

impl UsageState {
    pub(super) fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.promoted.is_empty() && self.demoted.is_empty()
    }

    /// The part of an item's state in a difference that concerns usage.
    pub(super) fn standing(&self, id: ItemId) -> &'static str {
        match (self.promoted.contains(&id), self.demoted.contains(&id)) {
            (true, true) => ", of the profile, out of the active index",
            (true, false) => ", of the profile",
            (false, true) => ", out of the active index",
            (false, false) => "",
        }
    }

    /// Folds in a change; the caller has removed missing items from it.
    pub(super) fn apply(&mut self, change: &DerivedChange) {
        match change {
            DerivedChange::HitsCounted { hits } => {
                for shown in hits {
                    let known = self.hits.entry(shown.item).or_default();
                    known.hits = known.hits.saturating_add(shown.count);
                    known.last_hit_at = known.last_hit_at.max(Some(crate::calendar::to_micros(shown.last_at)));
                    self.demoted.remove(&shown.item);
                }
            }
            DerivedChange::FactPromoted { fact, .. } => {
                self.promoted.insert(*fact);
            }
            DerivedChange::ItemsDemoted { items, .. } => self.demoted.extend(items),
            // An item that is mentioned again is active again.
            DerivedChange::FactSeen { fact: item, .. }
            | DerivedChange::FactRestored { fact: item }
            | DerivedChange::NoteSeconded { note: item, .. }
            | DerivedChange::ItemsMerged { into: item, .. } => {
                self.demoted.remove(item);
            }
            DerivedChange::FactChanged(change) => {
                self.demoted.remove(&change.fact);
            }
            DerivedChange::TaskChanged(change) => {
                self.demoted.remove(&change.task);
            }
            _ => {}
        }
    }
}

impl Items {
    /// The hits of an item or a source.
    pub fn hits(&self, id: ItemId) -> Hits {
        self.growth.hits.get(&id).copied().unwrap_or_default()
    }

    /// True if a fact became part of the profile.
    pub fn is_promoted(&self, fact: ItemId) -> bool {
        self.growth.promoted.contains(&fact)
    }

    /// Facts of the profile, by id.
    pub fn promoted(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.growth.promoted.iter().copied()
    }

    /// True if an item or a source is demoted.
    pub fn is_demoted(&self, id: ItemId) -> bool {
        self.growth.demoted.contains(&id)
    }

    /// Demoted items and sources, by id.
    pub fn demoted(&self) -> &BTreeSet<ItemId> {
        &self.growth.demoted
    }
}
