//! Permissions: keys, scopes, users, and visible tools.

use std::sync::Arc;

use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use serde_json::json;

use super::{Client, rig};
use crate::rig::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_that_is_needed_nothing_is_said() {
    let rig = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| {
        options.needs_key = true
    })
    .await;
    let client = Client::of(&rig);
    for path in ["/mcp", "/mcp/ines"] {
        let refused = Client::of(&rig).at(path).ask("tools/list", json!({})).await;
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.header("www-authenticate").starts_with("Bearer"), "{path}");
        let body = refused.json();
        assert_eq!((body["jsonrpc"].as_str(), body["error"]["code"].as_i64()), (Some("2.0"), Some(-32600)), "{body}");
    }
    let wrong = Client { key: Some("qp_000000000000_0".to_owned()), ..client };
    assert_eq!(wrong.ask("tools/list", json!({})).await.status, 401);
    assert!(!Client::of(&rig).with(&[Scope::Read], None).tools().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_shows_what_it_opens_and_no_more() {
    let rig = rig().await;
    let reads =
        ["search_memories", "get_context", "get_memory", "list_memories", "get_memory_history", "search", "fetch"];
    let writes = ["add_memory", "update_memory", "delete_memory"];
    let usual: Vec<&str> = writes.into_iter().chain(reads).collect();
    assert_eq!(Client::of(&rig).tools().await, usual, "nobody decides without a key for it");
    assert!(usual.len() <= 11);
    let of = |scopes: &'static [Scope]| Client::of(&rig).with(scopes, None);
    assert_eq!(of(&[Scope::Read]).tools().await, reads);
    assert_eq!(of(&[Scope::Write]).tools().await, writes);
    assert_eq!(of(&[Scope::Review]).tools().await, ["review_memories"]);
    let all: Vec<&str> = usual.iter().copied().chain(["review_memories"]).collect();
    assert_eq!(of(&[Scope::Read, Scope::Write, Scope::Review]).tools().await, all);
    // A key with all scopes still does not decide for a person.
    assert_eq!(of(&[Scope::Admin]).tools().await, usual);
    // A hidden tool does not exist.
    let reader = of(&[Scope::Read]);
    for tool in ["add_memory", "review_memories", "create_entities", "nothing"] {
        let refused = reader.ask("tools/call", json!({"name": tool, "arguments": {}})).await.json();
        assert_eq!(refused["error"]["code"], -32602, "{tool}: {refused}");
    }
    let templates = reader.result("resources/templates/list", json!({})).await;
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "memory://item/{id}");
    let uris = |listed: serde_json::Value| {
        let all = listed["resources"].as_array().unwrap().clone();
        all.iter().map(|one| one["uri"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(uris(reader.result("resources/list", json!({})).await), ["memory://profile", "memory://recent"]);
    assert_eq!(uris(of(&[Scope::Review]).result("resources/list", json!({})).await), ["memory://review"]);
    let refused = reader.ask("resources/read", json!({"uri": "memory://review"})).await.json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let prompts = reader.result("prompts/list", json!({})).await;
    assert_eq!(
        (prompts["prompts"].as_array().unwrap().len(), prompts["prompts"][0]["name"].as_str()),
        (1, Some("context"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn toolsets_are_asked_for_by_the_path() {
    let rig = rig().await;
    let graph = Client::of(&rig).at("/mcp?toolsets=graph").tools().await;
    assert_eq!(graph.len(), 10 + 9);
    assert_eq!(Client::of(&rig).at("/mcp/ines?toolsets=graph,admin").tools().await.len(), 10 + 9 + 3);
    for wrong in ["/mcp?toolsets=folders", "/mcp?key=qp_1"] {
        let refused = Client::of(&rig).at(wrong).ask("tools/list", json!({})).await;
        assert_eq!((refused.status, refused.json()["error"]["code"].as_i64()), (400, Some(-32600)), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_users_memory_is_not_reached_and_not_known_of() {
    let rig = rig().await;
    let otto = Client::of(&rig).at("/mcp/otto");
    let added = otto.call("add_memory", json!({"user_said": "My canary is called Zyxwv."})).await;
    let item = added["ids"][0].as_str().unwrap();
    let ines = Client::of(&rig).with(&[Scope::Read, Scope::Write, Scope::Review], Some("ines"));
    let known = ines.post(&[], &super::modern("tools/list", json!({}))).await;
    drop(known);
    // The path of another user is refused first, whether or not that user exists.
    for path in ["/mcp/otto", "/mcp/nobody"] {
        let refused =
            Client { rig: &rig, path: path.to_owned(), key: ines.key.clone() }.ask("tools/list", json!({})).await;
        assert_eq!(refused.status, 403, "{path}");
        assert!(refused.json()["error"]["message"].as_str().unwrap().contains("another user"), "{path}");
    }
    // The path of the key's own user works, and so does the bare one.
    let own = Client { rig: &rig, path: "/mcp/ines".to_owned(), key: ines.key.clone() };
    for client in [&ines, &own] {
        for (tool, arguments) in [
            ("search_memories", json!({"query": "canary"})),
            ("list_memories", json!({"kind": "turn"})),
            ("get_context", json!({"query": "canary"})),
            ("search", json!({"query": "Zyxwv"})),
        ] {
            let told = client.call(tool, arguments).await.to_string();
            assert!(!told.contains("Zyxwv"), "{tool}: {told}");
        }
        for tool in ["get_memory", "fetch", "delete_memory", "get_memory_history"] {
            let said = client.fails(tool, json!({"id": item})).await;
            let nobodys = client.fails(tool, json!({"id": "turn_0000000000000"})).await;
            assert_eq!(said.replace(item, "?"), nobodys.replace("turn_0000000000000", "?"), "{tool}");
        }
    }
    ines.call("add_memory", json!({"user_said": "I live in Porto."})).await;
    assert!(!otto.call("search_memories", json!({"query": "Porto"})).await.to_string().contains("I live in Porto"));
}
