//! Modes of requesting JSON, from the strictest to the one that every server supports. The answer is validated here in
//! every mode.

use quipu_engine::ports::Shape;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::endpoint::Provider;
use super::json_text;

/// A mode of requesting JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonMode {
    /// The request has the schema, and the server enforces it.
    Schema,
    /// The request asks for a JSON object; the schema is in the prompt.
    Object,
    /// Only the prompt asks for JSON; the schema is in the prompt.
    Prompt,
}

impl JsonMode {
    /// The first mode to try at an unknown endpoint.
    pub(super) const FIRST: Self = Self::Schema;

    /// The next weaker mode, if there is one.
    pub(super) fn below(self, provider: Provider) -> Option<Self> {
        match self {
            // Anthropic has no `Object` mode.
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

/// The system prompt, with the schema where the mode requires it.
pub(super) fn system(instructions: &str, shape: Option<(&Shape, JsonMode)>) -> String {
    match shape {
        Some((shape, JsonMode::Object | JsonMode::Prompt)) => format!(
            "{instructions}\n\nAnswer with one JSON object that fits this JSON Schema, and with nothing else:\n{}",
            shape.schema
        ),
        _ => instructions.to_owned(),
    }
}

/// Parses and validates the JSON of an answer. Null if the model answered that there is nothing.
///
/// # Errors
/// A description of the problem that a model can act on.
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
            // The error may contain the whole instance.
            let why: String = why.chars().take(200).collect();
            Err(format!("at {place:?}: {why}"))
        }
    }
}

/// The message that requests a corrected answer.
pub(super) fn ask_again(why: &str) -> String {
    format!(
        "That cannot be used: {why}. Answer again with one JSON object that fits the schema, and with nothing else."
    )
}
