//! Facts entered by hand: with a value that a person gave, in the place of another.

use crate::artifact;
use crate::event::{SourceKind, Trust};
use crate::extract::{FactCandidate, Stance};
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Fact, FactStatus, TimeSpan};
use crate::predicate::Cardinality;
use crate::reconcile::by_hand::decisions::{BY_HAND, DecisionBuilder, NewItemId};
use crate::reconcile::claim::slot_of;
use crate::reconcile::core_map;

impl DecisionBuilder<'_> {
    /// Asserts a fact like another one with a value given by hand; the active fact in its place and those in `ends`
    /// were wrong. Its validity, domain, topic, tags, links, score and pin are kept: only the value is another.
    pub(in crate::reconcile) fn enter(&mut self, like: &Fact, object: &str, ends: Vec<ItemId>, name: NewItemId<'_>) {
        // "User works at Initech" in the place of "User works at Acme" is the value Initech.
        let value = artifact::new_value(like, object);
        let object = value.as_deref().unwrap_or(object);
        let candidate = FactCandidate {
            subject: like.subject.clone(),
            predicate: like.predicate.clone(),
            object: object.to_owned(),
            span: 0..0,
            stance: Stance::Holds,
            valid_from: like.valid_from,
            valid_to: like.valid_to,
            confidence: BY_HAND,
            qualifiers: like.qualifiers.clone(),
        };
        let mut fact = Fact {
            user_fact_score: like.user_fact_score,
            domain: like.domain.clone(),
            topic: like.topic.clone(),
            tags: like.tags.clone(),
            links: like.links.clone(),
            ..self.by_hand(&candidate, name)
        };
        fact.single &= like.single || candidate.valid_from <= Some(self.desk.present());
        if let Some(held) = self.said_already(&fact.slot, object, like.id) {
            // A second fact would duplicate it.
            ends.into_iter().for_each(|id| self.set(id, FactStatus::Corrected, None));
            self.keep_pin(like.id, held.id);
            return self.accept(held);
        }
        self.keep_pin(like.id, fact.id);
        let ends = if fact.valid_to.is_some_and(|end| end <= self.desk.present()) {
            // It is over, with the value that is right.
            fact.status = FactStatus::Superseded;
            let own = like.is_active() && !ends.contains(&like.id);
            ends.into_iter().chain(own.then_some(like.id)).collect()
        } else if self.is_ahead(&fact) {
            self.hold_until(&fact);
            ends.into_iter().chain([like.id]).collect()
        } else {
            self.make_way(&fact);
            self.core.put(self.desk.predicates, self.desk.registry, &fact);
            ends
        };
        self.drawn.push(DerivedChange::FactAsserted { fact: Box::new(fact), ends, corrects: true });
    }

    pub(in crate::reconcile) fn by_hand(&self, candidate: &FactCandidate, name: NewItemId<'_>) -> Fact {
        let predicates = self.desk.predicates;
        let predicate = predicates.get(&candidate.predicate);
        let FactCandidate { subject, object, qualifiers, .. } = candidate;
        let now = Some(self.desk.now);
        let mut fact = Fact {
            id: name(ItemKind::Fact),
            subject: subject.clone(),
            predicate: candidate.predicate.clone(),
            object: object.clone(),
            text: predicates.say(subject, &candidate.predicate, object, qualifiers),
            fact_type: predicate.fact_type,
            time_span: TimeSpan::Current,
            slot: slot_of(predicate, candidate),
            single: predicate.cardinality == Cardinality::One,
            valid_from: candidate.valid_from,
            valid_to: candidate.valid_to,
            first_seen: now,
            last_seen: now,
            seen_count: 1,
            evidence: Vec::new(),
            source: SourceKind::UserEdited,
            trust: Trust::User,
            confidence_base: candidate.confidence,
            user_fact_score: None,
            intrinsic_importance: predicate.importance,
            domain: predicate.domain.clone(),
            topic: qualifiers.get("topic").cloned().or_else(|| predicate.topic.clone()),
            tags: Vec::new(),
            qualifiers: qualifiers.clone(),
            links: Vec::new(),
            core_path: None,
            status: FactStatus::Active,
            superseded_by: None,
        };
        fact.core_path = core_map::place_of(predicates, &fact).map(|place| place.pointer);
        fact
    }
}
