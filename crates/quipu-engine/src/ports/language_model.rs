//! Port for language models that complete prompts. Their output is untrusted input.

use std::ops::ControlFlow;
use std::time::Duration;

use quipu_core::id::UserId;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

/// Why there is no completion, by what the caller must do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// Temporarily unavailable. Continue without it and retry later, not before `retry_after` if given.
    #[error("the model is unavailable: {why}")]
    Unavailable {
        /// Description of the failure.
        why: String,
        /// Delay requested by the server.
        retry_after: Option<Duration>,
    },
    /// The server accepted the request and did not complete the answer within the time limit. Request less, or allow
    /// more time.
    #[error("the model is too slow: {0}")]
    TooSlow(String),
    /// The model refused; do not retry. Its text is not usable content.
    #[error("the model refused: {0}")]
    Refused(String),
    /// Repeated answers did not match the requested shape.
    #[error("the model's answer cannot be used: {0}")]
    Malformed(String),
    /// The answer exceeded the length limit. Request less.
    #[error("the model's answer was cut off at {output_tokens} tokens")]
    Truncated {
        /// Length of the answer.
        output_tokens: u32,
    },
    /// The API key is missing or wrong; a person must fix it.
    #[error("the model's server does not accept the key: {0}")]
    Unauthorised(String),
    /// The daily budget of the user or of the server is spent.
    #[error("the budget is spent: {0}")]
    OverBudget(String),
    /// The request is invalid, e.g. an unknown model or a prompt that is too long; a person must fix it.
    #[error("the model cannot be asked this: {0}")]
    Invalid(String),
    /// The receiver of a stream stopped it.
    #[error("the answer was stopped")]
    Stopped,
}

impl ModelError {
    /// Name of the kind of error, for metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
            Self::TooSlow(_) => "too_slow",
            Self::Refused(_) => "refused",
            Self::Malformed(_) => "malformed",
            Self::Truncated { .. } => "truncated",
            Self::Unauthorised(_) => "unauthorised",
            Self::OverBudget(_) => "over_budget",
            Self::Invalid(_) => "invalid",
            Self::Stopped => "stopped",
        }
    }
}

/// Purpose of a completion, for budgets and metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Extracting candidates from sources.
    Extract,
    /// Summarising an exchange of a session.
    Summarize,
    /// Merging entries of a base truth.
    Consolidate,
    /// Proposing notes.
    Reflect,
    /// Judging whether a statement is supported.
    Judge,
    /// Answering a person.
    Chat,
    /// Testing an endpoint.
    Probe,
}

impl Purpose {
    /// Name for metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Summarize => "summarize",
            Self::Consolidate => "consolidate",
            Self::Reflect => "reflect",
            Self::Judge => "judge",
            Self::Chat => "chat",
            Self::Probe => "probe",
        }
    }
}

/// Author of a message in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptRole {
    /// The user, or the material to work on.
    User,
    /// The model.
    Assistant,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The author.
    pub voice: PromptRole,
    /// The content.
    pub text: String,
}

impl Message {
    /// Creates a message of the user.
    pub fn of_user(text: impl Into<String>) -> Self {
        Self { voice: PromptRole::User, text: text.into() }
    }

    /// Creates a message of the model.
    pub fn of_assistant(text: impl Into<String>) -> Self {
        Self { voice: PromptRole::Assistant, text: text.into() }
    }
}

/// The JSON an answer must match.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Name: letters, digits and underscores.
    pub name: String,
    /// JSON Schema of a flat object with all fields required and no unions, which every server supports.
    pub schema: Value,
}

/// What to write.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionRequest {
    /// The user whose budget is charged, if any.
    pub user: Option<UserId>,
    /// The purpose.
    pub purpose: Purpose,
    /// The instructions.
    pub system: String,
    /// The messages, oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    /// The required JSON; `None` for free text.
    pub shape: Option<Shape>,
    /// Most tokens of the answer.
    pub output_tokens_max: u32,
    /// Sampling temperature, 0 to 2.
    pub temperature: f32,
}

/// Tokens used by a completion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens of the prompt, over all attempts.
    pub input_tokens: u64,
    /// Tokens of the answer, over all attempts.
    pub output_tokens: u64,
    /// True if the server reported no usage and it was estimated from bytes.
    pub estimated: bool,
}

/// A finished answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text, without reasoning output.
    pub text: String,
    /// The answer as JSON that matches the shape, if one was requested.
    pub json: Option<Value>,
    /// True if the length limit cut off the text. With a shape this is the error [`ModelError::Truncated`] instead.
    pub cut: bool,
    /// Tokens used.
    pub usage: Usage,
    /// Number of requests to the server.
    pub attempts: u32,
}

/// A language model. Between calls it keeps only the capabilities of its endpoint and the usage.
pub trait LanguageModel: Send + Sync {
    /// Provider and model, as recorded with results: `openai/gpt-5-mini`.
    fn id(&self) -> &str;

    /// Returns one complete answer. Blocks for at most `within`.
    ///
    /// The answer is checked against the shape, if given.
    ///
    /// # Errors
    /// Any [`ModelError`]; there is no partial answer.
    fn complete(&self, request: &CompletionRequest, within: Duration) -> Result<Completion, ModelError>;

    /// Passes one answer to `each` in pieces as they arrive. A shape is ignored.
    ///
    /// There is no retry after the first piece. After an error, the pieces passed so far are a truncated answer.
    ///
    /// # Errors
    /// Any [`ModelError`]; `Stopped` if `each` breaks.
    fn stream(
        &self,
        request: &CompletionRequest,
        within: Duration,
        each: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Completion, ModelError>;
}
