//! What holds on every route: errors, bodies, versions, slashes, and the page that describes it all.

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
    // More than is borne is refused by what its head says; nobody waits for the rest.
    let head = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 9000000\r\n\r\n", rig.addr);
    let mut stream = TcpStream::connect(rig.addr).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("request_too_large"), "{answer}");
    assert_eq!(rig.get("/memory/ines").await.refused().0, 404, "nothing was recorded");
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
    // There is nothing yet, and a condition that does not hold makes no memory.
    assert_eq!(rig.ask("POST", path, &on("7"), Some(&patch("Lyon"))).await.refused().0, 412);
    assert_eq!(rig.get("/memory/ines").await.refused().0, 404);
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
    // Several events follow from one turn: the condition is on what was there before.
    rig.ask("POST", "/memory/ines/turns", &on("2"), Some(&turn)).await.ok();
    // A route that cannot keep a promise does not make it.
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
    // Every reference leads somewhere.
    let text = page.to_string();
    for name in text.split("#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(page["components"]["schemas"].get(name).is_some(), "{name}");
    }
    insta::assert_snapshot!(described.into_iter().collect::<Vec<_>>().join("\n"));
}
