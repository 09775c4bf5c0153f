//! The items during a decision: those of the memory with the changes of the undecided event applied.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::ItemId;
use crate::item::{DerivedChange, Evidence, Fact, FactStatus, Note, Task, TaskStatus, Tenet};
use crate::items::Items;
use crate::predicate::normal;

/// Items with the changes of an undecided event on top.
pub(super) struct View<'a> {
    items: &'a Items,
    facts: BTreeMap<ItemId, Fact>,
    tasks: BTreeMap<ItemId, Task>,
    notes: BTreeMap<ItemId, Note>,
    tenets: BTreeMap<ItemId, Tenet>,
    retracted: BTreeSet<ItemId>,
    asked: BTreeSet<ItemId>,
}

impl<'a> View<'a> {
    /// A view without changes.
    pub(super) fn of(items: &'a Items) -> Self {
        Self {
            items,
            facts: BTreeMap::new(),
            tasks: BTreeMap::new(),
            notes: BTreeMap::new(),
            tenets: BTreeMap::new(),
            retracted: BTreeSet::new(),
            asked: BTreeSet::new(),
        }
    }

    /// The underlying items.
    pub(super) fn items(&self) -> &'a Items {
        self.items
    }

    /// The current state of a fact.
    pub(super) fn fact(&self, id: ItemId) -> Option<Fact> {
        let known = self.facts.get(&id).or_else(|| self.items.fact(id));
        known.filter(|fact| !self.items.is_hidden(fact.id)).cloned()
    }

    /// The facts that another fact ended, by id.
    pub(super) fn ended_by(&self, id: ItemId) -> Vec<Fact> {
        let all = self.items.facts().filter(|fact| fact.superseded_by == Some(id));
        all.filter(|fact| !self.items.is_hidden(fact.id)).cloned().collect()
    }

    /// The evidence of the facts and tasks that the changes have ended.
    pub(super) fn ended_places(&self) -> Vec<Evidence> {
        let facts = self.facts.values().filter(|fact| !fact.is_active());
        let facts = facts.filter_map(|fact| self.items.fact(fact.id)).filter(|before| before.is_active());
        let is_over = |task: &Task| matches!(task.status, TaskStatus::Done | TaskStatus::Dropped);
        let tasks = self.tasks.values().filter(|task| is_over(task));
        let tasks = tasks.filter_map(|task| self.items.task(task.id)).filter(|before| !is_over(before));
        facts.flat_map(|fact| &fact.evidence).chain(tasks.flat_map(|task| &task.evidence)).copied().collect()
    }

    /// The facts of a slot, by id.
    pub(super) fn in_slot(&self, slot: &str) -> Vec<Fact> {
        let mut found: BTreeMap<ItemId, Fact> = self.items.in_slot(slot).map(|fact| (fact.id, fact.clone())).collect();
        let changed = self.facts.values().filter(|fact| fact.slot == slot);
        found.extend(changed.map(|fact| (fact.id, fact.clone())));
        found.into_values().filter(|fact| !self.items.is_hidden(fact.id)).collect()
    }

    /// The active facts about a subject.
    pub(super) fn holds_of(&self, subject: &str) -> Vec<Fact> {
        let subject = normal(subject);
        let below = self.items.about(&subject).map(|fact| fact.slot.clone());
        let changed = self.facts.values().filter(|fact| normal(&fact.subject) == subject).map(|fact| fact.slot.clone());
        let slots: BTreeSet<String> = below.chain(changed).collect();
        slots.iter().flat_map(|slot| self.in_slot(slot)).filter(Fact::is_active).collect()
    }

    /// The active facts, by id.
    pub(super) fn holding(&self) -> Vec<Fact> {
        let below = self.items.facts().filter(|fact| !self.facts.contains_key(&fact.id));
        let all = below.chain(self.facts.values()).filter(|fact| fact.is_active() && !self.items.is_hidden(fact.id));
        all.cloned().collect()
    }

    /// Every visible task.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &Task> {
        let below = self.items.tasks().filter(|task| !self.tasks.contains_key(&task.id));
        below.chain(self.tasks.values()).filter(|task| !self.items.is_hidden(task.id))
    }

    /// Every visible task that is neither completed nor abandoned.
    pub(super) fn open_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks().filter(|task| task.status.is_open())
    }

    /// Every visible note, by id.
    pub(super) fn notes(&self) -> Vec<&Note> {
        let below = self.items.notes().filter(|note| !self.notes.contains_key(&note.id));
        let mut all: Vec<&Note> = below.chain(self.notes.values()).filter(|note| !self.is_hidden(note.id)).collect();
        all.sort_by_key(|note| note.id);
        all
    }

    /// Every tenet: those of the memory by id, then those of this event.
    pub(super) fn tenets(&self) -> impl Iterator<Item = &Tenet> {
        self.items.tenets().chain(self.tenets.values())
    }

    fn is_hidden(&self, id: ItemId) -> bool {
        self.retracted.contains(&id) || self.items.is_hidden(id)
    }

    /// True if a review about this item is waiting.
    pub(super) fn is_asked(&self, about: ItemId) -> bool {
        self.asked.contains(&about) || self.items.waiting_about(about).next().is_some()
    }

    /// Applies a change as far as later decisions need it.
    pub(super) fn apply(&mut self, change: &DerivedChange) {
        match change {
            DerivedChange::FactAsserted { fact, ends, corrects } => {
                let displaced = if *corrects { FactStatus::Corrected } else { FactStatus::Superseded };
                let mut ended: Vec<ItemId> = ends.clone();
                if fact.single && fact.is_active() {
                    ended.extend(
                        self.in_slot(&fact.slot)
                            .into_iter()
                            .filter(|held| held.is_active() && !held.begins_after(fact))
                            .map(|held| held.id),
                    );
                }
                for id in ended {
                    self.change(id, |held| held.status = displaced);
                }
                self.facts.insert(fact.id, (**fact).clone());
            }
            DerivedChange::FactSeen { fact, evidence, at } => self.change(*fact, |held| {
                held.evidence.push(*evidence);
                held.last_seen = held.last_seen.max(*at);
            }),
            DerivedChange::FactChanged(change) => {
                if change.status == Some(FactStatus::Active) {
                    self.make_way(change.fact);
                }
                self.change(change.fact, |held| {
                    held.status = change.status.unwrap_or(held.status);
                    held.valid_to = change.valid_to.or(held.valid_to);
                    held.valid_from = change.valid_from.or(held.valid_from);
                });
            }
            DerivedChange::FactRestored { fact } => {
                self.make_way(*fact);
                self.change(*fact, |held| {
                    held.status = FactStatus::Active;
                    held.valid_to = None;
                    held.superseded_by = None;
                });
            }
            DerivedChange::TaskOpened(task) => {
                self.tasks.insert(task.id, (**task).clone());
            }
            DerivedChange::TaskChanged(change) => {
                let found = self.tasks.get(&change.task).or_else(|| self.items.task(change.task)).cloned();
                if let Some(mut task) = found {
                    task.status = change.status.unwrap_or(task.status);
                    task.attempts.extend(change.attempt.clone());
                    self.tasks.insert(task.id, task);
                }
            }
            DerivedChange::NoteRecorded(note) => {
                self.notes.insert(note.id, (**note).clone());
            }
            DerivedChange::NoteSeconded { note, evidence } => {
                let found = self.notes.get(note).or_else(|| self.items.note(*note)).cloned();
                if let Some(mut note) = found {
                    note.votes = note.votes.saturating_add(1);
                    note.evidence.extend(*evidence);
                    self.notes.insert(note.id, note);
                }
            }
            DerivedChange::TenetRecorded(tenet) => {
                self.tenets.insert(tenet.id, (**tenet).clone());
            }
            DerivedChange::ItemRetracted { item, .. } => {
                self.retracted.insert(*item);
            }
            DerivedChange::ReviewOpened(review) => {
                self.asked.insert(review.about);
            }
            _ => {}
        }
    }

    /// Ends the facts that a fact displaces when it becomes active.
    fn make_way(&mut self, id: ItemId) {
        let found = self.facts.get(&id).or_else(|| self.items.fact(id)).filter(|fact| fact.single).cloned();
        let Some(fact) = found else { return };
        let gives_way = |other: &Fact| other.is_active() && other.id != id && !other.begins_after(&fact);
        for other in self.in_slot(&fact.slot).into_iter().filter(gives_way) {
            self.change(other.id, |held| held.status = FactStatus::Superseded);
        }
    }

    fn change(&mut self, id: ItemId, change: impl FnOnce(&mut Fact)) {
        let found = self.facts.get(&id).or_else(|| self.items.fact(id)).cloned();
        if let Some(mut fact) = found {
            change(&mut fact);
            self.facts.insert(id, fact);
        }
    }
}
