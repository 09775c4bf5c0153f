//! Health checks, version and metrics of the server.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use super::caller::RequestContext;
use super::fault::Fault;
use quipu_engine::Error;

use crate::app::App;

/// Content type of the metrics page.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Liveness: succeeds whenever the server responds.
pub(super) async fn live() -> &'static str {
    "alive\n"
}

/// How long a readiness check waits for the store and the engine.
const PROBED_WITHIN: Duration = Duration::from_secs(5);

/// Readiness of the server.
#[derive(Serialize, JsonSchema)]
pub(super) struct Readiness {
    ready: bool,
    /// Why the server is not ready.
    reason: Option<String>,
    /// Kind of a background step that has stopped making progress.
    stalled: Option<&'static str>,
    /// `ok`, or the error of the store.
    store: String,
    /// The database server behind the store; null if the store is a folder.
    database: Option<DatabaseState>,
    /// Name of this server.
    server: String,
    /// Number of turns waiting to be recorded.
    turns_waiting: i64,
}

/// The database server behind the store, and who shares it.
#[derive(Serialize, JsonSchema)]
pub(super) struct DatabaseState {
    /// Its kind, such as `PostgreSQL`.
    kind: &'static str,
    /// Its version.
    version: String,
    /// Names of the live Quipu servers on it, this one included.
    servers: Vec<String>,
}

/// Readiness: succeeds if the store and the engine respond, the queue of turns has room, and no background step is
/// stalled. Does not call a model.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    let probed = app.probe.ask(PROBED_WITHIN.min(app.options.bounds.stalled_after)).await;
    let (waiting, has_room, stalled) = (app.queue.depth(), app.queue.has_room(), app.progress.stalled());
    app.metrics.is_stalled(stalled.is_some());
    let reason = match (&probed, stalled) {
        (Err(error), _) => Some(error.to_string()),
        (_, Some(stalled)) => {
            let (work, since) = (stalled.work.as_str(), stalled.since.as_secs());
            Some(format!("a background step of the kind {work:?} has made no progress for {since} s"))
        }
        _ if !has_room => Some("the queue of turns to record is full".to_owned()),
        _ => None,
    };
    let body = Readiness {
        ready: reason.is_none(),
        reason,
        stalled: stalled.map(|stalled| stalled.work.as_str()),
        database: probed.as_ref().ok().and_then(|probed| probed.database.clone()).map(|found| DatabaseState {
            kind: found.kind,
            version: found.version,
            servers: app.peers.names(),
        }),
        server: app.options.name.clone(),
        store: probed.err().map_or_else(|| "ok".to_owned(), |error| error.to_string()),
        turns_waiting: waiting,
    };
    let status = if body.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, json(&body)).into_response()
}

/// What maintenance has done, what is due, and what will be retried.
pub(super) async fn maintenance(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
) -> Result<Response, Fault> {
    met.caller.must_see_all()?;
    Ok(json(&app.maintenance.status()))
}

/// Name and version of the server.
pub(super) async fn version() -> Response {
    json(&ServerVersion { name: "quipu", version: env!("CARGO_PKG_VERSION") })
}

/// Name and version of the server.
#[derive(Serialize, JsonSchema)]
pub(super) struct ServerVersion {
    name: &'static str,
    version: &'static str,
}

fn json(body: &impl Serialize) -> Response {
    match serde_json::to_string(body) {
        Ok(body) => ([(CONTENT_TYPE, "application/json")], body).into_response(),
        Err(error) => Fault::from(Error::Bug(format!("an answer cannot be written as JSON: {error}"))).into_response(),
    }
}

/// All metrics, in the OpenMetrics text format.
pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
) -> Result<Response, Fault> {
    met.caller.must_see_all()?;
    app.metrics.stands(&app.probe.ask(PROBED_WITHIN).await?.gauges);
    app.metrics.is_stalled(app.progress.stalled().is_some());
    let page = app.metrics.page().map_err(|error| quipu_engine::Error::Bug(error.to_string()))?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], page).into_response())
}
