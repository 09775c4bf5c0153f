//! Parses LongMemEval (Wu et al., 2025): questions, each with its own history of chats between a user and an assistant.
//!
//! The input is an array of questions or one; one is held at a time. The history of a question is a conversation named
//! by the question's id. A chat keeps its session id; its turns have the date of the chat and the id `<session>_<N>`,
//! counted from 1, as in the benchmark's own tools. Chats are ordered by date.

pub mod questions;

use std::io::BufRead;

use jiff::Timestamp;
use quipu_core::id::ItemKind;
use quipu_core::limit::{IMPORT_ELEMENT_BYTES_MAX, NAME_BYTES_MAX};
use quipu_core::source::Role;
use serde::Deserialize;
use serde_json::Value;

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::report::Report;
use crate::transfer::import::stream::{self, Shape};
use crate::transfer::import::{name, when};

const SHAPE: Shape = Shape {
    file: "a LongMemEval file",
    element: "question",
    elements: "questions",
    expected: "a LongMemEval file is an array of objects, each with \"question_id\", \"question\" and \"haystack_sessions\", \
               a list of chats that are lists of {\"role\":…,\"content\":…}",
    lists: &[],
    bytes_max: IMPORT_ELEMENT_BYTES_MAX,
};

/// A question with its history.
#[derive(Deserialize)]
struct Instance {
    question_id: Value,
    #[serde(default)]
    question_type: Value,
    question: String,
    #[serde(default)]
    answer: Value,
    #[serde(default)]
    question_date: Value,
    #[serde(default)]
    haystack_dates: Vec<Value>,
    #[serde(default)]
    haystack_session_ids: Vec<Value>,
    haystack_sessions: Vec<Vec<Value>>,
    #[serde(default)]
    answer_session_ids: Vec<Value>,
}

/// Reads one question after the other. A truncated or invalid one ends the import; an unreadable turn is skipped.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    start: u64,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    stream::elements(input, start, &SHAPE, &mut |number, instance: Instance| history(&instance, number, sink))
}

/// The name of a question's history.
fn conversation_name(instance: &Instance, number: usize) -> String {
    let clean = written_out(&instance.question_id).unwrap_or_default().replace(char::is_control, " ");
    match clean.trim() {
        "" => format!("question-{number}"),
        fitting if fitting.len() <= NAME_BYTES_MAX => fitting.to_owned(),
        long => name::cut(long, NAME_BYTES_MAX, &format!("…{}", &blake3::hash(clean.as_bytes()).to_hex()[..8])),
    }
}

/// A text, or a number as text.
fn written_out(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A chat of a history.
struct Chat<'a> {
    session: String,
    said_at: Option<Timestamp>,
    turns: &'a [Value],
}

/// The native id of a turn.
fn turn_name(session: &str, index: usize) -> String {
    format!("{session}_{}", index + 1)
}

fn session_name(instance: &Instance, index: usize) -> String {
    let given = instance.haystack_session_ids.get(index).and_then(written_out);
    given.filter(|id| !id.trim().is_empty()).unwrap_or_else(|| format!("session_{}", index + 1))
}

fn history(instance: &Instance, number: usize, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
    let called = conversation_name(instance, number);
    let mut chats: Vec<Chat<'_>> = Vec::new();
    for (index, turns) in instance.haystack_sessions.iter().enumerate() {
        let session = session_name(instance, index);
        let said_at = chat_time(instance.haystack_dates.get(index), &format!("{called} {session}"), sink.report);
        chats.push(Chat { session, said_at, turns });
    }
    chats.sort_by_key(|chat| chat.said_at);
    let mut filling = Filling::new(&called);
    for chat in &chats {
        read_chat(&called, chat, &mut filling, sink);
    }
    if filling.len() == 0 {
        sink.report.notice(&called, "it has no history");
    }
    filling.flush(sink)
}

fn read_chat(called: &str, chat: &Chat<'_>, filling: &mut Filling, sink: &mut Sink<'_>) {
    let session = name::session(sink.report, called, &chat.session);
    for (index, turn) in chat.turns.iter().enumerate() {
        let native_id = turn_name(&chat.session, index);
        let place = format!("{called} {}", name::cut(&native_id, NAME_BYTES_MAX, ""));
        let role = match turn.get("role").and_then(Value::as_str) {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            _ => {
                sink.report.notice(place, "its role is none of user, assistant and system; it was skipped");
                sink.report.leave_out("messages that could not be read", 1);
                continue;
            }
        };
        let text = turn.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
        let draft = Draft {
            role,
            said_at: chat.said_at,
            text,
            native_id: Some(native_id),
            ..Draft::new(ItemKind::Turn, session.clone(), place)
        };
        filling.push(draft, sink);
    }
}

fn chat_time(raw: Option<&Value>, place: &str, report: &mut Report) -> Option<Timestamp> {
    let time = match raw {
        Some(Value::String(raw)) => when::longmemeval(raw),
        _ => Err("it has no date".to_owned()),
    };
    time.map_err(|reason| report.notice(place, format!("{reason}; its turns were kept without a time"))).ok()
}
