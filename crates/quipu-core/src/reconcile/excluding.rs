//! Ends facts that conflict with a claim: nobody is unemployed and has an employer, or is single and has a partner. The
//! newer claim ends the older fact, or a review is opened.

use super::DecisionDraft;
use super::claim::{Claim, slot_name};
use super::gate::Verdict;
use super::same::same_value;
use crate::item::Fact;

impl DecisionDraft<'_> {
    /// Ends what the claim excludes, if the claim itself is active.
    pub(super) fn end_excluded(&mut self, claim: &Claim<'_>, verdict: &Verdict) {
        let (candidate, exclusions) = (claim.candidate, &claim.predicate.excludes);
        let of_value =
            |values: &[String], value: &str| values.is_empty() || values.iter().any(|known| same_value(known, value));
        let mut relations =
            exclusions.iter().filter(|exclusion| of_value(&exclusion.when, &candidate.object)).peekable();
        let holds = |fact: &Fact| fact.is_active() && same_value(&fact.object, &candidate.object);
        if relations.peek().is_none() || !self.view.in_slot(&claim.slot).iter().any(holds) {
            return;
        }
        let mut over: Vec<Fact> = Vec::new();
        for exclusion in relations {
            let beside = self.view.in_slot(&slot_name(&candidate.subject, &exclusion.relation, None));
            over.extend(beside.into_iter().filter(|fact| {
                let same_words = fact.evidence.contains(&claim.evidence);
                fact.is_active() && of_value(&exclusion.values, &fact.object) && !same_words && fact.slot != claim.slot
            }));
        }
        for held in over {
            let is_known = |from: &jiff::Timestamp| *from <= self.case.said_at() || self.is_ahead(claim);
            self.close(claim, &held, candidate.valid_from.filter(is_known), verdict);
        }
    }
}
