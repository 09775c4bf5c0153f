//! Routes × credentials: a credential reaches the vendor it belongs to and no other.

use std::sync::Arc;

use quipu_fake_model::{FakeScript, FakeServer, Received};
use quipu_models::HashedNgrams;
use serde_json::json;

use crate::rig::{Answer, TestServer};

const OPENAI: &str = "sk-proj-of-the-caller";
const ANTHROPIC: &str = "sk-ant-of-the-caller";
const UNCLEAR: &str = "gsk_of-the-caller";
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// A request of a client.
struct Case {
    name: &'static str,
    headers: Vec<(&'static str, String)>,
    /// Expectation on the OpenAI routes: the vendor's secret that arrives, or `None` if the request is refused.
    open: Option<Option<&'static str>>,
    anthropic: Option<Option<&'static str>>,
    /// Which of the two vendors `/v1/models` reaches.
    models: &'static str,
}

fn bearer(secret: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {secret}"))
}

fn cases() -> Vec<Case> {
    let key = |secret: &str| ("x-api-key", secret.to_owned());
    let version = || (VERSION.0, VERSION.1.to_owned());
    let organization = || ("openai-organization", "org-of-the-caller".to_owned());
    let case = |name, headers, open, anthropic, models| Case { name, headers, open, anthropic, models };
    vec![
        case("no key", vec![], Some(None), Some(None), "open"),
        case("OpenAI's client", vec![bearer(OPENAI), organization()], Some(Some(OPENAI)), None, "open"),
        case("another OpenAI-like client", vec![bearer(UNCLEAR)], Some(Some(UNCLEAR)), None, "open"),
        case("Anthropic's client", vec![key(ANTHROPIC), version()], None, Some(Some(ANTHROPIC)), "anthropic"),
        case("a key without a version", vec![key(ANTHROPIC)], None, Some(Some(ANTHROPIC)), "anthropic"),
        case("Anthropic's token", vec![bearer(ANTHROPIC), version()], None, Some(Some(ANTHROPIC)), "anthropic"),
        case("a token alone", vec![bearer(ANTHROPIC)], None, Some(Some(ANTHROPIC)), "anthropic"),
        case(
            "a gateway's token",
            vec![bearer(UNCLEAR), version()],
            Some(Some(UNCLEAR)),
            Some(Some(UNCLEAR)),
            "anthropic",
        ),
        case(
            "both vendors' keys",
            vec![bearer(OPENAI), organization(), key(ANTHROPIC), version()],
            Some(Some(OPENAI)),
            Some(Some(ANTHROPIC)),
            "anthropic",
        ),
        case(
            "an unclear token beside a key",
            vec![bearer(UNCLEAR), key(ANTHROPIC), version()],
            Some(Some(UNCLEAR)),
            Some(Some(ANTHROPIC)),
            "anthropic",
        ),
        case("OpenAI's key where Anthropic's belongs", vec![key(OPENAI), version()], None, None, "anthropic"),
        case("OpenAI's key and a version", vec![bearer(OPENAI), version()], Some(Some(OPENAI)), None, "anthropic"),
        case(
            "an organization and a version",
            vec![bearer(UNCLEAR), organization(), version()],
            Some(Some(UNCLEAR)),
            None,
            "anthropic",
        ),
    ]
}

/// Credentials of the other vendor that arrived at an upstream.
fn foreign(kind: &str, sent: &Received) -> Vec<String> {
    let is_foreign = |(name, value): &&(String, String)| match kind {
        "open" => name == "x-api-key" || name.starts_with("anthropic-") || value.contains(ANTHROPIC),
        _ => name == "api-key" || name.starts_with("openai-") || value.contains(OPENAI),
    };
    let all = sent.headers.iter().filter(|header| is_foreign(header) || header.0 == "cookie");
    all.map(|(name, value)| format!("{name}: {value}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_reaches_its_own_vendor_and_nobody_else() {
    // The upstream of the test server is the OpenAI one.
    let anthropic = FakeServer::start(FakeScript::saying("Hello.")).unwrap();
    let origin = anthropic.origin();
    let rig = TestServer::with(FakeScript::saying("Hello."), Arc::new(HashedNgrams::new()), |options| {
        options.upstreams[1].base_url = origin;
    })
    .await;
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let said = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]});
    let routes = [
        ("POST", "/v1/chat/completions", Some(&chat), "open"),
        ("POST", "/v1/responses", Some(&chat), "open"),
        ("POST", "/v1/embeddings", Some(&chat), "open"),
        ("GET", "/proxy/open/models", None, "open"),
        ("POST", "/v1/messages", Some(&said), "anthropic"),
        ("POST", "/v1/messages/count_tokens", Some(&said), "anthropic"),
        ("GET", "/proxy/anthropic/v1/models", None, "anthropic"),
        ("GET", "/v1/models", None, "models"),
        ("GET", "/v1/models/m", None, "models"),
    ];
    for case in cases() {
        for (method, path, body, kind) in routes {
            let kind = if kind == "models" { case.models } else { kind };
            let before = (rig.upstream.requests(), anthropic.requests());
            let mut headers: Vec<(&str, &str)> =
                case.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            headers.push(("cookie", "session=1"));
            let answer = rig.ask(method, path, &headers, body).await;
            let after = (rig.upstream.requests(), anthropic.requests());
            let what = format!("{} at {path}", case.name);
            let expected = if kind == "open" { case.open } else { case.anthropic };
            let Some(secret) = expected else {
                assert_eq!((answer.status, after), (401, before), "{what}");
                assert_refusal(&answer, kind, &what);
                continue;
            };
            let (asked, sent) = match kind {
                "open" => ((before.0 + 1, before.1), &rig.upstream),
                _ => ((before.0, before.1 + 1), &anthropic),
            };
            assert_eq!(after, asked, "{what}: {}", String::from_utf8_lossy(&answer.body));
            let sent = sent.received().pop().unwrap();
            assert_eq!(foreign(kind, &sent), Vec::<String>::new(), "{what}");
            let arrived = ["authorization", "x-api-key"].into_iter().find_map(|name| sent.header(name));
            assert_eq!(arrived.map(|value| value.trim_start_matches("Bearer ")), secret, "{what}");
        }
    }
}

/// The refusal has the shape that the vendor's client expects, and says what to do.
fn assert_refusal(answer: &Answer, kind: &str, what: &str) {
    let body = answer.json();
    assert_eq!(body["type"] == "error", kind == "anthropic", "{what}: {body}");
    assert_eq!(body["error"]["type"], "authentication_error", "{what}");
    assert!(body["error"]["message"].as_str().unwrap().contains("it was not sent"), "{what}: {body}");
}
