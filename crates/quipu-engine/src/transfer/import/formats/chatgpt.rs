//! Parses exports of ChatGPT: a list of conversations, each a tree of messages.
//!
//! Only the current branch is read, from `current_node` upwards. Messages of other branches and hidden messages are
//! counted and left out. A message becomes a turn of its conversation's session, with the title as topic.

mod marks;
mod message;

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::sync::Arc;

use quipu_core::limit::IMPORT_ELEMENT_BYTES_MAX;
use serde::Deserialize;
use serde_json::Value;

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::options::ChatFile;
use crate::transfer::import::report::Report;
use crate::transfer::import::stream::{self, Shape};
use crate::transfer::import::{name, when};
use message::Message;

const SHAPE: Shape = Shape {
    file: "conversations.json",
    element: "conversation",
    elements: "conversations",
    expected: "conversations.json is an array of objects, each with a \"mapping\" of messages and a \"current_node\"",
    lists: &[],
    bytes_max: IMPORT_ELEMENT_BYTES_MAX,
};

/// The parts of a conversation that are needed.
#[derive(Deserialize)]
struct Conversation {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    conversation_id: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    is_do_not_remember: Value,
    #[serde(default)]
    current_node: Value,
    mapping: HashMap<String, Node>,
}

/// A node of the tree.
#[derive(Deserialize)]
#[serde(from = "Value")]
struct Node {
    parent: Option<String>,
    message: Option<Message>,
}

impl From<Value> for Node {
    fn from(mut node: Value) -> Self {
        let parent = node.get("parent").and_then(Value::as_str).map(str::to_owned);
        let message = node.get_mut("message").map(Value::take).filter(|message| !message.is_null());
        Self { parent, message: message.map(Message::from) }
    }
}

/// Reads one conversation after the other. A truncated or invalid one ends the import.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    ChatFile { start, name, options }: ChatFile<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    stream::elements(input, start, &SHAPE, &mut |number, conversation: Conversation| {
        if conversation.is_do_not_remember == Value::Bool(true) && !options.do_not_remember {
            sink.report.leave_out("conversations marked “do not remember” (--do-not-remember takes them too)", 1);
            return Ok(());
        }
        read_one(number, conversation, name, sink)
    })
}

fn read_one(
    number: usize,
    mut conversation: Conversation,
    name: &Arc<str>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let id = [&conversation.id, &conversation.conversation_id].into_iter().find_map(|id| id.as_str());
    let title = conversation.title.as_str().unwrap_or_default();
    let place = format!("conversation {number} {}", name::quote(title));
    let session = id.map_or_else(|| format!("{name}:{number}"), str::to_owned);
    let session = name::session(sink.report, &place, &session);
    let topic = name::label(sink.report, &place, "the title", title);
    let branch = branch(&conversation, &place, sink.report);
    let mut filling = Filling::new(name);
    for (index, key) in branch.iter().enumerate() {
        let Some(message) = conversation.mapping.remove(key).and_then(|node| node.message) else { continue };
        let place = format!("{place}, message {}", index + 1);
        if let Some(draft) = draft(message, key, place, sink.report) {
            filling.push(Draft { session: session.clone(), topic: topic.clone(), ..draft }, sink);
        }
    }
    let beside = conversation.mapping.into_values().filter_map(|node| node.message);
    let beside = beside.filter(|message| !message.hidden && !message.is_empty()).count();
    sink.report.leave_out("messages on branches that were not taken", beside as u64);
    if filling.len() == 0 {
        sink.report.leave_out("conversations without anything said", 1);
    }
    filling.flush(sink)
}

/// The keys of the messages of the current branch, in order.
fn branch(conversation: &Conversation, place: &str, report: &mut Report) -> Vec<String> {
    let mapping = &conversation.mapping;
    let named = conversation.current_node.as_str().filter(|key| mapping.contains_key(*key));
    let mut at = named.or_else(|| {
        if mapping.is_empty() {
            return None;
        }
        report.notice(place, "it does not say which branch is current; the one with the newest message was taken");
        newest_leaf(mapping)
    });
    let mut keys = Vec::new();
    let mut seen = HashSet::new();
    while let Some((key, node)) = at.and_then(|key| mapping.get_key_value(key)) {
        if !seen.insert(key.as_str()) {
            report.notice(place, "a message is its own ancestor; the branch was read down from there");
            break;
        }
        keys.push(key.clone());
        at = node.parent.as_deref();
    }
    keys.reverse();
    keys
}

/// The key of the newest leaf; ties are broken by key.
fn newest_leaf(mapping: &HashMap<String, Node>) -> Option<&str> {
    let parents: HashSet<&str> = mapping.values().filter_map(|node| node.parent.as_deref()).collect();
    let leaves = mapping.iter().filter(|(key, _)| !parents.contains(key.as_str()));
    let time = |node: &Node| node.message.as_ref().and_then(|message| when::json(&message.create_time).ok().flatten());
    leaves.max_by_key(|(key, node)| (time(node), *key)).map(|(key, _)| key.as_str())
}

/// Converts a message into a draft, or counts it and returns `None` if it is hidden or empty.
fn draft(message: Message, key: &str, place: String, report: &mut Report) -> Option<Draft> {
    if message.hidden {
        report.leave_out("messages that ChatGPT does not show", 1);
        return None;
    }
    if let Some(reason) = message.unread {
        if message.is_surprising() {
            report.notice(&place, format!("{}; it was skipped", message.surprise()));
        }
        report.leave_out(reason, 1);
        return None;
    }
    if message.is_empty() {
        report.leave_out("empty messages", 1);
        return None;
    }
    message.into_draft(key, place, report)
}
