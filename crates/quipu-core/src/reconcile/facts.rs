//! Reconciles a claim with the known facts of the same slot.
//!
//! The same value is counted as seen again. A new value of a single-valued predicate ends or corrects the old one, or
//! is contested if its source is clearly less credible. Older information goes into the history. Two values are never
//! active at once, but for one that begins on a later day (`ahead.rs`).

use jiff::Timestamp;

use super::claim::{Claim, outcome, predecessor, slot_name, slot_of, waits};
use super::gate::{self, Verdict};
use super::same::{other_dose, same_value, tells_change};
use super::{DecisionDraft, Outcome, core_map, ground};
use crate::event::Trust;
use crate::extract::{FactCandidate, REMARK, Stance};
use crate::id::{ItemId, ItemKind};
use crate::item::{
    DerivedChange, Evidence, Fact, FactChange, FactStatus, FactType, Review, ReviewDecision, ReviewKind, TimeSpan,
};
use crate::predicate::is_named_by;

/// The default reason for a contested claim.
const LESS_CREDIBLE: &str = "something more credible says otherwise";
/// Factor on the confidence of a contested claim.
const CONTESTED_FACTOR: f64 = 0.8;

impl DecisionDraft<'_> {
    pub(super) fn fact(&mut self, candidate: &FactCandidate) {
        let case = self.case;
        let candidate = &*self.told_apart(candidate);
        let predicate = case.predicates.get(&candidate.predicate);
        let evidence = case.evidence(&candidate.span);
        let said = self.say(candidate);
        let verdict = gate::judge(case, self.view.items(), predicate, candidate);
        if let Verdict::Refuse(reason) = &verdict {
            return self.refuse(said, &candidate.predicate, evidence, reason);
        }
        if let Some(reason) = self.unfit(&candidate.span) {
            return self.refuse(said, &candidate.predicate, evidence, &reason);
        }
        let slot = slot_of(predicate, candidate);
        if self.is_decided(&slot, candidate) {
            return;
        }
        let held = self.view.in_slot(&slot);
        let claim = Claim { candidate, predicate, evidence, slot, held, told: None, now: case.present() };
        match &candidate.stance {
            Stance::Holds | Stance::Changed | Stance::Corrects { .. } => {
                self.claim(&claim, &verdict);
                self.end_others(&claim, &verdict);
                self.end_excluded(&claim, &verdict);
            }
            Stance::Held => self.past(&claim, &verdict),
            Stance::Ended => self.end(&claim, &verdict, true),
            Stance::Denied => self.end(&claim, &verdict, false),
        }
    }

    /// True if an earlier reading of this source already decided on this value, or on a remark with some of its words.
    fn is_decided(&self, slot: &str, candidate: &FactCandidate) -> bool {
        let own = self.case.evidence(&candidate.span);
        let overlaps =
            |place: &Evidence| candidate.predicate == REMARK && place.start < own.end && own.start < place.end;
        self.case.memory.items().in_slot(slot).any(|held| {
            let is_same = same_value(&held.object, &candidate.object);
            held.evidence.iter().any(|place| place.source == own.source && (is_same || overlaps(place)))
        })
    }

    pub(super) fn say(&self, candidate: &FactCandidate) -> String {
        let FactCandidate { subject, predicate, object, qualifiers, .. } = candidate;
        self.case.predicates.say_as(self.case.reading.speaker, subject, predicate, object, qualifiers)
    }

    pub(super) fn claim(&mut self, claim: &Claim<'_>, verdict: &Verdict) {
        // A model's claim was already checked against everything it was shown.
        let doubt = match claim.told {
            Some(told) => told.doubt.clone(),
            None => ground::doubt(claim.candidate, self.case.quote(&claim.candidate.span)),
        };
        if let Some(same) = claim.same() {
            // What no text says is not made true by repeating it.
            if doubt.is_some() && waits(&same) {
                return self.report.seen.push(outcome(&same, "claimed again, and not said"));
            }
            return self.again(claim, &same, verdict);
        }
        if let Some(doubt) = doubt.as_deref().filter(|_| claim.told.is_some()) {
            return self.doubted(claim, doubt);
        }
        let mut fact = self.new_fact(claim);
        // It does not end the present value now.
        fact.single &= !self.is_ahead(claim);
        if let Some(doubt) = doubt {
            fact.status = FactStatus::Uncertain;
            self.assert(fact, Vec::new(), false, &format!("kept aside: {doubt}"));
            return;
        }
        let fits = self.core.fits(self.case.predicates, self.case.registry, &fact);
        let unfit = (!fits).then_some("the core document would not be valid with it");
        if let Some(reason) = self.must_wait(verdict, &fact).or(unfit) {
            if let Some(current) = claim.current().filter(|_| claim.is_single()) {
                return self.contest(claim, fact, &current, reason);
            }
            fact.status = FactStatus::Uncertain;
            self.wait(fact, ReviewKind::Fact, None, reason);
            return;
        }
        let wrong = match &claim.candidate.stance {
            Stance::Corrects { not } => claim.wrong(not.as_deref()),
            _ => None,
        };
        let planned =
            wrong.as_ref().filter(|wrong| wrong.is_active() && self.has_not_begun(wrong) && claim.is_single());
        let is_planned = planned.is_some() && fact.valid_from.is_none();
        if self.is_ahead(claim) || is_planned {
            if let Some(wrong) = planned {
                fact.valid_from = fact.valid_from.or(wrong.valid_from);
                self.settle(wrong.id, FactStatus::Corrected, None, claim.evidence);
                self.report.ended.push(outcome(wrong, "was never true"));
            }
            return match claim.current().filter(|current| !self.is_credible(current, fact.confidence_base)) {
                Some(current) => self.contest(claim, fact, &current, LESS_CREDIBLE),
                None => self.begins_later(claim, fact),
            };
        }
        if let Some(wrong) = wrong {
            return self.correct(claim, fact, &wrong);
        }
        match claim.current() {
            Some(current) if claim.is_single() => self.replace(claim, fact, &current),
            None if claim.is_single() && self.is_over(claim) => self.put_into_history(claim, fact, None),
            _ => self.beside(claim, fact),
        }
    }

    /// Handles a known value.
    pub(super) fn again(&mut self, claim: &Claim<'_>, same: &Fact, verdict: &Verdict) {
        let at = Some(self.case.told_at());
        let wrong = self.wrong_besides(claim, same).filter(|_| *verdict == Verdict::Pass);
        if let Some(wrong) = &wrong {
            self.core.take(self.case.predicates, wrong);
            self.settle(wrong.id, FactStatus::Corrected, None, claim.evidence);
            if self.has_not_begun(wrong) {
                self.hold_on(wrong);
            }
            self.report.ended.push(outcome(wrong, "was never true"));
        }
        if same.evidence.iter().any(|place| place.source == claim.evidence.source) {
            return;
        }
        let confirmed = *verdict == Verdict::Pass
            && self.case.standing.trust == Trust::User
            && matches!(same.status, FactStatus::Uncertain | FactStatus::Contested);
        if self.case.standing.trust < same.trust || *verdict != Verdict::Pass {
            // A less trusted source only adds evidence.
            let change = FactChange { evidence: Some(claim.evidence), ..FactChange::of(same.id) };
            self.draw(DerivedChange::FactChanged(change));
            return self.report.seen.push(outcome(same, "said by somebody else too"));
        }
        if let Some(candidate) = self.other_dose(claim, same) {
            return self.take_over(&candidate, same, false);
        }
        self.draw(DerivedChange::FactSeen { fact: same.id, evidence: claim.evidence, at });
        // It cannot begin after its end.
        let fits = same.valid_to.is_none_or(|end| claim.candidate.valid_from <= Some(end));
        if same.valid_from.is_none() && claim.candidate.valid_from.is_some() && fits && !self.is_ahead(claim) {
            self.since(same, claim.candidate.valid_from);
        }
        if !confirmed {
            if self.has_not_begun(same) && claim.is_single() {
                self.again_ahead(claim, same);
            }
            self.report.seen.push(outcome(same, &format!("said {} times", same.seen_count + 1)));
            return;
        }
        if self.has_not_begun(same) && !same.single && claim.is_single() {
            return self.confirm_ahead(claim, same);
        }
        if self.is_ahead(claim) {
            // It was claimed of the present, and begins later.
            self.settle(same.id, FactStatus::Corrected, None, claim.evidence);
            self.approve(same.id);
            let fact = self.new_fact(claim);
            return self.begins_later(claim, fact);
        }
        // The user's own words settle a waiting fact and end the one in its place, effective now, even if somebody else
        // said it earlier.
        let known = claim.candidate.valid_from.or(same.valid_from);
        let displaced = claim.current().filter(|_| claim.is_single()).or_else(|| self.opposite(claim));
        let displaced = displaced.filter(|held| wrong.as_ref().is_none_or(|wrong| wrong.id != held.id));
        if let Some(wrong) = &wrong {
            self.since(same, known.or(wrong.began()));
        }
        if let Some(held) = displaced {
            let since = known.or(at);
            self.since(same, since);
            self.core.take(self.case.predicates, &held);
            if !same.single {
                self.settle(held.id, FactStatus::Superseded, since.max(held.valid_from), claim.evidence);
            }
            self.report.ended.push(outcome(&held, "held until now"));
        }
        self.put(same);
        self.confirm(claim, same);
    }

    /// The claim as a new value, if it tells another dose than the known one of the same medicine. A dose without a unit has
    /// the one of the known dose.
    fn other_dose(&self, claim: &Claim<'_>, same: &Fact) -> Option<FactCandidate> {
        const DOSE: &str = "dosage";
        let (told, known) = (claim.candidate.qualifiers.get(DOSE)?, same.qualifiers.get(DOSE));
        // "I took 400 mg this morning" is no other dose, nor is one for the evening.
        let is_change = matches!(claim.candidate.stance, Stance::Changed | Stance::Corrects { .. })
            || self.case.memory.get(self.case.source).is_some_and(|held| held.source.is_ready_made())
            || tells_change(self.case.quote(&claim.candidate.span));
        let is_later = Some(self.case.told_at()) >= same.last_seen;
        if !is_change || !same.is_active() || !is_later {
            return None;
        }
        let dose = other_dose(told, known.map(String::as_str))?;
        let mut qualifiers = same.qualifiers.clone();
        qualifiers.extend(claim.candidate.qualifiers.clone());
        qualifiers.insert(DOSE.to_owned(), dose);
        Some(FactCandidate { qualifiers, ..claim.candidate.clone() })
    }

    /// Makes a waiting fact active.
    pub(super) fn confirm(&mut self, claim: &Claim<'_>, same: &Fact) {
        let confidence_base = Some(same.confidence_base.max(claim.candidate.confidence));
        let (status, evidence) = (Some(FactStatus::Active), Some(claim.evidence));
        let trust = Some(self.case.standing.trust).filter(|trust| *trust > same.trust);
        self.draw(DerivedChange::FactChanged(FactChange {
            status,
            evidence,
            trust,
            confidence_base,
            ..FactChange::of(same.id)
        }));
        self.approve(same.id);
        self.report.asserted.push(outcome(same, "confirmed"));
    }

    /// Decides the reviews about a fact.
    fn approve(&mut self, fact: ItemId) {
        let waiting = self.view.items().waiting_about(fact);
        for review in waiting.map(|review| review.id).collect::<Vec<_>>() {
            self.draw(DerivedChange::ReviewDecided { review, decision: ReviewDecision::Approved });
        }
    }

    /// The fact that the claim corrects besides the known one, if the source is credible enough.
    fn wrong_besides(&self, claim: &Claim<'_>, same: &Fact) -> Option<Fact> {
        let Stance::Corrects { not: not @ Some(_) } = &claim.candidate.stance else { return None };
        let wrong = claim.wrong(not.as_deref()).filter(|wrong| wrong.id != same.id)?;
        self.is_credible(&wrong, claim.candidate.confidence).then_some(wrong)
    }

    pub(super) fn since(&mut self, fact: &Fact, valid_from: Option<Timestamp>) {
        self.draw(DerivedChange::FactChanged(FactChange { valid_from, ..FactChange::of(fact.id) }));
    }

    /// Handles another value of a single-valued predicate.
    fn replace(&mut self, claim: &Claim<'_>, mut fact: Fact, current: &Fact) {
        if !self.is_credible(current, fact.confidence_base) {
            return self.contest(claim, fact, current, LESS_CREDIBLE);
        }
        if self.is_older_news(claim, current) {
            return self.put_into_history(claim, fact, Some(current));
        }
        fact.valid_from = fact.valid_from.or_else(|| match claim.candidate.stance {
            Stance::Changed => Some(self.case.said_at()),
            _ => None,
        });
        claim.hold_until_next(&mut fact);
        self.core.take(self.case.predicates, current);
        self.put(&fact);
        if current.valid_to > fact.began() {
            // It was to hold longer.
            let valid_to = fact.began().max(current.valid_from);
            self.draw(DerivedChange::FactChanged(FactChange { valid_to, ..FactChange::of(current.id) }));
        }
        self.report.ended.push(outcome(current, "held until now"));
        let is_undated = fact.valid_from.is_none();
        self.assert(fact, Vec::new(), false, "new value");
        if is_undated && self.case.moment() != self.case.reading.said_at {
            // Its end would be the moment in UTC, and not the day of the speaker.
            let valid_to = Some(self.case.said_at()).max(current.valid_from);
            self.draw(DerivedChange::FactChanged(FactChange { valid_to, ..FactChange::of(current.id) }));
        }
    }

    /// Handles a value of a many-valued predicate.
    fn beside(&mut self, claim: &Claim<'_>, mut fact: Fact) {
        if let Some(opposite) = self.opposite(claim).or_else(|| predecessor(claim)) {
            if !self.is_credible(&opposite, fact.confidence_base) {
                return self.contest(claim, fact, &opposite, LESS_CREDIBLE);
            }
            self.core.take(self.case.predicates, &opposite);
            self.put(&fact);
            self.report.ended.push(outcome(&opposite, "held until now"));
            self.assert(fact, vec![opposite.id], false, "changed");
            return;
        }
        let is_nameless = |held: &&Fact| {
            held.is_active() && is_named_by((&held.object, &held.qualifiers), (&fact.object, &fact.qualifiers))
        };
        let mut nameless = claim.held.iter().filter(is_nameless);
        if let (Some(one), None) = (nameless.next().cloned(), nameless.next())
            && self.is_credible(&one, fact.confidence_base)
        {
            // "A puppy" now has a name.
            return self.correct(claim, fact, &one);
        }
        let near =
            (self.case.nearest)(claim.candidate).filter(|(_, cosine)| *cosine >= self.case.policy.novelty_cosine_max);
        if let Some(same) = near.and_then(|(id, _)| claim.held.iter().find(|held| held.id == id && held.is_active())) {
            let (evidence, at) = (claim.evidence, Some(self.case.told_at()));
            self.draw(DerivedChange::FactSeen { fact: same.id, evidence, at });
            self.report.seen.push(outcome(same, "said in other words"));
            return;
        }
        claim.hold_until_next(&mut fact);
        self.put(&fact);
        self.assert(fact, Vec::new(), false, "new");
    }

    fn opposite(&self, claim: &Claim<'_>) -> Option<Fact> {
        let opposite = claim.predicate.opposite.as_ref()?;
        let slot = slot_name(&claim.candidate.subject, opposite, None);
        let same = |held: &Fact| held.is_active() && same_value(&held.object, &claim.candidate.object);
        self.view.in_slot(&slot).into_iter().find(same)
    }

    pub(super) fn correct(&mut self, claim: &Claim<'_>, mut fact: Fact, wrong: &Fact) {
        if !self.is_credible(wrong, fact.confidence_base) {
            return self.contest(claim, fact, wrong, LESS_CREDIBLE);
        }
        if wrong.is_active() {
            fact.valid_from = fact.valid_from.or(wrong.valid_from);
            fact.first_seen = wrong.first_seen.or(fact.first_seen);
            fact.valid_to = fact.valid_to.or(wrong.valid_to.filter(|end| Some(*end) > fact.valid_from));
            self.core.take(self.case.predicates, wrong);
            self.put(&fact);
            self.report.ended.push(outcome(wrong, "was never true"));
            self.assert(fact, vec![wrong.id], true, "corrected");
            return;
        }
        // The corrected fact had ended, so its replacement has too.
        self.settle(wrong.id, FactStatus::Corrected, None, claim.evidence);
        self.report.ended.push(outcome(wrong, "was never true"));
        fact.status = FactStatus::Superseded;
        fact.valid_from = fact.valid_from.or(wrong.valid_from);
        fact.valid_to = fact.valid_to.or(wrong.valid_to);
        self.assert(fact, Vec::new(), false, "corrected, and over");
    }

    pub(super) fn assert(&mut self, mut fact: Fact, ends: Vec<ItemId>, corrects: bool, what: &str) {
        // It cannot end before it began.
        fact.valid_to = fact.valid_to.map(|to| fact.valid_from.map_or(to, |from| to.max(from)));
        self.report.asserted.push(outcome(&fact, what));
        self.draw(DerivedChange::FactAsserted { fact: Box::new(fact), ends, corrects });
    }

    pub(super) fn put(&mut self, fact: &Fact) {
        // Whether it fits was checked before the decision.
        self.core.put(self.case.predicates, self.case.registry, fact);
    }

    fn contest(&mut self, claim: &Claim<'_>, mut fact: Fact, current: &Fact, reason: &str) {
        fact.status = FactStatus::Contested;
        fact.confidence_base *= CONTESTED_FACTOR;
        let question = claim.predicate.asks_which(current, &fact);
        let (id, against) = (fact.id, Some(current.id));
        self.assert(fact, Vec::new(), false, &format!("contested: {reason}"));
        if claim.predicate.importance >= self.case.policy.question_importance_min {
            self.open_review(ReviewKind::Conflict, id, against, question, reason);
        }
    }

    pub(super) fn wait(&mut self, fact: Fact, kind: ReviewKind, against: Option<ItemId>, reason: &str) {
        let (id, question) = (fact.id, format!("Is this right: {}?", fact.text));
        self.assert(fact, Vec::new(), false, &format!("waits for you: {reason}"));
        self.open_review(kind, id, against, question, reason);
    }

    pub(super) fn open_review(
        &mut self,
        kind: ReviewKind,
        about: ItemId,
        against: Option<ItemId>,
        question: String,
        reason: &str,
    ) {
        if self.view.is_asked(about) {
            return;
        }
        let id = (self.name)(ItemKind::Review);
        self.report.reviews.push(Outcome { id, text: question.clone(), what: reason.to_owned() });
        let review = Review {
            id,
            kind,
            about,
            against,
            question,
            reason: reason.to_owned(),
            proposer: crate::event::Actor::System,
            opened_at: Some(self.case.told_at()),
            promotion: None,
            decided: None,
            proposed: None,
        };
        self.draw(DerivedChange::ReviewOpened(Box::new(review)));
    }

    /// Why a fact must not be used yet; `None` if it may be.
    fn must_wait<'r>(&self, verdict: &Verdict, fact: &Fact) -> Option<&'r str> {
        if let Verdict::Wait(reason) = verdict {
            return Some(reason);
        }
        (fact.core_path.is_some() && fact.confidence_base < self.case.policy.core_confidence_min)
            .then_some("not sure enough to change the core document")
    }

    /// True if this source may end a fact: its trust is at least that of the fact's sources, and its credibility is
    /// comparable.
    pub(super) fn is_credible(&self, held: &Fact, confidence: f64) -> bool {
        let standing = self.case.standing;
        let sources = held.evidence.iter().filter_map(|place| self.case.memory.get(place.source));
        let (mut trust, mut reliability) = (held.trust, held.source.reliability());
        for source in sources.filter(|source| source.trust > held.trust) {
            trust = trust.max(source.trust);
            reliability = reliability.max(source.from.reliability());
        }
        let own = standing.kind.reliability() * confidence;
        standing.trust >= trust && reliability * held.confidence_base - own < self.case.policy.contest_gap
    }

    pub(super) fn new_fact(&mut self, claim: &Claim<'_>) -> Fact {
        let (candidate, predicate) = (claim.candidate, claim.predicate);
        let told_at = self.case.moment();
        let future = candidate.valid_from > self.case.reading.said_at;
        let fact_type = claim.told.and_then(|told| told.fact_type).unwrap_or(predicate.fact_type);
        let time_span = match fact_type {
            FactType::Event => TimeSpan::ShortTerm,
            FactType::Commitment if future || candidate.valid_from.is_none() => TimeSpan::Future,
            FactType::Commitment => TimeSpan::ShortTerm,
            FactType::Identity => TimeSpan::LongTerm,
            FactType::Trait | FactType::Preference | FactType::Constraint | FactType::Location => TimeSpan::Current,
        };
        let besides = self.besides(&candidate.span);
        let mut fact = Fact {
            id: (self.name)(ItemKind::Fact),
            subject: candidate.subject.clone(),
            predicate: candidate.predicate.clone(),
            object: candidate.object.clone(),
            text: claim.told.map_or_else(|| self.say(candidate), |told| told.sentence.clone()),
            fact_type,
            time_span,
            slot: claim.slot.clone(),
            single: claim.is_single(),
            valid_from: candidate.valid_from,
            valid_to: candidate.valid_to,
            first_seen: told_at,
            last_seen: told_at,
            seen_count: 1,
            evidence: vec![claim.evidence],
            source: self.case.standing.kind,
            trust: self.case.standing.trust,
            confidence_base: candidate.confidence,
            user_fact_score: None,
            intrinsic_importance: predicate.importance,
            domain: besides.domain.unwrap_or_else(|| predicate.domain.clone()),
            topic: candidate.qualifiers.get("topic").cloned().or_else(|| predicate.topic.clone()),
            tags: besides.tags,
            qualifiers: candidate.qualifiers.clone(),
            links: besides.links,
            core_path: None,
            status: FactStatus::Active,
            superseded_by: None,
        };
        fact.core_path = core_map::place_of(self.case.predicates, &fact).map(|place| place.pointer);
        fact
    }
}
