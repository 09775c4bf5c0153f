//! Authenticates callers: the holder of a key, or a local caller.
//!
//! A Quipu key is sent in `X-Memory-Key`, `Authorization` (`Bearer` or `Token`) or `X-API-Key`. On the paths of the
//! proxy the last two may hold a key of the upstream, which is not checked here.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use quipu_core::id::UserId;
use quipu_engine::Error;
use quipu_engine::keys::{Holder, PREFIX};
use quipu_engine::ports::Scope;

use super::fault::Fault;
use super::{mcp, oauth};
use crate::app::App;
use crate::inspector;
use crate::options::Wire;
use crate::proxy::asks_anthropic;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const KEY: HeaderName = HeaderName::from_static("x-memory-key");
/// Maximum length of a request id sent by a client.
const REQUEST_ID_BYTES_MAX: usize = 128;
/// Longer than any valid key.
const KEY_BYTES_MAX: usize = 256;

/// The caller of a request.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// A local caller without a key, where none is required.
    Local,
    /// The holder of a key.
    Holder(Holder),
}

impl Caller {
    /// Rejects callers without this scope.
    pub(crate) fn must(&self, scope: Scope) -> Result<(), Fault> {
        match self {
            Self::Holder(holder) if !holder.may(scope) => {
                Err(Fault::out_of_scope(format!("this needs a key with the scope {}", scope.as_str())).code("scope"))
            }
            _ => Ok(()),
        }
    }

    /// Rejects a user other than the key's, whether or not that user exists.
    pub(crate) fn must_be(&self, user: &UserId) -> Result<(), Fault> {
        match self.bound() {
            Some(own) if own != user => Err(Fault::out_of_scope("this key is restricted to another user").code("user")),
            _ => Ok(()),
        }
    }

    /// Rejects callers restricted to one user.
    pub(crate) fn must_see_all(&self) -> Result<(), Fault> {
        match self.bound() {
            Some(_) => Err(Fault::out_of_scope("this needs a key for all users").code("user")),
            None => Ok(()),
        }
    }

    /// The user the caller is restricted to, if any.
    pub(crate) fn bound(&self) -> Option<&UserId> {
        match self {
            Self::Local => None,
            Self::Holder(holder) => holder.user.as_ref(),
        }
    }

    /// The public id of the caller's key, if there is one.
    pub(crate) fn key_id(&self) -> Option<&str> {
        match self {
            Self::Local => None,
            Self::Holder(holder) => Some(&holder.key_id),
        }
    }

    /// The caller's name in the log.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Local => "local",
            Self::Holder(holder) => &holder.key_id,
        }
    }
}

/// Caller and id of a request, determined before it is processed.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    pub(crate) caller: Caller,
    pub(crate) request_id: String,
}

/// Authenticates a request and attaches its [`RequestContext`].
pub(super) async fn check(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_mcp = mcp::is(path);
    if path == "/health/live" || oauth::is(path) {
        // Health checks and metadata need no key and return no user data.
        let met = RequestContext { caller: Caller::Local, request_id: app.new_request_id() };
        request.extensions_mut().insert(met);
        return next.run(request).await;
    }
    let proxied = wire_of(&app, path, request.headers());
    let request_id = named(request.headers()).unwrap_or_else(|| app.new_request_id());
    // Third-party clients always send a key, and a made-up one where none is required.
    let passes_others = proxied.is_some() || (!app.needs_key && is_of_others(path));
    let met = meet(&app, request.headers(), request.uri(), passes_others).await;
    let (mut response, left) = match met {
        Err(fault) if is_mcp => {
            let mut refusal = fault.answer_mcp();
            oauth::point_to_metadata(&app, path, &mut refusal);
            (refusal, None)
        }
        Err(fault) => (fault.answer(proxied.flatten(), Some(&request_id)), None),
        Ok(inspector::Seen::Stranger(response)) => (response, None),
        Ok(inspector::Seen::Met(caller, left)) => {
            request.extensions_mut().insert(RequestContext { caller, request_id: request_id.clone() });
            (next.run(request).await, left)
        }
    };
    // On the paths of the proxy these headers belong to the upstream.
    if proxied.is_none() {
        let headers = response.headers_mut();
        if let Ok(value) = HeaderValue::try_from(request_id) {
            headers.insert(REQUEST_ID, value);
        }
        left.iter().for_each(|left| left.put_into(headers));
    }
    response
}

