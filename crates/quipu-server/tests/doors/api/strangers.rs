//! A user without a memory, on every route of the OpenAPI document, so that new routes are covered automatically.

use serde_json::{Value, json};

use super::rig;
use crate::rig::{Answer, TestServer};

/// This name must not appear in responses about other users.
const ANOTHER: &str = "zelda";

/// Path parameters other than the user, with values that do not exist.
pub(crate) const PARTS: [(&str, &str); 8] = [
    ("{user_id}", "nobody"),
    ("{item_id}", "fact_0000000000000"),
    ("{session_id}", "s"),
    ("{review_id}", "review_0000000000000"),
    ("{pack_id}", "pack_x"),
    ("{memory_id}", "nobody~fact_0000000000000"),
    ("{event_id}", "nobody~1-1"),
    ("{kind}/{name}", "user/nobody"),
];

/// Required query parameters.
pub(crate) const QUERIES: [(&str, &str); 5] = [
    ("GET /memory/{user_id}/blame", "path=/location/current"),
    ("GET /memory/{user_id}/diff", "from=0"),
    ("GET /store/items", "namespace=a&key=k&user_id=nobody"),
    ("DELETE /v1/memories", "user_id=nobody"),
    ("GET /v1/ping", "user_id=nobody"),
];

/// Routes that create a memory for a user who has none.
const MAKES: [&str; 11] = [
    "POST /memory/write",
    "POST /memory/{user_id}/entries",
    "POST /memory/{user_id}/events",
    "POST /memory/{user_id}/import",
    "POST /memory/{user_id}/sessions/{session_id}/turns",
    "POST /memory/{user_id}/turns",
    "POST /keys",
    "POST /v1/memories",
    "POST /v3/memories/add",
    "PUT /store/items",
    "PUT /v1/memories/{memory_id}",
];

/// Reads of a single thing, by an id that does not exist.
const NAMED: [&str; 8] = [
    "GET /memory/{user_id}/blame",
    "GET /memory/{user_id}/items/{item_id}",
    "GET /memory/{user_id}/items/{item_id}/why",
    "GET /memory/{user_id}/packs/{pack_id}",
    "GET /memory/{user_id}/sessions/{session_id}",
    "GET /v1/event/{event_id}",
    "GET /v1/memories/{memory_id}",
    "GET /v1/memories/{memory_id}/history",
];

/// Routes that report success although there was nothing to do, as their protocols require.
const DONE_ANYWAY: [&str; 2] = ["DELETE /store/items", "DELETE /v1/memories"];

/// Routes that do as much as there is to do.
const DONE_AS_FAR_AS_IT_GOES: [&str; 1] = ["POST /memory/compact"];

/// Required request bodies.
pub(crate) fn body(route: &str) -> Option<Value> {
    let many = json!({"memories": [{"memory_id": "nobody~fact_0000000000000", "text": "x"}]});
    Some(match route {
        "POST /memory/retrieve" => json!({"user_id": "nobody", "query": "canary"}),
        "POST /memory/compact" => json!({"user_id": "nobody"}),
        "POST /memory/profile/version" => {
            json!({"user_id": "nobody", "fact_id": "fact_0000000000000", "valid_to": "2026-01-01T00:00:00Z"})
        }
        "POST /memory/{user_id}/context" => json!({"query": "canary"}),
        "POST /memory/{user_id}/erase" => json!({"targets": ["1"]}),
        "POST /memory/{user_id}/fork" => json!({"into": "nobody9"}),
        "POST /memory/{user_id}/merge" => json!({"from": ["a"], "into": "b"}),
        "POST /memory/{user_id}/pick" => json!({"events": [1], "into": "nobody9"}),
        "POST /memory/{user_id}/retract" => json!({"item_id": "fact_0000000000000"}),
        "POST /memory/{user_id}/revert" => json!({"since": 0}),
        "POST /memory/{user_id}/review/{review_id}" => json!({"action": "approve"}),
        "POST /memory/{user_id}/schema/promote" => json!({"candidate": "a"}),
        "PATCH /memory/{user_id}/items/{item_id}" => json!({"pinned": true}),
        "POST /v1/feedback" => json!({"memory_id": "nobody~fact_0000000000000", "feedback": "POSITIVE"}),
        "POST /v1/memory-tool" => json!({"command": "view", "path": "/memories", "user_id": "nobody"}),
        "POST /v3/memories" => json!({"filters": {"user_id": "nobody"}}),
        "POST /v3/memories/search" => json!({"query": "canary", "filters": {"user_id": "nobody"}}),
        "POST /store/items/search" => json!({"query": "canary", "user_id": "nobody"}),
        "POST /store/namespaces" => json!({"user_id": "nobody"}),
        "DELETE /store/items" => json!({"namespace": ["a"], "key": "k", "user_id": "nobody"}),
        "PUT /v1/batch" | "DELETE /v1/batch" => many,
        _ => return None,
    })
}

