//! Context: a budgeted block of memory for a model's prompt.

use quipu_core::extract::USER;
use quipu_core::id::{ItemId, UserId};
use quipu_core::item::{Fact, FactType, Review, ReviewKind};
use quipu_core::limit;
use quipu_core::memory::Memory;
use quipu_core::pack::{self, Budgets, Evidence, Pack};

use crate::answers::Answer;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::recall::{self, RecallOptions};
use crate::versions::When;

/// What to pack.
#[derive(Debug, Clone)]
pub struct ContextOptions {
    /// The question or task.
    pub query: String,
    /// The most the block may cost, in estimated tokens.
    pub max_tokens: usize,
    /// Only this conversation.
    pub session: Option<String>,
    /// As of which version.
    pub at: When,
}

/// Items asked of recall for a pack: more than fit, so that what was left out can be named.
const CANDIDATES: usize = 40;

/// Makes the pack for a question.
///
/// Pinned items come first; then what recall finds, best first. What did not fit is listed by id, pinned or not.
///
/// # Errors
/// As [`recall`](crate::recall()); `Invalid` for a budget over `limit::PACK_TOKENS_MAX`.
pub fn context(engine: &Engine, user: &UserId, options: &ContextOptions) -> Result<Pack> {
    if options.max_tokens > limit::PACK_TOKENS_MAX {
        return Err(Error::Invalid(format!("a pack has at most {} tokens", limit::PACK_TOKENS_MAX)));
    }
    let asked = RecallOptions { k: CANDIDATES, session: options.session.clone(), ..RecallOptions::of(&options.query) };
    recall::on_version(engine, user, options.at, &mut |sight| {
        let memory = sight.memory;
        let found = recall::recall_in(engine, sight, &asked)?;
        recall::note_shown(engine, user, &found)?;
        let request = pack::Request {
            user: memory.user(),
            version: memory.seq(),
            core: memory.core(),
            pinned: pinned(memory),
            questions: questions(memory),
            evidence: found.hits.iter().map(evidence).collect(),
            budgets: Budgets::of_total(options.max_tokens),
        };
        Ok(pack::pack(&request))
    })
}

fn evidence(answer: &Answer) -> Evidence {
    Evidence {
        id: answer.id,
        speaker: answer.speaker.clone(),
        said_at: answer.said_at,
        trust: answer.trust,
        text: answer.text.clone(),
    }
}

/// Conflicts that only the user can settle, the most important first.
fn questions(memory: &Memory) -> Vec<(ItemId, String)> {
    let items = memory.items();
    let mut waiting: Vec<&Review> = items.waiting().filter(|review| review.kind == ReviewKind::Conflict).collect();
    let weight = |review: &Review| items.fact(review.about).map_or(0.0, |fact| fact.intrinsic_importance);
    waiting.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.id.cmp(&b.id)));
    waiting.into_iter().map(|review| (review.id, review.question.clone())).collect()
}

/// What is always in: rules and limits of the user, then what was pinned, facts before words.
fn pinned(memory: &Memory) -> Vec<Evidence> {
    let items = memory.items();
    let binds = |fact: &Fact| fact.fact_type == FactType::Constraint && fact.subject == USER;
    let wanted = |fact: &&Fact| fact.is_active() && (binds(fact) || memory.marks(fact.id).pinned);
    let facts = items.facts().filter(wanted).filter(|fact| !items.is_hidden(fact.id)).map(|fact| Evidence {
        id: fact.id,
        speaker: "fact".to_owned(),
        said_at: fact.last_seen,
        trust: fact.trust,
        text: fact.text.clone(),
    });
    let kept = memory.sources().iter().filter(|held| memory.marks(held.source.id).pinned);
    let said = kept.map(|held| Evidence {
        id: held.source.id,
        speaker: held.source.speaker().to_owned(),
        said_at: held.source.said_at,
        trust: held.trust,
        text: held.source.text.to_string(),
    });
    facts.chain(said).collect()
}
