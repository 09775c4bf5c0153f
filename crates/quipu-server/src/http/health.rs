//! Whether the server is alive and ready, what it is, and what it has done.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::caller::Met;
use super::fault::Fault;
use crate::app::App;

/// What Prometheus expects of a page of figures.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Alive if it answers at all: nothing is looked at.
pub(super) async fn live() -> &'static str {
    "alive\n"
}

/// Ready if the store answers and turns still find room. No model is asked.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    let store = app.memory.reach_store().await;
    let (waiting, has_room) = (app.queue.depth(), app.queue.has_room());
    let is_ready = store.is_ok() && has_room;
    let body = json!({
        "ready": is_ready,
        "store": store.err().map_or_else(|| "ok".to_owned(), |error| error.to_string()),
        "turns_waiting": waiting,
    });
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// What the server did by itself, what is due, and what is tried again later.
pub(super) async fn maintenance(State(app): State<Arc<App>>, Extension(met): Extension<Met>) -> Result<Response, Fault> {
    met.caller.must_see_all()?;
    Ok(axum::Json(app.maintenance.status()).into_response())
}

/// What this is.
pub(super) async fn version() -> Response {
    let body = json!({"name": "quipu", "version": env!("CARGO_PKG_VERSION")});
    ([(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Every figure.
pub(super) async fn metrics(State(app): State<Arc<App>>, Extension(met): Extension<Met>) -> Result<Response, Fault> {
    met.caller.must_see_all()?;
    app.metrics.stands(&app.memory.standing().await?);
    let page = app.metrics.page().map_err(|error| quipu_engine::Error::Bug(error.to_string()))?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], page).into_response())
}
