//! How items stand with whoever asks: counted hits, what became part of the profile, what left the active index.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Items;
use crate::id::ItemId;
use crate::item::{DerivedChange, Hits};

/// The part of the items that grows with use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct UsageState {
    /// What was shown, sources included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    hits: BTreeMap<ItemId, Hits>,
    /// Facts of the profile.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    promoted: BTreeSet<ItemId>,
    /// What left the active index, sources included.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    demoted: BTreeSet<ItemId>,
}

impl UsageState {
    pub(super) fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.promoted.is_empty() && self.demoted.is_empty()
    }

    /// What a difference of two versions says besides.
    pub(super) fn standing(&self, id: ItemId) -> &'static str {
        match (self.promoted.contains(&id), self.demoted.contains(&id)) {
            (true, true) => ", of the profile, out of the active index",
            (true, false) => ", of the profile",
            (false, true) => ", out of the active index",
            (false, false) => "",
        }
    }

    /// Folds a change in; the caller has left out what is not there.
    pub(super) fn apply(&mut self, change: &DerivedChange) {
        match change {
            DerivedChange::HitsCounted { hits } => {
                for shown in hits {
                    let known = self.hits.entry(shown.item).or_default();
                    known.hits = known.hits.saturating_add(shown.count);
                    known.last_hit_at = known.last_hit_at.max(Some(crate::time::to_micros(shown.last_at)));
                    self.demoted.remove(&shown.item);
                }
            }
            DerivedChange::FactPromoted { fact, .. } => {
                self.promoted.insert(*fact);
            }
            DerivedChange::ItemsDemoted { items, .. } => self.demoted.extend(items),
            // What is spoken of again is active again.
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
    /// How often an item, or a source, was shown.
    pub fn hits(&self, id: ItemId) -> Hits {
        self.growth.hits.get(&id).copied().unwrap_or_default()
    }

    /// True if a fact was said on enough days to be of the profile.
    pub fn is_promoted(&self, fact: ItemId) -> bool {
        self.growth.promoted.contains(&fact)
    }

    /// Facts of the profile, by id.
    pub fn promoted(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.growth.promoted.iter().copied()
    }

    /// True if an item, or a source, left the active index.
    pub fn is_demoted(&self, id: ItemId) -> bool {
        self.growth.demoted.contains(&id)
    }

    /// What left the active index, sources included, by id.
    pub fn demoted(&self) -> &BTreeSet<ItemId> {
        &self.growth.demoted
    }
}
