//! The memory options of a request, and the headers that are not sent upstream.

use quipu_core::source::Role;
use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use serde_json::json;

use crate::rig::{TestServer, said};

const QUESTION: &str = "where do I live?";

#[tokio::test(flavor = "multi_thread")]
async fn each_mode_reads_and_writes_what_it_says() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    rig.remembers("ines", "I live in Porto.");
    let body = json!({"model": "m", "messages": [{"role": "user", "content": QUESTION}]});
    for (mode, reads, writes, status) in [
        (Some("full"), true, true, "ok"),
        (None, true, true, "ok"),
        (Some("readonly"), true, false, "ok"),
        (Some("writeonly"), false, true, "ok"),
        (Some("off"), false, false, "skipped"),
    ] {
        let session = format!("session-{}", mode.unwrap_or("none"));
        let mut headers = vec![("x-memory-user", "ines"), ("x-memory-session", session.as_str())];
        headers.extend(mode.map(|mode| ("x-memory-mode", mode)));
        let answer = rig.chat(&headers, &body).await;
        let sent = rig.last_sent().body;
        assert_eq!(String::from_utf8_lossy(&sent).contains("<memory"), reads, "{mode:?}");
        if !reads {
            assert_eq!(sent, body.to_string().into_bytes(), "{mode:?}");
        }
        assert_eq!(answer.header("x-memory-status"), status, "{mode:?}");
        assert_eq!(answer.header("x-memory-injected"), reads.to_string(), "{mode:?}");
        let expected = said(&[(Role::User, QUESTION), (Role::Assistant, "In Porto.")]);
        assert_eq!(rig.kept("ines", &session), if writes { expected } else { Vec::new() }, "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_in_our_own_headers_is_refused_and_goes_nowhere() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": QUESTION}]});
    for header in [
        ("x-memory-mode", "none"),
        ("x-memory-max-tokens", "many"),
        ("x-memory-max-tokens", "1000000000"),
        ("x-memory-as-of", "whenever"),
        ("x-memory-user", "../ines"),
        ("x-memory-min-version", "3"),
        ("x-memory-max-staleness-ms", "500"),
    ] {
        let answer = rig.chat(&[header], &body).await;
        assert_eq!(answer.status, 400, "{header:?}");
        assert!(answer.json()["error"]["message"].as_str().unwrap().len() > 10, "{header:?}");
    }
    assert_eq!(rig.upstream.requests(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_a_version_and_an_agent_are_honoured() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    rig.remembers("ines", "I live in Lyon.");
    let tokens = async |header: (&str, &str), session: &str| {
        let headers = [("x-memory-user", "ines"), ("x-memory-session", session), ("x-memory-mode", "readonly"), header];
        let body = json!({"model": "m", "messages": [{"role": "user", "content": QUESTION}]});
        let answer = rig.chat(&headers, &body).await;
        (answer.header("x-memory-tokens").parse::<usize>().unwrap(), String::from_utf8(rig.last_sent().body).unwrap())
    };
    let (all, sent) = tokens(("x-memory-max-tokens", "1800"), "a").await;
    assert!(sent.contains("Lyon"), "{sent}");
    let (few, _) = tokens(("x-memory-max-tokens", "100"), "b").await;
    assert!(few < all && few <= 100, "{few} of {all}");
    rig.remembers("ines", "I moved to Porto.");
    let (_, sent) = tokens(("x-memory-as-of", "1"), "c").await;
    assert!(!sent.contains("Porto") && sent.contains("Lyon"), "{sent}");

    let headers = [("x-memory-user", "ines"), ("x-memory-session", "d"), ("x-memory-agent", "Otto")];
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]});
    rig.chat(&headers, &body).await;
    let user = quipu_core::id::UserId::parse("ines").unwrap();
    let options = quipu_engine::ListOptions {
        at: quipu_engine::versions::When::Now,
        session: Some("d".to_owned()),
        kind: None,
        offset: 0,
        limit: 9,
    };
    let items = quipu_engine::list(&rig.engine, &user, &options).unwrap().items;
    let authors: Vec<_> = items.into_iter().map(|item| (item.role, item.author)).collect();
    assert_eq!(authors, [(Role::User, None), (Role::Assistant, Some("Otto".to_owned()))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_ours_or_the_persons_reaches_the_upstream() {
    let rig = TestServer::new(FakeScript::saying("Hello.")).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let headers = [
        ("x-memory-user", "ines"),
        ("x-memory-session", "s"),
        ("x-memory-mode", "full"),
        ("x-memory-agent", "Otto"),
        ("x-openwebui-user-email", "ines@example.com"),
        ("cookie", "a=b"),
        ("x-forwarded-for", "10.0.0.1"),
        ("authorization", "Bearer sk-own"),
        ("openai-organization", "org-1"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ];
    rig.chat(&headers, &body).await;
    let sent = rig.last_sent();
    for name in ["cookie", "x-forwarded-for"] {
        assert_eq!(sent.header(name), None, "{name}");
    }
    let leaked: Vec<_> = sent
        .headers
        .iter()
        .filter(|(name, _)| name.starts_with("x-memory") || name.starts_with("x-openwebui"))
        .collect();
    assert!(leaked.is_empty(), "{leaked:?}");
    assert_eq!(sent.header("authorization"), Some("Bearer sk-own"), "the caller's own key goes through");
    assert_eq!(sent.header("openai-organization"), Some("org-1"));
    assert_eq!(sent.header("traceparent"), Some(headers[9].1));
    assert_eq!(sent.header("host"), Some(rig.upstream.address().to_string().as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_ours_is_replaced_by_the_upstreams() {
    let rig = TestServer::new(FakeScript::saying("Hello.")).await;
    let key = rig.keys.create("a", &[Scope::Read, Scope::Write], None).unwrap().key;
    let bearer = format!("Bearer {key}");
    let (key, bearer) = (key.as_str(), bearer.as_str());
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).to_string();
    for (path, header, upstreams) in [
        ("/v1/chat/completions", ("authorization", bearer), ("authorization", "Bearer sk-of-open")),
        ("/v1/chat/completions", ("x-memory-key", key), ("authorization", "Bearer sk-of-open")),
        ("/v1/embeddings", ("authorization", bearer), ("authorization", "Bearer sk-of-open")),
        ("/v1/messages", ("x-api-key", key), ("x-api-key", "sk-of-anthropic")),
        ("/proxy/open/embeddings", ("authorization", bearer), ("authorization", "Bearer sk-of-open")),
    ] {
        rig.post(path, &[header], chat.clone()).await;
        let sent = rig.last_sent();
        assert_eq!(sent.header(upstreams.0), Some(upstreams.1), "{path}");
        assert!(!sent.headers.iter().any(|(_, value)| value.contains("qp_")), "{:?}", sent.headers);
    }
    let keyless = TestServer::with(
        FakeScript::saying("Hello."),
        std::sync::Arc::new(quipu_models::HashedNgrams::new()),
        |options| {
            options.upstreams[0].key = None;
        },
    )
    .await;
    let key = keyless.keys.create("a", &[Scope::Read, Scope::Write], None).unwrap().key;
    let bearer = format!("Bearer {key}");
    let answer = keyless.post("/v1/chat/completions", &[("authorization", bearer.as_str())], chat).await;
    assert_eq!(answer.status(), 401);
    assert_eq!(keyless.upstream.requests(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_paths_go_where_they_are_configured_to_or_nowhere() {
    let rig = TestServer::new(FakeScript::saying("Hello.")).await;
    for (method, path, status, reached) in [
        ("GET", "/v1/models", 200, Some("/v1/models")),
        ("POST", "/v1/embeddings", 200, Some("/v1/embeddings")),
        ("GET", "/proxy/open/models?limit=2", 200, Some("/v1/models?limit=2")),
        ("GET", "/proxy/anthropic/v1/models", 200, Some("/v1/models")),
        ("POST", "/v1/messages/count_tokens", 404, Some("/v1/messages/count_tokens")),
        ("GET", "/proxy/nobody/models", 404, None),
        ("GET", "/proxy/open/%2e%2e/secret", 404, None),
        ("GET", "/v1/files", 404, None),
        ("GET", "/v1/chat/completions", 405, None),
    ] {
        rig.upstream.rescript(FakeScript::saying("Hello."));
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let answer = rig.client.request(method, rig.url(path)).body("{\"input\":\"a\"}").send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{path}");
        let paths: Vec<String> = rig.upstream.received().into_iter().map(|one| one.path).collect();
        assert_eq!(paths, reached.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_an_application_makes_for_itself_are_left_alone() {
    let rig = TestServer::new(FakeScript::saying("Moving to Porto")).await;
    rig.remembers("ines", "I live in Porto.");
    for body in [
        json!({"model": "m", "messages": [{"role": "user", "content": "### Task:\nGenerate a concise, 3-5 word title with an emoji."}]}),
        json!({"model": "m", "messages": [{"role": "system", "content": "You are a title generator. You output only a title."},
            {"role": "user", "content": "I moved."}]}),
    ] {
        let answer = rig.chat(&[("x-memory-user", "ines"), ("x-memory-session", "s")], &body).await;
        assert_eq!(answer.header("x-memory-status"), "skipped");
        assert_eq!(rig.last_sent().body, body.to_string().into_bytes());
    }
    assert_eq!(rig.kept("ines", "s"), []);
}