async fn asked(rig: &TestServer, route: &str) -> Answer {
    let (method, path) = route.split_once(' ').unwrap();
    let path = PARTS.iter().fold(path.to_owned(), |path, (part, name)| path.replace(part, name));
    let query = QUERIES.iter().find(|(of, _)| *of == route).map(|(_, query)| format!("?{query}")).unwrap_or_default();
    rig.ask(method, &format!("{path}{query}"), &[], body(route).as_ref()).await
}

/// Every route of ours that concerns a user, with its scope.
async fn routes(rig: &TestServer) -> Vec<(String, String)> {
    let page = rig.get("/openapi.json").await.ok();
    let mut all = Vec::new();
    for (path, methods) in page["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(scope) = operation["x-scope"].as_str() else { continue };
            if !path.starts_with("/keys") {
                all.push((format!("{} {path}", method.to_uppercase()), scope.to_owned()));
            }
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_said_nothing_reads_nothing_and_has_nothing_to_destroy() {
    let rig = rig().await;
    rig.told(ANOTHER, "My canary is called Zyxwv.").await;
    let mut wrong = Vec::new();
    let routes = routes(&rig).await;
    assert!(routes.len() >= 50, "{routes:?}");
    for (route, scope) in &routes {
        let name = route.as_str();
        if MAKES.contains(&name) {
            continue;
        }
        let reads = name.starts_with("GET ") || scope == "read";
        let expected = match (
            reads,
            NAMED.contains(&name) || !(reads || DONE_ANYWAY.contains(&name) || DONE_AS_FAR_AS_IT_GOES.contains(&name)),
        ) {
            (_, true) => 404,
            _ => 200,
        };
        let answer = asked(&rig, name).await;
        let shown = String::from_utf8_lossy(&answer.body).into_owned();
        // The list of all users needs such a key.
        let tells = (shown.contains(ANOTHER) && name != "GET /v1/entities") || shown.contains("Zyxwv");
        if answer.status != expected || tells {
            wrong.push(format!("{name}: {} instead of {expected}: {shown}", answer.status));
        }
    }
    assert!(!rig.knows("nobody"), "asking makes no memory");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), routes.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_none_of_is_empty() {
    let rig = rig().await;
    rig.told(ANOTHER, "My canary is called Zyxwv.").await;
    let core = rig.get("/memory/nobody").await.ok();
    let fields: Vec<&str> = core["document"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!((&core["version"], fields), (&json!(0), vec!["_meta"]), "{core}");
    for list in ["facts", "tasks", "notes", "tenets", "sessions", "topics", "conflicts", "review", "events", "episodes"]
    {
        assert_eq!(rig.get(&format!("/memory/nobody/{list}")).await.ok()["items"], json!([]), "{list}");
    }
    let pack = rig.send("/memory/nobody/context", json!({"query": "Where do I live?"})).await.ok();
    assert_eq!((&pack["citations"], &pack["version"]), (&json!([]), &json!(0)), "{pack}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_who_has_said_nothing_are_empty() {
    let rig = rig().await;
    rig.told(ANOTHER, "My canary is called Zyxwv.").await;
    let mut wrong = Vec::new();
    for page in crate::inspector::pages::OF_A_USER.iter().filter(|page| !page.starts_with("/events/")) {
        let shown = rig.get(&format!("/ui/u/nobody{page}")).await;
        let text = String::from_utf8_lossy(&shown.body).into_owned();
        if shown.status != 200 || text.contains("Zyxwv") {
            wrong.push(format!("{page}: {}", shown.status));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
