//! Adding memories: messages become turns, or entries if nothing is to be extracted.

use axum::http::Method;
use jiff::Timestamp;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::source::Role;
use quipu_engine::memories::{about, memories_from};
use quipu_engine::versions::{EventRef, show};
use quipu_engine::{Error, RememberOptions, Utterance, remember_all};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::super::fault::Fault;
use super::super::frame::{Call, Route};
use super::super::sent::NoQuery;
use super::super::turns::{Wait, follow};
use super::record::ignored;
use super::whose::{INTERFACE, Ids, named, stretch, wire};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/ping", "Checks a key (mem0)", ping),
        Route::post("/v3/memories/add", "Records messages (mem0)", add).keyed().large(),
        Route::get("/v1/event/{event_id}", "Result of an add request (mem0)", event),
        Route::of_body(Method::POST, "/v1/memories", "Records messages (mem0, older clients)", add).keyed().large(),
    ]
}

/// Identity of the caller for mem0's clients.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Ping")]
struct Ping {
    status: &'static str,
    org_id: &'static str,
    project_id: String,
    user_email: Option<String>,
}

/// The query is ignored.
#[derive(Deserialize, JsonSchema)]
struct IgnoredAddQuery {}

fn ping(call: &Call<'_>, _: IgnoredAddQuery) -> Result<Ping, Fault> {
    let project_id = call.bound().map_or_else(|| "local".to_owned(), ToString::to_string);
    Ok(Ping { status: "ok", org_id: "quipu", project_id, user_email: None })
}

/// Messages: a text, a message or a list.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Mem0Messages")]
enum Messages {
    Text(String),
    One(Message),
    Many(Vec<Message>),
}

/// One message.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0Message")]
struct Message {
    role: String,
    /// A text, or parts of which the text parts are stored.
    content: Value,
    name: Option<String>,
}

