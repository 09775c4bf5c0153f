//! Translates requests into an endpoint's dialect, and its answers back.

use quipu_engine::ports::{CompletionRequest, Message, Shape, Usage};
use serde_json::Value;

use super::endpoint::{Endpoint, Provider};
use super::fault::Failure;
use super::ladder::JsonMode;
use super::{anthropic, openai};

/// A request as it is sent, possibly with messages added for a retry.
pub(super) struct Question<'a> {
    pub(super) request: &'a CompletionRequest,
    pub(super) messages: &'a [Message],
    /// The requested JSON and the mode of requesting it.
    pub(super) shape: Option<(&'a Shape, JsonMode)>,
    pub(super) stream: bool,
}

/// A complete or partial answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) text: String,
    /// The reason of a refusal.
    pub(super) refusal: Option<String>,
    /// Whether the length limit ended it.
    pub(super) cut: bool,
    pub(super) usage: Usage,
    /// Whether the server marked the end of the answer.
    pub(super) ended: bool,
}

/// The path below the base URL.
pub(super) fn place(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi | Provider::Ollama => "chat/completions",
        Provider::Anthropic => "messages",
    }
}

/// The headers besides the content type.
pub(super) fn headers(endpoint: &Endpoint) -> Vec<(&'static str, String)> {
    let key = endpoint.key.as_ref().map(|key| key.reveal());
    match endpoint.provider {
        Provider::OpenAi | Provider::Ollama => {
            key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
        }
        Provider::Anthropic => {
            let version = ("anthropic-version", "2023-06-01".to_owned());
            std::iter::once(version).chain(key.map(|key| ("x-api-key", key.to_owned()))).collect()
        }
    }
}

pub(super) fn body(endpoint: &Endpoint, question: &Question<'_>) -> Value {
    match endpoint.provider {
        Provider::OpenAi | Provider::Ollama => openai::body(endpoint, question),
        Provider::Anthropic => anthropic::body(endpoint, question),
    }
}

/// Parses a complete answer.
pub(super) fn read(provider: Provider, body: &Value) -> Result<Reply, Failure> {
    if let Some(error) = error_in(body) {
        return Err(error);
    }
    match provider {
        Provider::OpenAi | Provider::Ollama => openai::read(body),
        Provider::Anthropic => anthropic::read(body),
    }
}

/// Adds an event of a stream to the answer so far. Returns the new piece of text.
pub(super) fn read_event(provider: Provider, data: &str, reply: &mut Reply) -> Result<String, Failure> {
    if data == "[DONE]" {
        reply.ended = true;
        return Ok(String::new());
    }
    let event: Value = serde_json::from_str(data)
        .map_err(|error| Failure::passing(format!("an event of the stream is no JSON: {error}")))?;
    if let Some(error) = error_in(&event) {
        return Err(error);
    }
    Ok(match provider {
        Provider::OpenAi | Provider::Ollama => openai::read_event(&event, reply),
        Provider::Anthropic => anthropic::read_event(&event, reply),
    })
}

/// The error in a body, if it has one.
fn error_in(body: &Value) -> Option<Failure> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let words = error["message"].as_str().or(error.as_str()).unwrap_or("an error without words");
    Some(Failure::passing(super::fault::words(words)))
}

pub(super) fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
