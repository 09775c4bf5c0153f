//! A candidate beside the known facts of its slot.

use jiff::Timestamp;

use super::Outcome;
use super::same::same_value;
use crate::extract::window::ModelClaim;
use crate::extract::{FactCandidate, Stance};
use crate::item::{Evidence, Fact, FactStatus};
use crate::predicate::{Cardinality, Predicate, normal};

/// A candidate with the known facts of its slot.
pub(super) struct Claim<'a> {
    pub(super) candidate: &'a FactCandidate,
    pub(super) predicate: &'a Predicate,
    pub(super) evidence: Evidence,
    pub(super) slot: String,
    pub(super) held: Vec<Fact>,
    /// The language model's claim, if a model extracted it.
    pub(super) told: Option<&'a ModelClaim>,
    /// The time of the decision.
    pub(super) now: Timestamp,
}

impl<'a> Claim<'a> {
    /// The same claim with another candidate.
    pub(super) fn with<'b>(&self, candidate: &'b FactCandidate) -> Claim<'b>
    where
        'a: 'b,
    {
        let Self { predicate, evidence, told, now, .. } = *self;
        Claim { candidate, predicate, evidence, slot: self.slot.clone(), held: self.held.clone(), told, now }
    }
}

impl Claim<'_> {
    pub(super) fn is_single(&self) -> bool {
        self.predicate.cardinality == Cardinality::One || self.told.is_some_and(|told| told.is_metric)
    }

    /// The present value.
    pub(super) fn current(&self) -> Option<Fact> {
        self.held.iter().find(|held| held.is_active() && held.valid_from <= Some(self.now)).cloned()
    }

    /// A value that begins on a day ahead ends the present one then.
    pub(super) fn hold_until_next(&self, fact: &mut Fact) {
        let ahead = |held: &&Fact| held.is_active() && !held.single && held.valid_from > Some(self.now);
        if self.is_single() {
            fact.valid_to = fact.valid_to.or(self.held.iter().filter(ahead).filter_map(|held| held.valid_from).min());
        }
    }

    /// The active fact with the same value, or else a waiting one.
    pub(super) fn same(&self) -> Option<Fact> {
        let same = |held: &&Fact| same_value(&held.object, &self.candidate.object);
        let is_over = |held: &Fact| held.tells_of_past() || held.valid_to.is_some_and(|end| end <= self.now);
        let waiting = |held: &&Fact| waits(held) && !is_over(held);
        let active = self.held.iter().filter(same).find(|held| held.is_active());
        active.or_else(|| self.held.iter().filter(same).find(waiting)).cloned()
    }

    /// The fact that a correction refers to: the one with the named value, or else the current one.
    pub(super) fn wrong(&self, not: Option<&str>) -> Option<Fact> {
        let counts = |held: &&Fact| matches!(held.status, FactStatus::Active | FactStatus::Superseded);
        match not {
            Some(value) => {
                let mut named = self.held.iter().filter(counts).filter(|held| same_value(&held.object, value));
                named.clone().find(|held| held.is_active()).or_else(|| named.next_back()).cloned()
            }
            // What was said last.
            None if self.is_single() => {
                self.held.iter().filter(|held| held.is_active()).max_by_key(|held| held.first_seen).cloned()
            }
            None => None,
        }
    }
}

/// True if it waits for a person's decision.
pub(super) fn waits(fact: &Fact) -> bool {
    matches!(fact.status, FactStatus::Uncertain | FactStatus::Contested)
}

pub(super) fn outcome(fact: &Fact, what: &str) -> Outcome {
    Outcome { id: fact.id, text: fact.text.clone(), what: what.to_owned() }
}

/// The slot of a candidate: subject, predicate and key in one.
pub fn slot_of(predicate: &Predicate, candidate: &FactCandidate) -> String {
    let key = predicate.key.as_ref().and_then(|key| candidate.qualifiers.get(key));
    slot_name(&candidate.subject, &candidate.predicate, key.map(String::as_str))
}

/// The person in whose place a new one comes: the one boss who is known.
pub(super) fn predecessor(claim: &Claim<'_>) -> Option<Fact> {
    let relation = claim.candidate.qualifiers.get("relation").filter(|_| claim.candidate.stance == Stance::Changed)?;
    if !claim.predicate.single_roles.iter().any(|role| normal(role) == normal(relation)) {
        return None;
    }
    let is_in_place = |held: &&Fact| {
        let own = held.qualifiers.get("relation").is_some_and(|own| normal(own) == normal(relation));
        held.is_active() && own && !same_value(&held.object, &claim.candidate.object)
    };
    let mut known = claim.held.iter().filter(is_in_place);
    known.next().filter(|_| known.next().is_none()).cloned()
}

pub(super) fn slot_name(subject: &str, predicate: &str, key: Option<&str>) -> String {
    format!("{}|{predicate}|{}", normal(subject), key.map(normal).unwrap_or_default())
}
