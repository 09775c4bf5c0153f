//! Edits of the core document by hand, and their effect on facts.

use serde_json::Value;

use crate::core_document::{self, Container, Patch};
use crate::event::Change;
use crate::extract::{FactCandidate, Stance, USER};
use crate::item::{DerivedChange, Fact, FactStatus};
use crate::reconcile::by_hand::decisions::{BY_HAND, DecisionBuilder, DecisionContext, NewItemId};
use crate::reconcile::core_map::{self, Draft};
use crate::reconcile::same::same_value;
use crate::reconcile::stood::{CoreFieldFact, has, values};
use crate::refusal::Refusal;

impl DecisionContext<'_> {
    /// The changes of an edit of the core document, with its effect on facts: added values become facts, removed values
    /// end, and replaced values were wrong.
    ///
    /// What follows from the changed facts is recorded as field changes, which depend on no other event; the rest as a
    /// guarded patch with the containers it adds to.
    ///
    /// # Errors
    /// As [`core_document::check`].
    pub fn edit(&self, within: Vec<Container>, patch: &Patch, name: NewItemId<'_>) -> Result<Vec<Change>, Refusal> {
        let within = self.lasting(within);
        let document = core_document::with_containers(self.memory.core(), &within);
        let (patch, after) = core_document::check(self.categories(), &document, patch)?;
        let mut work = self.edited(&after, name);
        if *work.core.document() != after || after == *self.memory.core() {
            work.core = Draft::of(self.memory.core(), self.memory.schema());
            work.drawn.push(DerivedChange::CoreEdited { within, patch });
        }
        Ok(work.finish())
    }

    /// The containers except those in existing promoted categories, which depend on their promotion.
    pub(in crate::reconcile) fn lasting(&self, mut within: Vec<Container>) -> Vec<Container> {
        let is_grown = |container: &Container| {
            let name = container.at.split('/').nth(1).unwrap_or_default();
            self.memory.schema().category(name).is_some() && self.memory.core().get(name).is_some()
        };
        within.retain(|container| !is_grown(container));
        within
    }

    fn edited<'d>(&'d self, after: &Value, name: NewItemId<'_>) -> DecisionBuilder<'d> {
        let mut work = DecisionBuilder::new(self);
        let (schema, predicates) = (self.memory.schema(), self.predicates);
        let before = values(predicates, schema, self.memory.core());
        let now = values(predicates, schema, after);
        let items = self.memory.items();
        let stands = |document: &Value, fact: &Fact| core_map::stands(document, predicates, schema, fact);
        let written = |fact: &&Fact| fact.is_active() && stands(self.memory.core(), fact);
        for fact in items.facts().filter(written) {
            let place = fact.core_path.as_deref().unwrap_or_default();
            // The new value ends it.
            let replaced = fact.single && now.get(place).is_some_and(|all| !all.is_empty());
            if !replaced && !stands(after, fact) {
                work.core.take(predicates, fact);
                work.set(fact.id, FactStatus::Superseded, Some(self.present()));
            }
        }
        for (place, held) in &now {
            let came = held.iter().filter(|value| !before.get(place).is_some_and(|all| has(all, value)));
            for value in came {
                work.came(place, value, name);
            }
        }
        work
    }
}

impl<'a> DecisionBuilder<'a> {
    /// Handles a value that was added to the core document.
    fn came(&mut self, place: &str, value: &CoreFieldFact, name: NewItemId<'_>) {
        if !value.sole || self.facts_at(place, value).iter().any(|fact| same_value(&fact.object, &value.object)) {
            return;
        }
        let candidate = FactCandidate {
            subject: USER.to_owned(),
            predicate: value.predicate.clone(),
            object: value.object.clone(),
            span: 0..0,
            stance: Stance::Holds,
            valid_from: None,
            valid_to: None,
            confidence: BY_HAND,
            qualifiers: value.qualifiers.clone(),
        };
        let fact = self.by_hand(&candidate, name);
        self.core.put(self.desk.predicates, self.desk.registry, &fact);
        self.drawn.push(DerivedChange::FactAsserted { fact: Box::new(fact), ends: Vec::new(), corrects: true });
    }

    /// The active facts at a path with this value.
    fn facts_at(&self, place: &str, value: &CoreFieldFact) -> Vec<&'a Fact> {
        let there = |fact: &&Fact| {
            fact.is_active()
                && fact.subject == USER
                && fact.core_path.as_deref() == Some(place)
                && (value.single || same_value(&fact.object, &value.object))
        };
        self.desk.memory.items().facts().filter(there).collect()
    }
}
