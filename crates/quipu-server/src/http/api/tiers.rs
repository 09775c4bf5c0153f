//! Retrieve, write, close: a memory of facts, episodes, tasks and notes. The user is named in the body.

use quipu_core::calendar::TimeExpression;
use quipu_core::event::SourceKind;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::limit::WRITE_ITEMS_MAX;
use quipu_core::recall::{Contributions, Intent, Trace, Validity};
use quipu_core::reconcile::{Rejection, Understanding};
use quipu_engine::ports::Scope;
use quipu_engine::ready_made::{FactIn, NoteIn, TaskIn, TenetIn, WaitingItem};
use quipu_engine::{
    Answer, Error, OmittedAnswer, RecallDecision, RecallOptions, Receipt, WriteRequest, close_fact, recall, write,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::fault::Fault;
use super::core::ActorIn;
use super::frame::{Call, Route};
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/memory/retrieve", "Searches the memory; results by tier", retrieve).needs(Scope::Read),
        Route::post("/memory/write", "Writes items; the gate decides on each", written).keyed().conditional(),
        Route::post("/memory/profile/version", "Ends the validity of a fact at a given time", close).conditional(),
    ]
}

/// A question to the memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RecallRequest")]
struct Retrieve {
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    /// The question.
    #[schemars(with = "shape::Question")]
    query: String,
    /// The goal the question serves.
    active_goal: Option<String>,
    /// Number of items. Defaults to 16.
    #[serde(rename = "K", alias = "k")]
    #[schemars(range(min = 1, max = quipu_core::limit::RECALL_K_MAX))]
    k: Option<usize>,
    /// Purpose of the answer: `plan`, `reflect`, `recall`, `decide` or `nudge`.
    #[schemars(with = "Option<shape::Intent>")]
    intent: Option<Intent>,
    /// Answer from this version: a position, a time or a date. Defaults to now.
    #[schemars(with = "Option<shape::Version>")]
    as_of: Option<String>,
    /// Answer from what was true at this time.
    valid_at: Option<TimeExpression>,
    /// Search this session only.
    session_id: Option<String>,
    /// Token budget of the items, estimated.
    #[schemars(range(max = u64::MAX))]
    budget: Option<usize>,
    /// Include the trace of the search.
    #[serde(default)]
    explain: bool,
}

/// Items found, by tier, best first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecallResult")]
struct Retrieved {
    /// Facts.
    profile: Vec<Answer>,
    /// Episodes and messages.
    episodic: Vec<Answer>,
    tasks: Vec<Answer>,
    /// Notes and lines of the self-model.
    reflective: Vec<Answer>,
    /// Version of the memory that answered.
    version: Seq,
    /// Whether the memory answers the question.
    decision: RecallDecision,
    /// What recall had to do without, for example vectors. Null if nothing was missing.
    degraded: Option<String>,
    debug: Debug,
}

/// Details of the search.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecallDebug")]
struct Debug {
    scores: Vec<Score>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
    left_out: Vec<OmittedAnswer>,
}

/// The score of an item and its parts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecallScore")]
struct Score {
    id: ItemId,
    score: f32,
    contributions: Contributions,
}

fn retrieve(call: &Call<'_>, asked: Retrieve) -> Result<Retrieved, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let options = RecallOptions {
        k: asked.k.unwrap_or(16),
        session: asked.session_id,
        at: call.when(asked.as_of.as_deref(), "as_of")?,
        validity: call.time(asked.valid_at, "valid_at")?.map(|time| Validity::Now(Some(time))),
        intent: asked.intent,
        goal: asked.active_goal,
        explain: asked.explain,
        ..RecallOptions::of(&asked.query)
    };
    let found = recall(call.engine, &user, &options)?;
    let scores =
        found.hits.iter().map(|hit| Score { id: hit.id, score: hit.score, contributions: hit.contributions }).collect();
    let mut retrieved = Retrieved {
        profile: Vec::new(),
        episodic: Vec::new(),
        tasks: Vec::new(),
        reflective: Vec::new(),
        version: found.version,
        decision: found.decision,
        degraded: found.degraded,
        debug: Debug { scores, trace: found.trace, left_out: found.left_out },
    };
    let mut left = asked.budget.unwrap_or(usize::MAX);
    for hit in found.hits {
        let cost = quipu_core::pack::estimate_tokens(&hit.text);
        if cost > left {
            break;
        }
        left -= cost;
        match hit.id.kind {
            ItemKind::Fact => retrieved.profile.push(hit),
            ItemKind::Task => retrieved.tasks.push(hit),
            ItemKind::Note | ItemKind::Tenet => retrieved.reflective.push(hit),
            _ => retrieved.episodic.push(hit),
        }
    }
    Ok(retrieved)
}

