//! Error responses: maps each kind of error to a status, in the shape of each protocol.

use std::time::Duration;

use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use quipu_engine::{Announcement, Error};
use serde_json::json;

use crate::options::Wire;

/// Delay reported in `Retry-After` when the actual one is unknown.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// JSON-RPC codes: an invalid request, and an internal error.
const RPC_INVALID: i32 = -32600;
const RPC_INTERNAL: i32 = -32603;

/// An error response.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    /// The type of the error for programs, in the terms of OpenAI and Anthropic.
    kind: &'static str,
    /// A finer code; the same as `kind` if there is none.
    code: &'static str,
    message: String,
    /// The offending field, parameter or header.
    param: Option<String>,
    retryable: bool,
    /// Delay before the next attempt.
    retry_after: Option<Duration>,
    /// Preview of what would be destroyed, if that has to be confirmed.
    announced: Option<Box<Announcement>>,
    /// True if the connection must be closed, because the end of the request is unknown.
    closes: bool,
}

impl Fault {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            code: kind.trim_end_matches("_error"),
            message: message.into(),
            param: None,
            retryable: false,
            retry_after: None,
            announced: None,
            closes: false,
        }
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Sets the offending field, parameter or header.
    pub(crate) fn at(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }

    /// Says before the message what had happened until then.
    pub(crate) fn preceded_by(self, context: &str) -> Self {
        Self { message: format!("{context}: {}", self.message), ..self }
    }

    /// Replaces the message.
    pub(crate) fn saying(self, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Sets a finer code.
    pub(crate) fn code(self, code: &'static str) -> Self {
        Self { code, ..self }
    }

    /// The key does not permit this.
    pub(crate) fn out_of_scope(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "permission_error", message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error", message).code("unsupported_media_type")
    }

    pub(crate) fn too_many(after: Duration) -> Self {
        let message = format!("too many requests with this key; try again in {} s", seconds(after));
        Self {
            retryable: true,
            retry_after: Some(after),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", message)
        }
    }

    pub(crate) fn busy(after: Duration) -> Self {
        let message = "the server is busy with other requests; try again";
        let fault = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable_error", message).code("busy");
        Self { retryable: true, retry_after: Some(after), ..fault }
    }

    pub(crate) fn forbidden(message: &str) -> Self {
        Self { closes: true, ..Self::new(StatusCode::FORBIDDEN, "permission_error", message) }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// A destructive operation needs the token of its preview; `how` says where to put the token.
    pub(crate) fn unconfirmed(announcement: Announcement, how: &str) -> Self {
        let message = format!("{announcement}{how}");
        let fault = Self::new(StatusCode::PRECONDITION_REQUIRED, "confirmation_required_error", message);
        Self { announced: Some(Box::new(announcement)), ..fault }
    }

    /// The token belongs to another operation, or to another version of the memory.
    pub(crate) fn outdated(announcement: Announcement, how: &str) -> Self {
        let message = format!("the memory has changed since, or the token is for something else; {announcement}{how}");
        let fault = Self::new(StatusCode::PRECONDITION_FAILED, "precondition_failed_error", message);
        Self { announced: Some(Box::new(announcement)), ..fault.code("confirmation_outdated").at("confirm") }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found_error", message)
    }

    pub(crate) fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", "method not allowed on this path")
    }

    pub(crate) fn without_key(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "authentication_error", message)
    }

    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let message = format!("a request has at most {bytes_max} bytes");
        Self { closes: true, ..Self::new(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", message) }
    }

    pub(crate) fn too_slow() -> Self {
        let message = "the request's body did not arrive in time";
        Self { closes: true, ..Self::new(StatusCode::REQUEST_TIMEOUT, "timeout_error", message) }
    }

    pub(crate) fn broken_body() -> Self {
        Self { closes: true, ..Self::invalid("the request's body is incomplete") }
    }

    /// The upstream could not be reached or did not respond.
    pub(crate) fn upstream(name: &str, error: &reqwest::Error) -> Self {
        let (status, what) = if error.is_timeout() {
            (StatusCode::GATEWAY_TIMEOUT, "did not answer in time")
        } else if error.is_connect() {
            (StatusCode::BAD_GATEWAY, "cannot be reached")
        } else {
            (StatusCode::BAD_GATEWAY, "broke off")
        };
        Self { retryable: true, ..Self::new(status, "api_error", format!("the upstream {name:?} {what}")) }
    }

    /// The response in the shape of a protocol; Quipu's own if `None`.
    pub(crate) fn answer(&self, wire: Option<Wire>, request_id: Option<&str>) -> Response {
        let Self { kind, code, message, param, retryable, .. } = self;
        let body = match wire {
            Some(Wire::OpenAi) => json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}),
            Some(Wire::Anthropic) => {
                json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id})
            }
            None => {
                let mut error = json!({"type": kind, "code": code, "message": message, "param": param,
                                       "request_id": request_id, "retryable": retryable});
                if let Some(announced) = &self.announced {
                    error["preview"] = json!(announced);
                    error["confirm"] = json!(announced.confirm);
                }
                json!({"error": error, "detail": message})
            }
        };
        self.with(body.to_string())
    }

    /// The response in the shape of MCP: an error without a request id, because the request was not parsed.
    pub(super) fn answer_mcp(&self) -> Response {
        let code = if self.status.is_server_error() { RPC_INTERNAL } else { RPC_INVALID };
        let error = json!({"code": code, "message": self.message, "data": {"type": self.kind}});
        self.with(json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string())
    }

    /// A response of this status with its headers and a body.
    fn with(&self, body: String) -> Response {
        let Self { status, closes, retry_after, .. } = self;
        let mut response = (*status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(after) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds(*after)));
        }
        if *status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"quipu\""));
        }
        if *closes {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        self.answer(None, None)
    }
}

/// Whole seconds, rounded up.
fn seconds(after: Duration) -> u64 {
    after.as_secs() + u64::from(after.subsec_nanos() > 0)
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let (status, kind) = match &error {
            Error::Invalid(_) => (StatusCode::BAD_REQUEST, "invalid_request_error"),
            Error::Conflict(_) => (StatusCode::CONFLICT, "conflict_error"),
            Error::Stale(_) => (StatusCode::PRECONDITION_FAILED, "precondition_failed_error"),
            Error::NotFound(_) => (StatusCode::NOT_FOUND, "not_found_error"),
            Error::Refused(_) => (StatusCode::UNPROCESSABLE_ENTITY, "refused_error"),
            Error::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable_error"),
            Error::Corrupt(_) => (StatusCode::INTERNAL_SERVER_ERROR, "api_error"),
            Error::Bug(_) => (StatusCode::INTERNAL_SERVER_ERROR, "api_error"),
        };
        let fault = match &error {
            Error::Corrupt(_) => Self::new(status, kind, error.to_string()).code("corrupt"),
            Error::Bug(_) => Self::new(status, kind, error.to_string()).code("bug"),
            _ => Self::new(status, kind, error.to_string()),
        };
        let retryable = matches!(error, Error::Conflict(_) | Error::Unavailable(_));
        Self { retryable, retry_after: retryable.then_some(AGAIN_AFTER), ..fault }
    }
}
