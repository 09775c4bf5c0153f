//! Restores what is left of events that became orphans through a revert: statements that relied on a reverted event
//! without being about it.
//!
//! An event is skipped whole if one of its changes no longer applies. Its other statements are recorded again, against
//! the current memory.

use std::collections::BTreeMap;

use json_patch::PatchOperation;
use serde_json::Value;

use crate::core_document::{containers, replay_within};
use crate::event::{Actor, Change, Event};
use crate::id::{ItemId, Seq};
use crate::item::{DerivedChange, Evidence, Fact, FactStatus, TaskChange};
use crate::memory::Memory;
use crate::reconcile::by_hand::decisions::{DecisionBuilder, DecisionContext};
use crate::reconcile::same::same_value;

/// An orphan and its previous context.
#[derive(Debug, Clone, Copy)]
pub struct SkippedEvent<'a> {
    /// The event.
    pub event: &'a Event,
    /// The memory to which it applied.
    pub before: &'a Memory,
    /// The facts that it saw again, as first recorded.
    pub originals: &'a BTreeMap<ItemId, Fact>,
}

impl DecisionContext<'_> {
    /// The changes that record the remaining statements of an orphan again; empty if none can be kept.
    ///
    /// Facts keep their ids. A fact that was said again keeps the evidence that is left. A fact that a later event
    /// ended stays ended. A manual edit of the core document is repeated if it still applies.
    pub fn restored(&self, skipped: &SkippedEvent<'_>) -> Vec<Change> {
        let mut work = Restoring {
            ink: DecisionBuilder::new(self),
            skipped,
            facts: BTreeMap::new(),
            made: Vec::new(),
            fits: true,
        };
        let edit = work.edit();
        for change in skipped.event.changes.iter().flatten() {
            if let Change::Drawn(drawn) = change {
                work.take(drawn, edit.is_some());
            }
        }
        work.ink.drawn.extend(edit);
        if !work.fits || work.ink.drawn.iter().all(|drawn| matches!(drawn, DerivedChange::CandidatesRefused { .. })) {
            return Vec::new();
        }
        let changes = work.ink.finish();
        if self.memory.check(changes.iter()).is_ok() { changes } else { Vec::new() }
    }

    /// Facts that ended only because of a fact that is gone: they hold again. Ordered by time.
    pub(in crate::reconcile) fn holds_again(&self) -> Vec<&Fact> {
        let items = self.memory.items();
        let follows = |fact: &Fact| {
            let later = |held: &Fact| held.is_active() && !items.is_hidden(held.id) && held.began() > fact.began();
            fact.single && items.in_slot(&fact.slot).any(later)
        };
        let over = |fact: &&Fact| fact.status == FactStatus::Superseded && !items.is_hidden(fact.id);
        let is_free = |fact: &&Fact| fact.superseded_by.is_some_and(|by| items.fact(by).is_none()) && !follows(fact);
        let mut found: Vec<&Fact> = items.facts().filter(over).filter(is_free).collect();
        found.sort_by_key(|fact| (fact.began(), fact.id));
        found
    }

    /// Facts that became duplicates because the event between them no longer counts: the later one is merged into the
    /// earlier.
    pub(in crate::reconcile) fn said_twice(&self, before: &Memory) -> Vec<DerivedChange> {
        let items = self.memory.items();
        let counts = |fact: &&Fact| fact.is_active() && !items.is_hidden(fact.id);
        let counted = |fact: &Fact| {
            before.items().fact(fact.id).is_some_and(Fact::is_active) && !before.items().is_hidden(fact.id)
        };
        let mut merged: BTreeMap<ItemId, Vec<ItemId>> = BTreeMap::new();
        for fact in items.facts().filter(counts) {
            let own = (items.made_by(fact.id), fact.id);
            let earlier = items
                .in_slot(&fact.slot)
                .filter(counts)
                .filter(|held| (items.made_by(held.id), held.id) < own && same_value(&held.object, &fact.object));
            let first = earlier.min_by_key(|held| (items.made_by(held.id), held.id));
            if let Some(first) = first.filter(|first| !counted(first) || !counted(fact)) {
                merged.entry(first.id).or_default().push(fact.id);
            }
        }
        merged.into_iter().map(|(into, from)| DerivedChange::ItemsMerged { from, into }).collect()
    }
}