/// Items to write. At least one is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = shape::any_item()))]
#[schemars(rename = "WriteRequest")]
struct Write {
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    /// The writer. Defaults to `agent`. Only `user` can change the user's profile without a review.
    actor: Option<ActorIn>,
    /// Facts: `subject`, `predicate`, `object`, or `s`, `p`, `o`.
    #[serde(default)]
    #[schemars(with = "Vec<shape::Fact>", length(max = WRITE_ITEMS_MAX))]
    facts: Vec<FactIn>,
    /// Rejected: the engine derives episodes from turns.
    #[serde(default)]
    episodes: Vec<Value>,
    /// Notes.
    #[serde(default, alias = "notes")]
    #[schemars(with = "Vec<shape::Note>", length(max = WRITE_ITEMS_MAX))]
    reflective: Vec<NoteIn>,
    #[serde(default)]
    #[schemars(with = "Vec<shape::Task>", length(max = WRITE_ITEMS_MAX))]
    tasks: Vec<TaskIn>,
    /// Lines of the self-model.
    #[serde(default)]
    #[schemars(with = "Vec<shape::Tenet>", length(max = WRITE_ITEMS_MAX))]
    tenets: Vec<TenetIn>,
}

/// Result of a write.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "WriteResult")]
struct Written {
    /// Items that count: created now, or known before and confirmed again.
    accepted: Vec<ItemId>,
    /// Items that do not count until their review is decided.
    waiting: Vec<WaitingItem>,
    /// Rejected items with the reasons.
    rejected: Vec<Rejection>,
    /// The source that records the write.
    source: Option<ItemId>,
    /// Position of the event that recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<Seq>,
    /// Version of the memory that contains everything that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Seq>,
    /// What happened to each item, known ones that ended included.
    understood: Understanding,
    /// Kinds of secrets that were removed before anything was stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redacted: Vec<String>,
    /// Paths of unknown fields, which were ignored: `facts[0].version`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
    /// True if a request with the same idempotency key was answered before.
    replayed: bool,
}

fn written(call: &Call<'_>, asked: Write) -> Result<Written, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let kind = match asked.actor.unwrap_or(ActorIn::Agent) {
        ActorIn::User => SourceKind::UserSaid,
        ActorIn::Agent => SourceKind::AssistantSaid,
        ActorIn::System => SourceKind::Inferred,
        ActorIn::Tool => SourceKind::ToolOutput,
    };
    let not_told = |episode: &Value| Rejection {
        item: episode
            .get("summary")
            .or(episode.get("title"))
            .and_then(Value::as_str)
            .unwrap_or("an episode")
            .to_owned(),
        reason: "episodes are derived from turns: send those to /memory/{user_id}/turns".to_owned(),
    };
    let rejected: Vec<Rejection> = asked.episodes.iter().map(not_told).collect();
    let request = WriteRequest {
        idempotency_key: call.idempotency_key.clone(),
        facts: asked.facts,
        notes: asked.reflective,
        tasks: asked.tasks,
        tenets: asked.tenets,
    };
    // The limit of each list is in the schema; the limit of their sum is checked here.
    let many = request.facts.len() + request.notes.len() + request.tasks.len() + request.tenets.len();
    if many > WRITE_ITEMS_MAX {
        let why = format!("a write has at most {WRITE_ITEMS_MAX} items, this one has {many}");
        return Err(Error::Refused(why).into());
    }
    let is_empty =
        request.facts.is_empty() && request.notes.is_empty() && request.tasks.is_empty() && request.tenets.is_empty();
    if is_empty && !rejected.is_empty() {
        return Ok(Written { rejected, ..Written::default() });
    }
    let report = call.writing(&user, |memory| write(call.engine, memory, &request, kind))?;
    Ok(Written {
        accepted: report.accepted,
        waiting: report.waiting,
        rejected: report.rejected.into_iter().chain(rejected).collect(),
        source: Some(report.source),
        seq: Some(report.seq),
        version: Some(report.version),
        understood: report.understood,
        redacted: report.redacted,
        ignored: report.ignored,
        replayed: report.replayed,
    })
}

/// A fact that ended.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CloseFactRequest")]
struct Close {
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    #[schemars(with = "shape::ItemName")]
    fact_id: String,
    /// End of validity.
    valid_to: TimeExpression,
}

fn close(call: &Call<'_>, asked: Close) -> Result<Receipt, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let valid_to = call
        .engine
        .time_for(&user, asked.valid_to)
        .map_err(|error| Fault::invalid(error.to_string()).at("valid_to"))?;
    call.writing(&user, |memory| close_fact(call.engine, memory, &asked.fact_id, valid_to))
}
