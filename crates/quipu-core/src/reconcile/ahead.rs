//! Values that begin on a day ahead: "I start as a teacher in January".
//!
//! Where a predicate holds one value, such a value stands beside the present one, which holds until then. The core
//! document has the present one, and gets the other with the first source that is read after that day.

use jiff::Timestamp;

use super::DecisionDraft;
use super::claim::{Claim, outcome, slot_name};
use crate::extract::{Stance, USER};
use crate::item::{DerivedChange, Fact, FactChange, FactStatus, FactType};
use crate::predicate::Cardinality;

impl DecisionDraft<'_> {
    /// True if the claim is about a state that has not begun.
    pub(super) fn is_ahead(&self, claim: &Claim<'_>) -> bool {
        let is_state = !matches!(claim.predicate.fact_type, FactType::Event | FactType::Commitment);
        is_state && claim.is_single() && claim.candidate.valid_from > Some(self.case.present())
    }

    /// True if a fact of a slot with one value has not begun.
    pub(super) fn has_not_begun(&self, fact: &Fact) -> bool {
        fact.valid_from > Some(self.case.present())
    }

    /// Records a value that begins on a day ahead.
    pub(super) fn begins_later(&mut self, claim: &Claim<'_>, mut fact: Fact) {
        // It does not end the present value now.
        fact.single = false;
        self.hold_others_until(claim, &fact);
        self.assert(fact, Vec::new(), false, "begins on a day ahead");
    }

    /// The present value holds until this one begins. Another that was to begin then, or later, does not.
    fn hold_others_until(&mut self, claim: &Claim<'_>, ahead: &Fact) {
        let start = ahead.valid_from;
        let slot = self.view.in_slot(&claim.slot);
        for held in slot.iter().filter(|held| held.is_active() && held.id != ahead.id) {
            if self.has_not_begun(held) && held.valid_from >= start {
                self.settle(held.id, FactStatus::Superseded, held.valid_from, claim.evidence);
                self.report.ended.push(outcome(held, "another value was planned since"));
            } else if held.valid_to.is_none_or(|end| Some(end) > start) {
                self.hold_until(held, start, claim);
            }
        }
    }

    /// Makes a waiting value that begins on a day ahead active.
    pub(super) fn confirm_ahead(&mut self, claim: &Claim<'_>, same: &Fact) {
        self.hold_others_until(claim, same);
        self.confirm(claim, same);
    }

    fn hold_until(&mut self, held: &Fact, valid_to: Option<Timestamp>, claim: &Claim<'_>) {
        let evidence = Some(claim.evidence);
        self.draw(DerivedChange::FactChanged(FactChange { valid_to, evidence, ..FactChange::of(held.id) }));
        self.report.ended.push(outcome(held, "holds until a day ahead"));
    }

    /// Handles another claim of a value that has not begun: it may be put off, or have begun earlier.
    pub(super) fn again_ahead(&mut self, claim: &Claim<'_>, same: &Fact) {
        let (candidate, planned) = (claim.candidate, same.valid_from);
        let other = claim.held.iter().filter(|held| held.is_active() && held.id != same.id);
        if self.is_ahead(claim) && candidate.valid_from != planned {
            self.since(same, candidate.valid_from);
            for held in other.filter(|held| held.valid_to == planned).cloned().collect::<Vec<_>>() {
                self.hold_until(&held, candidate.valid_from, claim);
            }
        } else if candidate.stance == Stance::Changed && !self.is_ahead(claim) {
            let since = candidate.valid_from.or(Some(self.case.said_at()));
            self.since(same, since);
            for held in other.cloned().collect::<Vec<_>>() {
                self.core.take(self.case.predicates, &held);
                self.settle(held.id, FactStatus::Superseded, since.max(held.valid_from), claim.evidence);
                self.report.ended.push(outcome(&held, "held until now"));
            }
            self.put(same);
        }
    }

    /// The values that were to end on the day on which this one was to begin hold on.
    pub(super) fn hold_on(&mut self, ended: &Fact) {
        let slot = self.view.in_slot(&ended.slot);
        let until_then = |held: &Fact| held.is_active() && held.id != ended.id && held.valid_to == ended.valid_from;
        for held in slot.into_iter().filter(until_then) {
            self.draw(DerivedChange::FactRestored { fact: held.id });
        }
    }

    /// Lets the values whose day has come take the place of those that held until then.
    pub(super) fn begin_due(&mut self) {
        let (now, items) = (Some(self.case.present()), self.view.items());
        let is_due = |fact: &&Fact| fact.is_active() && fact.valid_from <= now;
        let has_one = |fact: &&Fact| self.case.predicates.get(&fact.predicate).cardinality == Cardinality::One;
        let due: Vec<Fact> =
            items.ahead().filter(is_due).filter(has_one).filter(|fact| !items.is_hidden(fact.id)).cloned().collect();
        for fact in due {
            let others =
                self.view.in_slot(&fact.slot).into_iter().filter(|held| held.is_active() && held.id != fact.id);
            for held in others.collect::<Vec<_>>() {
                // What began later has taken its place already.
                let (over, end) = match held.began() > fact.valid_from {
                    true => (&fact, held.began()),
                    false => (&held, fact.valid_from.min(held.valid_to.or(fact.valid_from))),
                };
                self.core.take(self.case.predicates, over);
                let (status, valid_to) = (Some(FactStatus::Superseded), end);
                self.draw(DerivedChange::FactChanged(FactChange { status, valid_to, ..FactChange::of(over.id) }));
                self.report.ended.push(outcome(over, "held until now"));
            }
            let holds = self.view.fact(fact.id).is_some_and(|fact| fact.is_active());
            if holds && !self.core.holds(self.case.predicates, &fact) {
                self.put(&fact);
            }
        }
        self.end_due();
    }

    /// Takes values whose last day is over out of the core document.
    fn end_due(&mut self) {
        let (now, predicates, items) = (self.case.present(), self.case.predicates, self.view.items());
        let slots = predicates.names().filter(|name| predicates.stands_in_core(name));
        let held = slots.flat_map(|name| items.in_slot(&slot_name(USER, name, None)).collect::<Vec<_>>());
        let is_over = |fact: &&Fact| fact.is_active() && fact.valid_to.is_some_and(|end| end <= now);
        for fact in held.filter(is_over).cloned().collect::<Vec<_>>() {
            if self.view.fact(fact.id).is_none_or(|fact| !fact.is_active()) {
                continue;
            }
            self.core.take(predicates, &fact);
            let (status, valid_to) = (Some(FactStatus::Superseded), fact.valid_to);
            self.draw(DerivedChange::FactChanged(FactChange { status, valid_to, ..FactChange::of(fact.id) }));
            self.report.ended.push(outcome(&fact, "held until then"));
        }
    }
}
