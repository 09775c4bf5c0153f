//! Decisions by hand: reviews, retractions, closing facts, and keeping the core document level with the facts.
//!
//! A person's decision is not judged. Its effects on facts, conflicting facts and the core document are derived
//! together here, so that they stay consistent.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::core_document::Registry;
use crate::event::{Change, ItemMark, Trust};
use crate::evolve::GrownSchema;
use crate::id::{ItemId, ItemKind};
use crate::item::{
    DerivedChange, Fact, FactChange, FactStatus, ProposedEdit, RejectedValue, Review, ReviewDecision, ReviewKind,
    TenetChange, TenetStatus,
};
use crate::memory::Memory;
use crate::predicate::{Cardinality, Predicates, normal};
use crate::reconcile::core_map::Draft;
use crate::reconcile::same::same_value;
use crate::refusal::Refusal;

/// The input of a decision by hand.
#[derive(Clone, Copy)]
pub struct DecisionContext<'a> {
    /// The current memory.
    pub memory: &'a Memory,
    /// The predicate registry.
    pub predicates: &'a Predicates,
    /// The category registry.
    pub registry: &'a Registry,
    /// The moment of the decision.
    pub now: Timestamp,
}

/// Allocates an item id.
pub type NewItemId<'a> = &'a mut dyn FnMut(ItemKind) -> ItemId;

/// Confidence of values entered or confirmed by hand.
pub(in crate::reconcile) const BY_HAND: f64 = 0.95;

