//! Passes requests on unchanged, and the parts that all proxied requests share.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response as Raw, header};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::breaking::sent_before_an_error;
use super::caller::{Caller, RequestContext};
use super::fault::Fault;
use crate::app::App;
use crate::metrics::Proxied;
use crate::options::{Bounds, Upstream, Wire};
use crate::proxy::{Key, address, asks_anthropic, choose, for_client, for_upstream, for_vendor_of, key_to_send};

/// Maximum number of ids in a response header.
const IDS_MAX: usize = 64;

/// The response headers that report what memory did.
#[derive(Debug, Clone)]
pub(super) struct MemoryHeaders {
    pub(super) request_id: String,
    /// `ok`, `skipped`, `degraded` or `error`.
    pub(super) status: &'static str,
    /// Ids of the items in the injected block.
    pub(super) ids: Vec<String>,
    pub(super) is_injected: bool,
    pub(super) tokens: usize,
    /// Delay of the request caused by memory.
    pub(super) latency_ms: f64,
}

impl MemoryHeaders {
    /// Memory was not used.
    pub(super) fn skipped(request_id: String) -> Self {
        Self { request_id, status: "skipped", ids: Vec::new(), is_injected: false, tokens: 0, latency_ms: 0.0 }
    }

    pub(super) fn put_into(&self, headers: &mut HeaderMap) {
        let ids = self.ids.iter().take(IDS_MAX).map(String::as_str).collect::<Vec<_>>().join(",");
        let all = [
            ("x-memory-status", self.status.to_owned()),
            ("x-memory-injected", self.is_injected.to_string()),
            ("x-memory-tokens", self.tokens.to_string()),
            ("x-memory-ids", ids),
            ("x-memory-latency-ms", format!("{:.1}", self.latency_ms)),
            ("x-memory-request-id", self.request_id.clone()),
        ];
        for (name, value) in all {
            // Numbers, words and ids are always valid header values.
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
}

/// Reads the whole body of a request, within its limits.
pub(super) async fn collect(parts: &Parts, body: Body, bounds: &Bounds) -> Result<Bytes, Fault> {
    collect_up_to(parts, body, bounds.body_bytes_max, bounds.body_within).await
}

/// Reads the whole body, at most `most` bytes, within a time limit.
pub(crate) async fn collect_up_to(parts: &Parts, body: Body, most: usize, within: Duration) -> Result<Bytes, Fault> {
    let named = parts.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if named.is_some_and(|named| named > most as u64) {
        return Err(Fault::too_large(most));
    }
    match tokio::time::timeout(within, Limited::new(body, most).collect()).await {
        Err(_) => Err(Fault::too_slow()),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => Err(Fault::too_large(most)),
        Ok(Err(_)) => Err(Fault::broken_body()),
    }
}

/// The caller of a request.
pub(super) fn caller(parts: &Parts) -> Result<Caller, Fault> {
    let met = parts.extensions.get::<RequestContext>();
    let missing = || quipu_engine::Error::Bug("a request came past the door".to_owned());
    Ok(met.ok_or_else(missing)?.caller.clone())
}

/// The headers sent to an upstream, including its key. Credentials of other vendors are removed.
pub(super) fn outgoing(headers: &HeaderMap, upstream: &Upstream) -> Result<HeaderMap, Fault> {
    let mut kept = for_upstream(headers);
    let is_own = key_to_send(headers) == Key::Upstreams;
    if is_own && !upstream.put_key(&mut kept) {
        return Err(Fault::without_key(format!(
            "a Quipu key is not valid for the upstream {:?}, and no key is configured for it",
            upstream.name
        )));
    }
    let checked = for_vendor_of(upstream, &mut kept);
    if is_own {
        // A configured key is always sent, whatever its form.
        upstream.put_key(&mut kept);
        return Ok(kept);
    }
    checked.map_err(Fault::without_key)?;
    Ok(kept)
}

/// Head of the response to the client.
pub(super) fn head(answer: &reqwest::Response, told: &MemoryHeaders) -> Raw<()> {
    let mut raw = Raw::new(());
    *raw.status_mut() = answer.status();
    *raw.headers_mut() = for_client(answer.headers());
    told.put_into(raw.headers_mut());
    raw
}

/// Counts a request that was passed on.
pub(super) fn count(app: &App, upstream: &str, status: u16, memory_status: &'static str) {
    let labels = Proxied { upstream: upstream.to_owned(), status, memory_status };
    app.metrics.proxied.get_or_create(&labels).inc();
}

pub(super) async fn embeddings(State(app): State<Arc<App>>, request: Request) -> Response {
    of_model(app, Wire::OpenAi, "embeddings", request).await
}

pub(super) async fn count_tokens(State(app): State<Arc<App>>, request: Request) -> Response {
    of_model(app, Wire::Anthropic, "v1/messages/count_tokens", request).await
}

/// `/v1/models` exists at both vendors; the credentials of the request select one.
pub(super) async fn models(State(app): State<Arc<App>>, request: Request) -> Response {
    let wire = if asks_anthropic(request.headers()) { Wire::Anthropic } else { Wire::OpenAi };
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let path = match wire {
        Wire::OpenAi => path.trim_start_matches("v1/").to_owned(),
        Wire::Anthropic => path,
    };
    of_model(app, wire, &path, request).await
}

/// Any path below `/proxy/{upstream}/`.
pub(super) async fn named(
    State(app): State<Arc<App>>,
    Path((name, _)): Path<(String, String)>,
    request: Request,
) -> Response {
    let request_id = app.new_request_id();
    let Some(upstream) = app.options.upstreams.iter().find(|one| one.name == name) else {
        let names: Vec<&str> = app.options.upstreams.iter().map(|one| one.name.as_str()).collect();
        let known =
            if names.is_empty() { "none is configured".to_owned() } else { format!("there are: {}", names.join(", ")) };
        return Fault::not_found(format!("there is no upstream {name:?}; {known}")).answer(None, Some(&request_id));
    };
    // The path as written, with its escapes.
    let written = request.uri().path().trim_start_matches("/proxy/");
    let path = written.split_once('/').map_or("", |(_, path)| path).to_owned();
    let (parts, body) = request.into_parts();
    let outcome = match collect(&parts, body, &app.options.bounds).await {
        Ok(body) => pass(&app, upstream, &path, &parts, body, &request_id).await,
        Err(fault) => Err(fault),
    };
    outcome.unwrap_or_else(|fault| refused(&fault, Some(upstream.wire), request_id))
}

/// Passes on a request to the upstream of the model named in its body, if any.
async fn of_model(app: Arc<App>, wire: Wire, path: &str, request: Request) -> Response {
    #[derive(serde::Deserialize)]
    struct Named {
        model: Option<String>,
    }
    let request_id = app.new_request_id();
    let (parts, body) = request.into_parts();
    // The model in the path, empty for the list of all.
    let listed = path.split_once("models").map(|(_, model)| model.trim_start_matches('/'));
    let outcome = async {
        let body = collect(&parts, body, &app.options.bounds).await?;
        let named = || serde_json::from_slice::<Named>(&body).ok().and_then(|named| named.model);
        let model = listed.filter(|model| !model.is_empty()).map(str::to_owned).or_else(named);
        let upstreams = &app.options.upstreams;
        let upstream = choose(upstreams, wire, model.as_deref());
        // A list of models is answered by the first upstream, if there is none for all models.
        let first = || upstreams.iter().find(|one| one.wire == wire && model.is_none() && listed.is_some());
        let upstream = upstream.or_else(first).ok_or_else(|| no_upstream(wire, model.as_deref(), &body))?;
        pass(&app, upstream, path, &parts, body, &request_id).await
    };
    match outcome.await {
        Ok(response) => response,
        Err(fault) => refused(&fault, Some(wire), request_id.clone()),
    }
}

/// The error of a request for which [`choose`] finds no upstream.
pub(super) fn no_upstream(wire: Wire, model: Option<&str>, body: &[u8]) -> Fault {
    let kind = match wire {
        Wire::OpenAi => "openai",
        Wire::Anthropic => "anthropic",
    };
    let whose = match (model, serde_json::from_slice::<serde::de::IgnoredAny>(body)) {
        (Some(model), _) => format!("for the model {model:?}"),
        (None, Err(error)) if !body.is_empty() => return Fault::invalid(format!("the body is not JSON: {error}")),
        (None, _) => "for requests that name no `model`".to_owned(),
    };
    Fault::not_found(format!("no upstream of the kind {kind:?} is configured {whose}; see [[upstream]] in config.toml"))
}

/// An error response with the headers about memory.
pub(super) fn refused(fault: &Fault, wire: Option<Wire>, request_id: String) -> Response {
    let mut response = fault.answer(wire, Some(&request_id));
    MemoryHeaders::skipped(request_id).put_into(response.headers_mut());
    response
}

/// The body of a response that is not read for replies.
pub(super) fn unread(answer: reqwest::Response) -> Body {
    Body::from_stream(sent_before_an_error(answer.bytes_stream()))
}

async fn pass(
    app: &App,
    upstream: &Upstream,
    path: &str,
    parts: &Parts,
    body: Bytes,
    request_id: &str,
) -> Result<Response, Fault> {
    let url = address(upstream, path, parts.uri.query()).ok_or_else(|| Fault::not_found("unknown path"))?;
    let headers = outgoing(&parts.headers, upstream)?;
    let sent = app.client.request(parts.method.clone(), url).headers(headers).body(body).send().await;
    let answer = sent.map_err(|error| {
        let fault = Fault::upstream(&upstream.name, &error);
        count(app, &upstream.name, fault.status.as_u16(), "skipped");
        fault
    })?;
    let told = MemoryHeaders::skipped(request_id.to_owned());
    count(app, &upstream.name, answer.status().as_u16(), told.status);
    let (head, ()) = head(&answer, &told).into_parts();
    Ok(Response::from_parts(head, unread(answer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_an_upstream_is_told_why() {
        for (model, body, status, said) in [
            (Some("gpt-9"), "{\"model\": \"gpt-9\"}", 404, "for the model \"gpt-9\""),
            (None, "{\"messages\": []}", 404, "for requests that name no `model`"),
            (None, "", 404, "for requests that name no `model`"),
            (None, "{\"model\": ", 400, "the body is not JSON"),
        ] {
            let fault = no_upstream(Wire::OpenAi, model, body.as_bytes());
            assert_eq!(fault.status.as_u16(), status, "{body}");
            assert!(fault.message().contains(said), "{}", fault.message());
        }
    }
}
