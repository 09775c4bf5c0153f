//! Retrieve, write, close: a memory of facts, episodes, tasks and notes (seed 3). The user stands in the body.

use jiff::Timestamp;
use quipu_core::event::SourceKind;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::limit::WRITE_ITEMS_MAX;
use quipu_core::recall::{Contributions, Intent, Trace, Validity};
use quipu_core::reconcile::Rejection;
use quipu_engine::ports::Scope;
use quipu_engine::ready_made::{FactIn, NoteIn, TaskIn, TenetIn, WriteReport};
use quipu_engine::{
    Answer, Error, OmittedAnswer, RecallDecision, RecallOptions, Receipt, WriteRequest, close_fact, recall, write,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::fault::Fault;
use super::core::ActorIn;
use super::frame::{Call, Route, when};
use super::shape;
use super::shown::EngineReport;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/memory/retrieve", "What answers a question, by tier", retrieve).needs(Scope::Read),
        Route::post("/memory/write", "Ready-made items, through the same gate as everything else", written)
            .keyed()
            .conditional(),
        Route::post("/memory/profile/version", "Closes a fact: it held until then", close).conditional(),
    ]
}

/// A question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Retrieve {
    /// Whose memory; the key's user, or the server's, if it is not said.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    /// The question.
    #[schemars(with = "shape::Question")]
    query: String,
    /// The goal it serves.
    active_goal: Option<String>,
    /// How many items; 16 unless asked otherwise.
    #[serde(rename = "K", alias = "k")]
    #[schemars(range(min = 1, max = quipu_core::limit::RECALL_K_MAX))]
    k: Option<usize>,
    /// What it is for: `plan`, `reflect`, `recall`, `decide` or `nudge`.
    #[schemars(with = "Option<shape::Intent>")]
    intent: Option<Intent>,
    /// What was known then: a version, a time or a date.
    #[schemars(with = "Option<shape::Version>")]
    as_of: Option<String>,
    /// What held then.
    valid_at: Option<Timestamp>,
    /// Only in this conversation.
    session_id: Option<String>,
    /// Only items up to so many tokens, estimated.
    #[schemars(range(max = u64::MAX))]
    budget: Option<usize>,
    /// Show how it was found.
    #[serde(default)]
    explain: bool,
}

/// What was found, by tier, best first.
#[derive(Serialize, JsonSchema)]
struct Retrieved {
    /// Facts.
    profile: Vec<EngineReport<Answer>>,
    /// Episodes, and what was said.
    episodic: Vec<EngineReport<Answer>>,
    tasks: Vec<EngineReport<Answer>>,
    /// Notes, and lines of the self-model.
    reflective: Vec<EngineReport<Answer>>,
    /// The version that answered.
    version: Seq,
    /// Whether memory answers the question.
    decision: EngineReport<RecallDecision>,
    /// What recall had to do without, if it did.
    degraded: Option<String>,
    debug: Debug,
}

/// How it was found.
#[derive(Serialize, JsonSchema)]
struct Debug {
    scores: Vec<Score>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<EngineReport<Trace>>,
    left_out: Vec<EngineReport<OmittedAnswer>>,
}

/// The score of an item, and what adds up to it.
#[derive(Serialize, JsonSchema)]
struct Score {
    #[schemars(with = "String")]
    id: ItemId,
    score: f32,
    contributions: EngineReport<Contributions>,
}

