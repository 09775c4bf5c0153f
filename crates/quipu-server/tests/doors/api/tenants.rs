//! A key of one user against other users' memories, on every route.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quipu_engine::ports::{LedgerStore, Scope};
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_testkit::postgres_server::{bare_database, server, url};
use quipu_testkit::{MemoryStore, effort, seed};
use serde_json::{Value, json};

use super::rig;
use crate::rig::TestServer;

/// A body for each POST route, which names `otto` wherever a user is named.
fn body(path: &str) -> Value {
    match path.trim_start_matches("/memory/{user_id}/") {
        "/memory/retrieve" => json!({"user_id": "otto", "query": "canary"}),
        "/memory/write" => json!({"user_id": "otto", "facts": [{"p": "likes", "o": "tea"}]}),
        "/memory/profile/version" => {
            json!({"user_id": "otto", "fact_id": "fact_0000000000000", "valid_to": "2026-01-01T00:00:00Z"})
        }
        "/memory/compact" => json!({"user_id": "otto"}),
        "schema/promote" => json!({"candidate": "a"}),
        "events" => json!({"patch": []}),
        "turns" | "sessions/{session_id}/turns" => json!({"messages": [{"role": "user", "content": "hello there"}]}),
        "entries" => json!({"topic": "a", "text": "hello there"}),
        "context" => json!({"query": "canary"}),
        "items/{item_id}" => json!({"pinned": true}),
        "revert" => json!({"since": 0}),
        "pick" => json!({"events": [1], "into": "ines"}),
        "import" => json!({"format": "text", "text": "hello there"}),
        "fork" => json!({"into": "ines9"}),
        "review/{review_id}" => json!({"action": "approve"}),
        "merge" => json!({"from": ["a"], "into": "b"}),
        "retract" => json!({"item_id": "a"}),
        "erase" => json!({"targets": ["1"]}),
        "/keys" => json!({"name": "mine", "scopes": ["admin"], "user_id": "otto"}),
        other => panic!("{other} has no body here: add one"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_another_user_is_told_on_any_route() {
    let rig = rig().await;
    let told = rig.told("otto", "My canary is called Zyxwv.").await;
    rig.told("ines", "I live in Porto.").await;
    let item = told["items"][0].as_str().unwrap();
    let page = rig.get("/openapi.json").await.ok();
    let key = rig.key(&[Scope::Admin], Some("ines"));
    let headers = [("x-api-key", key.as_str())];
    let before = rig.get("/memory/otto").await.ok();
    let mut tried = 0;
    for (path, methods) in page["paths"].as_object().unwrap() {
        if !path.starts_with("/memory") && !path.starts_with("/keys") {
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let sent = matches!(method.as_str(), "POST" | "PATCH").then(|| body(path));
            let filled = |user: &str| {
                path.replace("{user_id}", user)
                    .replace("{item_id}", item)
                    .replace("{session_id}", "s")
                    .replace("{review_id}", "review_0000000000000")
                    .replace("{pack_id}", "pack_x")
                    .replace("{key_id}", "abc")
            };
            let answer = rig.ask(&method, &filled("otto"), &headers, sent.as_ref()).await;
            let shown = String::from_utf8_lossy(&answer.body).into_owned();
            assert_eq!(answer.status, 403, "{method} {path}: {shown}");
            assert!(!shown.contains("Zyxwv") && !shown.contains(item), "{method} {path}: {shown}");
            tried += 1;
            // The refusal is the same for a user who does not exist.
            if path.contains("{user_id}") {
                let nobody = rig.ask(&method, &filled("nobody"), &headers, sent.as_ref()).await;
                let words = |answer: &crate::rig::Answer| answer.json()["error"]["message"].clone();
                assert_eq!((nobody.status, words(&nobody)), (answer.status, words(&answer)), "{method} {path}");
            }
            // Another user's item is unknown in one's own memory.
            if path.contains("{item_id}") {
                let own = rig.ask(&method, &filled("ines"), &headers, sent.as_ref()).await;
                let never = filled("ines").replace(item, "turn_0000000000000");
                let never = rig.ask(&method, &never, &headers, sent.as_ref()).await;
                assert_eq!((own.status, never.status), (404, 404), "{method} {path}");
                let bare = |answer: &crate::rig::Answer, name: &str| {
                    answer.json()["error"]["message"].as_str().unwrap().replace(name, "…")
                };
                assert_eq!(bare(&own, item), bare(&never, "turn_0000000000000"), "{method} {path}");
            }
        }
    }
    assert!(tried >= 35, "{tried} routes");
    // From one's own memory to another user's, and vice versa.
    for (path, sent) in
        [("/memory/ines/pick", json!({"events": [1], "into": "otto"})), ("/memory/ines/fork", json!({"into": "otto2"}))]
    {
        assert_eq!(rig.ask("POST", path, &headers, Some(&sent)).await.refused().0, 403, "{path}");
    }
    let own = rig.ask("POST", "/memory/retrieve", &headers, Some(&json!({"query": "canary Zyxwv"}))).await.ok();
    assert!(!own.to_string().contains("called Zyxwv"), "{own}");
    assert_eq!(rig.ask("GET", "/metrics", &headers, None).await.status, 403);
    assert_eq!(rig.get("/memory/otto").await.ok(), before, "nothing was changed");
}

/// Users of the interleaved calls, and rounds of each.
const USERS: usize = 8;
const ROUNDS: u32 = 12;

/// Every user in turn says something secret and asks in several ways, at the same time as the others.
async fn nobody_sees_another(what: &str, store: Box<dyn LedgerStore>, rounds: u32) {
    let engine = crate::rig::engine_of(store, Arc::new(HashedNgrams::new()), None);
    let rig = Arc::new(TestServer::over(engine, FakeScript::saying("hello"), |_| {}).await);
    let calls = Arc::new(AtomicU64::new(0));
    let mut running = Vec::new();
    for user in (0..USERS).map(|number| format!("user{number}")) {
        let (rig, calls, key) = (rig.clone(), calls.clone(), rig.key(&[Scope::Read, Scope::Write], Some(&user)));
        running.push(tokio::spawn(async move {
            let headers = [("x-api-key", key.as_str())];
            let others: Vec<String> =
                (0..USERS).map(|number| format!("canary-user{number}-")).filter(|word| !word.contains(&user)).collect();
            let ask = async |method: &str, path: &str, body: Option<&Value>| {
                calls.fetch_add(1, Ordering::SeqCst);
                let answer = rig.ask(method, path, &headers, body).await;
                let shown = String::from_utf8_lossy(&answer.body).into_owned();
                let leak = others.iter().find(|word| shown.contains(word.as_str()));
                assert!(leak.is_none(), "{user}, {method} {path}, seed {}: {leak:?} in {shown}", seed());
                (answer.status, shown)
            };
            for round in 0..rounds {
                let own = format!("canary-{user}-{round}");
                let turn = json!({"messages": [{"role": "user", "content": format!("My code word is {own}.")}]});
                let question = json!({"query": "What is my code word?"});
                let another = format!("user{}", (round as usize + 1 + user.len()) % USERS);
                for (method, path, body) in [
                    ("POST", format!("/memory/{user}/turns"), Some(&turn)),
                    ("POST", "/memory/retrieve".to_owned(), Some(&question)),
                    ("POST", format!("/memory/{user}/context"), Some(&question)),
                    ("GET", format!("/memory/{user}/facts"), None),
                    ("GET", format!("/memory/{user}/export"), None),
                    ("GET", format!("/memory/{user}/diff?from=0"), None),
                    ("GET", format!("/memory/{user}/items/nothing"), None),
                ] {
                    let (status, shown) = ask(method, &path, body).await;
                    let is_answer = if path.ends_with("nothing") { status == 404 } else { status == 200 };
                    assert!(is_answer, "{user}, {method} {path}: {status} {shown}");
                    let is_search = path.ends_with("retrieve") || path.ends_with("context");
                    assert!(!is_search || shown.contains(&format!("canary-{user}-")), "{user}, {path}: {shown}");
                }
                if another != user {
                    let (status, shown) = ask("GET", &format!("/memory/{another}/export"), None).await;
                    assert_eq!(status, 403, "{user}: {shown}");
                }
            }
        }));
    }
    for one in running {
        one.await.unwrap();
    }
    println!(
        "tenants, {what}: {} interleaved calls of {USERS} users, 0 leaks, seed {}",
        calls.load(Ordering::SeqCst),
        seed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_users_at_once_never_see_each_other() {
    nobody_sees_another("in memory", Box::new(MemoryStore::new()), effort(ROUNDS)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_users_of_few_connections_never_see_each_other() {
    for connections_max in [1, 8] {
        let store = tokio::task::spawn_blocking(move || {
            let options = PostgresOptions { connections_max, ..PostgresOptions::default() };
            PostgresStore::open(&url(server().port, &bare_database()), options).unwrap()
        });
        let what = format!("PostgreSQL, pool of {connections_max}");
        nobody_sees_another(&what, Box::new(store.await.unwrap()), effort(ROUNDS).div_ceil(4)).await;
    }
}
