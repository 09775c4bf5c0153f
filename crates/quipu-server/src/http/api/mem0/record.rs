//! The wire format of a mem0 memory.

use jiff::Timestamp;
use quipu_core::calendar::read as time;
use quipu_core::id::UserId;
use quipu_engine::memories::MemoryView;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::whose::{entity, wire};

/// The fields of a memory, by name.
pub(super) type Record = Map<String, Value>;

/// A memory as a response.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct MemoryAnswer(#[schemars(with = "Mem0Memory")] pub(super) Record);

/// A memory in mem0's format. A request with `fields` gets those and the id only.
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
    /// Id of the session.
    #[schemars(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// Role of the speaker.
    #[schemars(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// Free-form JSON supplied by the sender.
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
    /// Score; only in search results.
    #[schemars(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    /// The parts of the score; only in search results.
    #[schemars(skip_serializing_if = "Option::is_none")]
    score_breakdown: Option<quipu_core::recall::Contributions>,
    /// Confidence, 0 to 1; only in search results.
    #[schemars(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// Fields of the request that had no effect; only in responses to changes.
    #[schemars(skip_serializing_if = "Option::is_none")]
    ignored: Option<Vec<String>>,
}

/// The record of a user's memory.
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

/// True if the sender's expiration date has passed.
pub(super) fn is_expired(told: &MemoryView, now: Timestamp) -> bool {
    let last = told.about.get("expiration_date").and_then(Value::as_str).and_then(time);
    last.is_some_and(|last| last.checked_add(jiff::SignedDuration::from_hours(24)).is_ok_and(|end| end <= now))
}

/// Keeps the id and the named fields only.
pub(super) fn only(mut record: Record, fields: Option<&[String]>) -> Record {
    if let Some(fields) = fields {
        record.retain(|name, _| name == "id" || fields.iter().any(|field| field == name));
    }
    record
}

/// Names of fields that were sent but have no effect, so that a client does not rely on them.
pub(super) fn ignored(rest: &Record) -> Vec<String> {
    // Fields that only select a version of the protocol are not reported.
    const EMPTY: [&str; 8] =
        ["api_version", "async_mode", "output_format", "org_id", "project_id", "org_name", "project_name", "version"];
    rest.iter()
        .filter(|(name, value)| !value.is_null() && !EMPTY.contains(&name.as_str()))
        .map(|(name, _)| name.clone())
        .collect()
}