async fn meet(app: &Arc<App>, headers: &HeaderMap, uri: &Uri, passes_others: bool) -> Result<inspector::Seen, Fault> {
    let Some(key) = presented(headers, passes_others)? else {
        if inspector::is_page(uri.path()) {
            return inspector::see(app, headers, uri).await;
        }
        return match app.needs_key {
            true if passes_others => Err(Fault::without_key(
                "this needs a key of Quipu: `X-Memory-Key: qp_…`, made by `quipu key create`, beside the upstream's own key, or \
                 `Authorization: Bearer qp_…` to use the upstream's key in config.toml",
            )),
            true => {
                Err(Fault::without_key("this needs a key: `Authorization: Bearer qp_…`, made by `quipu key create`"))
            }
            false => Ok(inspector::Seen::Met(Caller::Local, None)),
        };
    };
    let keys = app.keys.clone();
    let stopped = || Error::Bug("looking up a key stopped without an answer".to_owned());
    let holder = tokio::task::spawn_blocking(move || keys.holder(&key)).await.map_err(|_| stopped())??;
    let holder = holder.ok_or_else(|| Fault::without_key("unknown or revoked key"))?;
    match app.rates.take(&holder.key_id) {
        Ok(left) => Ok(inspector::Seen::Met(Caller::Holder(holder), Some(left))),
        Err(after) => Err(Fault::too_many(after.max(Duration::from_millis(1)))),
    }
}

/// The key in the headers; an error if it is malformed or there are several. With `passes_others`, other keys are
/// ignored.
fn presented(headers: &HeaderMap, passes_others: bool) -> Result<Option<String>, Fault> {
    let wrong = || Fault::without_key("the key in the headers cannot be read");
    let only = |name: HeaderName| {
        let mut all = headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (None, _) => Ok(None),
            (Some(one), None) => one.to_str().map(|text| Some(text.trim())).map_err(|_| wrong()),
            (Some(_), Some(_)) => Err(wrong()),
        }
    };
    let bare = |text: &str| {
        let scheme = ["bearer ", "token "]
            .into_iter()
            .find(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        scheme.map_or(text, |scheme| text[scheme.len()..].trim()).to_owned()
    };
    let mut found = only(KEY)?.map(str::to_owned);
    for name in [header::AUTHORIZATION, HeaderName::from_static("x-api-key"), HeaderName::from_static("api-key")] {
        if found.is_none() {
            found = only(name)?.map(bare).filter(|key| !passes_others || key.starts_with(PREFIX));
        }
    }
    match found {
        Some(key) if key.is_empty() || key.len() > KEY_BYTES_MAX => Err(wrong()),
        found => Ok(found),
    }
}

/// True for the paths of third-party memory clients.
fn is_of_others(path: &str) -> bool {
    ["/v1/", "/v2/", "/v3/", "/store/"].iter().any(|beginning| path.starts_with(beginning))
}

/// Protocol of the upstream behind a path; `None` for a path of Quipu's own, `Some(None)` for an unknown upstream.
fn wire_of(app: &App, path: &str, headers: &HeaderMap) -> Option<Option<Wire>> {
    if let Some(rest) = path.strip_prefix("/proxy/") {
        let name = rest.split('/').next().unwrap_or_default();
        return Some(app.options.upstreams.iter().find(|one| one.name == name).map(|one| one.wire));
    }
    let is =
        |beginning: &str| path.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if is("/v1/messages") || (is("/v1/models") && asks_anthropic(headers)) {
        return Some(Some(Wire::Anthropic));
    }
    let open = ["/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/models"];
    open.into_iter().any(is).then_some(Some(Wire::OpenAi))
}

/// The request id sent by the client, if it is safe to log.
fn named(headers: &HeaderMap) -> Option<String> {
    let name = headers.get(REQUEST_ID)?.to_str().ok()?.trim();
    let fits =
        !name.is_empty() && name.len() <= REQUEST_ID_BYTES_MAX && name.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| name.to_owned())
}
