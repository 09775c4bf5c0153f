//! The core document, and the episodes by topic and place (seed 0).

use jiff::Timestamp;
use quipu_core::core_document::Patch;
use quipu_core::id::Seq;
use quipu_core::item::Episode;
use quipu_engine::versions::{self, When};
use quipu_engine::{CoreEdit, Error, PatchOptions, Receipt, edit_core, episodes_about};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::fault::Fault;
use super::frame::{Call, Route, when};
use super::page;
use super::sent::listed;
use super::shape;
use super::shown::EngineReport;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/{user_id}", "The core document and its version", core),
        Route::post("/memory/{user_id}/events", "Patches the core document (RFC 6902)", patch).keyed().conditional(),
        Route::get("/memory/{user_id}/episodes", "Episodes, those nearest to topics and paths first", episodes),
    ]
}

/// Which version.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct At {
    /// A version: `now`, a position, a time or a date.
    #[schemars(with = "Option<shape::Version>")]
    pub(super) at: Option<String>,
}

/// A document at a version.
#[derive(Serialize, JsonSchema)]
struct Core {
    user_id: String,
    /// The position of the newest event it was made of.
    version: Seq,
    document: Value,
}

fn core(call: &Call<'_>, asked: At) -> Result<Core, Fault> {
    let user = call.user()?;
    let at = when(asked.at.as_deref(), "at")?;
    // The memory's version, which `If-Match` is compared with: the document's own stands in its `_meta`.
    let version = versions::position_of(call.engine, &user, at)?;
    let document = versions::core_at(call.engine, &user, When::Seq(version))?;
    Ok(Core { user_id: user.to_string(), version, document })
}

/// A change of the core document.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryEvent {
    /// The sender's name of it: sent again it has no second effect, as with an `Idempotency-Key`.
    #[schemars(with = "Option<shape::Line>")]
    id: Option<String>,
    /// When the sender made it. The ledger has its own time, that of recording.
    #[expect(dead_code, reason = "senders of this form have it; what counts is the ledger's time")]
    timestamp: Option<Timestamp>,
    /// Who makes it: `user` only. What an agent or a tool proposes goes through `/memory/write`, where it is judged.
    actor: Option<ActorIn>,
    /// The message or tool it came from.
    #[schemars(with = "Option<shape::Remark>")]
    source: Option<String>,
    /// How sure, 0 to 1.
    #[schemars(with = "Option<shape::Share>")]
    confidence: Option<f64>,
    /// Why.
    #[schemars(with = "Option<shape::Remark>")]
    rationale: Option<String>,
    /// The operations.
    #[schemars(with = "shape::Patch")]
    patch: Patch,
}

/// Who does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ActorIn {
    User,
    Agent,
    System,
    Tool,
}

fn patch(call: &Call<'_>, event: MemoryEvent) -> Result<EngineReport<Receipt>, Fault> {
    let user = call.user()?;
    if event.actor.is_some_and(|actor| actor != ActorIn::User) {
        let why =
            "only the user patches the core document; what an agent proposes goes to /memory/write, where it is judged";
        return Err(Fault::from(Error::Refused(why.to_owned())).at("actor"));
    }
    let options = PatchOptions {
        idempotency_key: call.idempotency_key.clone().or(event.id),
        rationale: event.rationale,
        confidence: event.confidence,
        reference: event.source,
    };
    let edit = CoreEdit::Patch(event.patch);
    // It could be read, or it would not be here: what is wrong now is what it would do.
    let refused = |error| match error {
        Error::Invalid(why) => Error::Refused(why),
        other => other,
    };
    call.writing(&user, |memory| edit_core(call.engine, memory, &edit, &options).map_err(refused)).map(EngineReport)
}

/// Which episodes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EpisodesAsked {
    /// Topics, a comma between two.
    topics: Option<String>,
    /// Pointers into the core document, a comma between two.
    paths: Option<String>,
    /// How many; 5 unless asked otherwise.
    #[schemars(with = "Option<shape::Limit>")]
    k: Option<usize>,
    /// A version: `now`, a position, a time or a date.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
}

/// An episode and what it is worth to the question.
#[derive(Clone, Serialize, JsonSchema)]
struct Scored {
    /// Three for each topic it shares, four for each path, and its importance.
    score: u32,
    #[serde(flatten)]
    episode: EngineReport<Episode>,
}

/// Episodes, best first.
#[derive(Serialize, JsonSchema)]
struct Episodes {
    items: Vec<Scored>,
    /// The same, by the name they had before. Use `items`.
    #[schemars(extend("deprecated" = true))]
    episodes: Vec<Scored>,
}

fn episodes(call: &Call<'_>, asked: EpisodesAsked) -> Result<Episodes, Fault> {
    let user = call.user()?;
    let k = page::limit(asked.k.or(Some(5))).map_err(|fault| fault.at("k"))?;
    let at: When = when(asked.at.as_deref(), "at")?;
    let (topics, paths) = (listed(asked.topics.as_deref()), listed(asked.paths.as_deref()));
    let found = episodes_about(call.engine, &user, Some(at), &topics, &paths, k)?;
    let scored = found.into_iter().map(|(score, episode)| Scored { score, episode: EngineReport(episode) });
    let items: Vec<Scored> = scored.collect();
    Ok(Episodes { episodes: items.clone(), items })
}
