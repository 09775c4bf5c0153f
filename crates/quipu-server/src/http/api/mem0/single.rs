//! Single memories and batches: read, edit, delete, rate.

use std::collections::BTreeMap;

use axum::http::Method;
use quipu_core::calendar::read as time;
use quipu_core::id::UserId;
use quipu_engine::memories::{memory, note_about, take_back};
use quipu_engine::{Error, mark, reword, versions_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::super::fault::Fault;
use super::super::frame::{Answered, bytes, schema};
use super::super::frame::{Call, Route};
use super::record::{MemoryAnswer, Record, ignored, record};
use super::whose::{must_be_own, named};

/// Maximum number of memories in a batch.
const BATCH_MAX: usize = 1000;

pub(super) fn routes() -> Vec<Route> {
    let (path, batch) = ("/v1/memories/{memory_id}", "/v1/batch");
    vec![
        Route::get(path, "A memory (mem0)", get),
        Route::of_body(Method::PUT, path, "Changes a memory (mem0)", put),
        Route::of_query(
            Method::DELETE,
            path,
            "Deletes a memory; the history keeps it (mem0)",
            &[],
            schema::<MemoriesChanged>,
            delete,
        )
        .grave(),
        Route::get("/v1/memories/{memory_id}/history", "Earlier versions of a memory (mem0)", history),
        Route::of_body(Method::PUT, batch, "Changes several memories (mem0)", put_all),
        Route::of_body(Method::DELETE, batch, "Deletes several memories; the history keeps them (mem0)", delete_all)
            .grave(),
        Route::post("/v1/feedback", "Rates a memory (mem0)", feedback),
    ]
}

/// The query is ignored.
#[derive(Deserialize, JsonSchema)]
struct IgnoredQuery {}

/// Result of a change.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Receipt")]
struct MemoriesChanged {
    message: String,
}

fn get(call: &Call<'_>, _: IgnoredQuery) -> Result<MemoryAnswer, Fault> {
    let (user, item) = named(call, call.part("memory_id")?, "memory_id")?;
    Ok(MemoryAnswer(record(&user, &memory(call.engine, &user, &item)?)))
}

/// Changes of a memory.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0UpdateRequest")]
struct Change {
    /// The new text.
    text: Option<String>,
    /// Members to add or replace.
    metadata: Option<Map<String, Value>>,
    /// Last day the memory is shown; null removes the limit.
    #[serde(default, deserialize_with = "sent")]
    #[schemars(with = "Option<String>")]
    expiration_date: Option<Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Deserializes a field, distinguishing null from absence.
fn sent<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(field).map(Some)
}

fn put(call: &Call<'_>, asked: Change) -> Result<MemoryAnswer, Fault> {
    let (user, item) = named(call, call.part("memory_id")?, "memory_id")?;
    let left_out = ignored(&asked.rest);
    if asked.text.is_none() && asked.metadata.is_none() && asked.expiration_date.is_none() {
        return Err(Fault::invalid("nothing to change: give text, metadata or expiration_date").at("text"));
    }
    let mut changed = change(call, &user, &item, asked)?;
    if !left_out.is_empty() {
        changed.insert("ignored".to_owned(), json!(left_out));
    }
    Ok(MemoryAnswer(changed))
}

fn change(call: &Call<'_>, user: &UserId, item: &str, asked: Change) -> Result<Record, Fault> {
    let told = memory(call.engine, user, item)?;
    if told.about.get("immutable") == Some(&Value::Bool(true)) {
        return Err(Error::Refused("this memory was added as immutable".to_owned()).into());
    }
    let mut about = Map::new();
    if let Some(metadata) = asked.metadata {
        let mut all = told.about.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
        all.extend(metadata);
        about.insert("metadata".to_owned(), Value::Object(all));
    }
    if let Some(date) = asked.expiration_date {
        if !date.is_null() && date.as_str().and_then(time).is_none() {
            return Err(Fault::invalid("expiration_date is a date such as 2026-12-31").at("expiration_date"));
        }
        about.insert("expiration_date".to_owned(), date);
    }
    if let Some(text) = asked.text.filter(|text| text.trim() != told.text.trim()) {
        reword(call.engine, user, &told.current.to_string(), &text)?;
    }
    if !about.is_empty() {
        note_about(call.engine, user, &told.id.to_string(), &about)?;
    }
    Ok(record(user, &memory(call.engine, user, &told.id.to_string())?))
}

/// Options of a deletion.
#[derive(Deserialize, JsonSchema)]
struct DeleteQuery {
    /// Ignored: replaced memories never return.
    #[expect(dead_code, reason = "clients send it; there is nothing more to do for it")]
    delete_linked: Option<String>,
}

fn delete(call: &Call<'_>, _: DeleteQuery) -> Result<Answered, Fault> {
    let (user, item) = named(call, call.part("memory_id")?, "memory_id")?;
    let items = [item];
    must_be_own(call, &user, &items)?;
    take_back(call.engine, &user, &items)?;
    bytes(&MemoriesChanged { message: "Memory deleted successfully!".to_owned() })
}

/// An entry of a memory's history.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0HistoryEntry")]
struct Happened {
    id: String,
    memory_id: String,
    input: Vec<Value>,
    old_memory: Option<String>,
    new_memory: Option<String>,
    event: &'static str,
    user_id: String,
    created_at: String,
    updated_at: String,
}

fn history(call: &Call<'_>, _: IgnoredQuery) -> Result<Vec<Happened>, Fault> {
    let id = call.part("memory_id")?;
    let (user, item) = named(call, id, "memory_id")?;
    let all = versions_of(call.engine, &user, &item)?;
    let happened = all.into_iter().map(|version| Happened {
        id: version.event_id,
        memory_id: id.to_owned(),
        input: Vec::new(),
        event: match (&version.old, &version.new) {
            (_, None) => "DELETE",
            (None, Some(_)) => "ADD",
            (Some(_), Some(_)) => "UPDATE",
        },
        old_memory: version.old,
        new_memory: version.new,
        user_id: user.to_string(),
        created_at: version.at.to_string(),
        updated_at: version.at.to_string(),
    });
    Ok(happened.collect())
}

/// One memory of a batch.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0BatchItem")]
struct BatchItem {
    memory_id: String,
    #[serde(flatten)]
    change: Change,
}

/// A batch of memories.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0BatchRequest")]
struct BatchRequest {
    memories: Vec<BatchItem>,
}

impl BatchRequest {
    /// Resolves the entries of the batch; fails if any of them is unknown.
    fn found(self, call: &Call<'_>) -> Result<Vec<(UserId, String, Change)>, Fault> {
        if self.memories.is_empty() || self.memories.len() > BATCH_MAX {
            return Err(Fault::invalid(format!("1 to {BATCH_MAX} memories at once")).at("memories"));
        }
        let found = self.memories.into_iter().map(|one| {
            let (user, item) = named(call, &one.memory_id, "memory_id")?;
            memory(call.engine, &user, &item)?;
            Ok((user, item, one.change))
        });
        found.collect()
    }
}

fn put_all(call: &Call<'_>, asked: BatchRequest) -> Result<MemoriesChanged, Fault> {
    let found = asked.found(call)?;
    let many = found.len();
    for (user, item, asked) in found {
        change(call, &user, &item, asked)?;
    }
    Ok(MemoriesChanged { message: format!("Successfully updated {many} memories") })
}

fn delete_all(call: &Call<'_>, asked: BatchRequest) -> Result<MemoriesChanged, Fault> {
    let found = asked.found(call)?;
    let many = found.len();
    let mut by_user: BTreeMap<UserId, Vec<String>> = BTreeMap::new();
    for (user, item, _) in found {
        by_user.entry(user).or_default().push(item);
    }
    for (user, items) in &by_user {
        must_be_own(call, user, items)?;
    }
    for (user, items) in by_user {
        take_back(call.engine, &user, &items)?;
    }
    Ok(MemoriesChanged { message: format!("Successfully deleted {many} memories") })
}

/// Feedback on a memory.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0FeedbackRequest")]
struct Feedback {
    memory_id: String,
    /// `POSITIVE`, `NEGATIVE` or `VERY_NEGATIVE`; null removes the feedback.
    feedback: Option<String>,
    feedback_reason: Option<String>,
}

/// The recorded feedback.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0FeedbackResult")]
struct Rated {
    message: &'static str,
    id: String,
    feedback: Option<String>,
    feedback_reason: Option<String>,
}

fn feedback(call: &Call<'_>, asked: Feedback) -> Result<Rated, Fault> {
    let rating = match asked.feedback.as_deref() {
        Some("POSITIVE") => 1,
        Some("NEGATIVE") => -1,
        Some("VERY_NEGATIVE") => -2,
        None => 0,
        Some(_) => return Err(Fault::invalid("POSITIVE, NEGATIVE, VERY_NEGATIVE or null").at("feedback")),
    };
    let (user, item) = named(call, &asked.memory_id, "memory_id")?;
    let told = memory(call.engine, &user, &item)?;
    mark(call.engine, &user, &told.current.to_string(), None, Some(rating))?;
    if let Some(reason) = &asked.feedback_reason {
        let said = Map::from_iter([("feedback_reason".to_owned(), json!(reason))]);
        note_about(call.engine, &user, &told.id.to_string(), &said)?;
    }
    let (id, feedback, feedback_reason) = (asked.memory_id, asked.feedback, asked.feedback_reason);
    Ok(Rated { message: "Feedback recorded.", id, feedback, feedback_reason })
}
