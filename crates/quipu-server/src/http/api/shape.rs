//! Schemas for `/openapi.json` that the Rust types do not express. They only describe; validation happens where a value
//! is parsed. Maximum lengths are in characters here but checked in bytes, which JSON Schema cannot express.

use std::borrow::Cow;
use std::collections::BTreeMap;

use quipu_core::calendar::{RELATIVE_TIME_PATTERN, TimeExpression};
use quipu_core::limit;
use quipu_core::schema::{ITEM_ID_PATTERN, USER_ID_PATTERN};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// Text with at least one visible character. U+0000 is rejected everywhere.
const VISIBLE: &str = r"[^\s\u0085]";
/// A name: at least one visible character, no control characters.
const PLAIN: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";

macro_rules! shape {
    ($(#[$about:meta])* $name:ident = $schema:expr) => {
        $(#[$about])*
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

shape! {
    /// A user's id.
    UserName = json_schema!({"type": "string", "pattern": USER_ID_PATTERN})
}
shape! {
    /// A name of a session, topic or person: up to 128 bytes without control characters.
    Name = json_schema!({"type": "string", "pattern": PLAIN, "maxLength": limit::NAME_BYTES_MAX})
}
shape! {
    /// An item's id.
    ItemName = json_schema!({"type": "string", "pattern": ITEM_ID_PATTERN})
}
shape! {
    /// A version: a position, or a time as everywhere, where a day means its end. Defaults to `now`.
    Version = json_schema!({
        "anyOf": [
            {"type": "string", "pattern": "^[0-9]{1,18}$"}, {"type": "string", "format": "date-time"},
            {"type": "string", "format": "date"}, {"type": "string", "pattern": RELATIVE_TIME_PATTERN},
        ]
    })
}
shape! {
    /// A version; a position may also be a number.
    VersionOrSeq = json_schema!({"anyOf": [Version::json_schema(&mut SchemaGenerator::default()),
                                           Seq::json_schema(&mut SchemaGenerator::default())]})
}
shape! {
    /// A position in the ledger.
    Seq = json_schema!({"type": "integer", "minimum": 0, "maximum": u64::MAX})
}
shape! {
    /// An event, by position or id.
    EventName = json_schema!({"anyOf": [Seq::json_schema(&mut SchemaGenerator::default()),
                                        {"type": "string", "format": "uuid"}, {"type": "string", "pattern": "^[0-9]{1,18}$"}]})
}
shape! {
    /// An item, an event (`12`) or a single change (`12.0`).
    Target = json_schema!({
        "type": "string",
        "anyOf": [ItemName::json_schema(&mut SchemaGenerator::default()), {"pattern": r"^[0-9]{1,18}(\.[0-9]{1,4})?$"}]
    })
}
shape! {
    /// Text of a message: up to 1 MiB.
    Words = json_schema!({"type": "string", "pattern": VISIBLE})
}
shape! {
    /// A question.
    Question = json_schema!({"type": "string", "pattern": VISIBLE, "maxLength": limit::QUERY_BYTES_MAX})
}
shape! {
    /// A reason or a reference.
    Remark = json_schema!({"type": "string", "maxLength": limit::NOTE_BYTES_MAX})
}
shape! {
    /// A non-empty reason or reference.
    Line = json_schema!({"type": "string", "pattern": VISIBLE, "maxLength": limit::NOTE_BYTES_MAX})
}
shape! {
    /// The id of the last entry received.
    Place = json_schema!({"type": "string", "minLength": 1})
}
shape! {
    /// A path of the core document, or an item.
    Thing = json_schema!({"type": "string", "anyOf": [{"pattern": "^(/.*)?$"}, ItemName::json_schema(&mut SchemaGenerator::default())]})
}
shape! {
    /// A tokenizer.
    Tokenizer = json_schema!({"type": "string", "enum": ["o200k_base", "cl100k_base", "estimate"]})
}
shape! {
    /// A pack id.
    PackName = json_schema!({"type": "string", "pattern": "^pack_[0-9A-Za-z_.-]+$"})
}
shape! {
    /// Confidence, 0 to 1.
    Share = json_schema!({"type": "number", "minimum": 0, "maximum": 1})
}
shape! {
    /// Number of entries on a page.
    Limit = json_schema!({"type": "integer", "minimum": 1, "maximum": super::page::MOST})
}
shape! {
    /// A pointer into the core document (RFC 6901).
    Pointer = json_schema!({"type": "string", "pattern": "^(/([^/~]|~[01])*)*$", "maxLength": 1024})
}
shape! {
    /// A patch (RFC 6902).
    Patch = json_schema!({
        "type": "array",
        "maxItems": limit::PATCH_OPS_MAX,
        "items": {
            "type": "object",
            "required": ["op", "path"],
            "properties": {"path": pointer()},
            "oneOf": [
                {"properties": {"op": {"enum": ["add", "replace", "test"]}, "value": {}}, "required": ["value"]},
                {"properties": {"op": {"const": "remove"}}},
                {"properties": {"op": {"enum": ["move", "copy"]}, "from": pointer()}, "required": ["from"]}
            ]
        }
    })
}

/// A schema that requires one of several fields to be present and not null.
pub(super) fn one_of(names: &[&str]) -> Value {
    let there = |name: &&str| json!({"required": [name], "properties": {*name: {"not": {"type": "null"}}}});
    names.iter().map(there).collect()
}

/// A schema that requires `text` alone, or at least one of the other names.
pub(super) fn text_or(names: &[&str]) -> Value {
    let nothing = json!({"type": "null"});
    let without: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), nothing.clone())).collect();
    let text = json!({"required": ["text"], "properties": {"text": {"not": nothing.clone()}}});
    json!([
        {"allOf": [text, {"properties": without}]},
        {"anyOf": one_of(names), "properties": {"text": nothing}},
    ])
}

/// A schema that requires something to write.
pub(super) fn any_item() -> Value {
    let some = |name: &str| json!({"required": [name], "properties": {name: {"minItems": 1}}});
    json!(["facts", "episodes", "reflective", "tasks", "tenets"].map(some))
}

/// A schema that requires a query, a message of the user, or a session.
pub(super) fn asks() -> Value {
    let content = json!({"pattern": VISIBLE, "maxLength": limit::QUERY_BYTES_MAX});
    let of_user =
        json!({"required": ["role", "content"], "properties": {"role": {"const": "user"}, "content": content}});
    let there = |name: &str| json!({"required": [name], "properties": {name: {"type": "string"}}});
    let messages =
        json!({"required": ["messages"], "properties": {"messages": {"type": "array", "contains": of_user}}});
    json!([there("query"), messages, there("session_id")])
}

/// A schema that requires a text for an edit and forbids it otherwise.
pub(super) fn texts_of_decisions() -> Value {
    json!([
        {"properties": {"action": {"const": "edit"}, "text": {"type": "string"}}, "required": ["text"]},
        {"properties": {"action": {"enum": ["approve", "decline", "undo"]}, "text": {"type": "null"}}}
    ])
}

fn pointer() -> Schema {
    Pointer::json_schema(&mut SchemaGenerator::default())
}

/// Purpose of an answer.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "it describes")]
pub(super) enum Intent {
    Plan,
    Reflect,
    Recall,
    Decide,
    Nudge,
}

/// A claim; `s`, `p` and `o` stand for subject, predicate and object.
#[derive(JsonSchema)]
#[schemars(rename = "FactInput")]
#[expect(dead_code, reason = "it describes")]
pub(super) struct Fact {
    /// Subject of the claim. Defaults to the user.
    #[schemars(with = "Option<Remark>")]
    subject: Option<String>,
    /// The relation.
    #[schemars(with = "Words")]
    predicate: String,
    /// The value.
    #[schemars(with = "Words")]
    object: String,
    /// The claim as a sentence, kept word for word as its evidence. The fact is worded from its relation.
    #[schemars(with = "Option<Words>")]
    text: Option<String>,
    /// Start of validity.
    valid_from: Option<TimeExpression>,
    /// End of validity.
    valid_to: Option<TimeExpression>,
    /// Confidence, 0 to 1.
    #[schemars(with = "Option<Share>")]
    confidence_base: Option<f64>,
    /// Further details by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Remark>")]
    qualifiers: BTreeMap<String, Value>,
    /// Domain. Defaults to that of the relation.
    #[schemars(with = "Option<Remark>")]
    domain: Option<String>,
    /// Topic.
    #[schemars(with = "Option<Remark>")]
    topic: Option<String>,
    /// Free-form tags.
    #[serde(default)]
    #[schemars(with = "Vec<Remark>")]
    tags: Vec<String>,
    /// Links to existing items.
    #[serde(default)]
    links: Vec<Link>,
}

/// A link to another item.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes")]
#[schemars(rename = "LinkInput")]
struct Link {
    /// Relation: `impacts`, `about`, `same_as`.
    #[schemars(with = "Words")]
    rel: String,
    /// The other item.
    #[schemars(with = "ItemName")]
    to: String,
}

/// A note.
#[derive(JsonSchema)]
#[schemars(rename = "NoteInput")]
#[expect(dead_code, reason = "it describes")]
pub(super) struct Note {
    #[schemars(with = "Words")]
    text: String,
    /// Origin. The default follows from the writer.
    origin: Option<NoteSourceKind>,
    /// Confidence, 0 to 1.
    #[schemars(with = "Option<Share>")]
    confidence_base: Option<f64>,
    /// Free-form tags.
    #[serde(default)]
    #[schemars(with = "Vec<Remark>")]
    tags: Vec<String>,
}

/// Origin of a note.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "it describes")]
enum NoteSourceKind {
    ModelReflection,
    HumanFeedback,
    Rule,
}

/// A task, goal or problem.
#[derive(JsonSchema)]
#[schemars(rename = "TaskInput")]
#[expect(dead_code, reason = "it describes")]
pub(super) struct Task {
    /// Short title.
    #[schemars(with = "Words")]
    title: String,
    /// Description.
    #[serde(default)]
    #[schemars(with = "Remark")]
    description: String,
    /// Kind. Defaults to `task`.
    kind: Option<TaskKind>,
    /// Status. Defaults to `active`.
    status: Option<TaskStatus>,
    /// Priority, 1 to 10. Defaults to 5.
    #[schemars(range(min = 1, max = 10))]
    priority: Option<u8>,
    /// Due date.
    due: Option<TimeExpression>,
    /// Time of the first mention. Defaults to now.
    created_at: Option<TimeExpression>,
    /// Earlier attempts.
    #[serde(default)]
    attempts: Vec<Attempt>,
    /// Free-form tags.
    #[serde(default)]
    #[schemars(with = "Vec<Remark>")]
    tags: Vec<String>,
    /// Links to existing items.
    #[serde(default)]
    links: Vec<Link>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "it describes")]
