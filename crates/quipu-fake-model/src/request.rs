//! Requests for text, parsed from any of the three dialects.

use serde_json::Value;

/// Output limit of a request that names none, in tokens.
const OUTPUT_TOKENS: usize = 4096;

/// The format a request wants its reply in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedFormat {
    /// Any text.
    Text,
    /// Any JSON object.
    Object,
    /// JSON that conforms to a schema.
    Schema,
}

/// A request for text.
#[derive(Debug, Clone, PartialEq)]
pub struct FakeRequest {
    /// Index of the request, from 0, among the requests for text.
    pub number: u64,
    /// Name of the model.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// Role and text of each message, in order, without the system prompt.
    pub messages: Vec<(String, String)>,
    /// Whether the reply is to be streamed.
    pub stream: bool,
    /// Whether a stream is to end with its usage.
    pub include_usage: bool,
    /// Output limit, in tokens.
    pub output_tokens_max: usize,
    /// The requested format.
    pub format: RequestedFormat,
    /// The schema, if the request has one.
    pub schema: Option<Value>,
}

impl FakeRequest {
    /// The text of the last user message.
    #[must_use]
    pub fn last_user(&self) -> &str {
        let last = self.messages.iter().rev().find(|(role, _)| role == "user");
        last.map_or("", |(_, text)| text.as_str())
    }

    /// The label, such as `m2`, of the message with these words in the prompt of a
    /// [`ModelReader`](quipu_models::ModelReader).
    #[must_use]
    pub fn message_with(&self, words: &str) -> Option<&str> {
        let before = self.last_user().split_once(words)?.0;
        let shown = before.lines().filter_map(|line| line.split_once(" NEW ")).next_back();
        shown.map(|(mark, _)| mark)
    }

    /// All text of the request.
    pub(super) fn words(&self) -> String {
        let said = self.messages.iter().map(|(_, text)| text.as_str());
        std::iter::once(self.system.as_str()).chain(said).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn read(body: &Value, number: u64) -> Self {
        let mut asked = Self {
            number,
            model: body["model"].as_str().unwrap_or("fake-model").to_owned(),
            system: text_of(&body["system"]),
            messages: Vec::new(),
            stream: body["stream"].as_bool().unwrap_or(false),
            include_usage: body["stream_options"]["include_usage"].as_bool().unwrap_or(false),
            output_tokens_max: output_tokens_max(body),
            format: RequestedFormat::Text,
            schema: None,
        };
        if let Some(instructions) = body["instructions"].as_str() {
            asked.system = instructions.to_owned();
        }
        if let Some(text) = body["input"].as_str() {
            asked.messages.push(("user".to_owned(), text.to_owned()));
        }
        let said = body["messages"].as_array().or_else(|| body["input"].as_array());
        for message in said.into_iter().flatten() {
            let role = message["role"].as_str().unwrap_or("user");
            let text = text_of(&message["content"]);
            if matches!(role, "system" | "developer") {
                asked.system = [asked.system.as_str(), text.as_str()].join("\n").trim().to_owned();
            } else {
                asked.messages.push((role.to_owned(), text));
            }
        }
        asked.read_format(body);
        asked
    }

    fn read_format(&mut self, body: &Value) {
        let places = [&body["response_format"], &body["text"]["format"], &body["output_config"]["format"]];
        for format in places {
            match format["type"].as_str() {
                Some("json_schema") => {
                    self.format = RequestedFormat::Schema;
                    let nested = format["json_schema"].get("schema").or_else(|| format.get("schema"));
                    self.schema = nested.cloned();
                }
                Some("json_object") => self.format = RequestedFormat::Object,
                _ => {}
            }
        }
    }
}

/// Reads the output limit from the field of each dialect.
fn output_tokens_max(body: &Value) -> usize {
    let named = ["max_tokens", "max_completion_tokens", "max_output_tokens"].map(|name| body[name].as_u64());
    let limit = named.into_iter().flatten().next().and_then(|limit| usize::try_from(limit).ok());
    limit.unwrap_or(OUTPUT_TOKENS)
}

/// The text of a content field, which is a string or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
