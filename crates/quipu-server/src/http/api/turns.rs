//! What is said: turns of a conversation, and entries of a journal (seed 4).

use jiff::Timestamp;
use quipu_core::id::{EventId, ItemId, ItemKind, Seq, UserId};
use quipu_core::limit;
use quipu_core::source::Role;
use quipu_engine::{Budget, Receipt, RememberOptions, Until, Utterance, process, remember_all};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::frame::{Call, Route};
use super::shape;
use super::shown::EngineReport;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/memory/{user_id}/turns", "Records what was said, all of it or nothing", turns)
            .keyed()
            .conditional(),
        Route::post("/memory/{user_id}/entries", "Records an entry under a topic", entry).keyed().conditional(),
        Route::post(
            "/memory/{user_id}/sessions/{session_id}/turns",
            "Records what was said in a session",
            session_turns,
        )
        .keyed()
        .conditional(),
    ]
}

/// Until what the answer waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Wait {
    /// It is on the disk. It is read and found soon after.
    Durable,
    /// Recall finds it, and the rules have read it.
    #[default]
    Indexed,
    /// A language model has read it too, if one is configured.
    Extracted,
}

/// Who spoke.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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

/// One message.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Message {
    role: RoleIn,
    /// The words.
    #[schemars(with = "shape::Words")]
    content: String,
    /// Who spoke, by name.
    #[serde(alias = "author")]
    #[schemars(with = "Option<shape::Name>")]
    name: Option<String>,
    /// When it was said, if at another time than the others.
    said_at: Option<Timestamp>,
}

/// What was said, oldest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Turns {
    #[schemars(length(min = 1, max = limit::TURNS_PER_REQUEST_MAX))]
    messages: Vec<Message>,
    /// The conversation.
    #[schemars(with = "Option<shape::Name>")]
    session_id: Option<String>,
    /// When it was said; now, if it is not said.
    said_at: Option<Timestamp>,
    /// What it is about.
    #[schemars(with = "Option<shape::Name>")]
    topic: Option<String>,
    /// Until what the answer waits: `durable`, `indexed` or `extracted`.
    #[serde(default)]
    wait: Wait,
}

/// The same in a session that the path names.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionTurns {
    #[schemars(length(min = 1, max = limit::TURNS_PER_REQUEST_MAX))]
    messages: Vec<Message>,
    /// When it was said; now, if it is not said.
    said_at: Option<Timestamp>,
    /// What it is about.
    #[schemars(with = "Option<shape::Name>")]
    topic: Option<String>,
    /// Until what the answer waits: `durable`, `indexed` or `extracted`.
    #[serde(default)]
    wait: Wait,
}

/// An entry of a journal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JournalEntry {
    #[schemars(with = "shape::Name")]
    topic: String,
    #[schemars(with = "shape::Words")]
    text: String,
    /// When it was written; now, if it is not said.
    said_at: Option<Timestamp>,
    /// Until what the answer waits: `durable`, `indexed` or `extracted`.
    #[serde(default)]
    wait: Wait,
}

/// Proof that it is recorded.
#[derive(Serialize, JsonSchema)]
struct Recorded {
    /// The last event.
    #[schemars(with = "String")]
    event_id: EventId,
    /// Its position.
    seq: Seq,
    /// The memory's version: recall that answers at it or later has seen this.
    position: Seq,
    /// What was recorded, a name for each message.
    #[schemars(with = "Vec<String>")]
    items: Vec<ItemId>,
    /// True if the same request was answered before.
    replayed: bool,
    /// Every event, in order.
    events: Vec<EngineReport<Receipt>>,
    /// What still has to be done, if it could not be done now.
    lag: Option<String>,
}

fn turns(call: &Call<'_>, asked: Turns) -> Result<Recorded, Fault> {
    let Turns { messages, session_id, said_at, topic, wait } = asked;
    let said = messages.into_iter().map(|message| Utterance {
        text: message.content,
        role: message.role.into(),
        author: message.name,
        session: session_id.clone(),
        topic: topic.clone(),
        said_at: message.said_at.or(said_at),
        artifacts: Vec::new(),
    });
    record(call, &said.collect::<Vec<_>>(), ItemKind::Turn, wait)
}

fn session_turns(call: &Call<'_>, asked: SessionTurns) -> Result<Recorded, Fault> {
    let SessionTurns { messages, said_at, topic, wait } = asked;
    let session_id = Some(call.part("session_id")?.to_owned());
    turns(call, Turns { messages, session_id, said_at, topic, wait })
}

fn entry(call: &Call<'_>, asked: JournalEntry) -> Result<Recorded, Fault> {
    let said = Utterance { topic: Some(asked.topic), said_at: asked.said_at, ..Utterance::of_user(asked.text) };
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
        events: receipts.into_iter().map(EngineReport).collect(),
    })
}

/// Does what the caller waits for; the rest is done when nobody waits. The words are safe whatever comes of it.
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
