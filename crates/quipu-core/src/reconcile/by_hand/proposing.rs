//! Changes proposed by an agent, for a person to decide.

use crate::artifact::{clipped, reworded};
use crate::event::Actor;
use crate::id::{ItemId, ItemKind};
use crate::item::{ProposedEdit, Review, ReviewKind};
use crate::reconcile::DecisionContext;
use crate::refusal::Refusal;

/// A proposed action on an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposedAction {
    /// Retract it.
    Gone,
    /// Replace its text.
    Reworded(String),
}

impl DecisionContext<'_> {
    /// The review for an agent's proposal, or the waiting one if the same proposal was made before.
    ///
    /// # Errors
    /// `NotFound` without such an item; `Refused` for sources, for items that no longer count, and for a new text of
    /// anything but a fact; `Invalid` for an empty text.
    pub fn propose(&self, item: ItemId, wanted: &ProposedAction, reason: &str, id: ItemId) -> Result<Review, Refusal> {
        let items = self.memory.items();
        if self.memory.find(item).is_some() {
            let text = format!("{item} is a source: only the user can erase it");
            return Err(Refusal::refused(text));
        }
        let drawn = [ItemKind::Fact, ItemKind::Episode, ItemKind::Task, ItemKind::Note, ItemKind::Tenet];
        if !items.has(item) || !drawn.contains(&item.kind) {
            return Err(Refusal::not_found(format!("there is no item {item}")));
        }
        let fact = items.fact(item);
        if items.is_hidden(item) || fact.is_some_and(|fact| !fact.is_active()) {
            let text = format!("{item} is not active: {}. There is nothing to change", items.standing(item));
            return Err(Refusal::refused(text));
        }
        let says = clipped(items.text(item).unwrap_or_default());
        let (proposed, question) = match (wanted, fact) {
            (ProposedAction::Gone, _) => {
                (ProposedEdit::Gone, format!("An agent would take back “{says}”. Take it back?"))
            }
            (ProposedAction::Reworded(text), _) if text.trim().is_empty() => {
                return Err(Refusal::invalid("the new text is empty"));
            }
            (ProposedAction::Reworded(text), Some(fact))
                if fact.text.trim_end_matches('.') == text.trim().trim_end_matches('.') =>
            {
                return Err(Refusal::refused(format!("{item} says so already")));
            }
            (ProposedAction::Reworded(text), Some(fact)) => {
                let now = clipped(text.trim());
                (reworded(fact, text.trim()), format!("An agent would have “{says}” say “{now}”. Change it?"))
            }
            (ProposedAction::Reworded(_), None) => {
                let text =
                    format!("{item} is not a fact: only facts can be reworded. Retract it and add the right statement");
                return Err(Refusal::refused(text));
            }
        };
        let known = items.waiting_about(item).find(|review| review.proposed.as_ref() == Some(&proposed));
        Ok(known.cloned().unwrap_or_else(|| Review {
            id,
            kind: ReviewKind::Edit,
            about: item,
            against: None,
            question,
            reason: clipped(reason),
            proposer: Actor::Agent,
            opened_at: Some(crate::calendar::to_micros(self.now)),
            promotion: None,
            decided: None,
            proposed: Some(proposed),
        }))
    }
}
