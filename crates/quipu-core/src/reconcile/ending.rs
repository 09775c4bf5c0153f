//! Ends facts: those said to be over, those that end with a person's death, and remarks in the same words.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::DecisionDraft;
use super::claim::{Claim, outcome, slot_name};
use super::gate::Verdict;
use super::same::same_value;
use crate::extract::{REMARK, USER};
use crate::id::ItemId;
use crate::item::{DerivedChange, Evidence, Fact, FactChange, FactStatus, ReviewKind};
use crate::predicate::normal;

/// Relations to the user that end with a person's death.
const ENDED_BY_DEATH: [&str; 4] = ["partner", "pet", "friend", "colleague"];

impl DecisionDraft<'_> {
    /// Handles a claim that something has ended or does not hold.
    pub(super) fn end(&mut self, claim: &Claim<'_>, verdict: &Verdict, held_before: bool) {
        let candidate = claim.candidate;
        let matches = |held: &&Fact| {
            held.is_active() && (candidate.object.is_empty() || same_value(&held.object, &candidate.object))
        };
        let mut found: Vec<Fact> = claim.held.iter().filter(matches).cloned().collect();
        if found.is_empty() {
            // Matches "the Fiesta" to "2015 Ford Fiesta".
            let mut part =
                claim.held.iter().filter(|held| held.is_active() && is_part(&candidate.object, &held.object));
            found.extend(part.next().filter(|_| part.next().is_none()).cloned());
        }
        if found.is_empty() && !candidate.object.is_empty() {
            // "We don't have a dog any more" of the only dog, which has a name.
            let is_of_kind = |held: &&Fact| {
                let kinds = ["species", "kind"].iter().filter_map(|name| held.qualifiers.get(*name));
                held.is_active() && kinds.into_iter().any(|kind| same_value(kind, &candidate.object))
            };
            let mut of_kind = claim.held.iter().filter(is_of_kind);
            found.extend(of_kind.next().filter(|_| of_kind.next().is_none()).cloned());
        }
        for held in &found {
            self.close(claim, held, candidate.valid_to.or(candidate.valid_from), verdict);
        }
        if !found.is_empty() {
            return;
        }
        if held_before && !candidate.object.is_empty() {
            return self.past(claim, verdict);
        }
        // "I quit my job at Acme" is read twice: the job at Acme, and the only job.
        let ended_here = |held: &Fact| held.evidence.iter().any(|at| at.source == claim.evidence.source);
        if claim.held.iter().any(|held| !held.is_active() && ended_here(held)) {
            return;
        }
        let said = self.say(candidate);
        self.refuse(said, &candidate.predicate, claim.evidence, "nothing is known that it ends or denies");
    }

    pub(super) fn close(&mut self, claim: &Claim<'_>, held: &Fact, when: Option<Timestamp>, verdict: &Verdict) {
        if *verdict != Verdict::Pass || !self.is_credible(held, claim.candidate.confidence) {
            let said = held.text.clone();
            let reason = "a less credible source says it does not hold";
            self.open_review(ReviewKind::Conflict, held.id, None, format!("Is this still so: {said}?"), reason);
            return;
        }
        // Another rule read the day in the same words.
        let is_told = held.evidence.iter().any(|at| at.source == claim.evidence.source);
        if when.is_none() && is_told && held.valid_to > Some(self.case.said_at()) {
            return;
        }
        let end = Some(when.unwrap_or_else(|| self.case.said_at())).max(held.valid_from);
        if when > Some(self.case.said_at()) && held.valid_from <= Some(self.case.said_at()) {
            // It holds until then.
            let evidence = Some(claim.evidence);
            self.draw(DerivedChange::FactChanged(FactChange { valid_to: end, evidence, ..FactChange::of(held.id) }));
            return self.report.ended.push(outcome(held, "holds until a day ahead"));
        }
        self.core.take(self.case.predicates, held);
        self.settle(held.id, FactStatus::Superseded, end, claim.evidence);
        if self.has_not_begun(held) {
            self.hold_on(held);
        }
        self.report.ended.push(outcome(held, "holds no longer"));
    }

    pub(super) fn settle(&mut self, fact: ItemId, status: FactStatus, valid_to: Option<Timestamp>, evidence: Evidence) {
        let (status, evidence) = (Some(status), Some(evidence));
        self.draw(DerivedChange::FactChanged(FactChange { status, valid_to, evidence, ..FactChange::of(fact) }));
    }

    /// Ends the remarks of earlier sources whose words are the evidence of a fact or task that ended in this decision: "we
    /// live in Lyon, near the market" ends with the move.
    pub(super) fn end_remarks(&mut self) {
        let places = self.view.ended_places();
        let shares_words = |remark: &Fact| {
            remark.evidence.iter().filter(|at| at.source != self.case.source).any(|at| {
                places.iter().any(|place| place.source == at.source && place.start < at.end && at.start < place.end)
            })
        };
        if places.is_empty() {
            return;
        }
        let remarks = self.view.in_slot(&slot_name(USER, REMARK, None));
        let over: Vec<Fact> = remarks.into_iter().filter(|remark| remark.is_active() && shares_words(remark)).collect();
        let (end, evidence) = (self.case.said_at(), self.case.evidence(&(0..self.case.reading.text.len())));
        for remark in over {
            self.settle(remark.id, FactStatus::Superseded, Some(end).max(remark.valid_from), evidence);
            self.report.ended.push(outcome(&remark, "ended with what was read in the same words"));
        }
    }

    /// Ends the facts about a person who has died that do not outlive them.
    pub(super) fn end_others(&mut self, claim: &Claim<'_>, verdict: &Verdict) {
        let is_so = claim.predicate.ends_others && *verdict == Verdict::Pass && claim.candidate.subject != USER;
        if !is_so {
            return;
        }
        let subject = &claim.candidate.subject;
        let of_user = |relation: &str| self.view.in_slot(&slot_name(USER, relation, None));
        let theirs = |fact: &Fact| fact.is_active() && same_value(&fact.object, subject);
        let outlives = |fact: &Fact| self.case.predicates.get(&fact.predicate).outlives;
        let mut over: Vec<Fact> = ENDED_BY_DEATH.iter().flat_map(|relation| of_user(relation)).filter(theirs).collect();
        over.extend(self.view.holds_of(subject).into_iter().filter(|fact| !outlives(fact)));
        for held in over {
            self.close(claim, &held, claim.candidate.valid_from, verdict);
        }
    }
}

/// True if the other text contains every word of this one.
fn is_part(part: &str, whole: &str) -> bool {
    let [part, whole] = [part, whole].map(normal);
    let words: BTreeSet<&str> = whole.split(' ').collect();
    !part.is_empty() && part.split(' ').all(|word| words.contains(word))
}
