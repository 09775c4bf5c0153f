//! Parses chat messages in JSON Lines: one conversation per line.
//!
//! A line is `{"messages":[{"role":…,"content":…}]}`. It may also have `session_id`, `conversation_id` or `id`, and a
//! `title`; a message may have `id`, `name` and `created_at`, `timestamp` or `date`. A time outside the messages is
//! ignored, because it is that of the conversation rather than of a message. A message without an id is named by its
//! position, `#1`, `#2` …, so that a repeated message is kept.

use std::io::BufRead;
use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::id::ItemKind;
use quipu_core::source::{Artifact, Role};
use serde_json::{Map, Value};

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::{Fault, ParseStop};
use crate::transfer::import::lines::Lines;
use crate::transfer::import::report::Report;
use crate::transfer::import::{fence, name, when};

const EXPECTED: &str = "a line is a JSON object like {\"messages\":[{\"role\":\"user\",\"content\":\"…\"}]}";
const KEEP_NUMBERS: &str = "If the line cannot be fixed, empty it: conversations without an id are named by their line";

type Object = Map<String, Value>;

/// Reads one conversation per line. An unreadable line ends the import; an unreadable message is skipped.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    name: &Arc<str>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let mut lines = Lines::new(input);
    while let Some((number, line)) = lines.next()? {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {number}");
        let wrong = |reason: String| Fault::invalid(&*place, format!("{reason}; {EXPECTED}. {KEEP_NUMBERS}"));
        let parsed: Value = serde_json::from_str(line).map_err(|error| wrong(not_json(&error, line)))?;
        let Value::Object(line) = &parsed else { return Err(wrong("it is not an object".to_owned()).into()) };
        let Some(Value::Array(messages)) = line.get("messages") else {
            return Err(wrong("it has no list of messages".to_owned()).into());
        };
        if messages.is_empty() {
            sink.report.notice(&place, "it has no messages");
        }
        let raw =
            first_name(line, &["session_id", "conversation_id", "id"]).unwrap_or_else(|| format!("{name}:{number}"));
        let session = name::session(sink.report, &place, &raw);
        let title = line.get("title").and_then(Value::as_str).unwrap_or_default();
        let topic = name::label(sink.report, &place, "the title", title);
        let mut filling = Filling::new(name);
        for (index, message) in messages.iter().enumerate() {
            let place = format!("{place}, message {}", index + 1);
            match draft(message, index + 1, place.clone(), sink.report) {
                Ok(draft) => filling.push(Draft { session: session.clone(), topic: topic.clone(), ..draft }, sink),
                Err(reason) => {
                    sink.report.notice(place, format!("{reason}; it was skipped"));
                    sink.report.leave_out("messages that could not be read", 1);
                }
            }
        }
        filling.flush(sink)?;
    }
    Ok(())
}

fn not_json(error: &serde_json::Error, line: &str) -> String {
    if error.is_eof() {
        return format!("it breaks off after {} bytes, in the middle of its JSON", line.len());
    }
    format!("it is not JSON at byte {}", error.column())
}

/// Converts a message into a draft without a session, or says why it cannot be imported.
fn draft(message: &Value, number: usize, place: String, report: &mut Report) -> Result<Draft, String> {
    let Value::Object(message) = message else { return Err("it is not an object".to_owned()) };
    let role = role(message)?;
    let (text, mut artifacts) = content(message, &place, report)?;
    artifacts.extend(fence::fenced(&text).into_iter().map(|(_, code)| code));
    let author = message.get("name").and_then(Value::as_str).unwrap_or_default();
    let author = name::label(report, &place, "the author's name", author);
    let said_at = said_at(message, &place, report);
    let native_id = first_name(message, &["id"]).unwrap_or_else(|| format!("#{number}"));
    Ok(Draft {
        role,
        author,
        said_at,
        text,
        artifacts,
        native_id: Some(native_id),
        ..Draft::new(ItemKind::Turn, None, place)
    })
}

fn role(message: &Object) -> Result<Role, String> {
    match message.get("role").and_then(Value::as_str) {
        Some("user") => Ok(Role::User),
        Some("assistant") => Ok(Role::Assistant),
        Some("system" | "developer") => Ok(Role::System),
        Some("tool" | "function") => Ok(Role::Tool),
        Some(other) => {
            let known = "user, assistant, system, developer, tool and function";
            Err(format!("the role {} is none of {known}", name::quote(other)))
        }
        None => Err("it has no role".to_owned()),
    }
}

fn said_at(message: &Object, place: &str, report: &mut Report) -> Option<Timestamp> {
    let raw =
        ["created_at", "timestamp", "date"].iter().find_map(|key| message.get(*key).filter(|raw| !raw.is_null()))?;
    when::json(raw).unwrap_or_else(|reason| {
        report.notice(place, format!("{reason}; it was kept without a time"));
        None
    })
}

/// The text and the attachments.
fn content(message: &Object, place: &str, report: &mut Report) -> Result<(String, Vec<Artifact>), String> {
    match message.get("content") {
        Some(Value::String(text)) => Ok((text.clone(), Vec::new())),
        Some(Value::Array(parts)) => Ok(join(parts, place, report)),
        None | Some(Value::Null) if calls_tools(message) => Err("it only calls tools".to_owned()),
        None | Some(Value::Null) => Err("it has no content".to_owned()),
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            Err("its content is neither text nor a list of parts".to_owned())
        }
    }
}

fn calls_tools(message: &Object) -> bool {
    ["tool_calls", "function_call"].iter().any(|key| message.get(*key).is_some_and(|calls| !calls.is_null()))
}

/// Joins the texts of a list of parts with line breaks; images and files become artifacts.
fn join(parts: &[Value], place: &str, report: &mut Report) -> (String, Vec<Artifact>) {
    let mut texts = Vec::new();
    let mut artifacts = Vec::new();
    for part in parts {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let words = ["text", "refusal"].iter().find_map(|key| part.get(*key).and_then(Value::as_str)).or(part.as_str());
        if let Some(words) = words {
            texts.push(words);
        } else if matches!(kind, "image_url" | "input_image" | "image") {
            artifacts.push(beside("image", address(part)));
        } else if matches!(kind, "file" | "input_file") {
            let file = part.get("file").unwrap_or(part);
            let called = ["filename", "file_id"].iter().find_map(|key| file.get(*key).and_then(Value::as_str));
            if file.get("file_data").is_some() {
                report.notice(place, "the bytes of an attached file are not kept, only its name");
            }
            artifacts.push(beside("file", called));
        } else {
            report.notice(place, format!("a part of type {} was left out", name::quote(kind)));
        }
    }
    (texts.join("\n"), artifacts)
}

fn address(part: &Value) -> Option<&str> {
    let image = part.get("image_url").or_else(|| part.get("url"))?;
    image.as_str().or_else(|| image.get("url")?.as_str())
}

fn beside(kind: &str, called: Option<&str>) -> Artifact {
    Artifact { kind: kind.to_owned(), name: called.map(str::to_owned), text: String::new() }
}

/// The first of the fields with a name: a text that is not empty, or a number.
fn first_name(object: &Object, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match object.get(*key)? {
        Value::String(text) if text.chars().any(|c| !c.is_whitespace() && !c.is_control()) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}
