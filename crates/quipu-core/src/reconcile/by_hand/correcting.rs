//! Correcting: a person says that a fact was never so, and what is right.

use crate::event::Change;
use crate::id::ItemId;
use crate::item::{Fact, FactStatus};
use crate::predicate::normal;
use crate::reconcile::by_hand::decisions::{DecisionBuilder, DecisionContext, NewItemId};
use crate::refusal::Refusal;

impl DecisionContext<'_> {
    /// The changes of correcting a fact: it never held, and the value given does.
    ///
    /// # Errors
    /// `NotFound` without such a fact; `Invalid` for a value that is empty or the one it has; `Refused` for a fact that does not
    /// count.
    pub fn correct(&self, fact: ItemId, object: &str, name: NewItemId<'_>) -> Result<Vec<Change>, Refusal> {
        let missing = || Refusal::not_found(format!("there is no fact {fact}"));
        let held = self.memory.items().fact(fact).ok_or_else(missing)?;
        if normal(object).is_empty() {
            return Err(Refusal::invalid("a correction needs the value that is right".to_owned()));
        }
        if normal(object) == normal(&held.object) {
            return Err(Refusal::invalid(format!("{fact} says {object:?} already")));
        }
        if !matches!(held.status, FactStatus::Active | FactStatus::Uncertain) {
            return Err(Refusal::refused(format!("{fact} does not count, so there is nothing to correct")));
        }
        let mut work = DecisionBuilder::new(self);
        work.replace(held, object.trim(), name);
        Ok(work.finish())
    }
}

impl DecisionBuilder<'_> {
    /// A fact was never so; one that counted leads to the one with the value that is right.
    pub(in crate::reconcile) fn replace(&mut self, fact: &Fact, object: &str, name: NewItemId<'_>) {
        self.core.take(self.desk.predicates, fact);
        let mut ends = Vec::new();
        if fact.is_active() {
            ends.push(fact.id);
        } else {
            self.set(fact.id, FactStatus::Corrected, None);
        }
        self.enter(fact, object, ends, name);
    }
}