impl DecisionContext<'_> {
    /// The time of the decision by the user's clock, by which is judged what holds.
    pub(in crate::reconcile) fn present(&self) -> Timestamp {
        self.memory.local(self.now)
    }

    /// The changes of a decision on a review.
    ///
    /// # Errors
    /// `NotFound` without such a review; `Refused` if it is decided already.
    pub fn review(&self, id: ItemId, decision: &ReviewDecision, name: NewItemId<'_>) -> Result<Vec<Change>, Refusal> {
        let missing = || Refusal::not_found(format!("nothing called {id} waits for a decision"));
        let review = self.memory.items().review(id).ok_or_else(missing)?;
        if let Some((_, seq)) = &review.decided {
            return Err(Refusal::refused(format!("{id} was decided by event {seq}; undo that first")));
        }
        self.still_waits(review)?;
        let mut work = DecisionBuilder::new(self);
        match review.kind {
            ReviewKind::SchemaPromotion => return self.proposed_category(review, decision),
            ReviewKind::Tenet => work.tenet(review, decision),
            ReviewKind::Fact => work.fact(review, decision, name)?,
            ReviewKind::Conflict => work.conflict(review, decision, name)?,
            ReviewKind::Edit => work.edit(review, decision, name)?,
        }
        work.drawn.push(DerivedChange::ReviewDecided { review: id, decision: decision.clone() });
        Ok(work.finish())
    }

    /// Refuses a review that was settled in another way.
    fn still_waits(&self, review: &Review) -> Result<(), Refusal> {
        let items = self.memory.items();
        if items.waits(review) {
            return Ok(());
        }
        Err(Refusal::refused(format!("{} was settled since: {}", review.about, items.standing(review.about))))
    }

    /// The changes of retracting an item: it stays in the history, and its value is not extracted from old sources
    /// again.
    ///
    /// # Errors
    /// `NotFound` without such an item; `Refused` if it was retracted before, and for sources, which are erased
    /// instead.
    pub fn retract(&self, item: ItemId, reason: &str) -> Result<Vec<Change>, Refusal> {
        let items = self.memory.items();
        if self.memory.find(item).is_some() {
            return Err(Refusal::refused(format!("{item} was said or imported: erase it, or revert its event")));
        }
        if !items.has(item) {
            return Err(Refusal::not_found(format!("there is no item {item}")));
        }
        if items.is_hidden(item) || items.fact(item).is_some_and(|fact| fact.status == FactStatus::Retracted) {
            return Err(Refusal::refused(format!("{item} was taken back before")));
        }
        let mut work = DecisionBuilder::new(self);
        let declined =
            |review: &Review| DerivedChange::ReviewDecided { review: review.id, decision: ReviewDecision::Declined };
        work.drawn.extend(items.waiting_about(item).map(declined));
        work.take_back(item, reason);
        Ok(work.finish())
    }

    /// The changes of closing a fact at a time.
    ///
    /// # Errors
    /// `NotFound` without such a fact; `Invalid` if it would end before it began; `Refused` if it is neither active nor superseded.
    pub fn close(&self, fact: ItemId, valid_to: Timestamp) -> Result<Vec<Change>, Refusal> {
        let missing = || Refusal::not_found(format!("there is no fact {fact}"));
        let held = self.memory.items().fact(fact).ok_or_else(missing)?;
        if held.valid_from.is_some_and(|from| valid_to < from) {
            return Err(Refusal::invalid(format!("{fact} cannot end before it began: {}", held.text)));
        }
        if !matches!(held.status, FactStatus::Active | FactStatus::Superseded) {
            return Err(Refusal::refused(format!("{fact} is neither active nor superseded, so it cannot be closed")));
        }
        let mut work = DecisionBuilder::new(self);
        if held.is_active() && valid_to > self.present() {
            // The fact stays active until then.
            let change = FactChange { valid_to: Some(valid_to), ..FactChange::of(fact) };
            work.drawn.push(DerivedChange::FactChanged(change));
            return Ok(work.finish());
        }
        work.core.take(self.predicates, held);
        work.set(fact, FactStatus::Superseded, Some(valid_to));
        Ok(work.finish())
    }

    /// The changes that bring the core document level with the facts: values of facts that were active in `before` but
    /// no longer are get removed, and missing values of active facts get added. Empty if it is level.
    pub fn level(&self, before: &Memory) -> Vec<Change> {
        let schema = self.memory.schema();
        let mut work = DecisionBuilder::new(self);
        work.drawn.extend(self.said_twice(before));
        let (items, known) = (self.memory.items(), before.items());
        let again = self.holds_again();
        work.drawn.extend(again.iter().map(|fact| DerivedChange::FactRestored { fact: fact.id }));
        // For a predicate with one value, the last fact counts.
        let gives_way = |fact: &Fact| {
            let last = again.iter().rfind(|other| fact.single && other.slot == fact.slot);
            last.is_some_and(|last| last.id != fact.id)
        };
        let counts = |fact: &&Fact| {
            let has_begun = !fact.is_active() || fact.valid_from <= Some(self.present()) || !self.has_one(fact);
            let holds = fact.is_active() || again.iter().any(|other| other.id == fact.id);
            holds && has_begun && !items.is_hidden(fact.id) && !gives_way(fact)
        };
        let value = |fact: &Fact| (fact.core_path.clone(), normal(&fact.object));
        let held: BTreeSet<_> = items.facts().filter(counts).map(value).collect();
        let counted = known.facts().filter(|fact| fact.is_active() && !known.is_hidden(fact.id));
        let idle = items.facts().filter(|fact| !counts(fact));
        let core = &mut work.core;
        for fact in counted.chain(idle).filter(|fact| fact.core_path.is_some()) {
            if !held.contains(&value(fact)) {
                core.take_value(self.predicates, fact);
            }
        }
        let unpromoted = GrownSchema::default();
        for fact in items.facts().filter(counts) {
            if !schema.is_empty() {
                core.take_stray(self.predicates, &unpromoted, fact);
            }
            if !before.schema().is_empty() {
                core.take_stray(self.predicates, before.schema(), fact);
            }
        }
        self.bring_home(before, core);
        let lacking = |fact: &&Fact| fact.core_path.is_some() && !core.holds(self.predicates, fact);
        let mut facts: Vec<&Fact> = items.facts().filter(counts).filter(lacking).collect();
        facts.sort_by_key(|fact| (items.made_by(fact.id), fact.id));
        for fact in facts {
            core.put(self.predicates, self.registry, fact);
        }
        work.finish()
    }

    pub(in crate::reconcile) fn has_one(&self, fact: &Fact) -> bool {
        self.predicates.get(&fact.predicate).cardinality == Cardinality::One
    }

    /// Moves categories that are no longer promoted back to `uncategorized`.
    fn bring_home(&self, before: &Memory, core: &mut Draft<'_>) {
        let schema = self.memory.schema();
        let gone = |name: &&str| schema.category(name).is_none() && !self.registry.has(name);
        for name in before.schema().categories().map(|(name, _)| name).filter(gone) {
            core.bring_home(name);
        }
    }
}

