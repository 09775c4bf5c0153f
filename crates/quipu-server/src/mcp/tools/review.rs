//! Pending reviews, for callers that may pass on the user's decisions.

use jiff::Timestamp;
use quipu_core::id::Seq;
use quipu_core::item::ReviewDecision;
use quipu_engine::ports::Scope;
use quipu_engine::{Error, Result, Waiting, relay_decision, reviews, undo_review, users};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::call::Call;
use super::super::said::{SourceQuote, word};
use super::super::tool::Tool;

/// Most reviews listed.
const MOST: usize = 50;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::writing(
            "review_memories",
            "Review what waits",
            "Lists what waits for the user's decision, and hands on a decision the user has just made. Call it without arguments when the \
             user asks what there is to review; show them the question and the evidence; call it with an action only after the user \
             decided, with what they said in user_said. Never decide yourself. What an agent proposed cannot be approved here: the user \
             does that in the inspector or on the command line.",
            review,
        )
        .needs(Scope::Review),
    ]
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    List,
    Approve,
    Edit,
    Decline,
    Undo,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReviewRequest {
    /// What to do. Default: `list`.
    #[serde(default)]
    action: Action,
    /// The id of the review to decide.
    #[serde(default)]
    id: Option<String>,
    /// With `edit`: the right value.
    #[serde(default)]
    text: Option<String>,
    /// With any decision: what the user said about it, word for word. It is stored with the decision.
    #[serde(default)]
    user_said: Option<String>,
}

/// Pending reviews, and the decision that was made.
#[derive(Default, Serialize, JsonSchema)]
pub(in super::super) struct ReviewView {
    /// What waits now, oldest first.
    pub(in super::super) waiting: Vec<PendingItem>,
    /// How many wait in all.
    total: usize,
    /// The event of the decision, if one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<Seq>,
}

/// One pending review.
#[derive(Serialize, JsonSchema)]
pub(in super::super) struct PendingItem {
    id: String,
    /// `fact`, `conflict`, `tenet`, `schema_promotion` or `edit`.
    kind: String,
    /// The item it is about.
    about: String,
    /// The text of that item.
    text: String,
    /// What the user is asked.
    question: String,
    /// Why it waits.
    reason: String,
    /// Who proposed it.
    proposer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// What it contradicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    rival: Option<String>,
    /// The words it was read from.
    evidence: Vec<SourceQuote>,
}

impl From<Waiting> for PendingItem {
    fn from(waiting: Waiting) -> Self {
        let review = waiting.review;
        let quotes = waiting.quotes.into_iter();
        Self {
            id: review.id.to_string(),
            kind: review.kind.as_str().to_owned(),
            about: review.about.to_string(),
            text: waiting.text,
            question: review.question,
            reason: review.reason,
            proposer: word(&review.proposer),
            since: review.opened_at,
            rival: waiting.rival,
            evidence: quotes
                .map(|(id, text)| SourceQuote { id: id.to_string(), speaker: None, said_at: None, text })
                .collect(),
        }
    }
}

/// The pending reviews.
pub(in super::super) fn shown(call: &Call<'_>) -> Result<ReviewView> {
    if !users(call.engine)?.contains(call.user()) {
        return Ok(ReviewView::default());
    }
    let all = reviews(call.engine, call.user(), false)?;
    Ok(ReviewView {
        total: all.len(),
        waiting: all.into_iter().take(MOST).map(PendingItem::from).collect(),
        decided: None,
    })
}

fn review(call: &Call<'_>, asked: ReviewRequest) -> Result<ReviewView> {
    let ReviewRequest { action, id, text, user_said } = asked;
    if action != Action::Edit && text.is_some() {
        return Err(Error::Invalid("`text` is only for an edit: omit it".to_owned()));
    }
    if action == Action::List {
        return shown(call);
    }
    let id = id.ok_or_else(|| Error::Invalid("`id` is missing: the review to decide".to_owned()))?;
    let missing = || Error::Invalid("`user_said` is missing: quote the user".to_owned());
    let said = user_said.filter(|said| !said.trim().is_empty()).ok_or_else(missing)?;
    let decision = match (action, text) {
        (Action::Edit, Some(text)) => Some(ReviewDecision::Edited { text }),
        (Action::Edit, None) => {
            return Err(Error::Invalid("`text` is required for an edit: the corrected statement".to_owned()));
        }
        (Action::Approve, _) => Some(ReviewDecision::Approved),
        (Action::Decline, _) => Some(ReviewDecision::Declined),
        (Action::Undo | Action::List, _) => None,
    };
    let receipt = match decision {
        Some(decision) => relay_decision(call.engine, call.user(), &id, &decision, &said)?,
        None => undo_review(call.engine, call.user(), &id)?,
    };
    Ok(ReviewView { decided: Some(receipt.seq), ..shown(call)? })
}
