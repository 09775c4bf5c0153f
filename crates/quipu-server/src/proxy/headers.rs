//! Selects the headers that are forwarded.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Hop-by-hop headers (RFC 9110, section 7.6.1).
const OF_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers for Quipu or another proxy, or about the person; not sent upstream.
const NOT_UPSTREAM: [&str; 17] = [
    "host",
    "content-length",
    "expect",
    "cookie",
    "forwarded",
    "via",
    "origin",
    "referer",
    "x-real-ip",
    "x-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "x-litellm-end-user-id",
    "helicone-user-id",
    "helicone-session-id",
    // The response is read on the way, so it must not be compressed.
    "accept-encoding",
    "priority",
];
const NOT_UPSTREAM_BEGINNINGS: [&str; 6] =
    ["x-memory-", "x-forwarded-", "x-openwebui-", "x-sm-", "x-supermemory-", "sec-"];

/// Headers of a response that client libraries use.
const FOR_CLIENT: [&str; 13] = [
    "content-type",
    "content-encoding",
    "content-length",
    "content-disposition",
    "cache-control",
    "date",
    "etag",
    "retry-after",
    "retry-after-ms",
    "request-id",
    "x-request-id",
    "x-should-retry",
    "www-authenticate",
];
const FOR_CLIENT_BEGINNINGS: [&str; 9] = [
    "x-ratelimit-",
    "ratelimit-",
    "openai-",
    "anthropic-",
    "x-groq-",
    "x-openrouter-",
    "x-stainless-",
    "x-ms-",
    "azureml-",
];

fn is_one(name: &HeaderName, names: &[&str], beginnings: &[&str]) -> bool {
    let name = name.as_str();
    names.contains(&name) || beginnings.iter().any(|beginning| name.starts_with(beginning))
}

/// Hop-by-hop headers named in `Connection`.
fn named_by_connection(headers: &HeaderMap) -> Vec<String> {
    let listed = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    listed.flat_map(|list| list.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect()
}

/// The headers of a request that are sent upstream.
pub(crate) fn for_upstream(headers: &HeaderMap) -> HeaderMap {
    let dropped = named_by_connection(headers);
    let stays = |name: &HeaderName| {
        !is_one(name, &OF_CONNECTION, &[])
            && !is_one(name, &NOT_UPSTREAM, &NOT_UPSTREAM_BEGINNINGS)
            && !dropped.iter().any(|one| one == name.as_str())
    };
    let mut kept: HeaderMap =
        headers.iter().filter(|(name, _)| stays(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    kept.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    kept
}

/// The headers of a response that are sent to the client.
pub(crate) fn for_client(headers: &HeaderMap) -> HeaderMap {
    let stays = |name: &HeaderName| is_one(name, &FOR_CLIENT, &FOR_CLIENT_BEGINNINGS);
    headers.iter().filter(|(name, _)| stays(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap()))
            .collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn upstreams_get_what_is_meant_for_them() {
        let sent = headers(&[
            ("host", "127.0.0.1:7077"),
            ("authorization", "Bearer sk-own"),
            ("anthropic-version", "2026-10-21"),
            ("x-stainless-lang", "python"),
            ("user-agent", "OpenAI/Python"),
            ("content-type", "application/json"),
            ("cookie", "a=b"),
            ("x-forwarded-for", "10.0.0.1"),
            ("x-memory-user", "ines"),
            ("x-memory-key", "qp_1_2"),
            ("x-openwebui-user-email", "ines@example.com"),
            ("connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("te", "trailers"),
            ("accept-encoding", "gzip"),
        ]);
        let kept = for_upstream(&sent);
        assert_eq!(
            names(&kept),
            ["accept-encoding", "anthropic-version", "authorization", "content-type", "user-agent", "x-stainless-lang"]
        );
        assert_eq!(kept["accept-encoding"], "identity");
    }

    #[test]
    fn clients_get_what_their_libraries_read() {
        let came = headers(&[
            ("content-type", "text/event-stream"),
            ("request-id", "req_1"),
            ("x-request-id", "req_2"),
            ("retry-after", "1"),
            ("retry-after-ms", "900"),
            ("x-ratelimit-remaining-tokens", "9"),
            ("anthropic-ratelimit-requests-limit", "5"),
            ("openai-processing-ms", "7"),
            ("set-cookie", "a=b"),
            ("location", "http://elsewhere"),
            ("server", "x"),
            ("access-control-allow-origin", "*"),
            ("x-memory-status", "forged"),
        ]);
        assert_eq!(
            names(&for_client(&came)),
            [
                "anthropic-ratelimit-requests-limit",
                "content-type",
                "openai-processing-ms",
                "request-id",
                "retry-after",
                "retry-after-ms",
                "x-ratelimit-remaining-tokens",
                "x-request-id"
            ]
        );
    }
}