/// Messages to add.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0AddRequest")]
struct Add {
    messages: Messages,
    #[serde(flatten)]
    ids: Ids,
    /// May hold the entities instead.
    filters: Option<Map<String, Value>>,
    /// Stored with the memories that result.
    metadata: Option<Map<String, Value>>,
    /// False stores the messages without extracting facts.
    infer: Option<bool>,
    /// Time of the messages, in seconds since 1970.
    timestamp: Option<i64>,
    /// Last day the memory is shown.
    expiration_date: Option<String>,
    /// True if the memory may not be changed.
    immutable: Option<bool>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// An added memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0AddedMemory")]
struct Made {
    id: String,
    memory: String,
    data: Data,
    event: &'static str,
}

/// Text of a memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0MemoryText")]
struct Data {
    memory: String,
}

/// Result of adding messages.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0AddResult")]
struct Added {
    message: &'static str,
    status: &'static str,
    event_id: String,
    results: Vec<Made>,
    /// Fields of the request that have no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
    /// Work that remains to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag: Option<String>,
}

fn role(word: &str) -> Result<Role, Fault> {
    match word {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" | "developer" => Ok(Role::System),
        "tool" | "function" => Ok(Role::Tool),
        other => Err(Fault::invalid(format!("there is no role {other:?}")).at("messages")),
    }
}

/// The text of a message, and whether other parts were left out.
fn text(content: &Value) -> (String, bool) {
    match content {
        Value::String(text) => (text.clone(), false),
        Value::Array(parts) => {
            let text = |part: &Value| part.get("text").and_then(Value::as_str).or(part.as_str()).map(str::to_owned);
            let texts: Vec<String> = parts.iter().filter_map(text).collect();
            (texts.join("\n"), texts.len() < parts.len())
        }
        other => (String::new(), !other.is_null()),
    }
}

fn add(call: &Call<'_>, asked: Add) -> Result<Added, Fault> {
    let Add { messages, ids, filters, metadata, infer, timestamp, expiration_date, immutable, rest } = asked;
    let ids = ids.or(filters.as_ref());
    let user = ids.user(call)?;
    let infer = infer.unwrap_or(true);
    let said_at = timestamp.map(Timestamp::from_second).transpose();
    let said_at = said_at.map_err(|_| Fault::invalid("timestamp is in seconds since 1970").at("timestamp"))?;
    if let Some(date) = &expiration_date
        && quipu_core::calendar::read(date).is_none()
    {
        return Err(Fault::invalid("expiration_date is a date such as 2026-12-31").at("expiration_date"));
    }
    let besides = [
        ("metadata", metadata.filter(|all| !all.is_empty()).map(Value::Object)),
        ("agent_id", ids.agent_id.clone().map(Value::String)),
        ("app_id", ids.app_id.map(Value::String)),
        ("expiration_date", expiration_date.map(Value::String)),
        ("immutable", immutable.filter(|is| *is).map(Value::Bool)),
    ];
    let besides = besides.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let artifact = about(&besides.collect());
    let mut left_out = ignored(&rest);
    let messages = match messages {
        Messages::Text(content) => vec![Message { role: "user".to_owned(), content: json!(content), name: None }],
        Messages::One(one) => vec![one],
        Messages::Many(all) => all,
    };
    let mut said = Vec::new();
    for message in messages {
        let (text, is_partial) = text(&message.content);
        if is_partial && !left_out.iter().any(|one| one == "messages: parts that are no text") {
            left_out.push("messages: parts that are no text".to_owned());
        }
        let role = role(&message.role)?;
        // A message that consists of tool calls only has no text to record.
        if text.trim().is_empty() && message.content.as_str().is_none() {
            continue;
        }
        said.push(Utterance {
            text,
            role,
            author: message.name.or_else(|| ids.agent_id.clone().filter(|_| role == Role::Assistant)),
            session: ids.run_id.clone(),
            topic: None,
            said_at,
            artifacts: artifact.iter().cloned().collect(),
        });
    }
    let options = RememberOptions {
        idempotency_key: call.idempotency_key.clone(),
        durable_only: true,
        words_only: !infer,
        entry: Some(call.entry(INTERFACE)),
        ..RememberOptions::default()
    };
    let kind = if infer { ItemKind::Turn } else { ItemKind::Entry };
    let receipts = call.writing(&user, |memory| remember_all(call.engine, memory, &said, kind, &options))?;
    let lag = follow(call, &user, ids.run_id, Wait::Indexed);
    let items: Vec<ItemId> = receipts.iter().flat_map(|receipt| receipt.items.clone()).collect();
    let seqs = || receipts.iter().map(|receipt| receipt.seq);
    let (first, last) = (seqs().min().unwrap_or_default(), seqs().max().unwrap_or_default());
    Ok(Added {
        message: "Memories were added.",
        status: "SUCCEEDED",
        event_id: stretch(&user, first, last),
        results: made(call, &user, &items)?,
        ignored: left_out,
        lag,
    })
}

fn made(call: &Call<'_>, user: &quipu_core::id::UserId, items: &[ItemId]) -> Result<Vec<Made>, Fault> {
    let told = memories_from(call.engine, user, items)?.into_iter().map(|told| Made {
        id: wire(user, told.id),
        memory: told.text.clone(),
        data: Data { memory: told.text },
        event: "ADD",
    });
    Ok(told.collect())
}

/// State of an add request.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Event")]
struct Event {
    id: String,
    event_type: &'static str,
    status: &'static str,
    results: Vec<Made>,
    created_at: Option<String>,
}

/// The longest range of events one request records.
const STRETCH_MAX: Seq = quipu_core::limit::TURNS_PER_REQUEST_MAX as Seq;

fn event(call: &Call<'_>, _: NoQuery) -> Result<Event, Fault> {
    let id = call.part("event_id")?;
    let (user, stretch) = named(call, id, "event_id")?;
    let missing = || Error::NotFound(format!("unknown event {id:?}"));
    let ends =
        stretch.split_once('-').and_then(|(first, last)| Some((first.parse::<Seq>().ok()?, last.parse::<Seq>().ok()?)));
    let (first, last) = ends.filter(|(first, last)| first <= last && last - first < STRETCH_MAX).ok_or_else(missing)?;
    let mut items = Vec::new();
    let mut created_at = None;
    for seq in first..=last {
        let event = show(call.engine, &user, EventRef::Seq(seq))?;
        created_at = created_at.or(Some(event.header.recorded_at.to_string()));
        items.extend(event.changes.iter().flatten().filter_map(|change| match change {
            quipu_core::event::Change::SourceRecorded(source) => Some(source.id),
            _ => None,
        }));
    }
    let results = made(call, &user, &items)?;
    Ok(Event { id: id.to_owned(), event_type: "ADD", status: "SUCCEEDED", results, created_at })
}
