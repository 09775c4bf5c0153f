//! Keys: scopes, expiry and rate limits.

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use serde_json::{Value, json};
use std::sync::Arc;

use super::rig;
use crate::rig::TestServer;

impl TestServer {
    /// Creates a key with these scopes, for one user or for all.
    pub(crate) fn key(&self, scopes: &[Scope], user: Option<&str>) -> String {
        let user = user.map(|user| UserId::parse(user).unwrap());
        self.keys.create("test", scopes, user.as_ref()).unwrap().key
    }
}

/// A server that requires a key.
async fn guarded() -> TestServer {
    TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| options.needs_key = true)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_opens_by_every_header_and_nothing_else_does() {
    let rig = guarded().await;
    let key = rig.key(&[Scope::Read, Scope::Write], None);
    let (bearer, token) = (format!("Bearer {key}"), format!("token {key}"));
    let body = json!({"messages": [{"role": "user", "content": "I live in Porto."}]});
    for header in
        [("authorization", bearer.as_str()), ("authorization", &token), ("x-api-key", &key), ("x-memory-key", &key)]
    {
        rig.ask("POST", "/memory/ines/turns", &[header], Some(&body)).await.ok();
    }
    let other = format!("{}0{}", &key[..key.len() - 1], "");
    let other = if other == key { format!("{}1", &key[..key.len() - 1]) } else { other };
    let flipped = key.replacen("qp_", "qp_0", 1);
    let huge = format!("qp_{}", "a".repeat(20_000));
    for wrong in [other.as_str(), flipped.as_str(), "qp_1_2", "sk-something", "Bearer", huge.as_str()] {
        let answer = rig.ask("GET", "/memory/ines", &[("authorization", &format!("Bearer {wrong}"))], None).await;
        assert_eq!(answer.refused().0, 401, "{wrong}");
        assert!(answer.header("www-authenticate").starts_with("Bearer"));
    }
    assert_eq!(rig.get("/memory/ines").await.refused(), (401, "authentication".into(), Value::Null));
    assert_eq!(rig.get(&format!("/memory/ines?key={key}")).await.refused().0, 401);
    for path in ["/health/ready", "/version", "/metrics", "/openapi.json", "/v1/models", "/nowhere"] {
        assert_eq!(rig.get(path).await.status, 401, "{path}");
    }
    let proxied = rig.post("/v1/chat/completions", &[("authorization", "Bearer sk-own")], "{}").await;
    assert_eq!(proxied.status(), 401);
    assert_eq!(rig.upstream.requests(), 0);
    assert_eq!(rig.get("/health/live").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_opens_what_it_is_for() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let turn = json!({"messages": [{"role": "user", "content": "x y"}]});
    let (admin, review) = (json!({"targets": ["1"]}), json!({"action": "approve"}));
    for (scopes, opens) in [
        (&[Scope::Read][..], [true, false, false, false]),
        (&[Scope::Write], [false, true, false, false]),
        (&[Scope::Review], [false, false, true, false]),
        (&[Scope::Admin], [true, true, true, true]),
    ] {
        let key = rig.key(scopes, None);
        let headers = [("x-api-key", key.as_str())];
        let statuses = [
            rig.ask("GET", "/memory/ines", &headers, None).await.status,
            rig.ask("POST", "/memory/ines/turns", &headers, Some(&turn)).await.status,
            rig.ask("POST", "/memory/ines/review/none", &headers, Some(&review)).await.status,
            rig.ask("POST", "/memory/nobody/erase", &headers, Some(&admin)).await.status,
        ];
        assert_eq!(statuses.map(|status| status != 403), opens, "{scopes:?}: {statuses:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_made_listed_and_taken_back() {
    let rig = rig().await;
    let wanted = json!({"name": "phone", "scopes": ["read"], "user_id": "ines"});
    let made = rig.send("/keys", wanted).await.ok();
    let (key, id) = (made["key"].as_str().unwrap(), made["id"].as_str().unwrap());
    assert!(key.starts_with(&format!("qp_{id}_")) && made["user_id"] == "ines", "{made}");
    let listed = rig.get("/keys").await.ok();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 1);
    assert!(!listed.to_string().contains(key.rsplit('_').next().unwrap()), "no secret is told twice");
    let asked = async || rig.ask("GET", "/memory/ines", &[("x-api-key", key)], None).await.status;
    assert_eq!(asked().await, 200, "it opens a memory that is not there yet");
    let reader = rig.ask("GET", "/keys", &[("x-api-key", key)], None).await;
    assert_eq!(reader.refused().0, 403);
    let bound = rig.key(&[Scope::Admin], Some("ines"));
    let more = json!({"name": "more", "scopes": ["admin"]});
    let widened = rig.ask("POST", "/keys", &[("x-api-key", &bound)], Some(&more)).await.refused();
    assert_eq!((widened.0, widened.1.as_str()), (403, "user"), "a key of one user makes none for others");
    assert!(rig.ask("DELETE", &format!("/keys/{id}"), &[], None).await.ok()["revoked_at"].is_string());
    assert_eq!(asked().await, 401);
    assert_eq!(rig.ask("DELETE", "/keys/none", &[], None).await.refused().0, 404);
    for body in [
        json!({"name": "", "scopes": ["read"]}),
        json!({"name": "a", "scopes": []}),
        json!({"name": "a", "scopes": ["all"]}),
    ] {
        assert_eq!(rig.send("/keys", body.clone()).await.refused().0, 400, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_a_key_is_bound_to_comes_before_what_a_request_says() {
    let rig = rig().await;
    let key = rig.key(&[Scope::Read, Scope::Write], Some("ines"));
    let body = json!({"model": "m", "user": "otto", "messages": [{"role": "user", "content": "I live in Porto."}]});
    let headers = [("x-memory-key", key.as_str()), ("x-memory-user", "otto"), ("x-memory-session", "s")];
    assert_eq!(rig.chat(&headers, &body).await.status, 200);
    assert_eq!(rig.kept("ines", "s").len(), 2);
    assert!(rig.kept("otto", "s").is_empty());
    let reader = rig.key(&[Scope::Read], Some("ines"));
    let headers = [("x-memory-key", reader.as_str()), ("x-memory-session", "s2")];
    assert_eq!(rig.chat(&headers, &body).await.status, 403, "it may not write");
    let headers = [("x-memory-key", reader.as_str()), ("x-memory-session", "s2"), ("x-memory-mode", "readonly")];
    assert_eq!(rig.chat(&headers, &body).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_may_ask_so_often_and_others_go_on() {
    let rig = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| {
        options.bounds.requests_per_second = 1;
        options.bounds.requests_at_once = 3;
    })
    .await;
    let (one, other) = (rig.key(&[Scope::Read], None), rig.key(&[Scope::Read], None));
    let ask = async |key: &str| rig.ask("GET", "/version", &[("x-api-key", key)], None).await;
    let first = ask(&one).await;
    assert_eq!((first.header("x-ratelimit-limit"), first.header("x-ratelimit-remaining")), ("3", "2"));
    let mut refused = None;
    for _ in 0..50 {
        let answer = ask(&one).await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.unwrap();
    assert_eq!((refused.refused().1.as_str(), refused.header("retry-after")), ("rate_limit", "1"));
    assert_eq!(refused.json()["error"]["retryable"], true);
    assert_eq!(ask(&other).await.status, 200);
    assert_eq!(rig.get("/version").await.status, 200, "who needs no key is not counted");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_a_deleted_user_open_nothing_ever_after() {
    type Delete = fn(&TestServer, &str) -> (&'static str, String);
    let doors: [Delete; 2] =
        [|_, user| ("DELETE", format!("/memory/{user}")), |_, user| ("DELETE", format!("/v2/entities/user/{user}/"))];
    for door in doors {
        let rig = guarded().await;
        let all = rig.key(&[Scope::Admin], None);
        let (own, others) =
            (rig.key(&[Scope::Read, Scope::Write], Some("ines")), rig.key(&[Scope::Read], Some("otto")));
        let as_key = |key: &str| format!("Bearer {key}");
        let body = json!({"messages": [{"role": "user", "content": "I live in Porto."}]});
        // Also through a compatibility interface, which deletes what was added there.
        for user in ["ines", "otto"] {
            let body = json!({"messages": "I live in Porto.", "user_id": user});
            rig.ask("POST", "/v3/memories/add/", &[("authorization", &as_key(&all))], Some(&body)).await.ok();
        }
        rig.ask("GET", "/memory/ines", &[("authorization", &as_key(&own))], None).await.ok();
        // A refused deletion revokes no key.
        let (method, path) = door(&rig, "ines");
        assert_eq!(rig.ask(method, &path, &[("authorization", &as_key(&others))], None).await.status, 403, "{path}");
        rig.ask("GET", "/memory/ines", &[("authorization", &as_key(&own))], None).await.ok();
        let announced = rig.ask(method, &path, &[("authorization", &as_key(&all))], None).await;
        rig.ask("GET", "/memory/ines", &[("authorization", &as_key(&own))], None).await.ok();
        let confirmed = format!("{path}?confirm={}", announced.json()["error"]["confirm"].as_str().unwrap());
        let receipt = rig.ask(method, &confirmed, &[("authorization", &as_key(&all))], None).await.ok();
        assert!(receipt.to_string().contains("\"keys\""), "{receipt}");
        let mine =
            async |key: &str| rig.ask("GET", "/memory/ines", &[("authorization", &as_key(key))], None).await.status;
        assert_eq!(mine(&own).await, 401, "{path}");
        // A new user with the same name is a different one.
        rig.ask("POST", "/memory/ines/turns", &[("authorization", &as_key(&all))], Some(&body)).await.ok();
        assert_eq!((mine(&own).await, mine(&all).await), (401, 200), "{path}");
        assert_eq!(rig.ask("GET", "/memory/otto", &[("authorization", &as_key(&others))], None).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_deleted_on_a_page_has_no_keys_left_either() {
    let rig = rig().await;
    let own = rig.key(&[Scope::Admin], Some("ines"));
    rig.told("ines", "I live in Porto.").await;
    let shown = rig.get("/ui/u/ines/privacy").await;
    let page = String::from_utf8(shown.body).unwrap();
    let field = |name: &str| {
        let at = format!("name=\"{name}\" value=\"");
        page.split(&at).nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("token", &field("token"))
        .append_pair("confirm", &field("confirm"))
        .append_pair("name", "ines")
        .finish();
    let form =
        rig.client.post(rig.url("/ui/u/ines/delete")).header("content-type", "application/x-www-form-urlencoded");
    let sent = form.header("sec-fetch-site", "same-origin").body(body).send().await.unwrap();
    assert_eq!(sent.status(), 200);
    rig.told("ines", "I am another Ines.").await;
    let asked = rig.ask("GET", "/memory/ines", &[("authorization", &format!("Bearer {own}"))], None).await;
    assert_eq!(asked.status, 401);
}
