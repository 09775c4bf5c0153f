//! Growing: what a memory makes of itself when nobody speaks. Near-duplicates become one, what is said again and again
//! becomes part of the profile, what worked becomes a note, what nobody came back to leaves the active index.
//!
//! Pure and deterministic: the same memory and time give the same proposals, but for the ids. A proposal is what one event
//! says; nothing is deleted, and reverting the event brings back what was there, to the byte. A predicate over state: what
//! was done is not proposed again, so a pass that was cut short goes on with the next one.

mod demotion;
mod folding;
mod judging;
mod priority;
mod promotion;
mod reflection;
mod tenets;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::event::Change;
use crate::id::{ItemId, ItemKind};
use crate::item::DerivedChange;
use crate::memory::Memory;
use crate::predicate::normal;
use crate::reconcile;

pub use demotion::{ActiveIndex, active_index};
pub use judging::NoteProposed;
pub use priority::{FULL_USE, priority};

/// The knobs of growing, with their defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthOptions {
    /// What is younger is hot: never demoted; default 14 days.
    pub hot_days: i32,
    /// What is older is cold; default 90 days.
    pub warm_days: i32,
    /// Priority at which a claim counts towards the profile on a day it was said; default 0.6.
    pub promote_priority_min: f64,
    /// On so many days; default 3.
    pub promote_days_min: u32,
    /// Below this priority a claim that an episode tells leaves the active index; default 0.2.
    pub idle_priority_max: f64,
    /// Past values of a relation that stay in the active index; default 3.
    pub versions_kept: usize,
    /// Notes taken in one reflection; default 3.
    pub notes_max: usize,
    /// Messages of the user's after which a model looks back, if one is configured; default 16.
    pub reflect_turns: usize,
    /// Episodes on so many days that sound alike make an insight; default 5.
    pub insight_days_min: usize,
}

impl Default for GrowthOptions {
    fn default() -> Self {
        Self {
            hot_days: 14,
            warm_days: 90,
            promote_priority_min: 0.6,
            promote_days_min: 3,
            idle_priority_max: 0.2,
            versions_kept: 3,
            notes_max: 3,
            reflect_turns: 16,
            insight_days_min: 5,
        }
    }
}

/// What a proposal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GrowthSubject {
    /// Items that say the same become one.
    Folded,
    /// A claim becomes part of the profile.
    Promoted,
    /// Items leave the active index.
    Demoted,
    /// A line of the self-model lost its ground.
    Outdated,
    /// A note is taken.
    Noted,
    /// A note gets another vote.
    Seconded,
    /// A note makes room, or holds no longer.
    Pruned,
    /// A line of the self-model is put to the user.
    Proposed,
}

impl GrowthSubject {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Folded => "folded",
            Self::Promoted => "promoted",
            Self::Demoted => "demoted",
            Self::Outdated => "outdated",
            Self::Noted => "noted",
            Self::Seconded => "agreed with",
            Self::Pruned => "pruned",
            Self::Proposed => "proposed",
        }
    }
}

/// One event that is proposed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrowthProposal {
    /// What it is.
    pub what: GrowthSubject,
    /// The items it is about; of items that become one, the one that stays comes first.
    pub items: Vec<ItemId>,
    /// What they say, in a line.
    pub text: String,
    /// Why.
    pub because: String,
    /// What the event says.
    #[serde(skip)]
    pub changes: Vec<Change>,
}

/// What of some proposals can be appended together: each changes the core document as it was when it was decided, so there
/// is one patch at most. The rest is decided again afterwards.
pub fn together(proposals: Vec<GrowthProposal>) -> Vec<GrowthProposal> {
    let mut patched = false;
    let patches = |one: &GrowthProposal| one.changes.iter().any(|change| matches!(change, Change::CorePatched(_)));
    proposals.into_iter().filter(|one| !patches(one) || !std::mem::replace(&mut patched, true)).collect()
}

/// What somebody has taken back: it is not done again by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBack {
    done: BTreeSet<String>,
    /// Patterns that were promoted, with the instances each had then.
    promoted: BTreeMap<String, u32>,
}

impl TakenBack {
    /// Notes a change that counts no longer.
    pub fn note(&mut self, change: &Change) {
        self.done.extend(keys(change));
        if let Change::Drawn(DerivedChange::SchemaPromoted(promotion)) = change {
            let instances = self.promoted.entry(promotion.candidate.clone()).or_default();
            *instances = promotion.support.instances.max(*instances);
        }
    }

    /// The instances a pattern had when it was promoted, if that was taken back.
    pub(crate) fn promoted(&self, candidate: &str) -> Option<u32> {
        self.promoted.get(candidate).copied()
    }

    fn has(&self, proposal: &GrowthProposal) -> bool {
        proposal.changes.iter().flat_map(keys).any(|key| self.done.contains(&key))
    }

    fn has_demoted(&self, item: ItemId) -> bool {
        self.done.contains(&format!("demoted {item}"))
    }
}

/// What a change does, in words that are the same each time it is proposed.
fn keys(change: &Change) -> Vec<String> {
    let Change::Drawn(drawn) = change else { return Vec::new() };
    match drawn {
        DerivedChange::ItemsMerged { from, into } => from.iter().map(|part| pair(*part, *into)).collect(),
        DerivedChange::FactPromoted { fact, .. } => vec![format!("promoted {fact}")],
        DerivedChange::ItemsDemoted { items, .. } => items.iter().map(|item| format!("demoted {item}")).collect(),
        DerivedChange::NoteRecorded(note) => vec![format!("note {}", normal(&note.text))],
        DerivedChange::NoteSeconded { note, evidence } => {
            vec![format!("seconded {note} {}", evidence.map(|at| at.source.to_string()).unwrap_or_default())]
        }
        DerivedChange::ItemRetracted { item, .. } => vec![format!("retracted {item}")],
        DerivedChange::TenetRecorded(tenet) => vec![format!("tenet {}", normal(&tenet.text))],
        DerivedChange::TenetChanged(change) => vec![format!("changed {}", change.tenet)],
        _ => Vec::new(),
    }
}

/// Two items that are one, whichever of them stays.
fn pair(one: ItemId, other: ItemId) -> String {
    format!("one {} {}", one.min(other), one.max(other))
}

/// Where growing is decided.
#[derive(Clone, Copy)]
pub struct GrowthContext<'a> {
    /// What people would decide on: the memory, what relations mean, what the core document may hold, the time.
    pub base: reconcile::DecisionContext<'a>,
    /// The knobs.
    pub knobs: &'a GrowthOptions,
    /// What is not done again.
    pub taken_back: &'a TakenBack,
}

/// Hands out ids.
pub type Name<'a> = &'a mut dyn FnMut(ItemKind) -> ItemId;

impl<'a> GrowthContext<'a> {
    /// What of these was not taken back before.
    pub fn fresh(&self, proposals: Vec<GrowthProposal>) -> Vec<GrowthProposal> {
        proposals.into_iter().filter(|one| !self.taken_back.has(one)).collect()
    }

    fn memory(&self) -> &'a Memory {
        self.base.memory
    }

    fn now(&self) -> Timestamp {
        self.base.now
    }

    /// True if a time lies more than so many days back. What has no time is not old.
    fn is_older(&self, time: Option<Timestamp>, days: i32) -> bool {
        time.is_some_and(|time| self.now().duration_since(time).as_secs() > i64::from(days) * 86_400)
    }
}
