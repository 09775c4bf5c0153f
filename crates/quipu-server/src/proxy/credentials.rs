//! Restricts credentials of a request to the vendor they belong to.
//!
//! `x-api-key` and `anthropic-*` belong to Anthropic, `api-key` and `openai-*` to OpenAI and compatible servers.
//! `Authorization` is used by both, so its secret is classified by its form, or else by the other headers.

use axum::http::{HeaderMap, HeaderName, header};

use crate::options::{Upstream, Wire};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const API_KEY: HeaderName = HeaderName::from_static("api-key");
const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// Prefix of Anthropic's keys and tokens.
const ANTHROPIC_SECRET: &str = "sk-ant-";
/// Prefixes of OpenAI's keys.
const OPENAI_SECRETS: [&str; 3] = ["sk-proj-", "sk-svcacct-", "sk-admin-"];
/// Substring of all OpenAI keys, including those of the older form.
const OPENAI_MARK: &str = "T3BlbkFJ";
/// Host of Anthropic, which also offers OpenAI's dialect.
const ANTHROPIC_HOST: &str = "anthropic.com";

/// True if a request to a path of both vendors (`/v1/models`) is meant for Anthropic.
pub(crate) fn asks_anthropic(headers: &HeaderMap) -> bool {
    headers.contains_key(ANTHROPIC_VERSION)
        || values(headers, &X_API_KEY).any(|value| !value.starts_with(super::upstream::OWN_KEY))
        || values(headers, &header::AUTHORIZATION).any(|value| vendor(value) == Some(Wire::Anthropic))
}

/// Removes credentials of vendors other than the upstream's.
///
/// # Errors
/// A message if every credential of the request belongs to another vendor.
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

/// The headers whose secret belongs to another vendor.
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

/// True if a secret in `Authorization` of unknown form must be Anthropic's: clients of its protocol send a version, and
/// no second key.
fn names_anthropic_only(headers: &HeaderMap) -> bool {
    let names_openai = headers.keys().any(|name| name.as_str().starts_with("openai-"));
    headers.contains_key(ANTHROPIC_VERSION) && !headers.contains_key(X_API_KEY) && !names_openai
}

/// The vendor of an upstream. Anthropic's host counts as Anthropic in OpenAI's dialect too.
fn vendor_of(upstream: &Upstream) -> Wire {
    let host = reqwest::Url::parse(&upstream.base_url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let is_anthropic = host.is_some_and(|host| {
        host == ANTHROPIC_HOST || host.strip_suffix(ANTHROPIC_HOST).is_some_and(|rest| rest.ends_with('.'))
    });
    if is_anthropic { Wire::Anthropic } else { upstream.wire }
}

/// The vendor of a secret, if its form identifies one.
fn vendor(secret: &str) -> Option<Wire> {
    if secret.starts_with(ANTHROPIC_SECRET) {
        return Some(Wire::Anthropic);
    }
    let is_openai =
        OPENAI_SECRETS.iter().any(|beginning| secret.starts_with(beginning)) || secret.contains(OPENAI_MARK);
    is_openai.then_some(Wire::OpenAi)
}

/// The secrets in headers of a name, without their scheme.
fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default()).map(super::upstream::bare)
}
