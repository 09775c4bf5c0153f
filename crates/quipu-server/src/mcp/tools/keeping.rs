//! Adding, and proposing changes.

use quipu_core::calendar::TimeExpression;
use quipu_core::event::SourceKind;
use quipu_core::id::{ItemKind, Seq};
use quipu_core::reconcile::Understanding;
use quipu_core::source::Role;
use quipu_engine::ready_made::FactIn;
use quipu_engine::{
    Error, LogOptions, ProposedAction, RememberOptions, Result, Utterance, WriteRequest, log, propose, remember, write,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::call::Call;
use super::super::said::{ItemLine, Refused};
use super::super::tool::Tool;

/// The origin that the log shows for these requests.
const DOOR: &str = "mcp";

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::writing(
            "add_memory",
            "Add to memory",
            "Remembers something for later conversations. Call it when the user states a fact about themselves, a preference, a \
             decision, a plan or a correction, when they ask you to remember, and when you learn something that will matter again. Give \
             the user's own words in user_said, word for word; give your own conclusions in text, and relations in facts. What you \
             conclude is kept as yours: what it says of the user waits until the user agrees. Never put words into user_said that the \
             user did not say, and never secrets anywhere.",
            add,
        ),
        Tool::writing(
            "update_memory",
            "Propose a correction",
            "Proposes that a fact say something else. Call it when the user says that a remembered fact is wrong or has changed and \
             add_memory with their words did not settle it. Nothing changes until the user agrees in the review; say so.",
            update,
        )
        .idempotent(),
        Tool::writing(
            "delete_memory",
            "Propose a removal",
            "Proposes that an item be taken back. Call it when the user asks to forget something, or an item is plainly wrong. Nothing is \
             removed until the user agrees in the review, and words that were said can be erased by the user alone; say so.",
            delete,
        )
        .idempotent(),
    ]
}

/// A relation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Claim {
    /// Whom or what it is about. Default: `user`.
    #[serde(default)]
    subject: Option<String>,
    /// The relation, such as `works_at`.
    predicate: String,
    /// The value.
    object: String,
    /// The claim as a sentence.
    #[serde(default)]
    text: Option<String>,
    /// Since when it holds: a date, a time, or such as `yesterday` and `last monday`.
    #[serde(default)]
    valid_from: Option<TimeExpression>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// What you want to keep, in your own words: a sentence that is clear by itself.
    #[serde(default)]
    text: Option<String>,
    /// What the user said, word for word.
    #[serde(default)]
    user_said: Option<String>,
    /// Relations you concluded, about people, projects and things.
    #[serde(default)]
    facts: Vec<Claim>,
    /// What it is about, in a word or two.
    #[serde(default)]
    topic: Option<String>,
    /// The conversation it belongs to.
    #[serde(default)]
    session_id: Option<String>,
    /// When it was said: a date, a time, or such as `yesterday`. Default: now.
    #[serde(default)]
    said_at: Option<TimeExpression>,
}

/// Result of an addition.
#[derive(Default, Serialize, JsonSchema)]
struct Added {
    /// Ids of what was recorded, one for each text.
    ids: Vec<String>,
    /// Whose word it counts as: `user` for user_said, `agent` for the rest.
    trust: Vec<&'static str>,
    /// What was understood, with its status: what waits does not count yet.
    understood: Vec<ItemLine>,
    /// The questions the user is asked about it.
    waiting: Vec<ItemLine>,
    /// What was not accepted, and why.
    refused: Vec<Refused>,
    /// Kinds of secrets that were removed.
    redacted: Vec<String>,
    /// The new version of the memory.
    version: Seq,
    /// What could not be done yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag: Option<String>,
}

impl Added {
    fn take(&mut self, understood: &Understanding) {
        let counts = [&understood.asserted, &understood.seen, &understood.ended, &understood.tasks, &understood.notes];
        self.understood.extend(counts.into_iter().flatten().map(ItemLine::from));
        self.waiting.extend(understood.reviews.iter().map(ItemLine::from));
        self.refused.extend(understood.refused.iter().map(Refused::from));
    }
}