fn retrieve(call: &Call<'_>, asked: Retrieve) -> Result<Retrieved, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let options = RecallOptions {
        k: asked.k.unwrap_or(16),
        session: asked.session_id,
        at: when(asked.as_of.as_deref(), "as_of")?,
        validity: asked.valid_at.map(|time| Validity::Now(Some(time))),
        intent: asked.intent,
        goal: asked.active_goal,
        explain: asked.explain,
        ..RecallOptions::of(&asked.query)
    };
    let found = recall(call.engine, &user, &options)?;
    let scores = found
        .hits
        .iter()
        .map(|hit| Score { id: hit.id, score: hit.score, contributions: EngineReport(hit.contributions) })
        .collect();
    let left_out = found.left_out.into_iter().map(EngineReport).collect();
    let mut retrieved = Retrieved {
        profile: Vec::new(),
        episodic: Vec::new(),
        tasks: Vec::new(),
        reflective: Vec::new(),
        version: found.version,
        decision: EngineReport(found.decision),
        degraded: found.degraded,
        debug: Debug { scores, trace: found.trace.map(EngineReport), left_out },
    };
    let mut left = asked.budget.unwrap_or(usize::MAX);
    for hit in found.hits {
        let cost = quipu_core::pack::estimate_tokens(&hit.text);
        if cost > left {
            break;
        }
        left -= cost;
        match hit.id.kind {
            ItemKind::Fact => retrieved.profile.push(EngineReport(hit)),
            ItemKind::Task => retrieved.tasks.push(EngineReport(hit)),
            ItemKind::Note | ItemKind::Tenet => retrieved.reflective.push(EngineReport(hit)),
            _ => retrieved.episodic.push(EngineReport(hit)),
        }
    }
    Ok(retrieved)
}

/// Ready-made items.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = shape::any_item()))]
struct Write {
    /// Whose memory; the key's user, or the server's, if it is not said.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    /// Who writes: `agent` unless it says otherwise. Only `user` may say who the user is without a review.
    actor: Option<ActorIn>,
    /// Claims: `subject, predicate, object`, or `s, p, o`.
    #[serde(default)]
    #[schemars(with = "Vec<shape::Fact>", length(max = WRITE_ITEMS_MAX))]
    facts: Vec<FactIn>,
    /// Episodes are told from turns, by the engine: each of these is rejected with that reason.
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

/// What became of it.
#[derive(Serialize, JsonSchema)]
struct Written {
    /// Items that were made, or that were known and are now said once more.
    #[schemars(with = "Vec<String>")]
    accepted: Vec<ItemId>,
    /// What did not pass, and why.
    rejected: Vec<EngineReport<Rejection>>,
    /// The source that holds what was written.
    #[schemars(with = "Option<String>")]
    source: Option<ItemId>,
    /// What was sent and has no place here, by where it stands: `facts[0].version`. It stands in none of the items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    ignored: Vec<String>,
    /// True if the same request was answered before.
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
        reason: "episodes are told from what was said: send the turns to /memory/{user_id}/turns".to_owned(),
    };
    let rejected: Vec<Rejection> = asked.episodes.iter().map(not_told).collect();
    let request = WriteRequest {
        idempotency_key: call.idempotency_key.clone(),
        facts: asked.facts,
        notes: asked.reflective,
        tasks: asked.tasks,
        tenets: asked.tenets,
    };
    // Each list may have so many, as the page says; that they may not together is a rule of its own.
    let many = request.facts.len() + request.notes.len() + request.tasks.len() + request.tenets.len();
    if many > WRITE_ITEMS_MAX {
        let why = format!("a write has at most {WRITE_ITEMS_MAX} items, this has {many}");
        return Err(Error::Refused(why).into());
    }
    let is_empty =
        request.facts.is_empty() && request.notes.is_empty() && request.tasks.is_empty() && request.tenets.is_empty();
    if is_empty && !rejected.is_empty() {
        let rejected = rejected.into_iter().map(EngineReport).collect();
        let (accepted, ignored) = (Vec::new(), Vec::new());
        return Ok(Written { accepted, rejected, source: None, ignored, replayed: false });
    }
    let report = call.writing(&user, |memory| write(call.engine, memory, &request, kind))?;
    let WriteReport { accepted, rejected: refused, source, ignored, replayed, .. } = report;
    let rejected = refused.into_iter().chain(rejected).map(EngineReport).collect();
    Ok(Written { accepted, rejected, source: Some(source), ignored, replayed })
}

/// The end of a fact.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Close {
    /// Whose memory; the key's user, or the server's, if it is not said.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    #[schemars(with = "shape::ItemName")]
    fact_id: String,
    /// Until when it held.
    valid_to: Timestamp,
}

fn close(call: &Call<'_>, asked: Close) -> Result<EngineReport<Receipt>, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    call.writing(&user, |memory| close_fact(call.engine, memory, &asked.fact_id, asked.valid_to)).map(EngineReport)
}
