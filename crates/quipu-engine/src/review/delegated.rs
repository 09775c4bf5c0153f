//! Delegated decisions: an agent passes on what a person decided. Approving an agent's own proposal or statement is not
//! possible this way, or a model could approve the output of a model.

use quipu_core::Memory;
use quipu_core::event::{Actor, Trust};
use quipu_core::guard;
use quipu_core::id::UserId;
use quipu_core::item::{Review, ReviewDecision};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::Receipt;
use crate::review::queue::{self, decide_review};

/// Decides a review on behalf of a person. `said` contains the person's words, which are recorded with the decision.
///
/// # Errors
/// As [`decide_review`]; `Invalid` if `said` is empty; `Refused` for approving what came from an agent or from any
/// source but the user. Declining is always possible.
pub fn relay_decision(
    engine: &Engine,
    user: &UserId,
    id: &str,
    decision: &ReviewDecision,
    said: &str,
) -> Result<Receipt> {
    if said.trim().is_empty() {
        return Err(Error::Invalid("a decision is relayed with what the user said".to_owned()));
    }
    if *decision != ReviewDecision::Declined {
        let open = engine.open(user)?;
        let state = open.read();
        let asked = queue::find(state.memory.items(), id)?;
        if is_of_others(&state.memory, asked) {
            let text = format!(
                "{} does not come from the user, and agreeing with it cannot be relayed by an agent: the user does that in the \
                 inspector or with `quipu review approve {}`",
                asked.id, asked.id
            );
            return Err(Error::Refused(text));
        }
    }
    let rationale = format!("relayed by an agent: {}", guard::redact(said.trim()).text);
    decide_review(engine, user, id, decision, Actor::User, Some(&rationale))
}

/// Returns true if the proposal or its evidence comes from anybody but the user.
fn is_of_others(memory: &Memory, review: &Review) -> bool {
    let items = memory.items();
    let below = |trust: Trust| trust < Trust::User;
    let said_by_others = |id| memory.get(id).is_some_and(|held| below(held.trust));
    review.proposer == Actor::Agent
        || items.fact(review.about).is_some_and(|fact| below(fact.trust))
        || items.tenet(review.about).is_some_and(|tenet| tenet.evidence.iter().any(|id| said_by_others(*id)))
}
