//! Turns of a conversation, and journal entries.

use quipu_core::calendar::TimeExpression;
use quipu_core::id::{EventId, ItemId, ItemKind, Seq, UserId};
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::{Budget, Receipt, RememberOptions, Until, Utterance, process, remember_all};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::frame::{Call, Route};
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/memory/{user_id}/turns", "Records messages, all or none", turns).keyed().conditional(),
        Route::post("/memory/{user_id}/entries", "Records an entry under a topic", entry).keyed().conditional(),
        Route::post("/memory/{user_id}/sessions/{session_id}/turns", "Records messages of a session", session_turns)
            .keyed()
            .conditional(),
    ]
}

/// When to respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WaitUntil")]
pub(super) enum Wait {
    /// After the messages are on disk. Extraction and indexing follow.
    Durable,
    /// After the messages are indexed and the rules have extracted facts.
    #[default]
    Indexed,
    /// After the configured language model has extracted facts too.
    Extracted,
}

/// Role of a speaker.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MessageRole")]
enum RoleIn {
    User,
    Assistant,
    System,
    Tool,
}

impl From<RoleIn> for Role {
    fn from(role: RoleIn) -> Self {
        match role {
            RoleIn::User => Self::User,
            RoleIn::Assistant => Self::Assistant,
            RoleIn::System => Self::System,
            RoleIn::Tool => Self::Tool,
        }
    }
}

/// A message.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TurnMessage")]
struct Message {
    role: RoleIn,
    /// Text of the message.
    #[schemars(with = "shape::Words")]
    content: String,
    /// Name of the speaker.
    #[serde(alias = "author")]
    #[schemars(with = "Option<shape::Name>")]
    name: Option<String>,
    /// Time of the message. Defaults to that of the request.
    said_at: Option<TimeExpression>,
}

/// Messages, oldest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TurnsRequest")]
struct Turns {
    #[schemars(length(min = 1, max = limit::TURNS_PER_REQUEST_MAX))]
    messages: Vec<Message>,
    /// Session of the messages.
    #[schemars(with = "Option<shape::Name>")]
    session_id: Option<String>,
    /// Time of the messages. Defaults to now.
    said_at: Option<TimeExpression>,
    /// Topic of the messages.
    #[schemars(with = "Option<shape::Name>")]
    topic: Option<String>,
    /// When to respond: `durable`, `indexed` or `extracted`.
    #[serde(default)]
    wait: Wait,
}

/// Messages of the session in the path, oldest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SessionTurnsRequest")]
struct SessionTurns {
    #[schemars(length(min = 1, max = limit::TURNS_PER_REQUEST_MAX))]
    messages: Vec<Message>,
    /// Time of the messages. Defaults to now.
    said_at: Option<TimeExpression>,
    /// Topic of the messages.
    #[schemars(with = "Option<shape::Name>")]
    topic: Option<String>,
    /// When to respond: `durable`, `indexed` or `extracted`.
    #[serde(default)]
    wait: Wait,
}

/// A journal entry.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EntryRequest")]
struct JournalEntry {
    #[schemars(with = "shape::Name")]
    topic: String,
    #[schemars(with = "shape::Words")]
    text: String,
    /// Time of the entry. Defaults to now.
    said_at: Option<TimeExpression>,
    /// When to respond: `durable`, `indexed` or `extracted`.
    #[serde(default)]
    wait: Wait,
}

/// Receipt of recorded messages.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TurnsReceipt")]
struct Recorded {
    /// Id of the last event.
    event_id: EventId,
    /// Position of the last event.
    seq: Seq,
    /// Version of the memory that includes the messages.
    position: Seq,
    /// Ids of the recorded sources, one a message.
    items: Vec<ItemId>,
    /// True if a request with the same idempotency key was answered before.
    replayed: bool,
    /// Receipts of the events, in order.
    events: Vec<Receipt>,
    /// Work that remains to be done; null if none.
    lag: Option<String>,
}

fn turns(call: &Call<'_>, asked: Turns) -> Result<Recorded, Fault> {
    let Turns { messages, session_id, said_at, topic, wait } = asked;
    let said = messages.into_iter().map(|message| {
        let typed = message.said_at.or(said_at);
        let said = Utterance {
            role: message.role.into(),
            author: message.name,
            session: session_id.clone(),
            topic: topic.clone(),
            ..Utterance::of_user(message.content)
        };
        said_at_time(call, said, typed)
    });
    record(call, &said.collect::<Result<Vec<_>, Fault>>()?, ItemKind::Turn, wait)
}

/// A message as said at an optional time as typed.
fn said_at_time(call: &Call<'_>, said: Utterance, typed: Option<TimeExpression>) -> Result<Utterance, Fault> {
    said.at(call.engine, typed).map_err(|error| Fault::invalid(error.to_string()).at("said_at"))
}

fn session_turns(call: &Call<'_>, asked: SessionTurns) -> Result<Recorded, Fault> {
    let SessionTurns { messages, said_at, topic, wait } = asked;
    let session_id = Some(call.part("session_id")?.to_owned());
    turns(call, Turns { messages, session_id, said_at, topic, wait })
}

fn entry(call: &Call<'_>, asked: JournalEntry) -> Result<Recorded, Fault> {
    let said = Utterance { topic: Some(asked.topic), ..Utterance::of_user(asked.text) };
    let said = said_at_time(call, said, asked.said_at)?;
    record(call, &[said], ItemKind::Entry, asked.wait)
}

fn record(call: &Call<'_>, said: &[Utterance], kind: ItemKind, wait: Wait) -> Result<Recorded, Fault> {
    let user = call.user()?;
    let options = RememberOptions {
        idempotency_key: call.idempotency_key.clone(),
        durable_only: true,
        ..RememberOptions::default()
    };
    let receipts = call.writing(&user, |memory| remember_all(call.engine, memory, said, kind, &options))?;
    let session = said.first().and_then(|first| first.session.clone());
    let lag = follow(call, &user, session, wait);
    let last = receipts.last().ok_or_else(|| quipu_engine::Error::Bug("nothing was recorded".to_owned()))?;
    Ok(Recorded {
        event_id: last.event_id,
        seq: last.seq,
        position: last.seq,
        items: receipts.iter().flat_map(|receipt| receipt.items.clone()).collect(),
        replayed: last.replayed,
        lag,
        events: receipts,
    })
}

/// Processes the messages as far as the caller waits for; the rest runs in the background. The messages are durable in
/// any case.
pub(super) fn follow(call: &Call<'_>, user: &UserId, session: Option<String>, wait: Wait) -> Option<String> {
    let engine = call.engine;
    let budget = Budget { session: session.clone(), ..Budget::default() };
    let until = match wait {
        Wait::Durable => None,
        Wait::Indexed => Some(Until::Extracted),
        Wait::Extracted => Some(Until::Everything),
    };
    let done = until.map(|until| process(engine, user, until, &budget)).transpose();
    let done = done.map(|done| done.and_then(|done| done.faults().next().map(str::to_owned)));
    if wait != Wait::Extracted {
        call.app.queue.study(user, session);
    }
    done.unwrap_or_else(|error| Some(format!("it is recorded, but was not read yet: {error}")))
}
