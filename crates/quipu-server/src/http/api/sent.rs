//! Parses JSON bodies, queries and some headers; errors name the offending field.

use std::time::Duration;

use axum::extract::Query;
use axum::http::HeaderMap;
use quipu_engine::Freshness;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::fault::Fault;
use super::frame::ReceivedBody;

/// 2^53. Every whole number below it has one representation as a float.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Parses the body; without one, as an empty object.
pub(super) fn body<B: DeserializeOwned>(sent: &ReceivedBody) -> Result<B, Fault> {
    no_query(sent)?;
    read_body(sent)
}

/// Parses the query and the body.
pub(super) fn query_and_body<Q: DeserializeOwned, B: DeserializeOwned>(sent: &ReceivedBody) -> Result<(Q, B), Fault> {
    Ok((read_query(sent)?, read_body(sent)?))
}

fn read_body<B: DeserializeOwned>(sent: &ReceivedBody) -> Result<B, Fault> {
    let body: &[u8] = if sent.body.is_empty() { b"{}" } else { &sent.body };
    if !sent.body.is_empty() && !is_json(sent) {
        return Err(Fault::unsupported("a body is JSON, sent as Content-Type: application/json").at("Content-Type"));
    }
    as_it_stands(body)
        .or_else(|fault| in_integers(body).and_then(|value| serde_json::from_value(value).ok()).ok_or(fault))
}

fn as_it_stands<B: DeserializeOwned>(body: &[u8]) -> Result<B, Fault> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        wrong(&error.into_inner().to_string(), (path != ".").then_some(path))
    })?;
    reader.end().map_err(|error| wrong(&error.to_string(), None))?;
    Ok(read)
}

/// Rewrites whole floats such as `8.0` as integers, which JSON does not distinguish. `None` if there are none.
fn in_integers(body: &[u8]) -> Option<Value> {
    fn change(value: &mut Value) -> bool {
        match value {
            Value::Array(all) => all.iter_mut().fold(false, |any, one| change(one) | any),
            Value::Object(all) => all.values_mut().fold(false, |any, one| change(one) | any),
            Value::Number(number) => {
                let real =
                    number.as_f64().filter(|real| number.is_f64() && real.fract() == 0.0 && real.abs() < EXACT_MAX);
                let Some(real) = real else { return false };
                *value = Value::from(real as i64);
                true
            }
            _ => false,
        }
    }
    let mut value = serde_json::from_slice(body).ok()?;
    change(&mut value).then_some(value)
}

/// Parses the query.
pub(super) fn query<Q: DeserializeOwned>(sent: &ReceivedBody) -> Result<Q, Fault> {
    no_body(sent)?;
    read_query(sent)
}

fn read_query<Q: DeserializeOwned>(sent: &ReceivedBody) -> Result<Q, Fault> {
    let Query(read) = Query::try_from_uri(&sent.uri).map_err(|rejection| {
        let text = std::error::Error::source(&rejection).map_or_else(|| rejection.to_string(), ToString::to_string);
        // `limit: invalid digit found in string`
        let at = text.split_once(": ").map(|(at, _)| at.to_owned()).filter(|at| !at.contains(' '));
        wrong(&text, at)
    })?;
    Ok(read)
}

/// Rejects a request with a query or a body.
pub(super) fn nothing(sent: &ReceivedBody) -> Result<(), Fault> {
    no_query(sent)?;
    no_body(sent)
}

fn no_query(sent: &ReceivedBody) -> Result<(), Fault> {
    match sent.uri.query() {
        Some(query) if !query.is_empty() => Err(Fault::invalid("this route takes no query").code("unknown_field")),
        _ => Ok(()),
    }
}

fn no_body(sent: &ReceivedBody) -> Result<(), Fault> {
    if sent.body.is_empty() { Ok(()) } else { Err(Fault::invalid("this route takes no body")) }
}

fn is_json(sent: &ReceivedBody) -> bool {
    let kind = sent.content_type.as_ref().and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// The error of a serde message, with the field it concerns.
fn wrong(text: &str, within: Option<String>) -> Fault {
    let named = |beginning: &str| Some(text.split_once(beginning)?.1.split_once('`')?.0.to_owned());
    let (code, field) = match (named("unknown field `"), named("missing field `")) {
        (Some(field), _) => ("unknown_field", Some(field)),
        (None, Some(field)) => ("missing_field", Some(field)),
        (None, None) => ("invalid_request", None),
    };
    let param = match (within, field) {
        // The path of an unknown field names the field itself.
        (Some(path), Some(field)) if path == field || path.ends_with(&format!(".{field}")) => Some(path),
        (Some(path), Some(field)) => Some(format!("{path}.{field}")),
        (path, field) => path.or(field),
    };
    let fault = Fault::invalid(text).code(code);
    match param {
        Some(param) => fault.at(param),
        None => fault,
    }
}

/// Splits a comma-separated list of a query.
pub(super) fn listed(text: Option<&str>) -> Vec<String> {
    let parts = text.unwrap_or_default().split(',').map(str::trim);
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A query without fields.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoQuery {}

/// The header with the version that a memory must have reached.
pub(super) const MIN_VERSION: &str = "X-Memory-Min-Version";
/// The header with how old the server's knowledge of the store may be, in milliseconds.
pub(super) const MAX_STALENESS: &str = "X-Memory-Max-Staleness-Ms";

/// Reads how current the memory must be; a route that uses no memory rejects the headers.
pub(super) fn freshness(headers: &HeaderMap, is_accepted: bool) -> Result<Freshness, Fault> {
    let number = |name: &'static str, what: &str| {
        let Some(value) = headers.get(name) else { return Ok(None) };
        if !is_accepted {
            return Err(Fault::invalid(format!("this route takes no {name}")).at(name));
        }
        let number = value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok());
        number.map(Some).ok_or_else(|| Fault::invalid(format!("{name} is {what}")).at(name))
    };
    Ok(Freshness {
        min_version: number(MIN_VERSION, "the position of an event, such as 12")?,
        max_staleness: Duration::from_millis(number(MAX_STALENESS, "a number of milliseconds")?.unwrap_or(0)),
    })
}
