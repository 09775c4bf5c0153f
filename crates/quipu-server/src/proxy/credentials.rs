//! Whose credentials a request carries: they go to that vendor's upstream and to no other.
//!
//! `x-api-key` and `anthropic-*` are Anthropic's, `api-key` and `openai-*` are those of OpenAI and of whoever speaks its dialect.
//! `Authorization` is used by both, so its secret is judged by its form, and a form that says nothing by what stands beside it.

use axum::http::{HeaderMap, HeaderName, header};

use crate::options::{Upstream, Wire};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const API_KEY: HeaderName = HeaderName::from_static("api-key");
const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// How Anthropic's keys and tokens begin.
const ANTHROPIC_SECRET: &str = "sk-ant-";
/// How OpenAI's keys begin.
const OPENAI_SECRETS: [&str; 3] = ["sk-proj-", "sk-svcacct-", "sk-admin-"];
/// Stands in each of OpenAI's keys, also in those of the older form.
const OPENAI_MARK: &str = "T3BlbkFJ";
/// Where Anthropic itself is reached, also in OpenAI's dialect.
const ANTHROPIC_HOST: &str = "anthropic.com";

/// True if a request to a path that both vendors have (`/v1/models`) is meant for Anthropic.
pub(crate) fn asks_anthropic(headers: &HeaderMap) -> bool {
    headers.contains_key(ANTHROPIC_VERSION)
        || values(headers, &X_API_KEY).any(|value| !value.starts_with(super::upstream::OWN_KEY))
        || values(headers, &header::AUTHORIZATION).any(|value| vendor(value) == Some(Wire::Anthropic))
}

/// Takes out what belongs to the other vendor than the upstream's.
///
/// # Errors
/// Why the request cannot be passed on: every credential it carries is the other vendor's.
pub(crate) fn for_vendor_of(upstream: &Upstream, headers: &mut HeaderMap) -> Result<(), String> {
    let foreign = foreign_secrets(upstream, headers);
    for name in &foreign {
        headers.remove(name);
    }
    let (beginning, own) = match upstream.wire {
        Wire::OpenAi => ("anthropic-", [header::AUTHORIZATION, API_KEY]),
        Wire::Anthropic => ("openai-", [header::AUTHORIZATION, X_API_KEY]),
    };
    let others: Vec<HeaderName> = headers.keys().filter(|name| name.as_str().starts_with(beginning)).cloned().collect();
    for name in others {
        headers.remove(name);
    }
    match foreign.first() {
        Some(name) if !own.iter().any(|own| headers.contains_key(own)) => {
            let (speaks, wants) = match upstream.wire {
                Wire::OpenAi => ("OpenAI's protocol", "`Authorization: Bearer …`"),
                Wire::Anthropic => ("Anthropic's protocol", "`x-api-key`"),
            };
            Err(format!(
                "this path goes to the upstream {:?}, which speaks {speaks}, and the credential in the header {name} is another \
                 vendor's: it was not sent. Give the upstream's own key in {wants}, or ask the other vendor's path",
                upstream.name
            ))
        }
        _ => Ok(()),
    }
}

/// The headers whose secret is the other vendor's.
fn foreign_secrets(upstream: &Upstream, headers: &HeaderMap) -> Vec<HeaderName> {
    let mut foreign = Vec::new();
    let other_name = match upstream.wire {
        Wire::OpenAi => X_API_KEY,
        Wire::Anthropic => API_KEY,
    };
    if headers.contains_key(&other_name) {
        foreign.push(other_name);
    }
    let own = vendor_of(upstream);
    let is_foreign = |value: &str| match vendor(value) {
        Some(vendor) => vendor != own,
        None => false,
    };
    for name in [X_API_KEY, API_KEY, header::AUTHORIZATION] {
        let is_unclear = || {
            name == header::AUTHORIZATION
                && upstream.wire == Wire::Anthropic
                && values(headers, &name).any(|value| vendor(value).is_none())
                && !names_anthropic_only(headers)
        };
        if !foreign.contains(&name) && (values(headers, &name).any(is_foreign) || is_unclear()) {
            foreign.push(name);
        }
    }
    foreign
}

/// True if a secret in `Authorization` that says nothing of itself can only be meant for Anthropic's protocol: its clients name a
/// version, and send no second key.
fn names_anthropic_only(headers: &HeaderMap) -> bool {
    let names_openai = headers.keys().any(|name| name.as_str().starts_with("openai-"));
    headers.contains_key(ANTHROPIC_VERSION) && !headers.contains_key(X_API_KEY) && !names_openai
}

/// Whose secrets an upstream is sent. Anthropic also answers in OpenAI's dialect.
fn vendor_of(upstream: &Upstream) -> Wire {
    let host = reqwest::Url::parse(&upstream.base_url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let is_anthropic = host.is_some_and(|host| {
        host == ANTHROPIC_HOST || host.strip_suffix(ANTHROPIC_HOST).is_some_and(|rest| rest.ends_with('.'))
    });
    if is_anthropic { Wire::Anthropic } else { upstream.wire }
}

/// Whose secret it is, if its form says so.
fn vendor(secret: &str) -> Option<Wire> {
    if secret.starts_with(ANTHROPIC_SECRET) {
        return Some(Wire::Anthropic);
    }
    let is_openai =
        OPENAI_SECRETS.iter().any(|beginning| secret.starts_with(beginning)) || secret.contains(OPENAI_MARK);
    is_openai.then_some(Wire::OpenAi)
}

/// The secrets in headers of a name, without the scheme before them.
fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default()).map(super::upstream::bare)
}
