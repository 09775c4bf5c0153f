//! Parses memories listed or exported by mem0: `{"memories":[…]}`, `{"results":[…]}` or a list.
//!
//! A memory is `{"id":…,"memory" or "content":…,"user_id":…,"agent_id":…,"run_id":…,"created_at":…}`. It was written by
//! a model, not said in a conversation. Therefore it becomes an entry with the role of the assistant, which is neither
//! a statement of the user nor an instruction. The memories of one user form one conversation.

use std::io::BufRead;
use std::sync::Arc;

use quipu_core::id::ItemKind;
use quipu_core::limit::{IMPORT_ELEMENT_BYTES_MAX, IMPORT_TURNS_PER_EVENT};
use quipu_core::source::Role;
use serde_json::Value;

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::stream::{self, Shape};
use crate::transfer::import::{name, when};

const SHAPE: Shape = Shape {
    file: "a mem0 file",
    element: "memory",
    elements: "memories",
    expected: "a mem0 file is {\"memories\":[…]}, {\"results\":[…]} or a list of objects with \"memory\" or \"content\"",
    lists: &["memories", "results"],
    bytes_max: IMPORT_ELEMENT_BYTES_MAX,
};

/// Reads one memory after the other; one without text is skipped.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    start: u64,
    name: &Arc<str>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let mut filling = Filling::new(name);
    let mut current: Arc<str> = name.clone();
    let mut users_differ = false;
    let outcome = stream::elements(input, start, &SHAPE, &mut |number, memory: Value| {
        let id = text(&memory, "id");
        let place = match id {
            Some(id) => format!("memory {number}, {}", name::quote(id)),
            None => format!("memory {number}"),
        };
        let user = text(&memory, "user_id").and_then(|user| name::label(sink.report, &place, "the user's name", user));
        let user = user.unwrap_or_else(|| name.clone());
        if user != current {
            if number > 1 && !users_differ {
                users_differ = true;
                let reason = "the file holds memories of several users; import one at a time with --conversation USER \
                              if they are not to share one memory";
                sink.report.notice(&place, reason);
            }
            filling.flush(sink)?;
            filling = Filling::new(&user);
            current = user;
        }
        let Some(words) = text(&memory, "memory").or_else(|| text(&memory, "content")) else {
            sink.report.notice(place, "it has no text under \"memory\" or \"content\"; it was skipped");
            sink.report.leave_out("memories without text", 1);
            return Ok(());
        };
        let said_at = memory.get("created_at").map_or(Ok(None), when::json).unwrap_or_else(|reason| {
            sink.report.notice(&place, format!("{reason}; it was kept without a time"));
            None
        });
        let category = memory.get("categories").and_then(|list| list.get(0)?.as_str()).unwrap_or_default();
        let draft = Draft {
            topic: name::label(sink.report, &place, "the category", category),
            role: Role::Assistant,
            author: text(&memory, "agent_id").and_then(|by| name::label(sink.report, &place, "the agent's name", by)),
            said_at,
            text: words.to_owned(),
            native_id: id.map(str::to_owned),
            ..Draft::new(
                ItemKind::Entry,
                text(&memory, "run_id").and_then(|run| name::session(sink.report, &place, run)),
                place,
            )
        };
        filling.push(draft, sink);
        if filling.len() >= IMPORT_TURNS_PER_EVENT {
            filling.flush(sink)?;
        }
        Ok(())
    });
    filling.flush(sink)?;
    outcome
}

fn text<'a>(memory: &'a Value, key: &str) -> Option<&'a str> {
    memory.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}