/// Collects the changes of a decision.
pub(in crate::reconcile) struct DecisionBuilder<'a> {
    pub(in crate::reconcile) desk: &'a DecisionContext<'a>,
    pub(in crate::reconcile) core: Draft<'a>,
    pub(in crate::reconcile) drawn: Vec<DerivedChange>,
    /// Marks of replaced items that their replacements get.
    marks: Vec<ItemMark>,
}

impl<'a> DecisionBuilder<'a> {
    pub(in crate::reconcile) fn new(desk: &'a DecisionContext<'a>) -> Self {
        Self { desk, core: Draft::of(desk.memory.core(), desk.memory.schema()), drawn: Vec::new(), marks: Vec::new() }
    }

    pub(in crate::reconcile) fn finish(self) -> Vec<Change> {
        let core = self.core.finish(self.desk.registry);
        let mut changes: Vec<Change> = self.drawn.into_iter().map(Change::Drawn).collect();
        changes.extend(self.marks.into_iter().map(Change::ItemMarked));
        changes.extend(core.into_iter().flat_map(|(core, _)| core));
        changes
    }

    /// Pins an item that takes the place of a pinned one.
    pub(in crate::reconcile) fn keep_pin(&mut self, of: ItemId, item: ItemId) {
        if self.desk.memory.marks(of).pinned {
            self.marks.push(ItemMark { item, pinned: Some(true), rating: None });
        }
    }

    pub(in crate::reconcile) fn set(&mut self, fact: ItemId, status: FactStatus, valid_to: Option<Timestamp>) {
        self.drawn.push(DerivedChange::FactChanged(FactChange {
            status: Some(status),
            valid_to,
            ..FactChange::of(fact)
        }));
    }

    fn reject(&mut self, fact: &Fact) {
        self.drawn.push(DerivedChange::ValueRejected(RejectedValue {
            subject: normal(&fact.subject),
            predicate: fact.predicate.clone(),
            value: normal(&fact.object),
        }));
    }

    fn tenet(&mut self, review: &Review, decision: &ReviewDecision) {
        let (status, text) = match decision {
            ReviewDecision::Approved => (TenetStatus::Confirmed, None),
            ReviewDecision::Edited { text } => (TenetStatus::Confirmed, Some(text.clone())),
            ReviewDecision::Declined => (TenetStatus::Outdated, None),
        };
        self.drawn.push(DerivedChange::TenetChanged(TenetChange { tenet: review.about, status: Some(status), text }));
    }

