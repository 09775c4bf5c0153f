//! How a memory grows: categories by what recurs (seed 0), compaction (seed 3).

use quipu_engine::ports::Scope;
use quipu_engine::{CompactReport, ConsolidateOptions, PromoteReport, PromoteRequest, compact, promote};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::fault::Fault;
use super::frame::{Call, Route};
use super::shape;
use super::shown::EngineReport;

pub(super) fn routes() -> Vec<Route> {
    vec![
        // A promotion is the user's own word, where evolution only proposes: it needs who may decide.
        Route::post("/memory/{user_id}/schema/promote", "Makes a category of what recurs", promoted)
            .needs(Scope::Review)
            .keyed()
            .conditional(),
        Route::post("/memory/compact", "Folds what says the same, and puts what is cold aside", compacted)
            .conditional()
            .grave(),
    ]
}

/// What is to become a category.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Promote {
    /// The pattern, as it was proposed.
    #[schemars(with = "shape::Line")]
    candidate: String,
    /// What the category is called, if not as it is proposed.
    #[serde(rename = "proposedName", alias = "proposed_name")]
    #[schemars(with = "Option<shape::Name>")]
    proposed_name: Option<String>,
    /// Why.
    #[schemars(with = "Option<shape::Remark>")]
    rationale: Option<String>,
    /// Only show what it would do.
    #[serde(default)]
    dry_run: bool,
}

fn promoted(call: &Call<'_>, asked: Promote) -> Result<EngineReport<PromoteReport>, Fault> {
    let user = call.user()?;
    let request = PromoteRequest {
        candidate: asked.candidate,
        proposed_name: asked.proposed_name,
        rationale: asked.rationale,
        idempotency_key: call.idempotency_key.clone(),
        dry_run: asked.dry_run,
    };
    call.writing(&user, |memory| promote(call.engine, memory, &request)).map(EngineReport)
}

/// Whose memory is compacted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Compact {
    /// Whose memory; the key's user, or the server's, if it is not said.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    /// Only show what it would do.
    #[serde(default)]
    dry_run: bool,
}

fn compacted(call: &Call<'_>, asked: Compact) -> Result<EngineReport<CompactReport>, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let options = ConsolidateOptions { dry_run: asked.dry_run, ..ConsolidateOptions::default() };
    call.writing(&user, |memory| compact(call.engine, memory, &options)).map(EngineReport)
}
