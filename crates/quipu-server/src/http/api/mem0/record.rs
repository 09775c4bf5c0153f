//! A memory as mem0's clients read it.

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_core::time::read as time;
use quipu_engine::memories::MemoryView;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::whose::{entity, wire};

/// Fields of a memory that are its own, and not of its metadata.
pub(super) type Record = Map<String, Value>;

/// The same as an answer of its own.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct MemoryAnswer(#[schemars(with = "Mem0Memory")] pub(super) Record);

/// A memory as mem0's clients read it. A request that names `fields` gets those and the id only.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes a `Record`")]
pub(super) struct Mem0Memory {
    /// Id of user and item.
    id: String,
    /// The text.
    #[schemars(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    /// The session.
    #[schemars(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// Role of the speaker.
    #[schemars(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// Free-form JSON of the sender's.
    #[schemars(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    /// Names of categories.
    #[schemars(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<Value>>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    updated_at: Option<Timestamp>,
    /// The last day the memory is shown, as the sender wrote it.
    #[schemars(skip_serializing_if = "Option::is_none")]
    expiration_date: Option<Value>,
    /// True if the memory may not be changed.
    #[schemars(skip_serializing_if = "Option::is_none")]
    immutable: Option<bool>,
    /// Kind of the item.
    #[schemars(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    trust: Option<quipu_core::event::Trust>,
    /// Of a search: the score.
    #[schemars(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    /// Of a search: what the score consists of.
    #[schemars(skip_serializing_if = "Option::is_none")]
    score_breakdown: Option<quipu_core::recall::Contributions>,
    /// Of a search: the confidence, 0 to 1.
    #[schemars(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// Of a change: fields of the request that had no effect.
    #[schemars(skip_serializing_if = "Option::is_none")]
    ignored: Option<Vec<String>>,
}

/// A memory of a user.
pub(super) fn record(user: &UserId, told: &MemoryView) -> Record {
    let (kind, name) = entity(user);
    let about = |field: &str| told.about.get(field).cloned().unwrap_or_default();
    let of = |which: &str| if kind == which { json!(name) } else { Value::Null };
    let or = |own: Value, other: Value| if own.is_null() { other } else { own };
    let categories = match about("categories") {
        Value::Array(list) => list,
        _ => told.category.iter().map(|category| json!(category)).collect(),
    };
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    let members = [
        ("id", json!(wire(user, told.id))),
        ("memory", json!(told.text)),
        ("user_id", of("user")),
        ("agent_id", or(of("agent"), about("agent_id"))),
        ("app_id", or(of("app"), about("app_id"))),
        ("run_id", or(of("run"), json!(told.session_id))),
        ("role", json!(told.role.as_str())),
        ("metadata", about("metadata")),
        ("categories", Value::Array(categories)),
        ("created_at", json!(time(told.created_at))),
        ("updated_at", json!(time(told.updated_at.or(told.created_at)))),
        ("expiration_date", about("expiration_date")),
        ("immutable", json!(about("immutable") == true)),
        ("kind", json!(told.current.kind.as_str())),
        ("trust", json!(told.trust)),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// True once its sender's last day for it is over.
pub(super) fn is_expired(told: &MemoryView, now: Timestamp) -> bool {
    let last = told.about.get("expiration_date").and_then(Value::as_str).and_then(time);
    last.is_some_and(|last| last.checked_add(jiff::SignedDuration::from_hours(24)).is_ok_and(|end| end <= now))
}

/// Only some fields of it; its id always.
pub(super) fn only(mut record: Record, fields: Option<&[String]>) -> Record {
    if let Some(fields) = fields {
        record.retain(|name, _| name == "id" || fields.iter().any(|field| field == name));
    }
    record
}

/// Names of what was asked and is not done, so that nobody takes it for done.
pub(super) fn ignored(rest: &Record) -> Vec<String> {
    // What only says which version of the protocol is spoken asks for nothing.
    const EMPTY: [&str; 8] =
        ["api_version", "async_mode", "output_format", "org_id", "project_id", "org_name", "project_name", "version"];
    rest.iter()
        .filter(|(name, value)| !value.is_null() && !EMPTY.contains(&name.as_str()))
        .map(|(name, _)| name.clone())
        .collect()
}
