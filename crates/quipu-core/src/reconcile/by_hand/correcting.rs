//! Corrections by hand: a fact was never true, and another value is.

use crate::event::Change;
use crate::id::ItemId;
use crate::item::{Fact, FactStatus};
use crate::predicate::normal;
use crate::reconcile::by_hand::decisions::{DecisionBuilder, DecisionContext, NewItemId};
use crate::refusal::Refusal;

impl DecisionContext<'_> {
    /// The changes of a correction: the fact was never true, and the given value is.
    ///
    /// # Errors
    /// `NotFound` without such a fact; `Invalid` if the value is empty or unchanged; `Refused` if the fact is neither
    /// active nor uncertain.
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
            return Err(Refusal::refused(format!("{fact} is not active, so it cannot be corrected")));
        }
        let mut work = DecisionBuilder::new(self);
        work.replace(held, object.trim(), name);
        Ok(work.finish())
    }
}

impl DecisionBuilder<'_> {
    /// Marks a fact as never true and asserts the correct value in its place.
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
