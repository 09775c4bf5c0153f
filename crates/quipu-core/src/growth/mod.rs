//! Consolidation: what a memory derives from itself between conversations. Near-duplicates are folded, facts repeated
//! over several days become part of the profile, what worked becomes a note, and unused items leave the active index.
//!
//! Pure and deterministic apart from ids: the same memory and time give the same proposals. A proposal is the content
//! of one event; nothing is deleted, and reverting the event restores the previous state byte for byte. Proposals
//! depend on the state alone: what was done is not proposed again, so an interrupted pass continues with the next one.

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

/// Options of consolidation, with their defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowthOptions {
    /// Items of at most this age are hot and never demoted; default 14 days.
    pub hot_days: i32,
    /// Items of more than this age are cold; default 90 days.
    pub warm_days: i32,
    /// Least priority at which a day with a fact counts towards its promotion; default 0.6.
    pub promote_priority_min: f64,
    /// Number of such days that promote a fact; default 3.
    pub promote_days_min: u32,
    /// Below this priority a fact covered by an episode leaves the active index; default 0.2.
    pub idle_priority_max: f64,
    /// Superseded values of a slot that stay in the active index; default 3.
    pub versions_kept: usize,
    /// Most notes taken in one reflection; default 3.
    pub notes_max: usize,
    /// Number of user messages between two reflections by a model, if one is configured; default 16.
    pub reflect_turns: usize,
    /// Number of days with episodes of one mood that make an insight; default 5.
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

/// Kind of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GrowthSubject {
    /// Items that say the same are merged.
    Folded,
    /// A fact becomes part of the profile.
    Promoted,
    /// Items leave the active index.
    Demoted,
    /// A tenet lost its evidence.
    Outdated,
    /// A note is recorded.
    Noted,
    /// A note gets another vote.
    Seconded,
    /// A note is retracted, to make room or because it was refuted.
    Pruned,
    /// A tenet is proposed to the user.
    Proposed,
}

impl GrowthSubject {
    /// The kind as text.
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

/// A proposed event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrowthProposal {
    /// Its kind.
    pub what: GrowthSubject,
    /// The items it is about; in a merge, the surviving item comes first.
    pub items: Vec<ItemId>,
    /// Their text, in one line.
    pub text: String,
    /// The reason.
    pub because: String,
    /// The changes of the event.
    #[serde(skip)]
    pub changes: Vec<Change>,
}

/// The proposals that can be appended together. A core patch is decided against the current document, so at most one is
/// included; the others are decided again afterwards.
pub fn together(proposals: Vec<GrowthProposal>) -> Vec<GrowthProposal> {
    let mut patched = false;
    let patches = |one: &GrowthProposal| one.changes.iter().any(|change| matches!(change, Change::CorePatched(_)));
    proposals.into_iter().filter(|one| !patches(one) || !std::mem::replace(&mut patched, true)).collect()
}

/// What was reverted: it is not proposed again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBack {
    done: BTreeSet<String>,
    /// Promoted patterns with the number of instances each had.
    promoted: BTreeMap<String, u32>,
}

impl TakenBack {
    /// Records a change that no longer counts.
    pub fn note(&mut self, change: &Change) {
        self.done.extend(keys(change));
        if let Change::Drawn(DerivedChange::SchemaPromoted(promotion)) = change {
            let instances = self.promoted.entry(promotion.candidate.clone()).or_default();
            *instances = promotion.support.instances.max(*instances);
        }
    }

    /// The number of instances a pattern had at its promotion, if that was reverted.
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

/// Keys of what a change does; equal for equal proposals.
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

/// A key for two merged items, independent of which one survives.
fn pair(one: ItemId, other: ItemId) -> String {
    format!("one {} {}", one.min(other), one.max(other))
}

/// The input of consolidation.
#[derive(Clone, Copy)]
pub struct GrowthContext<'a> {
    /// The context of manual decisions: memory, predicates, categories and time.
    pub base: reconcile::DecisionContext<'a>,
    /// The options.
    pub knobs: &'a GrowthOptions,
    /// What was reverted before.
    pub taken_back: &'a TakenBack,
}

/// Allocates an item id.
pub type Name<'a> = &'a mut dyn FnMut(ItemKind) -> ItemId;

impl<'a> GrowthContext<'a> {
    /// The proposals that were not reverted before.
    pub fn fresh(&self, proposals: Vec<GrowthProposal>) -> Vec<GrowthProposal> {
        proposals.into_iter().filter(|one| !self.taken_back.has(one)).collect()
    }

    fn memory(&self) -> &'a Memory {
        self.base.memory
    }

    fn now(&self) -> Timestamp {
        self.base.now
    }

    /// True if a time is more than this many days ago; false without a time.
    fn is_older(&self, time: Option<Timestamp>, days: i32) -> bool {
        time.is_some_and(|time| self.now().duration_since(time).as_secs() > i64::from(days) * 86_400)
    }
}
