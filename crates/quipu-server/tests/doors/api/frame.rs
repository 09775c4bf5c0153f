//! Behaviour shared by all routes: errors, bodies, versions, trailing slashes, and the OpenAPI document.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::rig;
use crate::rig::Answer;

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_refused_with_its_place() {
    let rig = rig().await;
    let path = "/memory/ines/turns";
    let good = json!({"messages": [{"role": "user", "content": "hello"}]}).to_string();
    let plain = [("content-type", "text/plain")];
    let zipped = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let long = format!("{{\"messages\": [{}0]}}", "0,".repeat(1_200_000));
    for (headers, body, status, code) in [
        (&plain[..], good.as_str(), 415, "unsupported_media_type"),
        (&zipped[..], good.as_str(), 415, "unsupported_media_type"),
        (&zipped[..1], "{", 400, "invalid_request"),
        (&zipped[..1], "[]", 400, "invalid_request"),
        (&zipped[..1], "{\"messages\": []} x", 400, "invalid_request"),
        (&zipped[..1], deep.as_str(), 400, "invalid_request"),
        (&zipped[..1], long.as_str(), 400, "invalid_request"),
        (&zipped[..1], "", 400, "missing_field"),
    ] {
        let mut request = rig.client.post(rig.url(path)).body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = Answer::of(request.send().await.unwrap()).await;
        let shown = &body[..body.len().min(40)];
        let refused = answer.refused();
        assert_eq!((refused.0, refused.1.as_str()), (status, code), "{shown}");
    }
    // A body that is too large is rejected by its head, before it arrives.
    let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 9000000\r\n\r\n", rig.addr);
    let mut stream = TcpStream::connect(rig.addr).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("request_too_large"), "{answer}");
    assert_eq!(rig.get("/memory/ines").await.ok()["version"], 0, "nothing was recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_have_a_name_and_paths_a_slash() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let named = rig.ask("GET", "/memory/ines/", &[("x-request-id", "mine-1")], None).await;
    assert_eq!((named.status, named.header("x-request-id")), (200, "mine-1"));
    let long = "x".repeat(200);
    for wrong in ["two words", long.as_str()] {
        let answer = rig.ask("GET", "/memory/ines", &[("x-request-id", wrong)], None).await;
        assert!(answer.header("x-request-id").starts_with("req_"), "{wrong}");
    }
    let body = json!({"query": "Porto"});
    assert_eq!(rig.ask("POST", "/memory/ines/context/", &[], Some(&body)).await.status, 200);
    assert_eq!(rig.get("/nowhere").await.refused(), (404, "not_found".into(), Value::Null));
    assert_eq!(rig.ask("DELETE", "/memory/ines/facts", &[], None).await.refused().0, 405);
    for user in ["..", "a%2Fb", "%00", "-rf", "caf%C3%A9", "%FF"] {
        let status = rig.get(&format!("/memory/{user}/facts")).await.status;
        assert!(status == 400 || status == 404, "{user}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_holds_or_nothing_happens() {
    let rig = rig().await;
    let patch = |city: &str| json!({"patch": [{"op": "add", "path": "/uncategorized", "value": {"city": city}}]});
    let on = |version: &'static str| [("if-match", version)];
    let path = "/memory/ines/events";
    // There is no memory yet, and a failed precondition creates none.
    assert_eq!(rig.ask("POST", path, &on("7"), Some(&patch("Lyon"))).await.refused().0, 412);
    assert!(!rig.knows("ines"));
    rig.ask("POST", path, &on("0"), Some(&patch("Lyon"))).await.ok();
    let stale = rig.ask("POST", path, &on("\"0\""), Some(&patch("Rome"))).await.refused();
    assert_eq!(stale, (412, "precondition_failed".into(), Value::Null));
    rig.ask("POST", path, &on("\"1\""), Some(&patch("Porto"))).await.ok();
    assert_eq!(rig.get("/memory/ines").await.ok()["document"]["uncategorized"]["city"], "Porto");
    let turn = json!({"messages": [{"role": "user", "content": "I live in Porto."}]});
    for (path, body) in [
        ("/memory/ines/turns", turn.clone()),
        ("/memory/ines/entries", json!({"topic": "a", "text": "b"})),
        ("/memory/ines/revert", json!({"events": [1]})),
        ("/memory/ines/erase", json!({"targets": ["1"]})),
    ] {
        assert_eq!(rig.ask("POST", path, &on("1"), Some(&body)).await.refused().0, 412, "{path}");
    }
    assert_eq!(rig.ask("DELETE", "/memory/ines", &on("1"), None).await.refused().0, 412);
    // One turn yields several events; the precondition concerns the version before them.
    rig.ask("POST", "/memory/ines/turns", &on("2"), Some(&turn)).await.ok();
    // A route without support for a precondition rejects it.
    let fork = json!({"into": "otto"});
    assert_eq!(rig.ask("POST", "/memory/ines/fork", &on("2"), Some(&fork)).await.refused().2, "If-Match");
    let keyed = [("idempotency-key", "k")];
    assert_eq!(rig.ask("POST", "/memory/ines/fork", &keyed, Some(&fork)).await.refused().2, "Idempotency-Key");
    assert_eq!(rig.ask("POST", path, &on("new"), Some(&patch("x"))).await.refused().2, "If-Match");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_describes_every_route() {
    let rig = rig().await;
    let page = rig.get("/openapi.json").await.ok();
    assert_eq!(page["openapi"], "3.1.0");
    let mut described = BTreeSet::new();
    for (path, methods) in page["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert(format!("{} {path}", method.to_uppercase()));
            assert!(operation["summary"].is_string() && operation["responses"].is_object(), "{method} {path}");
        }
    }
    let router = include_str!("../../../src/http/router.rs");
    let beside = router.split(".route(\"").skip(1).map(|line| line.split('"').next().unwrap());
    for path in beside.filter(|path| !path.contains("{*")) {
        assert!(page["paths"].get(path).is_some(), "{path} is not described");
    }
    // Every reference can be resolved.
    let text = page.to_string();
    for name in text.split("#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(page["components"]["schemas"].get(name).is_some(), "{name}");
    }
    insta::assert_snapshot!(described.into_iter().collect::<Vec<_>>().join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_places_and_methods_are_taken_as_they_are_meant() {
    let rig = rig().await;
    let told = rig.told("ines", "I live in Porto.").await;
    // 8.0 is an integer in JSON, and invalid wherever 8 is.
    let asked = json!({"user_id": "ines", "query": "Porto", "K": 8.0});
    let found = rig.send("/memory/retrieve", asked).await.ok();
    assert!(!found["profile"].as_array().unwrap().is_empty(), "{found}");
    for (field, value) in [("K", json!(8.5)), ("K", json!(0.0)), ("K", json!(1e300)), ("budget", json!(-1.0))] {
        let asked = json!({"user_id": "ines", "query": "Porto", field: value});
        assert_eq!(rig.send("/memory/retrieve", asked).await.refused().0, 400, "{field}: {value}");
    }
    let item = format!("/memory/ines/items/{}", told["items"][0].as_str().unwrap());
    rig.ask("PATCH", &item, &[], Some(&json!({"rating": 1.0}))).await.ok();
    // Values of a patch belong to the user and stay as written.
    let patch = json!({"patch": [{"op": "add", "path": "/uncategorized", "value": {"score": 8.0}}]});
    rig.send("/memory/ines/events", patch).await.ok();
    let core = rig.get("/memory/ines").await.ok();
    assert!(core["document"]["uncategorized"]["score"].is_f64(), "{core}");
    // An unknown id is a 404; an empty one is an invalid request.
    assert_eq!(rig.get("/memory/ines/facts?after=fact_0000000000000").await.refused().0, 404);
    assert_eq!(rig.get("/memory/ines/packs/pack_0").await.refused().0, 404);
    assert_eq!(rig.send("/memory/ines/pick", json!({"events": [], "into": "otto"})).await.refused().2, "events");
    assert_eq!(rig.get("/memory/otto").await.ok()["version"], 0, "nothing was made");
    assert_eq!(rig.send("/memory/ines/fork", json!({"into": "ines"})).await.refused().2, "into");
    let left = [("last-event-id", "x")];
    assert_eq!(rig.ask("GET", "/memory/ines/events", &left, None).await.refused().2, "Last-Event-ID");
    let other = rig.ask("PUT", "/memory/ines/items/x", &[], None).await;
    assert_eq!((other.status, other.header("allow")), (405, "GET,HEAD,PATCH"));
    let many = vec![json!({"text": "x"}); 501];
    let write = json!({"user_id": "ines", "reflective": many});
    assert_eq!(rig.send("/memory/write", write).await.refused().0, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_require_a_version() {
    let rig = rig().await;
    let turn = json!({"messages": [{"role": "user", "content": "I live in Porto."}]});
    let seq = rig.send("/memory/ines/turns", turn.clone()).await.ok()["position"].as_u64().unwrap();
    let (reached, far) = (seq.to_string(), (seq + 100).to_string());
    let needs =
        |version: &str| [("x-memory-min-version", version.to_owned()), ("x-memory-max-staleness-ms", "500".to_owned())];
    let retrieve = json!({"user_id": "ines", "query": "Where do I live?"});
    for (method, path, body) in [
        ("GET", "/memory/ines", None),
        ("GET", "/memory/ines/facts", None),
        ("GET", "/memory/ines/verify", None),
        ("POST", "/memory/retrieve", Some(&retrieve)),
        ("POST", "/memory/ines/turns", Some(&turn)),
    ] {
        let ask = |version: &str| {
            let headers = needs(version);
            let rig = &rig;
            async move {
                let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                rig.ask(method, path, &headers, body).await
            }
        };
        ask(&reached).await.ok();
        assert_eq!(ask(&far).await.refused(), (412, "precondition_failed".into(), Value::Null), "{path}");
        assert_eq!(ask("now").await.refused().2, "X-Memory-Min-Version", "{path}");
    }
    // Neither the keys nor a stream have a version.
    let header = [("x-memory-min-version", "1")];
    assert_eq!(rig.ask("GET", "/keys", &header, None).await.refused().2, "X-Memory-Min-Version");
    let streamed = [("x-memory-min-version", "1"), ("accept", "text/event-stream")];
    assert_eq!(rig.ask("GET", "/memory/ines/events", &streamed, None).await.refused().2, "X-Memory-Min-Version");
}

/// Clients are generated from the document: it lists every status of a route and exactly the fields it accepts.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_says_what_is_taken_and_answered() {
    let rig = rig().await;
    let page = rig.get("/openapi.json").await.ok();
    let of = |verb: &str, path: &str| page["paths"][path][verb].clone();
    let statuses =
        |operation: &Value| -> Vec<String> { operation["responses"].as_object().unwrap().keys().cloned().collect() };
    let turns = of("post", "/memory/{user_id}/turns");
    for status in ["200", "400", "401", "403", "404", "408", "409", "412", "413", "415", "422", "429", "500", "503"] {
        assert!(statuses(&turns).iter().any(|one| one == status), "{status}");
    }
    assert!(!statuses(&of("get", "/memory/{user_id}/facts")).iter().any(|one| one == "422"));
    assert!(!statuses(&of("get", "/keys")).iter().any(|one| one == "412"));
    let headers = |operation: &Value| -> Vec<String> {
        let all = operation["parameters"].as_array().unwrap().iter().filter(|one| one["in"] == "header");
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(headers(&of("get", "/memory/{user_id}/facts")), ["X-Memory-Min-Version", "X-Memory-Max-Staleness-Ms"]);
    assert_eq!(headers(&of("get", "/keys")), [""; 0]);
    assert_eq!(turns["requestBody"]["required"], true);
    assert_eq!(of("post", "/memory/compact")["requestBody"]["required"], false);
    let query = of("get", "/memory/{user_id}/facts")["parameters"].clone();
    let limit = query.as_array().unwrap().iter().find(|one| one["name"] == "limit").unwrap().clone();
    assert_eq!((&limit["schema"]["type"], &limit["schema"]["maximum"]), (&json!("integer"), &json!(500)), "{limit}");
    let user = turns["parameters"][0]["schema"]["pattern"].clone();
    assert!(user.as_str().unwrap().starts_with("^[A-Za-z0-9]"), "{user}");
    // Operation ids are unique.
    let ids: Vec<String> = page["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|verbs| {
            verbs.as_object().unwrap().values().filter_map(|one| one["operationId"].as_str().map(str::to_owned))
        })
        .collect();
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
}

/// Every documented field of an item to write is read.
#[tokio::test(flavor = "multi_thread")]
async fn items_have_the_fields_the_page_says() {
    let rig = rig().await;
    let page = rig.get("/openapi.json").await.ok();
    let full = json!({
        "facts": [{"subject": "user", "predicate": "works_as", "object": "baker", "text": "I am a baker.", "valid_from": "2020-01-01T00:00:00Z",
                   "valid_to": null, "confidence_base": 0.9, "qualifiers": {"since": "2020"}, "domain": "work", "topic": "bread",
                   "tags": ["flour"], "links": []}],
        "reflective": [{"text": "Bread takes time.", "origin": "rule", "confidence_base": 0.8, "tags": ["bread"]}],
        "tasks": [{"title": "Buy flour", "description": "Rye.", "kind": "task", "status": "active", "priority": 8,
                   "due": "2030-01-01T00:00:00Z", "created_at": "2029-12-01", "tags": ["bread"], "links": [],
                   "attempts": [{"approach": "the mill", "outcome": "closed", "successful": false}]}],
        "tenets": [{"kind": "value", "text": "Patience first.", "evidence": [], "domain": "work", "topic": "bread"}],
    });
    for (list, schema) in
        [("facts", "FactInput"), ("reflective", "NoteInput"), ("tasks", "TaskInput"), ("tenets", "TenetInput")]
    {
        let described: BTreeSet<&String> =
            page["components"]["schemas"][schema]["properties"].as_object().unwrap().keys().collect();
        let sent: BTreeSet<&String> = full[list][0].as_object().unwrap().keys().collect();
        assert_eq!(sent, described, "{schema}");
        // A wrong type is reported for every field, so each of them is read.
        for field in described {
            let mut wrong = full.clone();
            wrong["user_id"] = json!("ines");
            wrong[list][0][field] = json!({"neither": ["this", "nor that"]});
            assert_eq!(rig.send("/memory/write", wrong).await.refused().0, 400, "{schema}.{field}");
        }
    }
    let mut full = full;
    full["user_id"] = json!("ines");
    full["actor"] = json!("user");
    assert_eq!(rig.send("/memory/write", full).await.ok()["accepted"].as_array().unwrap().len(), 4);
}
