//! The core document, and episodes by topic and path.

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
use super::frame::{Call, Route};
use super::page;
use super::sent::listed;
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/{user_id}", "The core document and its version", core),
        Route::post("/memory/{user_id}/events", "Patches the core document (RFC 6902)", patch).keyed().conditional(),
        Route::get("/memory/{user_id}/episodes", "Episodes, those nearest to topics and paths first", episodes),
    ]
}

/// Selects a version.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct At {
    /// A version: `now`, a position, a time or a date. Defaults to `now`.
    #[schemars(with = "Option<shape::Version>")]
    pub(super) at: Option<String>,
}

/// The core document at a version.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CoreDocument")]
struct Core {
    user_id: String,
    /// Position of the newest event the document includes.
    version: Seq,
    /// Free-form JSON: the user's own fields under the categories of the memory.
    document: Value,
}

fn core(call: &Call<'_>, asked: At) -> Result<Core, Fault> {
    let user = call.user()?;
    let at = call.when(asked.at.as_deref(), "at")?;
    // `If-Match` is compared with the version of the memory; the document's own version is in its `_meta`.
    let version = versions::position_of(call.engine, &user, at)?;
    let document = versions::core_at(call.engine, &user, When::Seq(version))?;
    Ok(Core { user_id: user.to_string(), version, document })
}

/// A change of the core document, as a JSON Patch.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CorePatchRequest")]
struct MemoryEvent {
    /// The sender's id of the change; it works as an `Idempotency-Key`.
    #[schemars(with = "Option<shape::Line>")]
    id: Option<String>,
    /// The sender's time of the change. Ignored: the ledger records its own time.
    #[expect(dead_code, reason = "senders of this form have it; what counts is the ledger's time")]
    timestamp: Option<Timestamp>,
    /// Author of the change; only `user` is accepted. Proposals of agents and tools go to `/memory/write`.
    actor: Option<ActorIn>,
    /// Reference to the message or tool the change came from.
    #[schemars(with = "Option<shape::Remark>")]
    source: Option<String>,
    /// Confidence, 0 to 1.
    #[schemars(with = "Option<shape::Share>")]
    confidence: Option<f64>,
    /// The reason, stored with the event.
    #[schemars(with = "Option<shape::Remark>")]
    rationale: Option<String>,
    /// The operations (RFC 6902).
    #[schemars(with = "shape::Patch")]
    patch: Patch,
}

/// Author of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RequestActor")]
pub(super) enum ActorIn {
    User,
    Agent,
    System,
    Tool,
}

fn patch(call: &Call<'_>, event: MemoryEvent) -> Result<Receipt, Fault> {
    let user = call.user()?;
    if event.actor.is_some_and(|actor| actor != ActorIn::User) {
        let why = "only the user patches the core document; agents send proposals to /memory/write";
        return Err(Fault::from(Error::Refused(why.to_owned())).at("actor"));
    }
    let options = PatchOptions {
        idempotency_key: call.idempotency_key.clone().or(event.id),
        rationale: event.rationale,
        confidence: event.confidence,
        reference: event.source,
    };
    let edit = CoreEdit::Patch(event.patch);
    // The patch was parsed, so an error concerns its effect.
    let refused = |error| match error {
        Error::Invalid(why) => Error::Refused(why),
        other => other,
    };
    call.writing(&user, |memory| edit_core(call.engine, memory, &edit, &options).map_err(refused))
}

/// Selects episodes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EpisodesQuery {
    /// Topics, separated by commas.
    topics: Option<String>,
    /// JSON Pointers into the core document, separated by commas.
    paths: Option<String>,
    /// Number of episodes. Defaults to 5.
    #[schemars(with = "Option<shape::Limit>")]
    k: Option<usize>,
    /// A version: `now`, a position, a time or a date. Defaults to `now`.
    #[schemars(with = "Option<shape::Version>")]
    at: Option<String>,
}

/// An episode and its score.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "ScoredEpisode")]
struct Scored {
    /// Importance, plus 3 for each shared topic and 4 for each shared path.
    score: u32,
    #[serde(flatten)]
    episode: Episode,
}

/// Episodes, best first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EpisodeList")]
struct Episodes {
    items: Vec<Scored>,
    /// The same under an older name. Use `items`.
    #[schemars(extend("deprecated" = true))]
    episodes: Vec<Scored>,
}

fn episodes(call: &Call<'_>, asked: EpisodesQuery) -> Result<Episodes, Fault> {
    let user = call.user()?;
    let k = page::limit(asked.k.or(Some(5))).map_err(|fault| fault.at("k"))?;
    let at: When = call.when(asked.at.as_deref(), "at")?;
    let (topics, paths) = (listed(asked.topics.as_deref()), listed(asked.paths.as_deref()));
    let found = episodes_about(call.engine, &user, Some(at), &topics, &paths, k)?;
    let scored = found.into_iter().map(|(score, episode)| Scored { score, episode });
    let items: Vec<Scored> = scored.collect();
    Ok(Episodes { episodes: items.clone(), items })
}
