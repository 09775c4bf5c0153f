//! Parses a message of a Claude conversation: text, files, and results of tools.

use std::collections::HashSet;

use quipu_core::id::ItemKind;
use quipu_core::source::{Artifact, Role};
use serde_json::Value;

use crate::transfer::import::draft::Draft;
use crate::transfer::import::report::Report;
use crate::transfer::import::{fence, name, when};

/// Text that stands for parts the export does not contain.
const PLACEHOLDER: &str = "```\nThis block is not supported on your current device yet.\n```";

/// Converts a message into drafts without a session: its text, then the results of tools within it.
pub(super) fn drafts(message: &Value, number: usize, place: &str, report: &mut Report) -> Vec<Draft> {
    let role = match message.get("sender").and_then(Value::as_str) {
        Some("human") => Role::User,
        Some("assistant") => Role::Assistant,
        other => {
            let other = name::quote(other.unwrap_or_default());
            report.notice(place, format!("the sender {other} is neither human nor assistant; it was skipped"));
            report.leave_out("messages of an unknown sender", 1);
            return Vec::new();
        }
    };
    let said_at = message.get("created_at").map_or(Ok(None), when::json).unwrap_or_else(|reason| {
        report.notice(place, format!("{reason}; it was kept without a time"));
        None
    });
    let id = message.get("uuid").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
    let id = id.map_or_else(|| format!("#{number}"), str::to_owned);
    let mut content = Content::of(message, report);
    let text = richer(text(message), content.words.join("\n"), report);
    let mut artifacts = files(message);
    artifacts.append(&mut content.made);
    artifacts.extend(fence::fenced(&text).into_iter().map(|(_, code)| code));
    if text.trim().is_empty() && artifacts.is_empty() && content.answers.is_empty() {
        report.leave_out("empty messages", 1);
        return Vec::new();
    }
    let turn = |role, text: String, native_id| Draft {
        role,
        said_at,
        text,
        native_id: Some(native_id),
        ..Draft::new(ItemKind::Turn, None, place.to_owned())
    };
    let mut turns = Vec::new();
    if !text.trim().is_empty() || !artifacts.is_empty() {
        turns.push(Draft { artifacts, ..turn(role, text, id.clone()) });
    }
    for (index, (tool, answer)) in content.answers.into_iter().enumerate() {
        let author = name::label(report, place, "the tool's name", &tool);
        turns.push(Draft { author, ..turn(Role::Tool, answer, format!("{id}/tool{}", index + 1)) });
    }
    turns
}

/// The `text` field without placeholders.
fn text(message: &Value) -> String {
    message.get("text").and_then(Value::as_str).unwrap_or_default().replace(PLACEHOLDER, "").trim().to_owned()
}

/// The longer of two texts of one message; `content` if they are equal apart from white space.
fn richer(text: String, content: String, report: &mut Report) -> String {
    if text.trim().is_empty() || text.split_whitespace().eq(content.split_whitespace()) {
        return content;
    }
    if content.trim().is_empty() {
        return text;
    }
    report.leave_out("shorter ones of two differing texts of a message", 1);
    let length = |text: &str| text.split_whitespace().map(str::len).sum::<usize>();
    if length(&text) > length(&content) { text } else { content }
}

/// The parts of a message's content.
#[derive(Default)]
struct Content<'a> {
    words: Vec<&'a str>,
    /// Documents and code that a tool was called to create.
    made: Vec<Artifact>,
    /// Names and results of tools.
    answers: Vec<(String, String)>,
}

impl<'a> Content<'a> {
    fn of(message: &'a Value, report: &mut Report) -> Self {
        let mut content = Self::default();
        for part in message.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default() {
            let word = |pointer: &str| part.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            match word("/type") {
                "text" => content.words.push(word("/text")),
                "thinking" | "redacted_thinking" => report.leave_out("parts of hidden reasoning", 1),
                "tool_use" if !word("/input/content").is_empty() => {
                    let title = Some(word("/input/title")).filter(|title| !title.is_empty());
                    content.made.push(artifact("document", title, word("/input/content")));
                }
                "tool_use" => report.leave_out("calls of tools", 1),
                "tool_result" => {
                    let answer = answer(part.get("content").unwrap_or(&Value::Null));
                    if answer.trim().is_empty() {
                        report.leave_out("answers of tools without text", 1);
                    } else {
                        content.answers.push((word("/name").to_owned(), answer));
                    }
                }
                "token_budget" => {}
                _ => report.leave_out("parts of an unknown kind", 1),
            }
        }
        content.words.retain(|words| !words.trim().is_empty());
        content
    }
}

/// The result of a tool: a text, or a list of parts of which some are text.
fn answer(content: &Value) -> String {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    content.as_str().map_or_else(|| texts.collect::<Vec<_>>().join("\n"), str::to_owned)
}

/// Attachments with their text, then files of which only the name is known.
fn files(message: &Value) -> Vec<Artifact> {
    let list = |key: &str| message.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |file: &Value| {
        let names = ["file_name", "file_uuid"].iter().filter_map(|key| file.get(*key)?.as_str());
        names.map(str::to_owned).find(|name| !name.trim().is_empty())
    };
    let mut known = HashSet::new();
    let mut found = Vec::new();
    for file in list("attachments") {
        let text = file.get("extracted_content").and_then(Value::as_str).unwrap_or_default();
        let called = name(file);
        if called.is_some() || !text.trim().is_empty() {
            known.extend(called.clone());
            found.push(artifact("file", called.as_deref(), text));
        }
    }
    for called in list("files").iter().filter_map(name) {
        if known.insert(called.clone()) {
            found.push(artifact("file", Some(&called), ""));
        }
    }
    found
}

fn artifact(kind: &str, name: Option<&str>, text: &str) -> Artifact {
    Artifact { kind: kind.to_owned(), name: name.map(str::to_owned), text: text.to_owned() }
}
