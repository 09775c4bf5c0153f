//! Error responses.

use serde_json::{Value, json};

use super::fault::Fault;
use super::request::{FakeRequest, RequestedFormat};
use super::script::scatter;

/// A response that replaces the requested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";
/// The HTML page that some servers and gateways send instead of an answer.
pub(super) const PAGE: &str =
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";

/// Whether the fault can occur at such a request.
pub(super) fn concerns(fault: Fault, asked: Option<&FakeRequest>) -> bool {
    let format = asked.map_or(RequestedFormat::Text, |asked| asked.format);
    match fault {
        Fault::RejectsFormat400 => format != RequestedFormat::Text,
        Fault::RejectsSchema400 | Fault::RejectsSchema500 => format == RequestedFormat::Schema,
        Fault::RejectsObject400 => format == RequestedFormat::Object,
        Fault::ErrorMidway | Fault::NoEnd => asked.is_some_and(|asked| asked.stream),
        _ => true,
    }
}

fn failure(status: u16, body: &Value) -> Failure {
    Failure { status, kind: JSON, headers: Vec::new(), body: body.to_string() }
}

fn error(status: u16, kind: &str, message: &str) -> Failure {
    failure(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}))
}

/// The response of a status fault; `None` for other faults.
pub(super) fn answer(fault: Fault, seed: u64) -> Option<Failure> {
    let limited = || error(429, "rate_limit_exceeded", "Rate limit reached for requests");
    let after = |wait: &str| Failure { headers: vec![("retry-after", wait.to_owned())], ..limited() };
    let absurd = ["-1", "1000000000", "Thu, 01 Jan 1970 00:00:00 GMT", "soon", "1e309", "99999999999999999999"];
    Some(match fault {
        Fault::RateLimited => after("1"),
        Fault::RateLimitedSilently => limited(),
        Fault::RateLimitedAbsurdly => after(absurd[usize::try_from(scatter(seed, 5) % 6).unwrap_or(0)]),
        Fault::QuotaSpent => {
            error(429, "insufficient_quota", "You exceeded your current quota, please check your plan")
        }
        Fault::Unauthorised401 => error(401, "invalid_api_key", "Incorrect API key provided: sk-***"),
        Fault::Forbidden403 => {
            Failure { status: 403, kind: HTML, headers: Vec::new(), body: PAGE.replace("502", "403") }
        }
        Fault::NoSuchModel404 => error(404, "model_not_found", "The model `fake-model` does not exist"),
        Fault::TooLong400 => error(
            400,
            "context_length_exceeded",
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.",
        ),
        Fault::Unavailable500 => error(500, "server_error", "The server had an error while processing your request"),
        Fault::BadGateway502 => Failure { status: 502, kind: HTML, headers: Vec::new(), body: PAGE.to_owned() },
        Fault::Loading503 => {
            let body = json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}});
            failure(503, &body)
        }
        Fault::Overloaded529 => {
            let body = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
            failure(529, &body)
        }
        Fault::ErrorAsText400 => failure(400, &json!({"error": "something about this request is not liked"})),
        Fault::ErrorIn200 => error(200, "server_error", "upstream provider failed"),
        Fault::RejectsFormat400 => {
            error(400, "invalid_request_error", "response_format is not supported by this model")
        }
        Fault::RejectsSchema400 => error(400, "invalid_request_error", "This response_format type is unavailable now"),
        // llama-cpp-python reports the validation error of its own request type.
        Fault::RejectsSchema500 => failure(
            500,
            &json!({"error": {"message": "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \
                \"Input should be 'text' or 'json_object'\"}]", "type": "internal_server_error"}}),
        ),
        Fault::RejectsObject400 => {
            failure(400, &json!({"error": "'response_format.type' must be 'json_schema' or 'text'"}))
        }
        Fault::Redirects302 => Failure {
            status: 302,
            kind: HTML,
            headers: vec![("location", "http://127.0.0.1:9/elsewhere".to_owned())],
            body: String::new(),
        },
        _ => return None,
    })
}
