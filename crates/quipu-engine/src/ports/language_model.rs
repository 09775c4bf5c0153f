//! Writes text: a language model behind some endpoint. What it writes is input, never truth.

use std::ops::ControlFlow;
use std::time::Duration;

use quipu_core::id::UserId;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

/// Why there is no completion, by what the caller must do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// Not now, or not in time. Do without, and try again later; not before `retry_after`, if the server said so.
    #[error("the model is unavailable: {why}")]
    Unavailable {
        /// What happened.
        why: String,
        /// When the server is willing to be asked again.
        retry_after: Option<Duration>,
    },
    /// It will not. Asking the same again is no use, and what it said is no content.
    #[error("the model refused: {0}")]
    Refused(String),
    /// It answered, more than once, and not in the shape that was asked for.
    #[error("the model's answer cannot be used: {0}")]
    Malformed(String),
    /// The answer did not fit its length limit. Ask for less, about less.
    #[error("the model's answer was cut off at {output_tokens} tokens")]
    Truncated {
        /// How long it was.
        output_tokens: u32,
    },
    /// The key is missing or wrong. A person must see to it.
    #[error("the model's server does not accept the key: {0}")]
    Unauthorised(String),
    /// What this user, or everybody, may spend today is spent. Tomorrow it goes on.
    #[error("the budget is spent: {0}")]
    OverBudget(String),
    /// The request is wrong and stays wrong: no such model, too long a prompt. A person must see to it.
    #[error("the model cannot be asked this: {0}")]
    Invalid(String),
    /// Whoever took the pieces of a stream wanted no more.
    #[error("the answer was stopped")]
    Stopped,
}

impl ModelError {
    /// The kind of fault in one word, for figures.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
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

/// What a completion is for. It is recorded nowhere; budgets and reports are told by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Reading candidates out of what was said.
    Extract,
    /// Telling an exchange of a session.
    Summarize,
    /// Making several entries of a base truth one.
    Consolidate,
    /// Coming to notes.
    Reflect,
    /// Judging whether something is borne out.
    Judge,
    /// Answering a person.
    Chat,
    /// Finding out whether and how an endpoint answers.
    Probe,
}

impl Purpose {
    /// Its name, for figures.
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

/// Who said something in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptRole {
    /// The person, or what is to be worked on.
    User,
    /// The model.
    Assistant,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub voice: PromptRole,
    /// What.
    pub text: String,
}

impl Message {
    /// A message to the model.
    pub fn of_user(text: impl Into<String>) -> Self {
        Self { voice: PromptRole::User, text: text.into() }
    }

    /// A message of the model.
    pub fn of_assistant(text: impl Into<String>) -> Self {
        Self { voice: PromptRole::Assistant, text: text.into() }
    }
}

/// The JSON an answer must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Its name: letters, digits and underscores.
    pub name: String,
    /// Its JSON Schema: an object, flat, every field required, no unions: then every server takes it.
    pub schema: Value,
}

/// What to write.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionRequest {
    /// Who pays for it, if it is somebody's.
    pub user: Option<UserId>,
    /// What it is for.
    pub purpose: Purpose,
    /// The instructions.
    pub system: String,
    /// What was said, oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    /// The JSON the answer must be; without one it is any text.
    pub shape: Option<Shape>,
    /// The longest answer, in tokens.
    pub output_tokens_max: u32,
    /// How freely it writes, 0 to 2.
    pub temperature: f32,
}

/// What a completion cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Of the prompt, over all attempts.
    pub input_tokens: u64,
    /// Of the answer, over all attempts.
    pub output_tokens: u64,
    /// True if the server did not say, and bytes were counted.
    pub estimated: bool,
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text, without a model's thinking aloud.
    pub text: String,
    /// The same as JSON that fits the shape, if one was asked for.
    pub json: Option<Value>,
    /// True if the length limit cut it off. Never with a shape: then it is [`ModelError::Truncated`].
    pub cut: bool,
    /// What it cost.
    pub usage: Usage,
    /// How often the server was asked.
    pub attempts: u32,
}

/// A language model. It keeps nothing between two calls but what its endpoint can do and what was spent.
pub trait LanguageModel: Send + Sync {
    /// Provider and model, as they are recorded with what came of it: `openai/gpt-5-mini`.
    fn id(&self) -> &str;

    /// Writes one answer and returns when it is whole. Blocks, but not longer than `within`.
    ///
    /// With a shape the answer was checked against it here, whatever the server promises.
    ///
    /// # Errors
    /// Any [`ModelError`]; then there is nothing to use.
    fn complete(&self, request: &CompletionRequest, within: Duration) -> Result<Completion, ModelError>;

    /// Writes one answer and hands over its pieces as they come. A shape is not looked at.
    ///
    /// Nothing is asked again once a piece was handed over. What `each` was given before an error is what there is of the
    /// answer: it broke off there.
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
