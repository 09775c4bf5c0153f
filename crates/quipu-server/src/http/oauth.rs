//! Metadata of MCP as an OAuth 2.0 protected resource (RFC 9728), for clients that look for an authorization server.
//!
//! Only the metadata is served. The tokens that clients send are Quipu keys: the authorization server must hand one out
//! as its access token, or a gateway in front must exchange its tokens for keys.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use quipu_core::id::UserId;
use quipu_engine::{Error, Result};
use serde_json::json;

use super::caller::RequestContext;
use super::fault::Fault;
use crate::app::App;
use crate::options::ProtectedResource;

/// Where the metadata of a resource is, before the resource's own path.
const METADATA: &str = "/.well-known/oauth-protected-resource";
/// Path of MCP, without a user.
const MCP: &str = "/mcp";

/// True for a path that needs no key.
pub(super) fn is(path: &str) -> bool {
    path.strip_prefix(METADATA).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The routes as a router.
pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/.well-known/oauth-protected-resource", get(of_default))
        .route("/.well-known/oauth-protected-resource/mcp", get(of_default))
        .route("/.well-known/oauth-protected-resource/mcp/{user_id}", get(of_user))
}

async fn of_default(State(app): State<Arc<App>>, Extension(met): Extension<RequestContext>) -> Response {
    answer(&app, MCP, &met)
}

async fn of_user(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
    Path(user): Path<String>,
) -> Response {
    match UserId::parse(&user) {
        Ok(user) => answer(&app, &format!("{MCP}/{user}"), &met),
        Err(refusal) => Fault::invalid(refusal.to_string()).at("user_id").answer(None, Some(&met.request_id)),
    }
}

fn answer(app: &App, path: &str, met: &RequestContext) -> Response {
    let Some(resource) = &app.options.protected_resource else {
        let fault = Fault::not_found("no authorization server is configured: keys are made by `quipu key create`");
        return fault.answer(None, Some(&met.request_id));
    };
    let metadata = json!({
        "resource": format!("{}{path}", resource.public_url),
        "authorization_servers": resource.authorization_servers,
        "bearer_methods_supported": ["header"],
        "resource_name": "Quipu",
    });
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "max-age=300")];
    (headers, metadata.to_string()).into_response()
}

/// Names the metadata in the refusal of a request of MCP without a valid key.
pub(super) fn point_to_metadata(app: &App, path: &str, response: &mut Response) {
    let Some(resource) = &app.options.protected_resource else { return };
    if response.status() != StatusCode::UNAUTHORIZED {
        return;
    }
    let user = path.strip_prefix("/mcp/").filter(|user| UserId::parse(user).is_ok());
    let user = user.map(|user| format!("/{user}")).unwrap_or_default();
    let text = format!("Bearer realm=\"quipu\", resource_metadata=\"{}{METADATA}{MCP}{user}\"", resource.public_url);
    if let Ok(value) = HeaderValue::try_from(text) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}

impl ProtectedResource {
    /// Checks the addresses.
    ///
    /// # Errors
    /// `Invalid`: an address is not https, or http to this machine, or has a query or fragment; or there is no
    /// authorization server.
    pub fn new(public_url: &str, authorization_servers: &[String]) -> Result<Self> {
        let public_url = address("serve.public_url", public_url)?;
        if authorization_servers.is_empty() {
            return Err(Error::Invalid(
                "serve.public_url needs serve.authorization_servers: the addresses of their issuers".into(),
            ));
        }
        let issuers = authorization_servers.iter().map(|one| address("serve.authorization_servers", one));
        let public_url = public_url.trim_end_matches('/').to_owned();
        Ok(Self { public_url, authorization_servers: issuers.collect::<Result<_>>()? })
    }
}

/// An address as it was written: an issuer with and one without a slash at its end are two.
fn address(setting: &str, text: &str) -> Result<String> {
    let wrong = |why: &str| Error::Invalid(format!("{setting}: {text:?} {why}"));
    let url = reqwest::Url::parse(text).map_err(|_| wrong("is not an address such as https://memory.example"))?;
    let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        return Err(wrong("must begin with https://"));
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must not have a user, a query or a fragment"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        let servers = vec!["https://login.example/realms/a/".to_owned()];
        let resource = ProtectedResource::new("https://memory.example/", &servers).unwrap();
        assert_eq!(resource.public_url, "https://memory.example");
        assert_eq!(resource.authorization_servers, ["https://login.example/realms/a/"]);
        assert!(ProtectedResource::new("http://localhost:7077", &servers).is_ok());
        for wrong in [
            "memory.example",
            "http://memory.example",
            "https://memory.example/?a=1",
            "https://m.example/#a",
            "https://a:b@m.example",
        ] {
            assert!(ProtectedResource::new(wrong, &servers).is_err(), "{wrong}");
            assert!(ProtectedResource::new("https://memory.example", &[wrong.to_owned()]).is_err(), "{wrong}");
        }
        assert!(ProtectedResource::new("https://memory.example", &[]).is_err());
    }
}
