//! A key of one user against other users' memories, on every route.

use quipu_engine::ports::Scope;
use serde_json::{Value, json};

use super::rig;

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

#[tokio::test(flavor = "multi_thread")]
async fn many_users_at_once_never_see_each_other() {
    let rig = std::sync::Arc::new(rig().await);
    let users: Vec<String> = (0..8).map(|number| format!("user{number}")).collect();
    let mut running = Vec::new();
    for user in users.clone() {
        let (rig, key) = (rig.clone(), rig.key(&[Scope::Read, Scope::Write], Some(&user)));
        running.push(tokio::spawn(async move {
            let headers = [("x-api-key", key.as_str())];
            for round in 0..12 {
                let turn = json!({"messages": [{"role": "user", "content": format!("My code word is canary-{user}-{round}.")}]});
                rig.ask("POST", &format!("/memory/{user}/turns"), &headers, Some(&turn)).await.ok();
                for (path, body) in [
                    ("/memory/retrieve".to_owned(), json!({"query": "What is my code word?"})),
                    (format!("/memory/{user}/context"), json!({"query": "What is my code word?"})),
                ] {
                    let found = rig.ask("POST", &path, &headers, Some(&body)).await.ok().to_string();
                    let canaries = found.split("canary-").skip(1).map(|rest| rest.split('-').next().unwrap().to_owned());
                    let canaries: Vec<String> = canaries.collect();
                    assert!(canaries.iter().all(|seen| *seen == user) && !canaries.is_empty(), "{user}: {found}");
                }
            }
        }));
    }
    for one in running {
        one.await.unwrap();
    }
}
