//! Decisions by hand on patterns of the core document.

use crate::core_document::Categories;
use crate::event::Change;
use crate::evolve::{self, PromotionPlan, PromotionRequest};
use crate::item::{DerivedChange, Review, ReviewDecision, ReviewKind};
use crate::reconcile::by_hand::decisions::DecisionContext;
use crate::refusal::Refusal;

impl DecisionContext<'_> {
    /// The categories of this memory.
    pub fn categories(&self) -> Categories<'_> {
        Categories::of(self.registry, self.memory.schema())
    }

    /// The changes of promoting a pattern at once, and the plan. They also decide waiting reviews of the pattern.
    ///
    /// # Errors
    /// As [`evolve::plan`].
    pub fn promote(
        &self,
        candidate: &str,
        asked: PromotionRequest<'_>,
    ) -> Result<(Vec<Change>, PromotionPlan), Refusal> {
        let plan = evolve::plan(self.memory, self.categories(), candidate, asked)?;
        let promoted = &plan.promotion;
        let mut changes = plan.clone().changes();
        let about = |review: &&Review| {
            review.kind == ReviewKind::SchemaPromotion
                && review.promotion.as_ref().is_some_and(|asked| asked.candidate == promoted.candidate)
        };
        for review in self.memory.items().waiting().filter(about) {
            let asked = review.promotion.as_ref().is_some_and(|asked| asked.name == promoted.name);
            let decision =
                if asked { ReviewDecision::Approved } else { ReviewDecision::Edited { text: promoted.name.clone() } };
            changes.push(Change::Drawn(DerivedChange::ReviewDecided { review: review.id, decision }));
        }
        Ok((changes, plan))
    }

    /// The changes of a decision on a proposed category.
    pub(in crate::reconcile) fn proposed_category(
        &self,
        review: &Review,
        decision: &ReviewDecision,
    ) -> Result<Vec<Change>, Refusal> {
        let asked = review.promotion.as_ref();
        let asked = asked.ok_or_else(|| Refusal::refused(format!("{} proposes no category", review.id)))?;
        let name = match decision {
            ReviewDecision::Approved => asked.name.as_str(),
            ReviewDecision::Edited { text } => text.trim(),
            ReviewDecision::Declined => {
                let declined = DerivedChange::ReviewDecided { review: review.id, decision: ReviewDecision::Declined };
                return Ok(vec![Change::Drawn(declined)]);
            }
        };
        // Another name implies another meaning, so the proposed description is dropped.
        let description = (name == asked.name).then_some(asked.description.as_str());
        let says = PromotionRequest {
            name: Some(name),
            description,
            rationale: Some(&asked.rationale),
            fields: Some(&asked.fields),
        };
        let planned = evolve::plan(self.memory, self.categories(), &asked.candidate, says);
        let mut changes = match planned {
            Err(Refusal::NotFound(_)) => {
                let text = format!("nothing is left of {} that could move; decline {}", asked.candidate, review.id);
                return Err(Refusal::refused(text));
            }
            planned => planned?.changes(),
        };
        changes.push(Change::Drawn(DerivedChange::ReviewDecided { review: review.id, decision: decision.clone() }));
        Ok(changes)
    }
}