enum TaskKind {
    Task,
    Goal,
    Problem,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "it describes")]
enum TaskStatus {
    Active,
    Stalled,
    Done,
    Dropped,
}

/// An attempt at a task.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes")]
#[schemars(rename = "AttemptInput")]
struct Attempt {
    /// Time. Defaults to now.
    date: Option<TimeExpression>,
    /// What was tried.
    #[schemars(with = "Words")]
    approach: String,
    /// Outcome.
    #[serde(default)]
    #[schemars(with = "Remark")]
    outcome: String,
    /// True if the attempt succeeded.
    successful: Option<bool>,
}

/// A line of the self-model.
#[derive(JsonSchema)]
#[schemars(rename = "TenetInput")]
#[expect(dead_code, reason = "it describes")]
pub(super) struct Tenet {
    kind: TenetKind,
    #[schemars(with = "Words")]
    text: String,
    /// Items the line is based on.
    #[serde(default)]
    #[schemars(with = "Vec<ItemName>")]
    evidence: Vec<String>,
    /// Domain.
    #[schemars(with = "Option<Remark>")]
    domain: Option<String>,
    /// Topic.
    #[schemars(with = "Option<Remark>")]
    topic: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
#[expect(dead_code, reason = "it describes")]
enum TenetKind {
    Value,
    Preference,
    Policy,
    Goal,
}