    fn about(&self, id: ItemId) -> Result<&'a Fact, Refusal> {
        let found = self.desk.memory.items().fact(id);
        found.ok_or_else(|| Refusal::not_found(format!("the fact {id} that waits is gone")))
    }

    fn fact(&mut self, review: &Review, decision: &ReviewDecision, name: NewItemId<'_>) -> Result<(), Refusal> {
        let fact = self.about(review.about)?;
        match decision {
            ReviewDecision::Approved => self.accept(fact),
            ReviewDecision::Edited { text } => {
                self.set(fact.id, FactStatus::Corrected, None);
                self.enter(fact, text, Vec::new(), name);
            }
            ReviewDecision::Declined => {
                self.set(fact.id, FactStatus::Retracted, None);
                self.reject(fact);
            }
        }
        Ok(())
    }

    fn conflict(&mut self, review: &Review, decision: &ReviewDecision, name: NewItemId<'_>) -> Result<(), Refusal> {
        let fact = self.about(review.about)?;
        let rival = review.against.and_then(|id| self.desk.memory.items().fact(id));
        match (decision, rival) {
            // What it contradicts holds until it begins.
            (ReviewDecision::Approved, Some(_)) if self.is_ahead(fact) => self.accept(fact),
            (ReviewDecision::Edited { text }, Some(_)) if self.is_ahead(fact) => {
                self.set(fact.id, FactStatus::Corrected, None);
                self.enter(fact, text, Vec::new(), name);
            }
            (ReviewDecision::Approved, Some(rival)) => {
                self.core.take(self.desk.predicates, rival);
                self.keep_pin(rival.id, fact.id);
                self.accept(fact);
                if !fact.single && rival.is_active() {
                    self.set(rival.id, FactStatus::Superseded, fact.valid_from.or(Some(self.desk.present())));
                }
            }
            (ReviewDecision::Declined, Some(_)) => self.set(fact.id, FactStatus::Corrected, None),
            (ReviewDecision::Edited { text }, Some(rival)) => {
                self.set(fact.id, FactStatus::Corrected, None);
                self.core.take(self.desk.predicates, rival);
                if !fact.single && rival.is_active() {
                    self.set(rival.id, FactStatus::Corrected, None);
                }
                self.enter(fact, text, Vec::new(), name);
            }
            // The answer to "Is this still so?"
            (ReviewDecision::Approved, None) => {}
            (ReviewDecision::Declined, None) => {
                self.core.take(self.desk.predicates, fact);
                self.set(fact.id, FactStatus::Superseded, Some(self.desk.present()).max(fact.valid_from));
                self.hold_on(fact);
            }
            (ReviewDecision::Edited { text }, None) => {
                self.core.take(self.desk.predicates, fact);
                if !fact.single {
                    self.set(fact.id, FactStatus::Corrected, None);
                }
                self.enter(fact, text, Vec::new(), name);
            }
        }
        Ok(())
    }

    /// Retracts an item; for a fact, also rejects its value.
    fn take_back(&mut self, item: ItemId, reason: &str) {
        if let Some(fact) = self.desk.memory.items().fact(item) {
            self.core.take(self.desk.predicates, fact);
            self.reject(fact);
            self.hold_on(fact);
        }
        self.drawn.push(DerivedChange::ItemRetracted { item, reason: reason.to_owned() });
    }

    /// Applies a proposed edit.
    fn edit(&mut self, review: &Review, decision: &ReviewDecision, name: NewItemId<'_>) -> Result<(), Refusal> {
        let (Some(proposed), false) = (&review.proposed, *decision == ReviewDecision::Declined) else { return Ok(()) };
        let edited = match decision {
            ReviewDecision::Edited { text } => Some(text.as_str()),
            ReviewDecision::Approved | ReviewDecision::Declined => None,
        };
        match proposed {
            ProposedEdit::Value { object } => {
                let fact = self.about(review.about)?;
                self.replace(fact, edited.unwrap_or(object), name);
            }
            ProposedEdit::Score { score } => {
                let given = edited.map_or(Some(*score), |text| text.trim().parse().ok());
                let wrong = || Refusal::invalid("a score goes from 0 to 10");
                let score = given.filter(|score| *score <= 10).ok_or_else(wrong)?;
                let fact = FactChange { user_fact_score: Some(score), ..FactChange::of(review.about) };
                self.drawn.push(DerivedChange::FactChanged(fact));
            }
            ProposedEdit::Gone => self.take_back(review.about, &review.reason),
            // The caller records and reads the statement itself.
            ProposedEdit::Said { instead_of: Some(fact), .. } => self.wrong(self.about(*fact)?),
            ProposedEdit::Said { instead_of: None, .. } => {}
        }
        Ok(())
    }

    /// Marks an active fact as never true.
    pub(in crate::reconcile) fn wrong(&mut self, fact: &Fact) {
        self.core.take(self.desk.predicates, fact);
        self.set(fact.id, FactStatus::Corrected, None);
    }

    /// Activates a waiting fact and writes it to the core document; a fact that has ended goes into the history.
    pub(in crate::reconcile) fn accept(&mut self, fact: &Fact) {
        if let Some(held) = self.said_already(&fact.slot, &fact.object, fact.id) {
            self.drawn.push(DerivedChange::ItemsMerged { from: vec![fact.id], into: held.id });
            return;
        }
        if !fact.is_active() && fact.valid_to.is_some_and(|to| to <= self.desk.present()) {
            let (status, trust) = (Some(FactStatus::Superseded), Some(Trust::User));
            self.drawn.push(DerivedChange::FactChanged(FactChange { status, trust, ..FactChange::of(fact.id) }));
            return;
        }
        if self.is_ahead(fact) {
            self.hold_until(fact);
        } else {
            self.make_way(fact);
            self.core.put(self.desk.predicates, self.desk.registry, fact);
        }
        let (status, trust) = (Some(FactStatus::Active), Some(Trust::User));
        let confidence_base = Some(fact.confidence_base.max(BY_HAND));
        self.drawn.push(DerivedChange::FactChanged(FactChange {
            status,
            trust,
            confidence_base,
            ..FactChange::of(fact.id)
        }));
    }

    /// True for a value that takes the place of another on a day ahead.
    pub(in crate::reconcile) fn is_ahead(&self, fact: &Fact) -> bool {
        !fact.single && fact.valid_from > Some(self.desk.present()) && self.desk.has_one(fact)
    }

    /// The present value holds until a value ahead begins.
    pub(in crate::reconcile) fn hold_until(&mut self, ahead: &Fact) {
        let is_longer = |held: &&Fact| held.valid_to.is_none_or(|end| Some(end) > ahead.valid_from);
        let slot = self.desk.memory.items().in_slot(&ahead.slot).filter(|held| held.is_active() && held.id != ahead.id);
        let change = |held: &Fact| FactChange { valid_to: ahead.valid_from, ..FactChange::of(held.id) };
        let begun = slot.filter(is_longer).filter(|held| held.valid_from <= ahead.valid_from);
        self.drawn.extend(begun.map(|held| DerivedChange::FactChanged(change(held))));
    }

    /// What was to hold until a value ahead begins holds on, because it does not begin.
    fn hold_on(&mut self, ahead: &Fact) {
        if !ahead.is_active() || !self.is_ahead(ahead) {
            return;
        }
        let until = |held: &&Fact| held.is_active() && held.id != ahead.id && held.valid_to == ahead.valid_from;
        let held = self.desk.memory.items().in_slot(&ahead.slot).filter(until);
        self.drawn.extend(held.map(|held| DerivedChange::FactRestored { fact: held.id }));
    }

    /// Another active fact with the same value, if any.
    pub(in crate::reconcile) fn said_already(&self, slot: &str, object: &str, but: ItemId) -> Option<&'a Fact> {
        let same = |held: &&Fact| held.is_active() && held.id != but && same_value(&held.object, object);
        self.desk.memory.items().in_slot(slot).find(same)
    }

    /// Removes the values that a single-valued fact displaces from the core document.
    pub(in crate::reconcile) fn make_way(&mut self, fact: &Fact) {
        let items = self.desk.memory.items();
        // It was said of a day ahead, which has come.
        let has_come = !fact.single && self.desk.has_one(fact);
        let gives_way = |held: &&Fact| (fact.single || has_come) && held.is_active() && held.id != fact.id;
        for held in items.in_slot(&fact.slot).filter(gives_way) {
            self.core.take(self.desk.predicates, held);
            let is_ahead = self.is_ahead(held);
            if has_come || (held.begins_after(fact) && !is_ahead) {
                self.set(held.id, FactStatus::Superseded, fact.valid_from.max(held.valid_from));
            }
        }
    }
}
