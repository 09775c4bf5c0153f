//! Parses exports of Claude: conversations, Claude's memories about the person, and projects.
//!
//! The files of an export differ in their objects, and any of them can be read: a conversation has `chat_messages`, the
//! memories have `conversations_memory`, a project has `docs` or a `prompt_template`. Conversations become turns under
//! their id, with their name as topic. Memories are texts by Claude about the person and become documents with the role
//! of the assistant. Projects and accounts are counted and left out.

mod message;

use std::io::BufRead;
use std::sync::Arc;

use quipu_core::id::ItemKind;
use quipu_core::limit::IMPORT_ELEMENT_BYTES_MAX;
use quipu_core::source::Role;
use serde_json::{Map, Value};

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::name;
use crate::transfer::import::stream::{self, Shape};

const SHAPE: Shape = Shape {
    file: "conversations.json",
    element: "conversation",
    elements: "conversations",
    expected: "conversations.json is an array of objects, each with \"chat_messages\"",
    lists: &[],
    bytes_max: IMPORT_ELEMENT_BYTES_MAX,
};

type Object = Map<String, Value>;

/// Reads one object after the other. A truncated one ends the import; an unknown one is skipped.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    start: u64,
    name: &Arc<str>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    stream::elements(input, start, &SHAPE, &mut |number, object: Object| {
        let has = |key: &str| object.contains_key(key);
        if has("chat_messages") {
            return conversation(number, &object, name, sink);
        }
        if has("conversations_memory") || has("project_memories") {
            return memories(number, &object, name, sink);
        }
        if has("docs") || has("prompt_template") {
            let docs = object.get("docs").and_then(Value::as_array).map_or(0, Vec::len);
            sink.report.leave_out("projects", 1);
            sink.report.leave_out("documents of projects", docs as u64);
        } else if has("email_address") || has("full_name") {
            sink.report.leave_out("accounts", 1);
        } else {
            let reason = format!("it is no conversation; {}; it was skipped", SHAPE.expected);
            sink.report.notice(format!("object {number}"), reason);
            sink.report.leave_out("objects of an unknown kind", 1);
        }
        Ok(())
    })
}

fn conversation(number: usize, object: &Object, name: &Arc<str>, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
    let title = word(object, "name").unwrap_or_default();
    let place = format!("conversation {number} {}", name::quote(title));
    let session = word(object, "uuid").map_or_else(|| format!("{name}:{number}"), str::to_owned);
    let session = name::session(sink.report, &place, &session);
    let topic = name::label(sink.report, &place, "the conversation's name", title);
    if word(object, "summary").is_some() {
        sink.report.leave_out("summaries of conversations", 1);
    }
    let mut filling = Filling::new(name);
    let messages = object.get("chat_messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, message) in messages.iter().enumerate() {
        let place = format!("{place}, message {}", index + 1);
        for draft in message::drafts(message, index + 1, &place, sink.report) {
            filling.push(Draft { session: session.clone(), topic: topic.clone(), ..draft }, sink);
        }
    }
    if filling.len() == 0 {
        sink.report.leave_out("conversations without anything said", 1);
    }
    filling.flush(sink)
}

/// The memories about the person, and those of each project.
fn memories(number: usize, object: &Object, name: &Arc<str>, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
    let about = word(object, "conversations_memory").map(|text| ("memory".to_owned(), text));
    let projects = object.get("project_memories").and_then(Value::as_object);
    let projects = projects.into_iter().flatten();
    let projects = projects.filter_map(|(id, text)| Some((format!("memory of project {id}"), text.as_str()?)));
    let mut filling = Filling::new(name);
    for (called, text) in about.into_iter().chain(projects) {
        let place = format!("memories {number}, {}", name::quote(&called));
        let draft = Draft {
            topic: name::label(sink.report, &place, "the memory's name", &called),
            role: Role::Assistant,
            text: text.to_owned(),
            native_id: Some(called),
            ..Draft::new(ItemKind::Document, Some("claude memories".into()), place)
        };
        filling.push(draft, sink);
    }
    filling.flush(sink)
}

/// The text under a key, if it is not empty.
fn word<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}
