//! Classifies the errors of an endpoint.

use std::time::Duration;

use quipu_engine::ports::ModelError;
use serde_json::Value;

/// Maximum length of a quoted server message, in characters.
const WORDS_MAX: usize = 240;

/// Why an attempt failed, by what can be done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// A retry may help. `unsure`: the JSON mode may be the cause.
    Passing { why: String, after: Option<Duration>, unsure: bool },
    /// The time limit passed before the answer was complete.
    Slow { why: String },
    /// The server does not support the JSON mode. Not `certain` if the server did not say so.
    Format { why: String, certain: bool },
    /// A retry does not help.
    Final(ModelError),
}

impl Failure {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self::Passing { why: why.into(), after: None, unsure: false }
    }
}

/// Classifies a status. `formatted`: the request asked for JSON by a field.
pub(super) fn of_status(status: u16, after: Option<Duration>, body: &str, formatted: bool) -> Failure {
    let words = words(body);
    let lower = body.to_lowercase();
    let says = |any: &[&str]| any.iter().any(|word| lower.contains(word));
    let why = format!("{status}: {words}");
    let about_format = formatted && says(&["response_format", "json_schema", "json_object", "output_config"]);
    match status {
        300..=399 => Failure::Final(ModelError::Invalid(format!("{status}: redirects are not followed"))),
        401 | 403 => Failure::Final(ModelError::Unauthorised(why)),
        402 => Failure::Final(ModelError::OverBudget(why)),
        429 if says(&["insufficient_quota", "exceeded your current quota"]) => {
            Failure::Final(ModelError::OverBudget(why))
        }
        _ if about_format => Failure::Format { why, certain: true },
        408 | 409 | 425 | 429 | 500.. => Failure::Passing { why, after, unsure: formatted && status == 500 },
        404 => Failure::Final(ModelError::Invalid(why)),
        _ if says(&["context_length", "context length", "maximum context", "too long", "too large"]) => {
            Failure::Final(ModelError::Invalid(why))
        }
        _ if formatted => Failure::Format { why, certain: false },
        _ => Failure::Final(ModelError::Invalid(why)),
    }
}

/// The message of an error body, which may be an object, a string or a page, in one short line.
pub(super) fn words(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let found = parsed.as_ref().and_then(|value| {
        let places = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
        places.into_iter().find_map(Value::as_str).map(str::to_owned)
    });
    let text = found.unwrap_or_else(|| without_tags(body));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(WORDS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if text.is_empty() => "no further details".to_owned(),
        None => text,
    }
}

fn without_tags(page: &str) -> String {
    let mut inside = false;
    let keep = |c: char| {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => return c,
            _ => {}
        }
        ' '
    };
    page.chars().take(4096).map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_bodies_of_every_kind_become_one_line() {
        for (body, said) in [
            (r#"{"error":{"message":"Loading model","type":"x"}}"#, "Loading model"),
            (r#"{"error":"'response_format.type' must be 'text'"}"#, "'response_format.type' must be 'text'"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            ("<html><h1>502 Bad\nGateway</h1></html>", "502 Bad Gateway"),
            ("", "no further details"),
        ] {
            assert_eq!(words(body), said);
        }
        assert!(words(&"a".repeat(9_000)).chars().count() <= WORDS_MAX + 1);
    }

    #[test]
    fn a_status_says_what_to_do() {
        let kind = |status: u16, body: &str, formatted: bool| match of_status(status, None, body, formatted) {
            Failure::Passing { .. } | Failure::Slow { .. } => "again",
            Failure::Format { certain: true, .. } => "other format",
            Failure::Format { certain: false, .. } => "perhaps other format",
            Failure::Final(ModelError::Unauthorised(_)) => "key",
            Failure::Final(ModelError::OverBudget(_)) => "quota",
            Failure::Final(_) => "never",
        };
        for (status, body, formatted, expected) in [
            (429, "slow down", true, "again"),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, true, "quota"),
            (500, "oops", true, "again"),
            (500, "('body', 'response_format', 'type')", true, "other format"),
            (529, "overloaded", false, "again"),
            (400, r#"{"error":"'response_format.type' must be 'text'"}"#, true, "other format"),
            (400, "not liked", true, "perhaps other format"),
            (400, "not liked", false, "never"),
            (400, "maximum context length is 4096 tokens", true, "never"),
            (401, "key", true, "key"),
            (403, "<html>", true, "key"),
            (404, "no such model", true, "never"),
            (302, "", true, "never"),
        ] {
            assert_eq!(kind(status, body, formatted), expected, "{status} {body}");
        }
    }
}
