//! Parts of the results of several tools.

use jiff::Timestamp;
use quipu_core::reconcile::{Outcome, Rejection};
use quipu_engine::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The serialised name of an engine's value.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Words of a source.
#[derive(Serialize, JsonSchema)]
pub(super) struct SourceQuote {
    /// The source.
    pub(super) id: String,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) speaker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said_at: Option<Timestamp>,
    /// What was said, word for word.
    pub(super) text: String,
}

/// An item with what it says.
#[derive(Serialize, JsonSchema)]
pub(super) struct ItemLine {
    pub(super) id: String,
    pub(super) text: String,
    /// What happened to it, or why it waits.
    pub(super) what: String,
}

impl From<&Outcome> for ItemLine {
    fn from(outcome: &Outcome) -> Self {
        Self { id: outcome.id.to_string(), text: outcome.text.clone(), what: outcome.what.clone() }
    }
}

/// What did not pass, and why.
#[derive(Serialize, JsonSchema)]
pub(super) struct Refused {
    pub(super) item: String,
    pub(super) reason: String,
}

impl From<&Rejection> for Refused {
    fn from(rejection: &Rejection) -> Self {
        Self { item: rejection.item.clone(), reason: rejection.reason.clone() }
    }
}

/// Something that was found.
#[derive(Serialize, JsonSchema)]
pub(super) struct Hit {
    /// Its id; get_memory and fetch take it.
    pub(super) id: String,
    /// `fact`, `ep`, `task`, `note`, `tenet`, `turn`, `entry`, `doc` or `import`.
    kind: String,
    pub(super) text: String,
    /// How well it fits, 0 to 1.
    score: f32,
    /// How sure it is as an answer, 0 to 1.
    confidence: f64,
    /// Whose word it is: `user`, `agent`, `tool` or `web`. Below `user` it is somebody's claim.
    trust: String,
    /// Who said it, or whom it is about.
    speaker: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    said_at: Option<Timestamp>,
    /// Since when it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<Timestamp>,
    /// Until when it held.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<Timestamp>,
    /// Its status, if it is not simply active.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// The words it was read from.
    evidence: Vec<SourceQuote>,
    /// Statements that contradict it; the conflict is not settled.
    contested_by: Vec<String>,
    /// Statements in its text that no longer hold.
    outdated: Vec<String>,
}

impl From<Answer> for Hit {
    fn from(answer: Answer) -> Self {
        let quote = |quote: quipu_engine::Quote| SourceQuote {
            id: quote.id.to_string(),
            speaker: Some(quote.speaker),
            said_at: quote.said_at,
            text: quote.text,
        };
        let texts = |all: Vec<(quipu_core::id::ItemId, String)>| all.into_iter().map(|(_, text)| text).collect();
        Self {
            id: answer.id.to_string(),
            kind: answer.kind.to_owned(),
            text: answer.text,
            score: answer.score,
            confidence: answer.confidence,
            trust: word(&answer.trust),
            speaker: answer.speaker,
            said_at: answer.said_at,
            valid_from: answer.valid_from,
            valid_to: answer.valid_to,
            status: answer.status,
            session_id: answer.session_id,
            evidence: answer.evidence.into_iter().map(quote).collect(),
            contested_by: texts(answer.contested_by),
            outdated: texts(answer.outdated),
        }
    }
}

/// Whether memory answers a question.
#[derive(Serialize, JsonSchema)]
pub(super) struct AnswerVerdict {
    /// `answer`, `clarify`, `verify` or `abstain`.
    verdict: String,
    /// Probability that the results answer the question, 0 to 1.
    probability: f64,
    reason: String,
    /// What to ask the user, if that is what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
}

impl From<quipu_engine::RecallDecision> for AnswerVerdict {
    fn from(decision: quipu_engine::RecallDecision) -> Self {
        Self {
            verdict: word(&decision.verdict),
            probability: decision.probability,
            reason: decision.reason.to_owned(),
            question: decision.question,
        }
    }
}
