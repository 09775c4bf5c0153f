//! Selects the upstream of a request, among the configured ones only.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::options::{Upstream, Wire};

/// Prefix of Quipu's own keys.
pub(super) const OWN_KEY: &str = "qp_";

/// The upstream for a model: the one with the longest matching prefix, else the first one without prefixes.
pub(crate) fn choose<'a>(upstreams: &'a [Upstream], wire: Wire, model: Option<&str>) -> Option<&'a Upstream> {
    let speaks = || upstreams.iter().filter(|one| one.wire == wire);
    let claimed = |one: &Upstream| {
        let claims = one.models.iter().filter(|claim| model.is_some_and(|model| model.starts_with(claim.as_str())));
        claims.map(String::len).max()
    };
    let mut best: Option<(usize, &Upstream)> = None;
    for one in speaks() {
        let length = claimed(one);
        if let Some(length) = length.filter(|length| best.is_none_or(|(best, _)| *length > best)) {
            best = Some((length, one));
        }
    }
    best.map(|(_, one)| one).or_else(|| speaks().find(|one| one.models.is_empty()))
}

/// The URL of a path below an upstream; `None` if the path leads outside it.
pub(crate) fn address(upstream: &Upstream, path: &str, query: Option<&str>) -> Option<reqwest::Url> {
    let climbs = path.split(['/', '\\']).any(|part| {
        let plain = part.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    });
    if climbs || path.to_ascii_lowercase().contains("%2f") || path.to_ascii_lowercase().contains("%5c") {
        return None;
    }
    let base = upstream.base_url.trim_end_matches('/');
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let url = reqwest::Url::parse(&format!("{base}/{}{query}", path.trim_start_matches('/'))).ok()?;
    url.as_str().starts_with(base).then_some(url)
}

/// The key that is sent to an upstream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The caller's, unchanged; none if the caller sent none.
    Callers,
    /// The configured one, because the caller sent a Quipu key.
    Upstreams,
}

/// A secret without its scheme.
pub(super) fn bare(value: &str) -> &str {
    let value = value.trim();
    let scheme = ["Bearer ", "Token "]
        .iter()
        .find(|scheme| value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    scheme.map_or(value, |scheme| value[scheme.len()..].trim())
}

/// Decides which key is sent upstream.
pub(crate) fn key_to_send(headers: &HeaderMap) -> Key {
    let own = |name: HeaderName| {
        headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|value| bare(value).starts_with(OWN_KEY))
    };
    let names = [header::AUTHORIZATION, HeaderName::from_static("x-api-key"), HeaderName::from_static("api-key")];
    let is_own = headers.contains_key("x-memory-key") || names.into_iter().any(own);
    if is_own { Key::Upstreams } else { Key::Callers }
}

impl Upstream {
    /// Replaces the caller's key by this upstream's; false if it has none.
    pub(crate) fn put_key(&self, headers: &mut HeaderMap) -> bool {
        for name in ["authorization", "x-api-key", "api-key"] {
            headers.remove(name);
        }
        let Some(key) = &self.key else { return false };
        let (name, value) = match self.wire {
            Wire::OpenAi => (header::AUTHORIZATION, format!("Bearer {key}")),
            Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.clone()),
        };
        let Ok(mut value) = HeaderValue::try_from(value) else { return false };
        value.set_sensitive(true);
        headers.insert(name, value);
        true
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;
    use crate::options::Placement;

    fn upstream(name: &str, wire: Wire, models: &[&str]) -> Upstream {
        Upstream {
            name: name.to_owned(),
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            wire,
            key: Some("sk-configured".to_owned()),
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            placement: Placement::default(),
        }
    }

    #[test]
    fn the_longest_claim_wins_and_what_nobody_claims_goes_to_the_first_that_claims_nothing() {
        let all = [
            upstream("a", Wire::OpenAi, &["gpt-"]),
            upstream("b", Wire::OpenAi, &[]),
            upstream("c", Wire::OpenAi, &["gpt-5", "o"]),
            upstream("d", Wire::Anthropic, &["claude"]),
        ];
        for (wire, model, expected) in [
            (Wire::OpenAi, Some("gpt-4o"), Some("a")),
            (Wire::OpenAi, Some("gpt-5-mini"), Some("c")),
            (Wire::OpenAi, Some("qwen3"), Some("b")),
            (Wire::OpenAi, None, Some("b")),
            (Wire::Anthropic, Some("claude-x"), Some("d")),
            (Wire::Anthropic, Some("other"), None),
        ] {
            let chosen = choose(&all, wire, model).map(|one| one.name.as_str());
            assert_eq!(chosen, expected, "{wire:?} {model:?}");
        }
    }

    #[test]
    fn a_path_stays_below_its_upstream() {
        let one = upstream("a", Wire::OpenAi, &[]);
        for (path, expected) in [
            ("files", Some("http://127.0.0.1:9/v1/files")),
            ("files/a%20b", Some("http://127.0.0.1:9/v1/files/a%20b")),
            ("/files", Some("http://127.0.0.1:9/v1/files")),
            ("../admin", None),
            ("a/%2e%2E/admin", None),
            ("a/..%2fadmin", None),
            ("a\\..\\admin", None),
        ] {
            assert_eq!(address(&one, path, None).as_ref().map(reqwest::Url::as_str), expected, "{path}");
        }
        assert_eq!(address(&one, "models", Some("a=1")).unwrap().as_str(), "http://127.0.0.1:9/v1/models?a=1");
    }

    #[test]
    fn a_key_of_quipus_is_never_sent_on() {
        for (name, value, expected) in [
            ("authorization", "Bearer sk-own", Key::Callers),
            ("authorization", "Bearer qp_1_secret", Key::Upstreams),
            ("authorization", "bearer qp_1_secret", Key::Upstreams),
            ("authorization", "qp_1_secret", Key::Upstreams),
            ("x-api-key", "qp_1_secret", Key::Upstreams),
            ("x-api-key", "sk-ant-own", Key::Callers),
            ("x-memory-key", "anything", Key::Upstreams),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap());
            assert_eq!(key_to_send(&headers), expected, "{name}: {value}");
            let kept = headers.clone();
            assert!(upstream("a", Wire::OpenAi, &[]).put_key(&mut headers));
            assert_eq!(headers["authorization"], "Bearer sk-configured", "{kept:?}");
            assert!(!headers.contains_key("x-api-key"));
        }
    }
}
