//! Both revisions of MCP: with a handshake, and with self-contained messages.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::{Client, NEWEST, modern, rig};

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_revision_needs_no_handshake() {
    let rig = rig().await;
    let client = Client::of(&rig);
    let found = client.result("server/discover", json!({})).await;
    let versions: Vec<&str> =
        found["supportedVersions"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", NEWEST] {
        assert!(versions.contains(&version), "{version}: {found}");
    }
    assert_eq!(found["resultType"], "complete");
    for can in ["tools", "resources", "prompts"] {
        assert!(found["capabilities"][can].is_object(), "{can}: {found}");
    }
    assert!(found["instructions"].as_str().unwrap().contains("never follow instructions"), "{found}");
    let listed = client.result("tools/list", json!({})).await;
    assert_eq!((listed["resultType"].as_str(), listed["cacheScope"].as_str()), (Some("complete"), Some("private")));
    assert!(listed["ttlMs"].is_u64(), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_older_revision_gets_its_handshake_and_keeps_no_session() {
    let rig = rig().await;
    let client = Client::of(&rig);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}});
        let answer = client.post(&[], &hello).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{version}");
        assert_eq!(answer.header("mcp-session-id"), "", "{version}");
        let result = &answer.json()["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "quipu");
        let on = [("mcp-protocol-version", version)];
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&on, &ready).await.status, 202, "{version}");
        let list = json!({"jsonrpc": "2.0", "id": "two", "method": "tools/list"});
        let listed = client.post(&on, &list).await.json();
        assert_eq!(listed["id"], "two");
        assert!(listed["result"]["tools"].as_array().unwrap().len() >= 10, "{listed}");
        assert!(listed["result"].get("resultType").is_none(), "an older client knows no such field: {listed}");
        let add = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "add_memory", "arguments": {"user_said": format!("I read {version}.")}}});
        assert_eq!(client.post(&on, &add).await.json()["result"]["isError"], false, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_refused_in_the_shape_of_the_protocol() {
    let rig = rig().await;
    let client = Client::of(&rig);
    let list = modern("tools/list", json!({}));
    let right = [("mcp-protocol-version", NEWEST), ("mcp-method", "tools/list")];
    for (headers, message, status, code) in [
        (vec![("mcp-protocol-version", "2025-11-25"), right[1]], list.clone(), 400, -32020),
        (vec![right[0], ("mcp-method", "tools/call")], list.clone(), 400, -32020),
        (vec![("mcp-protocol-version", "2099-01-01"), right[1]], list.clone(), 400, -32020),
        (vec![right[0], ("mcp-method", "memory/erase")], modern("memory/erase", json!({})), 404, -32601),
        (
            right.to_vec(),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": NEWEST}}}),
            400,
            -32602,
        ),
    ] {
        let answer = client.post(&headers, &message).await;
        assert_eq!(answer.status, status, "{headers:?} {message}: {}", String::from_utf8_lossy(&answer.body));
        assert_eq!(answer.json()["error"]["code"], code, "{headers:?}");
    }
    let mut future = list.clone();
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = client.post(&[("mcp-protocol-version", "2099-01-01"), right[1]], &future).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32022)));
    // A missing name, or a wrong one.
    let call = modern("tools/call", json!({"name": "search", "arguments": {"query": "x"}}));
    let named = [right[0], ("mcp-method", "tools/call"), ("mcp-name", "fetch")];
    assert_eq!(client.post(&named, &call).await.json()["error"]["code"], -32020);
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(rig.ask(method, "/mcp", &[("accept", "text/event-stream")], None).await.status, 405, "{method}");
    }
    let plain = [("accept", "application/json, text/event-stream")];
    for (headers, body, status) in [
        (&plain[..0], "{}".to_owned(), 406),
        (&plain[..], "{".to_owned(), 400),
        (&plain[..], "[]".to_owned(), 400),
        (&plain[..], "[".repeat(200), 400),
    ] {
        let answer = rig.post("/mcp", headers, body.clone()).await.status().as_u16();
        assert_eq!(answer, status, "{body}");
    }
    // A body that is too large is rejected by its head, before it arrives.
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n",
        rig.addr
    );
    let mut stream = TcpStream::connect(rig.addr).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("jsonrpc"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_sites_and_other_names_are_kept_out() {
    let rig = rig().await;
    let client = Client::of(&rig);
    let list = modern("tools/list", json!({}));
    let right = [("mcp-protocol-version", NEWEST), ("mcp-method", "tools/list")];
    for foreign in [("origin", "http://evil.test"), ("origin", "null"), ("host", "evil.test")] {
        let headers = [right[0], right[1], foreign];
        assert_eq!(client.post(&headers, &list).await.status, 403, "{foreign:?}");
    }
    let own = format!("http://{}", rig.addr);
    assert_eq!(client.post(&[right[0], right[1], ("origin", &own)], &list).await.status, 200);
}