struct Restoring<'a> {
    ink: DecisionBuilder<'a>,
    skipped: &'a SkippedEvent<'a>,
    /// Facts recorded again.
    facts: BTreeMap<ItemId, Fact>,
    made: Vec<ItemId>,
    /// False once a fact does not fit into the core document.
    fits: bool,
}

impl Restoring<'_> {
    fn memory(&self) -> &Memory {
        self.ink.desk.memory
    }

    fn has(&self, item: ItemId) -> bool {
        self.memory().has(item) || self.made.contains(&item)
    }

    /// A manual edit that only added values which were still there before the revert and are missing now.
    ///
    /// Current edits are recorded as `core_edited`, which creates its containers; this handles older patches.
    fn edit(&self) -> Option<DerivedChange> {
        let (event, memory, before) = (self.skipped.event, self.memory(), self.skipped.before.core());
        let patches = event.changes.iter().flatten().filter_map(|change| match change {
            Change::CorePatched(patch) => Some(patch),
            _ => None,
        });
        let [patch] = patches.collect::<Vec<_>>()[..] else { return None };
        let stood = |op: &PatchOperation| match op {
            PatchOperation::Test(_) => true,
            PatchOperation::Add(add) => match add.path.as_str().strip_suffix("/-") {
                Some(list) => {
                    before.pointer(list).and_then(Value::as_array).is_some_and(|all| all.contains(&add.value))
                }
                None => before.pointer(add.path.as_str()) == Some(&add.value),
            },
            _ => false,
        };
        if event.header.actor != Actor::User || !patch.0.iter().all(stood) {
            return None;
        }
        let (within, patch) = (self.ink.desk.lasting(containers(before, patch)), patch.clone());
        let after = replay_within(memory.core(), &within, &patch).ok()?;
        let valid = self.ink.desk.categories().validate(&after).is_ok();
        (valid && after != *memory.core()).then_some(DerivedChange::CoreEdited { within, patch })
    }

    fn take(&mut self, drawn: &DerivedChange, is_edit: bool) {
        match drawn {
            DerivedChange::FactAsserted { fact, ends, corrects } => {
                let ends = ends.iter().copied().filter(|id| self.has(*id)).collect();
                self.assert((**fact).clone(), ends, *corrects, is_edit);
            }
            DerivedChange::FactSeen { fact, evidence, at } if !self.has(*fact) => {
                let Some(original) = self.skipped.originals.get(fact) else { return };
                let (first_seen, last_seen) = (*at, *at);
                let again = Fact { evidence: vec![*evidence], first_seen, last_seen, ..original.clone() };
                self.assert(again, Vec::new(), false, is_edit);
            }
            DerivedChange::FactChanged(change) if self.has(change.fact) => {
                let mut change = change.clone();
                change.evidence = change.evidence.filter(|at| self.is_said(at));
                // A later change of the status takes precedence.
                let lasted = self.skipped.before.items().fact(change.fact).map(|fact| fact.status);
                if change.status.is_some() && change.status != lasted {
                    (change.status, change.valid_to) = (None, None);
                }
                let known = self.facts.get(&change.fact).or_else(|| self.memory().items().fact(change.fact)).cloned();
                match (known, change.status) {
                    (Some(fact), Some(FactStatus::Active)) => {
                        let now = self.status_now(Fact { status: FactStatus::Active, ..fact });
                        change.status = Some(now.status);
                        self.put(&now, is_edit);
                    }
                    (Some(fact), Some(_)) => self.ink.core.take(self.ink.desk.predicates, &fact),
                    _ => {}
                }
                self.ink.drawn.push(DerivedChange::FactChanged(change));
            }
            DerivedChange::ItemRetracted { item, .. } if self.has(*item) => {
                if let Some(fact) = self.memory().items().fact(*item).cloned() {
                    self.ink.core.take(self.ink.desk.predicates, &fact);
                }
                self.ink.drawn.push(drawn.clone());
            }
            DerivedChange::TaskChanged(change) if self.has(change.task) => {
                let lasted = self.skipped.before.items().task(change.task).map(|task| task.status);
                let status = change.status.filter(|status| Some(*status) == lasted);
                let again = DerivedChange::TaskChanged(TaskChange { status, ..change.clone() });
                if again.needs().into_iter().all(|item| self.has(item)) {
                    self.ink.drawn.push(again);
                }
            }
            // Episodes and sessions are processed again automatically; a promotion is decided again.
            DerivedChange::EpisodeRecorded(_)
            | DerivedChange::TurnSummarized(_)
            | DerivedChange::BaseTruthAdded(_)
            | DerivedChange::BaseTruthRemoved { .. }
            | DerivedChange::BaseTruthMerged(_)
            | DerivedChange::BaseTruthKept { .. }
            | DerivedChange::SessionEnded { .. }
            | DerivedChange::SchemaPromoted(_)
            | DerivedChange::HitsCounted { .. }
            | DerivedChange::ItemsDemoted { .. }
            | DerivedChange::CoreFieldsChanged { .. }
            | DerivedChange::CoreEdited { .. } => {}
            other => {
                let is_new = other.makes().is_none_or(|made| !self.has(made));
                if is_new && other.needs().into_iter().all(|item| self.has(item)) {
                    self.made.extend(other.makes());
                    self.ink.drawn.push(other.clone());
                }
            }
        }
    }

    fn is_said(&self, at: &Evidence) -> bool {
        self.memory().find(at.source).is_some()
    }

    fn assert(&mut self, mut fact: Fact, ends: Vec<ItemId>, corrects: bool, is_edit: bool) {
        let by_hand = fact.evidence.is_empty();
        fact.evidence.retain(|at| self.memory().find(at.source).is_some());
        if self.has(fact.id) || (fact.evidence.is_empty() && !by_hand) {
            return;
        }
        let fact = if fact.is_active() { self.status_now(fact) } else { fact };
        for ended in ends.iter().filter_map(|id| self.memory().items().fact(*id)).cloned().collect::<Vec<_>>() {
            self.ink.core.take(self.ink.desk.predicates, &ended);
        }
        self.put(&fact, is_edit);
        self.made.push(fact.id);
        self.facts.insert(fact.id, fact.clone());
        self.ink.drawn.push(DerivedChange::FactAsserted { fact: Box::new(fact), ends, corrects });
    }

    /// Writes an active fact to the core document, unless the manual edit does.
    fn put(&mut self, fact: &Fact, is_edit: bool) {
        if fact.is_active() && !is_edit {
            self.ink.make_way(fact);
            self.fits &= self.ink.core.put(self.ink.desk.predicates, self.ink.desk.registry, fact);
        }
    }

    /// The current state of an active fact: a later fact in its place still ends it.
    fn status_now(&self, mut fact: Fact) -> Fact {
        let items = self.memory().items();
        let own = (fact.last_seen, self.skipped.event.header.seq);
        let comes_later = |other: &Fact| {
            let seq: Seq = items.made_by(other.id).unwrap_or(Seq::MAX);
            match (other.first_seen, own.0) {
                (Some(theirs), Some(ours)) if theirs != ours => theirs > ours,
                _ => seq > own.1,
            }
        };
        let counts = |other: &&Fact| other.id != fact.id && !items.is_hidden(other.id) && comes_later(other);
        let held = self.skipped.before.items().fact(fact.id);
        let ended_by = held.and_then(|held| held.superseded_by).and_then(|by| items.fact(by)).filter(counts);
        if let (Some(held), Some(by)) = (held, ended_by) {
            (fact.status, fact.valid_to, fact.superseded_by) = (held.status, held.valid_to, Some(by.id));
            return fact;
        }
        let active = items.in_slot(&fact.slot).filter(|other| fact.single && other.is_active()).filter(counts);
        if let Some(by) = active.min_by_key(|other| other.first_seen) {
            let end = fact.valid_to.or(by.began()).max(fact.valid_from);
            (fact.status, fact.valid_to, fact.superseded_by) = (FactStatus::Superseded, end, Some(by.id));
        }
        fact
    }
}