fn add(call: &Call<'_>, asked: Add) -> Result<Added> {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let (text, user_said) = (filled(&asked.text), filled(&asked.user_said));
    if text.is_none() && user_said.is_none() && asked.facts.is_empty() {
        return Err(Error::Invalid("there is nothing to add: give text, user_said or facts".to_owned()));
    }
    if user_said.is_some() && !call.hall.user_words {
        let why = "nothing a model hands on counts as the user's own words here: give it as text";
        return Err(Error::Refused(why.to_owned()));
    }
    let mut added = Added::default();
    for (words, role) in [(user_said, Role::User), (text, Role::Assistant)] {
        if let Some(words) = words {
            said(call, &asked, words, role, &mut added)?;
        }
    }
    if !asked.facts.is_empty() {
        let facts = asked.facts.into_iter().map(|claim| FactIn {
            subject: claim.subject,
            predicate: claim.predicate,
            object: claim.object,
            text: claim.text,
            valid_from: claim.valid_from,
            topic: asked.topic.clone(),
            ..FactIn::default()
        });
        let request = WriteRequest { facts: facts.collect(), ..WriteRequest::default() };
        let report = write(call.engine, call.user(), &request, SourceKind::AssistantSaid)?;
        added.ids.push(report.source.to_string());
        added.trust.push("agent");
        added.take(&report.understood);
        added.redacted.extend(report.redacted);
    }
    let newest = LogOptions { before: None, limit: 1, reference: None };
    added.version = log(call.engine, call.user(), &newest)?.first().map_or(0, |entry| entry.seq);
    call.study(asked.session_id);
    Ok(added)
}

fn said(call: &Call<'_>, asked: &Add, words: String, role: Role, added: &mut Added) -> Result<()> {
    let (session, topic) = (asked.session_id.clone(), asked.topic.clone());
    let utterance = Utterance { role, session, topic, ..Utterance::of_user(words) }.at(call.engine, asked.said_at)?;
    let rationale = match role {
        Role::User => "an agent handed on the user's words",
        _ => "an agent's own words",
    };
    let options = RememberOptions { rationale: Some(rationale.to_owned()), ..RememberOptions::default() };
    let receipt = remember(call.engine, call.user(), &utterance, &options)?;
    added.ids.extend(receipt.items.iter().filter(|id| id.kind == ItemKind::Turn).map(ToString::to_string));
    added.trust.push(if role == Role::User { "user" } else { "agent" });
    added.take(&receipt.understood);
    added.redacted.extend(receipt.redacted);
    added.lag = receipt.lag.or(added.lag.take());
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Update {
    /// The fact.
    id: String,
    /// What it should say, as a sentence like the one it says now.
    text: String,
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Delete {
    /// The item.
    id: String,
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

/// A pending proposal.
#[derive(Serialize, JsonSchema)]
struct PendingReview {
    /// Always true: an agent proposes, the user decides.
    proposed: bool,
    /// The id of the review.
    review_id: String,
    /// The item it is about. It is unchanged until the user decides.
    id: String,
    /// What the user is asked.
    question: String,
    /// What happens next.
    note: &'static str,
}

fn update(call: &Call<'_>, asked: Update) -> Result<PendingReview> {
    wanted(call, &asked.id, &ProposedAction::Reworded(asked.text), asked.reason)
}

fn delete(call: &Call<'_>, asked: Delete) -> Result<PendingReview> {
    wanted(call, &asked.id, &ProposedAction::Gone, asked.reason)
}

fn wanted(call: &Call<'_>, id: &str, wanted: &ProposedAction, reason: Option<String>) -> Result<PendingReview> {
    let reason = reason.unwrap_or_else(|| "an agent asked for it".to_owned());
    let review = propose(call.engine, call.user(), id, wanted, &reason, DOOR)?;
    Ok(PendingReview {
        proposed: true,
        review_id: review.id.to_string(),
        id: review.about.to_string(),
        question: review.question,
        note: "Nothing has changed yet: the user decides in the inspector or with `quipu review`.",
    })
}
