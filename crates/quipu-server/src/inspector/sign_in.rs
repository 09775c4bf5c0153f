//! Signing in with a key. The key is sent once; then a cookie replaces it, which no script can read and no other site
//! can send.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::header::{COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use quipu_engine::Error;

use super::desks::KEPT_FOR;
use super::fields::{Fields, encoded};
use super::frame::{self, Theme};
use super::security;
use crate::app::App;
use crate::http::{Caller, Fault, RemainingTokens, RequestContext, collect_up_to};

/// The name of the session cookie.
const DESK: &str = "quipu_desk";
/// Most bytes of a sign-in or sign-out form.
const FORM_BYTES_MAX: usize = 4 << 10;

/// Result of identifying a caller without an `Authorization` header.
pub(crate) enum Seen {
    /// The caller may see pages.
    Met(Caller, Option<RemainingTokens>),
    /// The caller must sign in: the response to send.
    Stranger(Response),
}

/// Identifies a caller without a key in the headers.
pub(crate) async fn see(app: &Arc<App>, headers: &HeaderMap, uri: &Uri) -> Result<Seen, Fault> {
    if let Some(desk) = cookie(headers, DESK).and_then(|cookie| app.desks.of(&cookie)) {
        let keys = app.keys.clone();
        let stopped = |_| Error::Bug("looking up a key was aborted".to_owned());
        let holder = tokio::task::spawn_blocking(move || keys.holder_of(&desk.key_id)).await.map_err(stopped)??;
        if let Some(holder) = holder {
            let left = app.rates.take(&holder.key_id);
            let left = left.map_err(|after| Fault::too_many(after.max(Duration::from_millis(1))))?;
            return Ok(Seen::Met(Caller::Holder(holder), Some(left)));
        }
    }
    let path = uri.path();
    let is_open = path == "/ui/sign-in" || path == "/ui/theme" || path.starts_with("/ui/assets/");
    if !app.needs_key || is_open {
        return Ok(Seen::Met(Caller::Local, None));
    }
    let next = uri.path_and_query().map_or("/", |whole| whole.as_str());
    let to = if next == "/" { "/ui/sign-in".to_owned() } else { format!("/ui/sign-in?next={}", encoded(next)) };
    Ok(Seen::Stranger(see_other(&to)))
}

/// The value of a cookie.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(';'));
    let mut named = all.filter_map(|one| one.trim().split_once('=')).filter(|(known, _)| *known == name);
    named.next().map(|(_, value)| value.to_owned())
}

/// The form token of the caller: of the login session, or of callers that need no key.
pub(super) fn token(app: &App, headers: &HeaderMap) -> String {
    let desk = cookie(headers, DESK).and_then(|cookie| app.desks.of(&cookie));
    desk.map_or_else(|| app.desks.token().to_owned(), |desk| desk.token)
}

/// True if the caller has a login session.
pub(super) fn has_desk(app: &App, headers: &HeaderMap) -> bool {
    cookie(headers, DESK).is_some_and(|cookie| app.desks.of(&cookie).is_some())
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn<'a> {
    theme: Theme,
    next: &'a str,
    fault: Option<&'a str>,
    needs_key: bool,
}

fn shown(app: &App, headers: &HeaderMap, next: &str, fault: Option<&str>) -> Response {
    let status = if fault.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
    let page = SignIn { theme: Theme::of(headers), next, fault, needs_key: app.needs_key }.render();
    match page {
        Ok(page) => (status, Html(page)).into_response(),
        Err(error) => Fault::from(Error::Bug(error.to_string())).into_response(),
    }
}

/// The page to go to after signing in, if it is one of the inspector's; else the home page.
fn own(next: Option<&str>) -> &str {
    next.filter(|next| super::is_page(next.split('?').next().unwrap_or_default())).unwrap_or("/")
}

pub(super) async fn page(State(app): State<Arc<App>>, request: Request) -> Response {
    let asked = Fields::read(request.uri().query().unwrap_or_default().as_bytes());
    shown(&app, request.headers(), own(asked.get("next")), None)
}

async fn sent(app: &App, request: Request) -> Result<(HeaderMap, Fields), Fault> {
    let (parts, body): (_, Body) = request.into_parts();
    if !security::is_from_own_page(&parts.headers) {
        return Err(Fault::forbidden("forms are accepted from pages of this server only"));
    }
    let body = collect_up_to(&parts, body, FORM_BYTES_MAX, app.options.bounds.body_within).await?;
    Ok((parts.headers, Fields::read(&body)))
}

/// Checks a key and sets the session cookie.
pub(super) async fn enter(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
    request: Request,
) -> Response {
    let (headers, form) = match sent(&app, request).await {
        Ok(sent) => sent,
        Err(fault) => return fault.answer(None, Some(&met.request_id)),
    };
    let next = own(form.get("next")).to_owned();
    let key = form.get("key").unwrap_or_default().to_owned();
    let keys = app.keys.clone();
    let holder = tokio::task::spawn_blocking(move || keys.holder(&key)).await;
    let holder = match holder {
        Ok(Ok(holder)) => holder,
        Ok(Err(error)) => return Fault::from(error).answer(None, Some(&met.request_id)),
        Err(_) => return Fault::from(Error::Bug("looking up a key was aborted".to_owned())).answer(None, None),
    };
    let Some(holder) = holder else {
        return shown(&app, &headers, &next, Some("Unknown or revoked key."));
    };
    tracing::info!(key = holder.key_id, request_id = met.request_id, "signed in to the inspector");
    let value = app.desks.enter(&holder.key_id);
    // Over TLS, through a proxy in front, the cookie must never be sent in clear.
    let secure = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()).is_some_and(|o| o.starts_with("https://"));
    let mut response = see_other(&next);
    put_cookie(&mut response, DESK, &value, KEPT_FOR, secure);
    response
}

/// Ends the login session.
pub(super) async fn leave(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
    request: Request,
) -> Response {
    let (headers, form) = match sent(&app, request).await {
        Ok(sent) => sent,
        Err(fault) => return fault.answer(None, Some(&met.request_id)),
    };
    if form.get("token") != Some(token(&app, &headers).as_str()) {
        return frame::wrong_token().answer(None, Some(&met.request_id));
    }
    if let Some(cookie) = cookie(&headers, DESK) {
        app.desks.leave(&cookie);
    }
    let mut response = see_other("/ui/sign-in");
    put_cookie(&mut response, DESK, "", Duration::ZERO, false);
    response
}

/// Sets a cookie that no script can read and no other site can send.
pub(super) fn put_cookie(response: &mut Response, name: &str, value: &str, kept: Duration, secure: bool) {
    let secure = if secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", kept.as_secs());
    if let Ok(value) = HeaderValue::try_from(text) {
        response.headers_mut().append(SET_COOKIE, value);
    }
}

/// Redirects a browser to another page.
pub(super) fn see_other(to: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(value) = HeaderValue::try_from(to) {
        response.headers_mut().insert(LOCATION, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_signs_in_goes_on_to_a_page_of_this_server_only() {
        for (next, to) in [
            (None, "/"),
            (Some("/ui/u/ines/search?q=a"), "/ui/u/ines/search?q=a"),
            (Some("//evil.test"), "/"),
            (Some("https://evil.test/ui/"), "/"),
            (Some("/\\evil.test"), "/"),
            (Some("/memory/ines"), "/"),
        ] {
            assert_eq!(own(next), to, "{next:?}");
        }
    }
}
