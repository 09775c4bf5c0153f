//! Rewording: a person says in other words what an item says. And putting away words that count no longer. What was there
//! before stays in the history.

use std::collections::BTreeSet;

use crate::artifact;
use crate::event::Change;
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Fact, Note, NoteOrigin, Task, TenetChange, TenetStatus};
use crate::reconcile::by_hand::decisions::{BY_HAND, DecisionBuilder, DecisionContext, NewItemId};
use crate::refusal::Refusal;

/// What an edit of an item comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reworded {
    /// These changes say it.
    Changed(Vec<Change>),
    /// The words are new: whoever asked records them as said by the user, and reads them. These changes make way for them.
    Said(Vec<Change>),
}

impl DecisionContext<'_> {
    /// What a person's edit of an item means. A statement whose value was changed is entered with the other value; other
    /// words in the place of a statement are the user's own.
    ///
    /// # Errors
    /// `NotFound` without such an item; `Refused` for one that does not count, or is told by the engine; `Invalid` for a text
    /// that is empty or says what the item says.
    pub fn reword(&self, item: ItemId, text: &str, name: NewItemId<'_>) -> Result<Reworded, Refusal> {
        let (items, text) = (self.memory.items(), text.trim());
        if text.is_empty() {
            return Err(Refusal::invalid("the new text is empty"));
        }
        if !self.memory.has(item) {
            return Err(Refusal::not_found(format!("there is no item {item}")));
        }
        if items.is_hidden(item) {
            return Err(Refusal::refused(format!("{item} was taken back or replaced before")));
        }
        if items.text(item).is_some_and(|is| is == text) {
            return Err(Refusal::invalid(format!("{item} says this already")));
        }
        let mut work = DecisionBuilder::new(self);
        match item.kind {
            ItemKind::Fact => {
                let missing = || Refusal::not_found(format!("there is no fact {item}"));
                return self.reworded_fact(items.fact(item).ok_or_else(missing)?, text, name);
            }
            ItemKind::Tenet => {
                let (status, text) = (Some(TenetStatus::Confirmed), Some(text.to_owned()));
                work.drawn.push(DerivedChange::TenetChanged(TenetChange { tenet: item, status, text }));
            }
            ItemKind::Note => {
                let held = items.note(item).ok_or_else(|| Refusal::not_found(format!("there is no note {item}")))?;
                let (id, origin, text) = (name(ItemKind::Note), NoteOrigin::HumanFeedback, text.to_owned());
                let note = Note { id, text, origin, confidence_base: BY_HAND, ..held.clone() };
                work.drawn.push(DerivedChange::NoteRecorded(Box::new(note)));
                work.drawn.push(DerivedChange::ItemsMerged { from: vec![item], into: id });
            }
            ItemKind::Task => {
                let held = items.task(item).ok_or_else(|| Refusal::not_found(format!("there is no task {item}")))?;
                let id = name(ItemKind::Task);
                let task = Task { id, title: text.to_owned(), updated_at: Some(self.now), ..held.clone() };
                work.drawn.push(DerivedChange::TaskOpened(Box::new(task)));
                work.drawn.push(DerivedChange::ItemsMerged { from: vec![item], into: id });
            }
            kind if kind.is_source() => {
                let said = self.memory.get(item).is_some_and(|held| held.source.text.trim() == text);
                if said {
                    return Err(Refusal::invalid(format!("{item} says this already")));
                }
                return Ok(Reworded::Said(self.put_away(&BTreeSet::from([item]), "said in other words")));
            }
            kind => {
                let word = kind.as_str();
                return Err(Refusal::refused(format!(
                    "{item}: {word} items are told by Quipu; edit what they rest on"
                )));
            }
        }
        Ok(Reworded::Changed(work.finish()))
    }

    fn reworded_fact(&self, fact: &Fact, text: &str, name: NewItemId<'_>) -> Result<Reworded, Refusal> {
        if !fact.is_active() {
            let instead = fact.superseded_by.map(|by| format!("; {by} took its place")).unwrap_or_default();
            let standing = self.memory.items().standing(fact.id);
            return Err(Refusal::refused(format!("{} does not count ({standing}){instead}", fact.id)));
        }
        let mut work = DecisionBuilder::new(self);
        let Some(object) = artifact::new_value(fact, text) else {
            work.wrong(fact);
            return Ok(Reworded::Said(work.finish()));
        };
        work.replace(fact, &object, name);
        Ok(Reworded::Changed(work.finish()))
    }

    /// The changes of putting words away: nothing finds them any more, nor what rests on nothing else, nor the stories that
    /// tell them. What is put away already is passed over.
    pub fn put_away(&self, sources: &BTreeSet<ItemId>, reason: &str) -> Vec<Change> {
        let items = self.memory.items();
        let counts = |id: ItemId| !items.is_hidden(id);
        let rests =
            |evidence: &[Evidence]| !evidence.is_empty() && evidence.iter().all(|at| sources.contains(&at.source));
        let mut work = DecisionBuilder::new(self);
        let mut gone: Vec<ItemId> = Vec::new();
        for fact in items.facts().filter(|fact| fact.is_active() && counts(fact.id) && rests(&fact.evidence)) {
            work.core.take(self.predicates, fact);
            gone.push(fact.id);
        }
        gone.extend(items.tasks().filter(|task| counts(task.id) && rests(&task.evidence)).map(|task| task.id));
        gone.extend(items.notes().filter(|note| counts(note.id) && rests(&note.evidence)).map(|note| note.id));
        let tells = |told: &[ItemId]| told.iter().any(|id| sources.contains(id));
        gone.extend(items.episodes().filter(|one| counts(one.id) && tells(&one.sources)).map(|one| one.id));
        gone.extend(sources.iter().copied().filter(|id| self.memory.find(*id).is_some() && counts(*id)));
        let taken = |item| DerivedChange::ItemRetracted { item, reason: reason.to_owned() };
        work.drawn.extend(gone.into_iter().map(taken));
        work.finish()
    }
}
