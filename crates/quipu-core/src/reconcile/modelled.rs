//! Claims of a language model, which name the facts they change, and corrections of misread facts.

use super::DecisionDraft;
use super::claim::{Claim, outcome, slot_of};
use super::gate::{self, Verdict};
use super::same::same_value;
use crate::event::Trust;
use crate::extract::window::{ModelClaim, ModelTask, RefusedOperation};
use crate::extract::{Extraction, FactCandidate, REMARK, Stance};
use crate::id::ItemId;
use crate::item::{DerivedChange, Evidence, Fact, FactChange, FactStatus, FactType, ReviewKind};

/// Least confidence of a fact confirmed by a person, which only a person can undo.
const CONFIRMED_MIN: f64 = 0.95;

impl DecisionDraft<'_> {
    /// Corrects a fact that was misread in this source according to a model or to newer rules, and restores the facts
    /// it had ended. Facts that the new reading also states, that rest on other sources, or that a person confirmed are
    /// kept.
    pub(super) fn misread(&mut self, fact: ItemId, found: &Extraction) {
        let Some(held) = self.view.fact(fact).filter(Fact::is_active) else { return };
        let own = held.evidence.iter().all(|place| place.source == self.case.source) && !held.evidence.is_empty();
        let is_claimed = found.claims.iter().any(|claim| self.says(claim, &held));
        let states = |candidate: &FactCandidate| {
            !matches!(candidate.stance, Stance::Held | Stance::Ended | Stance::Denied)
                && self.is_about(candidate, &held)
        };
        if !own || is_confirmed(&held) || is_claimed || found.facts.iter().any(states) {
            return;
        }
        let Some(evidence) = held.evidence.first().copied() else { return };
        self.core.take(self.case.predicates, &held);
        let past = |candidate: &&FactCandidate| candidate.stance == Stance::Held && self.is_about(candidate, &held);
        if let Some(past) = found.facts.iter().find(past) {
            self.settle(fact, FactStatus::Superseded, past.valid_to.or(Some(self.case.said_at())), evidence);
            return self.report.ended.push(outcome(&held, "held until then"));
        }
        let (status, place) = (Some(FactStatus::Corrected), Some(evidence));
        self.draw(DerivedChange::FactChanged(FactChange { status, evidence: place, ..FactChange::of(fact) }));
        self.report.ended.push(outcome(&held, "was misread"));
        for ended in self.view.ended_by(fact) {
            if matches!(ended.status, FactStatus::Superseded | FactStatus::Corrected) && self.free(&ended) {
                self.draw(DerivedChange::FactRestored { fact: ended.id });
                self.put(&Fact { status: FactStatus::Active, valid_to: None, ..ended.clone() });
                self.report.asserted.push(outcome(&ended, "holds again"));
            }
        }
    }

    /// True if no other fact is active in the slot of a single-valued fact.
    fn free(&self, fact: &Fact) -> bool {
        !fact.single || !self.view.in_slot(&fact.slot).iter().any(Fact::is_active)
    }

    /// True if a claim states the fact.
    fn says(&self, claim: &ModelClaim, fact: &Fact) -> bool {
        let is_stated = !matches!(claim.candidate.stance, Stance::Ended | Stance::Denied);
        is_stated && self.is_about(&claim.candidate, fact) || claim.target == Some(fact.id)
    }

    /// True if a candidate has the fact's value; a remark also if it shares words with the fact. The fact may have been
    /// recorded of "my mom" before her name was known, or after.
    fn is_about(&self, candidate: &FactCandidate, fact: &Fact) -> bool {
        let predicate = self.case.predicates.get(&candidate.predicate);
        let own = self.case.evidence(&candidate.span);
        let overlaps = |place: &Evidence| place.start < own.end && own.start < place.end;
        let is_in_slot = |candidate: &FactCandidate| slot_of(predicate, candidate) == fact.slot;
        (is_in_slot(candidate) || is_in_slot(&self.told_apart(candidate)))
            && (same_value(&candidate.object, &fact.object)
                || candidate.predicate == REMARK && fact.evidence.iter().any(overlaps))
    }

    pub(super) fn claim_of_model(&mut self, told: &ModelClaim) {
        let case = self.case;
        let candidate = &told.candidate;
        let predicate = case.predicates.get(&candidate.predicate);
        let evidence = case.evidence(&candidate.span);
        let verdict = match gate::judge_model(case, self.view.items(), predicate, told) {
            Verdict::Refuse(reason) => {
                return self.refuse(told.sentence.clone(), &candidate.predicate, evidence, &reason);
            }
            verdict => verdict,
        };
        let target = told.target.and_then(|id| self.view.fact(id));
        let slot = slot_of(predicate, candidate);
        let held = self.view.in_slot(&slot);
        let claim = Claim { candidate, predicate, evidence, slot, held, told: Some(told), now: case.present() };
        let read_before = |fact: &Fact| fact.evidence.iter().any(|place| place.source == evidence.source);
        match target {
            // The source was read before; that effect has already been applied.
            Some(target) if !target.is_active() => match &candidate.stance {
                Stance::Ended | Stance::Denied => {}
                _ if claim.held.iter().any(|held| same_value(&held.object, &candidate.object) && read_before(held)) => {
                }
                _ => self.claim(&claim, &verdict),
            },
            Some(target) => self.about(&claim, &target, &verdict),
            None => match &candidate.stance {
                Stance::Holds | Stance::Changed | Stance::Corrects { .. } => self.claim(&claim, &verdict),
                Stance::Held => self.past(&claim, &verdict),
                Stance::Ended => self.end(&claim, &verdict, true),
                Stance::Denied => self.end(&claim, &verdict, false),
            },
        }
    }

    /// Handles a claim about an active fact.
    fn about(&mut self, claim: &Claim<'_>, target: &Fact, verdict: &Verdict) {
        let candidate = claim.candidate;
        let undoes = !matches!(candidate.stance, Stance::Holds);
        if undoes && is_confirmed(target) {
            let question = format!("Is this still so: {}?", target.text);
            return self.open_review(
                ReviewKind::Conflict,
                target.id,
                None,
                question,
                "you confirmed it, and this contradicts it",
            );
        }
        match &candidate.stance {
            Stance::Ended | Stance::Denied | Stance::Held => {
                self.close(claim, target, candidate.valid_to.or(candidate.valid_from), verdict);
            }
            _ if same_value(&target.object, &candidate.object)
                && target.slot == claim.slot
                && !is_moved(claim, target) =>
            {
                self.again(claim, target, verdict);
            }
            Stance::Corrects { .. } if *verdict == Verdict::Pass => {
                let fact = self.new_fact(claim);
                self.correct(claim, fact, target);
            }
            Stance::Changed if *verdict == Verdict::Pass && self.trusted(target) => {
                self.take_place(claim, target);
            }
            _ => self.claim(claim, verdict),
        }
    }

    /// Replaces a fact by a new value, even under another predicate.
    fn take_place(&mut self, claim: &Claim<'_>, target: &Fact) {
        if let Some(same) = claim.same().filter(|same| same.id != target.id) {
            self.again(claim, &same, &Verdict::Pass);
            return self.close(claim, target, claim.candidate.valid_from, &Verdict::Pass);
        }
        let mut fact = self.new_fact(claim);
        if self.is_ahead(claim) {
            return self.begins_later(claim, fact);
        }
        fact.valid_from = fact.valid_from.or(Some(self.case.said_at()));
        self.core.take(self.case.predicates, target);
        if let Some(current) = claim.current().filter(|current| claim.is_single() && current.id != target.id) {
            self.core.take(self.case.predicates, &current);
            self.report.ended.push(outcome(&current, "held until now"));
        }
        if !self.core.fits(self.case.predicates, self.case.registry, &fact) {
            fact.core_path = None;
        }
        self.put(&fact);
        self.report.ended.push(outcome(target, "held until now"));
        self.assert(fact, vec![target.id], false, "new value");
    }

    fn trusted(&self, target: &Fact) -> bool {
        self.case.standing.trust >= target.trust
    }

    pub(super) fn task_of_model(&mut self, told: &ModelTask) {
        let target = told.target.and_then(|id| self.view.tasks().find(|task| task.id == id).cloned());
        let quote = self.case.quote(&told.candidate.span);
        match target {
            Some(task) if gate::objection(self.case, quote, &told.candidate.title).is_none() => {
                self.move_on(&told.candidate, &task);
            }
            _ => self.task(&told.candidate),
        }
    }

    pub(super) fn refused_operation(&mut self, refused: &RefusedOperation) {
        let evidence = self.case.evidence(&refused.span);
        self.refuse(refused.said.clone(), &refused.relation, evidence, &refused.reason);
    }

    /// Opens a review for a claim.
    pub(super) fn doubted(&mut self, claim: &Claim<'_>, reason: &str) {
        let mut fact = self.new_fact(claim);
        fact.status = FactStatus::Uncertain;
        self.wait(fact, ReviewKind::Fact, None, reason);
    }
}

/// True if the claim moves a plan to another day.
fn is_moved(claim: &Claim<'_>, target: &Fact) -> bool {
    let is_plan = target.fact_type == FactType::Commitment;
    let moves = matches!(claim.candidate.stance, Stance::Changed | Stance::Corrects { .. });
    is_plan && moves && claim.candidate.valid_from.is_some_and(|from| target.valid_from != Some(from))
}

/// True if a person entered, confirmed or scored the fact.
fn is_confirmed(fact: &Fact) -> bool {
    fact.trust == Trust::User
        && (fact.evidence.is_empty() || fact.user_fact_score.is_some() || fact.confidence_base >= CONFIRMED_MIN)
}
