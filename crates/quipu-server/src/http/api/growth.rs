//! Category promotion and compaction.

use quipu_engine::ports::Scope;
use quipu_engine::{CompactReport, ConsolidateOptions, PromoteReport, PromoteRequest, compact, promote};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::fault::Fault;
use super::frame::{Call, Route};
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        // A promotion decides what schema evolution only proposes, so it needs the review scope.
        Route::post("/memory/{user_id}/schema/promote", "Promotes a pattern to a category", promoted)
            .needs(Scope::Review)
            .keyed()
            .conditional(),
        Route::post(
            "/memory/compact",
            "Folds duplicates, promotes recurring facts and demotes unused items",
            compacted,
        )
        .conditional()
        .grave(),
    ]
}

/// A pattern to turn into a category.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PromoteRequest")]
struct Promote {
    /// Key of the proposed pattern.
    #[schemars(with = "shape::Line")]
    candidate: String,
    /// Name of the category. Defaults to the proposed one.
    #[serde(rename = "proposedName", alias = "proposed_name")]
    #[schemars(with = "Option<shape::Name>")]
    proposed_name: Option<String>,
    /// The reason, stored with the event.
    #[schemars(with = "Option<shape::Remark>")]
    rationale: Option<String>,
    /// Report the effect without recording anything.
    #[serde(default)]
    dry_run: bool,
}

fn promoted(call: &Call<'_>, asked: Promote) -> Result<PromoteReport, Fault> {
    let user = call.user()?;
    let request = PromoteRequest {
        candidate: asked.candidate,
        proposed_name: asked.proposed_name,
        rationale: asked.rationale,
        idempotency_key: call.idempotency_key.clone(),
        dry_run: asked.dry_run,
    };
    call.writing(&user, |memory| promote(call.engine, memory, &request))
}

/// A memory to compact.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CompactRequest")]
struct Compact {
    /// User whose memory it is. Defaults to the user of the key, then of the server.
    #[schemars(with = "Option<shape::UserName>")]
    user_id: Option<String>,
    /// Report the effect without recording anything.
    #[serde(default)]
    dry_run: bool,
}

fn compacted(call: &Call<'_>, asked: Compact) -> Result<CompactReport, Fault> {
    let user = call.own_user(asked.user_id.as_deref())?;
    let options = ConsolidateOptions { dry_run: asked.dry_run, ..ConsolidateOptions::default() };
    call.writing(&user, |memory| compact(call.engine, memory, &options))
}
