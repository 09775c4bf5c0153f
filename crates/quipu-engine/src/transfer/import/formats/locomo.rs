//! Parses LoCoMo: long conversations of two people, with questions about them.
//!
//! The input is an array of conversations or one such object; one conversation is held at a time. Its sessions become
//! turns of the session `<sample_id>:session_<N>`, in the order of N, with the time of `session_<N>_date_time`.

pub mod questions;

use std::collections::HashSet;
use std::io::BufRead;

use jiff::Timestamp;
use quipu_core::id::ItemKind;
use quipu_core::limit::{IMPORT_FILE_BYTES_MAX, NAME_BYTES_MAX};
use quipu_core::source::Artifact;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::report::Report;
use crate::transfer::import::stream::{self, Shape};
use crate::transfer::import::{name, when};

/// Bytes reserved after a conversation's name for `:session_<N>`.
const SESSION_BYTES_MAX: usize = 24;

const SHAPE: Shape = Shape {
    file: "a LoCoMo file",
    element: "conversation",
    elements: "conversations",
    expected: "a LoCoMo file is an array of objects, each with a \"conversation\" object that holds \"session_1\", \
               \"session_1_date_time\" and so on",
    lists: &[],
    bytes_max: IMPORT_FILE_BYTES_MAX,
};

/// A conversation without its questions and summaries.
#[derive(Deserialize)]
struct Sample {
    #[serde(default)]
    sample_id: Value,
    conversation: Map<String, Value>,
}

/// Reads one conversation after the other. A truncated or invalid one ends the import; an unreadable turn is skipped.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    start: u64,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let mut known = HashSet::new();
    stream::elements(input, start, &SHAPE, &mut |number, sample: Sample| {
        let called = conversation_name(&sample.sample_id, number);
        if !known.insert(called.clone()) {
            sink.report.notice(&called, "this sample_id occurs twice; both conversations go by the same name");
        }
        let mut filling = Filling::new(&called);
        for (key, turns) in sessions(&sample.conversation) {
            read_session(&called, key, turns, &sample.conversation, &mut filling, sink);
        }
        if filling.len() == 0 {
            sink.report.notice(&called, "it has no turns");
        }
        filling.flush(sink)
    })
}

/// The name of the conversation; `conversation-<number>` if the input has none.
fn conversation_name(sample_id: &Value, number: usize) -> String {
    let raw = match sample_id {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let clean = raw.replace(char::is_control, " ");
    match clean.trim() {
        "" => format!("conversation-{number}"),
        fitting if fitting.len() <= NAME_BYTES_MAX - SESSION_BYTES_MAX => fitting.to_owned(),
        long => {
            let hash = blake3::hash(raw.as_bytes()).to_hex();
            name::cut(long, NAME_BYTES_MAX - SESSION_BYTES_MAX, &format!("…{}", &hash[..8]))
        }
    }
}

/// The lists named `session_<N>`, in the order of N.
fn sessions(conversation: &Map<String, Value>) -> Vec<(&str, &[Value])> {
    let mut found: Vec<(u64, &str, &[Value])> = conversation
        .iter()
        .filter_map(|(key, turns)| {
            let number = key.strip_prefix("session_")?.parse().ok()?;
            Some((number, key.as_str(), turns.as_array()?.as_slice()))
        })
        .collect();
    found.sort_by_key(|&(number, key, _)| (number, key));
    found.into_iter().map(|(_, key, turns)| (key, turns)).collect()
}

fn read_session(
    called: &str,
    key: &str,
    turns: &[Value],
    conversation: &Map<String, Value>,
    filling: &mut Filling,
    sink: &mut Sink<'_>,
) {
    let place = format!("{called} {key}");
    let session = name::session(sink.report, &place, &format!("{called}:{key}"));
    let said_at = session_time(conversation.get(&format!("{key}_date_time")), &place, sink.report);
    for (index, turn) in turns.iter().enumerate() {
        let native_id = turn.get("dia_id").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
        let place = match native_id {
            Some(id) => format!("{called} {}", name::cut(id, NAME_BYTES_MAX, "")),
            None => format!("{place}, turn {}", index + 1),
        };
        let text = turn.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        let speaker = turn.get("speaker").and_then(Value::as_str).unwrap_or_default();
        let draft = Draft {
            author: name::label(sink.report, &place, "the speaker", speaker),
            said_at,
            text,
            artifacts: image(turn).into_iter().collect(),
            native_id: native_id.map(str::to_owned),
            ..Draft::new(ItemKind::Turn, session.clone(), place)
        };
        filling.push(draft, sink);
    }
}

fn session_time(raw: Option<&Value>, place: &str, report: &mut Report) -> Option<Timestamp> {
    let time = match raw {
        Some(Value::String(raw)) => when::locomo(raw),
        _ => Err("it has no date".to_owned()),
    };
    time.map_err(|reason| report.notice(place, format!("{reason}; its turns were kept without a time"))).ok()
}

/// The image shown with a turn: its address and caption.
fn image(turn: &Value) -> Option<Artifact> {
    let caption = turn.get("blip_caption").and_then(Value::as_str).unwrap_or_default();
    let address = turn.get("img_url").and_then(|url| url.as_str().or_else(|| url.get(0)?.as_str()));
    if caption.trim().is_empty() && address.is_none() {
        return None;
    }
    Some(Artifact { kind: "image".to_owned(), name: address.map(str::to_owned), text: caption.to_owned() })
}
