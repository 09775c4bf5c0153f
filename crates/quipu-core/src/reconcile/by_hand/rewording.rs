//! Rewording items by hand, and hiding sources that no longer count. The previous text stays in the history.

use std::collections::BTreeSet;

use crate::artifact;
use crate::event::Change;
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Fact, Note, NoteOrigin, Task, TenetChange, TenetStatus};
use crate::reconcile::by_hand::decisions::{BY_HAND, DecisionBuilder, DecisionContext, NewItemId};
use crate::refusal::Refusal;

/// The effect of an edit of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Reworded {
    /// These changes express it.
    Changed(Vec<Change>),
    /// The text is a new statement: the caller records it as the user's and reads it. These changes remove the old one.
    Said(Vec<Change>),
}

impl DecisionContext<'_> {
    /// The effect of a person's edit of an item. If only the value of a fact changed, the new value is asserted; any
    /// other text becomes a new statement of the user.
    ///
    /// # Errors
    /// `NotFound` without such an item; `Refused` for one that does not count or that the engine derives; `Invalid` for
    /// an empty or unchanged text.
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
                work.keep_pin(item, id);
            }
            ItemKind::Task => {
                let held = items.task(item).ok_or_else(|| Refusal::not_found(format!("there is no task {item}")))?;
                let id = name(ItemKind::Task);
                let task = Task { id, title: text.to_owned(), updated_at: Some(self.now), ..held.clone() };
                work.drawn.push(DerivedChange::TaskOpened(Box::new(task)));
                work.drawn.push(DerivedChange::ItemsMerged { from: vec![item], into: id });
                work.keep_pin(item, id);
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
                    "{item}: {word} items are derived by Quipu; edit the items they rest on"
                )));
            }
        }
        Ok(Reworded::Changed(work.finish()))
    }

    fn reworded_fact(&self, fact: &Fact, text: &str, name: NewItemId<'_>) -> Result<Reworded, Refusal> {
        if !fact.is_active() {
            let instead = fact.superseded_by.map(|by| format!("; {by} took its place")).unwrap_or_default();
            let standing = self.memory.items().standing(fact.id);
            return Err(Refusal::refused(format!("{} is not active ({standing}){instead}", fact.id)));
        }
        let mut work = DecisionBuilder::new(self);
        let is_verbatim = self.predicates.get(&fact.predicate).verbatim && !text.starts_with("User ");
        let own_words = || is_verbatim.then(|| text.to_owned());
        let Some(object) = artifact::new_value(fact, text).or_else(own_words) else {
            work.wrong(fact);
            return Ok(Reworded::Said(work.finish()));
        };
        work.replace(fact, &object, name);
        Ok(Reworded::Changed(work.finish()))
    }

    /// The changes of hiding sources, with the items that rest on nothing else and their episodes. Hidden sources are
    /// skipped.
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
