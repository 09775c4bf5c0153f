//! Extracts facts from windows of a conversation with a language model.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use quipu_core::extract::window::{KnownItem, ModelReply, Speaker, Window, WindowView};
use quipu_core::id::UserId;
use quipu_core::predicate::{Predicates, Sensitivity};
use quipu_engine::ports::{
    CompletionRequest, ExtractError, LanguageModel, Message, ModelError, Purpose, Shape, WindowReader,
};
use serde_json::{Value, json};

use crate::prompt;

/// Output limit, in tokens.
const OUTPUT_TOKENS_MAX: u32 = 6_000;

/// An extractor that asks a language model for the facts that a window of a conversation adds and changes.
///
/// The fixed part of the prompt comes first, so that providers can cache it. It lists the known relations with their
/// meanings; the model may use others.
pub struct ModelReader {
    id: String,
    model: Arc<dyn LanguageModel>,
    system: String,
}

impl ModelReader {
    /// A reader over a model, with the known relations.
    pub fn new(model: Arc<dyn LanguageModel>, predicates: &Predicates) -> Self {
        let line = |name: &str| {
            let said = predicates.get(name).said.replace("{s}", "X");
            let said = ["{o}", "{do}", "{an}"].iter().fold(said, |said, part| said.replace(part, "Y"));
            format!("- {name}: {said}")
        };
        let told = predicates.names().filter(|name| predicates.get(name).sensitivity != Sensitivity::Sensitive);
        let relations: Vec<String> = told.map(line).collect();
        Self {
            id: format!("{} {}", model.id(), prompt::READER.id),
            system: prompt::READER.text.replace("{{relations}}", &relations.join("\n")),
            model,
        }
    }
}

impl WindowReader for ModelReader {
    fn id(&self) -> &str {
        &self.id
    }

    fn read(&self, user: &UserId, window: &Window) -> Result<ModelReply, ExtractError> {
        let request = CompletionRequest {
            user: Some(user.clone()),
            purpose: Purpose::Extract,
            system: self.system.clone(),
            messages: vec![Message::of_user(written(window))],
            shape: Some(shape()),
            output_tokens_max: OUTPUT_TOKENS_MAX,
            temperature: 0.0,
        };
        match self.model.complete(&request, Duration::MAX) {
            Ok(done) => match done.json {
                None | Some(Value::Null) => Ok(ModelReply::default()),
                Some(value) => serde_json::from_value(value).map_err(|error| ExtractError::Run(error.to_string())),
            },
            Err(error @ (ModelError::Malformed(_) | ModelError::Refused(_) | ModelError::Truncated { .. })) => {
                Err(ExtractError::Run(error.to_string()))
            }
            Err(error @ ModelError::TooSlow(_)) => Err(ExtractError::TooSlow(error.to_string())),
            Err(error) => Err(ExtractError::Unavailable(error.to_string())),
        }
    }

    fn prompt(&self, window: &Window) -> String {
        format!("{}\n{}", self.system, written(window))
    }
}

/// Formats a window as a prompt.
fn written(window: &Window) -> String {
    let messages: Vec<String> = window.messages.iter().map(message).collect();
    let known: Vec<String> = window.known.iter().map(item).collect();
    format!("{}\n{}", prompt::quoted("messages", &messages.join("\n")), prompt::quoted("known", &known.join("\n")))
}

fn message(shown: &WindowView) -> String {
    let day = shown
        .said_at
        .map_or_else(|| "date unknown".to_owned(), |at| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %a").to_string());
    let speaker = match &shown.speaker {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Person(name) => name,
    };
    let new = if shown.is_new { "NEW" } else { "old" };
    format!("{} {new} {day} {speaker}: {}", shown.mark, shown.text.trim())
}

fn item(known: &KnownItem) -> String {
    let read = known.read_in.as_ref().map(|mark| format!(" (read in {mark})")).unwrap_or_default();
    format!("{}: {}{read}", known.mark, known.text)
}

fn shape() -> Shape {
    let text = json!({"type": "string"});
    let one_of = |words: &[&str]| json!({"type": "string", "enum": words});
    let operation = json!({
        "type": "object",
        "properties": {
            "op": one_of(&["add", "update", "end", "correct", "confirm", "tried", "done", "dropped"]),
            "id": text,
            "kind": one_of(&["fact", "event", "preference", "plan", "rule", "metric", "task", "goal", "problem"]),
            "about": text,
            "relation": text,
            "value": text,
            "sentence": text,
            "from": text,
            "to": text,
            "outcome": text,
            "message": text,
            "quote": text,
        },
        "required": [
            "op", "id", "kind", "about", "relation", "value", "sentence", "from", "to", "outcome", "message", "quote"
        ],
        "additionalProperties": false,
    });
    let reading = json!({
        "type": "object",
        "properties": {"id": text, "right": {"type": "boolean"}},
        "required": ["id", "right"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "operations": {"type": "array", "items": operation},
            "readings": {"type": "array", "items": reading},
        },
        "required": ["operations", "readings"],
        "additionalProperties": false,
    });
    Shape { name: "operations".to_owned(), schema }
}
