//! The routing table of the server.

use std::sync::Arc;

use axum::Router;
use axum::extract::Extension;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

use super::caller::RequestContext;
use super::fault::Fault;
use super::origin::{self, Hosts};
use super::{api, caller, counted, health, mcp, oauth, pass, proxied};
use crate::app::App;
use crate::inspector;

/// Builds the router; `hosts` are the names of the server accepted in `Host` and `Origin`.
pub(crate) fn router(app: Arc<App>, hosts: Hosts) -> Router {
    let page = Arc::new(api::document().to_string());
    Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/health/maintenance", get(health::maintenance))
        .route("/version", get(health::version))
        .route("/metrics", get(health::metrics))
        .route("/v1/chat/completions", post(proxied::chat))
        .route("/v1/responses", post(proxied::responses))
        .route("/v1/messages", post(proxied::messages))
        .route("/v1/messages/count_tokens", post(pass::count_tokens))
        .route("/v1/embeddings", post(pass::embeddings))
        .route("/v1/models", get(pass::models))
        .route("/v1/models/{*model}", get(pass::models))
        .route("/proxy/{upstream}/{*path}", any(pass::named))
        .route("/openapi.json", get(api::shown_document).layer(Extension(page)))
        .merge(api::router())
        .merge(mcp::router(&app))
        .merge(oauth::router())
        .merge(inspector::router())
        .fallback(async |Extension(met): Extension<RequestContext>| {
            Fault::not_found("unknown path").answer(None, Some(&met.request_id))
        })
        .method_not_allowed_fallback(async |Extension(met): Extension<RequestContext>| {
            Fault::wrong_method().answer(None, Some(&met.request_id))
        })
        .layer(from_fn_with_state(app.clone(), caller::check))
        .layer(from_fn_with_state(Arc::new(hosts), origin::check))
        .layer(from_fn_with_state(app.clone(), counted::count))
        .with_state(app)
}
