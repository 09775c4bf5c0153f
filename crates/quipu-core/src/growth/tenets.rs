//! Proposes tenets suggested by a pattern of facts. Only the user confirms one, and a declined tenet is proposed again
//! only once its support has doubled.

use super::promotion::days_said;
use super::{GrowthContext, GrowthProposal, GrowthSubject, Name};
use crate::event::{Actor, Change, Trust};
use crate::extract::USER;
use crate::guard;
use crate::id::{ItemId, ItemKind};
use crate::item::{
    DerivedChange, Fact, FactType, RejectedValue, Review, ReviewKind, Tenet, TenetKind, TenetStatus, TimeSpan,
};
use crate::limit;
use crate::predicate::normal;
use crate::reconcile::notes;

impl GrowthContext<'_> {
    /// Tenets to propose.
    pub fn tenet_proposals(&self, name: Name<'_>) -> Vec<GrowthProposal> {
        let items = self.memory().items();
        let asked = items.waiting().filter(|review| review.kind == ReviewKind::Tenet).count();
        let mut found = Vec::new();
        for fact in items.facts().filter(|fact| self.is_pattern(fact)) {
            if asked + found.len() >= limit::TENETS_WAITING_MAX {
                break;
            }
            let kind = if fact.fact_type == FactType::Preference { TenetKind::Preference } else { TenetKind::Policy };
            let support = self.rests_on(fact).len();
            let said_no = notes::declined(items, &fact.text, support).is_some();
            if !said_no && !self.is_asked(&fact.text) && !self.was_rejected(fact) {
                found.push(self.proposed(fact, kind, name));
            }
        }
        found
    }

    /// True for a preference or constraint that the user stated on enough days.
    fn is_pattern(&self, fact: &Fact) -> bool {
        let items = self.memory().items();
        matches!(fact.fact_type, FactType::Preference | FactType::Constraint)
            && fact.is_active()
            && fact.subject == USER
            && fact.trust == Trust::User
            && fact.time_span != TimeSpan::Future
            && !items.is_hidden(fact.id)
            && self.memory().marks(fact.id).rating >= 0
            && days_said(self.memory(), &fact.evidence).len() >= self.knobs.promote_days_min as usize
            && guard::sensitivity(&fact.text).is_none()
    }

    /// True if such a tenet is proposed or confirmed.
    fn is_asked(&self, text: &str) -> bool {
        let items = self.memory().items();
        let counts = |tenet: &&Tenet| tenet.status != TenetStatus::Outdated && !items.is_hidden(tenet.id);
        items.tenets().filter(counts).any(|tenet| notes::says_the_same(&tenet.text, text))
    }

    /// The fact and its sources.
    fn rests_on(&self, fact: &Fact) -> Vec<ItemId> {
        let mut evidence: Vec<ItemId> = vec![fact.id];
        evidence.extend(fact.evidence.iter().map(|at| at.source));
        evidence.dedup();
        evidence
    }

    fn was_rejected(&self, fact: &Fact) -> bool {
        let (subject, value) = (normal(&fact.subject), normal(&fact.object));
        let value = RejectedValue { subject, predicate: fact.predicate.clone(), value };
        self.memory().items().rejected_at(&value).is_some()
    }

    fn proposed(&self, fact: &Fact, kind: TenetKind, name: Name<'_>) -> GrowthProposal {
        let days = days_said(self.memory(), &fact.evidence).len();
        let tenet = Tenet {
            id: name(ItemKind::Tenet),
            kind,
            text: fact.text.clone(),
            status: TenetStatus::Proposed,
            evidence: self.rests_on(fact),
            domain: Some(fact.domain.clone()),
            topic: fact.topic.clone(),
            version: 1,
        };
        let review = Review {
            id: name(ItemKind::Review),
            kind: ReviewKind::Tenet,
            about: tenet.id,
            against: None,
            promotion: None,
            question: format!("Is “{}” something you live by?", fact.text),
            reason: format!("you said so on {days} days; only you can confirm what you live by"),
            proposer: Actor::System,
            opened_at: Some(self.now()),
            decided: None,
            proposed: None,
        };
        let (items, because) = (vec![tenet.id, review.id], format!("you said so on {days} days"));
        let changes = vec![
            Change::Drawn(DerivedChange::TenetRecorded(Box::new(tenet))),
            Change::Drawn(DerivedChange::ReviewOpened(Box::new(review))),
        ];
        GrowthProposal { what: GrowthSubject::Proposed, items, text: fact.text.clone(), because, changes }
    }
}
