//! Relay: an agent hands on what a person decided. Where an agent proposed it, or its words stand behind it, only the person can
//! agree, without an agent in between: otherwise a model could approve what a model said.

use quipu_core::Memory;
use quipu_core::event::{Actor, Trust};
use quipu_core::guard;
use quipu_core::id::UserId;
use quipu_core::item::{Review, ReviewDecision};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::Receipt;
use crate::review::queue::{self, decide_review};

/// Decides on something that waits, as a person told an agent to: `said` is what they said, and is kept beside the decision.
///
/// # Errors
/// As [`decide_review`]; `Invalid` without the person's words; `Refused` also to agree with what came from an agent or from any
/// source but the user: declining it is always open.
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

/// True if somebody else than the user stands behind it.
fn is_of_others(memory: &Memory, review: &Review) -> bool {
    let items = memory.items();
    let below = |trust: Trust| trust < Trust::User;
    let said_by_others = |id| memory.get(id).is_some_and(|held| below(held.trust));
    review.proposer == Actor::Agent
        || items.fact(review.about).is_some_and(|fact| below(fact.trust))
        || items.tenet(review.about).is_some_and(|tenet| tenet.evidence.iter().any(|id| said_by_others(*id)))
}
