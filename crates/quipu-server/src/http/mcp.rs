//! `/mcp`: MCP over stateless streamable HTTP. The key or the path determines whose memory is used.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Query, RawPathParams, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use http_body_util::Full;
use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;

use super::caller::{Caller, RequestContext};
use super::fault::Fault;
use super::pass;
use crate::app::App;
use crate::mcp::{McpCaller, Peer, SharedState, toolsets, unreadable};

type Speaking = StreamableHttpService<Peer, NeverSessionManager>;

/// True for a path of MCP, whose errors use the shape of its protocol.
pub(super) fn is(path: &str) -> bool {
    path.strip_prefix("/mcp").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The routes as a router.
pub(super) fn router(app: &Arc<App>) -> Router<Arc<App>> {
    let hall = SharedState {
        engine: app.engine.clone(),
        slots: app.verbs.clone(),
        waits: app.options.bounds.verb_waits,
        queue: app.queue.clone(),
        user_words: app.options.mcp.user_words,
    };
    let peer = Peer { hall: Arc::new(hall), guest: None };
    // Host and Origin were checked already. There are no sessions, so no client state is stored.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(app.options.bounds.api_body_bytes_max);
    let speaking = Speaking::new(move || Ok(peer.clone()), Arc::default(), config);
    Router::new().route("/mcp", any(answer)).route("/mcp/{user_id}", any(answer)).layer(Extension(speaking))
}

async fn answer(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
    Extension(speaking): Extension<Speaking>,
    params: RawPathParams,
    request: Request,
) -> Response {
    let named = params.iter().find(|(name, _)| *name == "user_id").map(|(_, value)| value.to_owned());
    match ask(&app, &met.caller, &speaking, named.as_deref(), request).await {
        Ok(response) => response,
        Err(fault) => fault.answer_mcp(),
    }
}

async fn ask(
    app: &App,
    caller: &Caller,
    speaking: &Speaking,
    named: Option<&str>,
    request: Request,
) -> Result<Response, Fault> {
    let guest = guest(app, caller, named, request.uri())?;
    let (mut parts, body) = request.into_parts();
    if parts.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(
            Fault::unsupported("Content-Encoding is not supported: send the body unencoded").at("Content-Encoding")
        );
    }
    parts.extensions.insert(guest);
    let bounds = &app.options.bounds;
    let body = match parts.method {
        // Read under our own time limit, so that a slow sender cannot occupy a place.
        Method::POST => pass::collect_up_to(&parts, body, bounds.api_body_bytes_max, bounds.body_within).await?,
        _ => Default::default(),
    };
    let refused = (parts.method == Method::POST).then(|| unreadable::answer("the body", &body)).flatten();
    if let Some(refused) = refused {
        let status = if refused["id"].is_null() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        return Ok((status, [(CONTENT_TYPE, "application/json")], refused.to_string()).into_response());
    }
    let response = speaking.handle(Request::from_parts(parts, Full::new(body))).await;
    Ok(response.map(Body::new))
}

/// Additional toolsets a client enables in the query.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct McpQuery {
    #[serde(default)]
    toolsets: String,
}

/// The caller: the key's user, else the path's, else the server's default.
fn guest(app: &App, caller: &Caller, named: Option<&str>, uri: &Uri) -> Result<McpCaller, Fault> {
    let user = match named {
        Some(named) => {
            let user = UserId::parse(named).map_err(|refusal| Fault::invalid(refusal.to_string()).at("user_id"))?;
            caller.must_be(&user)?;
            user
        }
        None => {
            let own = caller.bound().or(app.options.user.as_ref());
            own.cloned().ok_or_else(|| Fault::invalid("no user: use /mcp/{user_id}").at("user_id"))?
        }
    };
    let Query(asked): Query<McpQuery> = Query::try_from_uri(uri)
        .map_err(|_| Fault::invalid("the only parameter is toolsets, such as toolsets=graph").at("toolsets"))?;
    let scopes = match caller {
        // A local caller may read and write; decisions require a key with that scope.
        Caller::Local => vec![Scope::Read, Scope::Write],
        Caller::Holder(holder) => {
            let given = [Scope::Read, Scope::Write].into_iter().filter(|scope| holder.may(*scope));
            given.chain(holder.scopes.iter().copied().filter(|scope| *scope == Scope::Review)).collect()
        }
    };
    Ok(McpCaller { user, key_id: caller.key_id().map(str::to_owned), scopes, toolsets: toolsets(&asked.toolsets)? })
}
