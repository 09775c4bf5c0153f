//! Ways of asking for JSON, from the one that promises most to the one every server takes. Whatever was promised, the
//! answer is checked here.

use quipu_engine::ports::Shape;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::endpoint::Provider;
use super::json_text;

/// One way of asking for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonMode {
    /// The schema goes with the request: the server keeps to it while it writes.
    Schema,
    /// The server is asked for an object, and the schema stands in the prompt.
    Object,
    /// The schema stands in the prompt.
    Prompt,
}

impl JsonMode {
    /// Where an endpoint begins of which nothing is known.
    pub(super) const FIRST: Self = Self::Schema;

    /// The next one down, if there is one.
    pub(super) fn below(self, provider: Provider) -> Option<Self> {
        match self {
            // Anthropic has no middle one.
            Self::Schema if provider == Provider::Anthropic => Some(Self::Prompt),
            Self::Schema => Some(Self::Object),
            Self::Object => Some(Self::Prompt),
            Self::Prompt => None,
        }
    }

    /// Its name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "json_schema",
            Self::Object => "json_object",
            Self::Prompt => "schema in the prompt",
        }
    }
}

/// The instructions with what a rung adds to them.
pub(super) fn system(instructions: &str, shape: Option<(&Shape, JsonMode)>) -> String {
    match shape {
        Some((shape, JsonMode::Object | JsonMode::Prompt)) => format!(
            "{instructions}\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n{}",
            shape.schema
        ),
        _ => instructions.to_owned(),
    }
}

/// The JSON of an answer, checked; null if the answer is that there is nothing.
///
/// # Errors
/// What is wrong with it, in words a model can act on.
pub(super) fn read(text: &str, shape: &Shape) -> Result<Value, String> {
    let text = json_text::spoken(text).ok_or("it never came to an answer")?;
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let value = json_text::parse(text)?;
    if value.is_null() || value.as_array().is_some_and(Vec::is_empty) {
        return Ok(Value::Null);
    }
    let validator =
        jsonschema::validator_for(&shape.schema).map_err(|error| format!("the schema is wrong: {error}"))?;
    match validator.validate(&value) {
        Ok(()) => Ok(json_text::visible(value)),
        Err(error) => {
            let (place, why) = (error.instance_path().to_string(), error.to_string());
            // The whole instance may stand in the error.
            let why: String = why.chars().take(200).collect();
            Err(format!("at {place:?}: {why}"))
        }
    }
}

/// What a model is told whose answer was no use.
pub(super) fn ask_again(why: &str) -> String {
    format!(
        "That cannot be used: {why}. Answer again with one JSON object that fits the schema, and with nothing else."
    )
}
