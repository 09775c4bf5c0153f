//! MCP over HTTP, as a client uses it: raw messages, so that the wire format itself is checked.

mod eras;
mod files;
mod graph;
mod guests;
mod strangers;
mod tools;

use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use serde_json::{Value, json};

use crate::rig::{Answer, TestServer};

const NEWEST: &str = "2026-07-28";

/// A server with an empty store.
async fn rig() -> TestServer {
    TestServer::new(FakeScript::saying("hello")).await
}

/// A caller, and the path it uses.
struct Client<'a> {
    rig: &'a TestServer,
    path: String,
    key: Option<String>,
}

impl<'a> Client<'a> {
    /// A caller without a key.
    fn of(rig: &'a TestServer) -> Self {
        Self { rig, path: "/mcp".to_owned(), key: None }
    }

    fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// The holder of a new key.
    fn with(self, scopes: &[Scope], user: Option<&str>) -> Self {
        let user = user.map(|user| UserId::parse(user).unwrap());
        let key = self.rig.keys.create("test", scopes, user.as_ref()).unwrap().key;
        Self { key: Some(key), ..self }
    }

    /// Sends a message with these headers and the ones every message needs.
    async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        let mut all = vec![("accept", "application/json, text/event-stream")];
        all.extend(self.key.as_deref().map(|key| ("x-api-key", key)));
        all.extend(headers);
        self.rig.ask("POST", &self.path, &all, Some(message)).await
    }

    /// Calls a method in the newest revision, where every message is self-contained.
    async fn ask(&self, method: &str, params: Value) -> Answer {
        let message = modern(method, params);
        let name = match method {
            "resources/read" => &message["params"]["uri"],
            _ => &message["params"]["name"],
        };
        let name = name.as_str().unwrap_or_default().to_owned();
        let mut headers = vec![("mcp-protocol-version", NEWEST), ("mcp-method", method)];
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
        self.post(&headers, &message).await
    }

    /// The result of a call that must succeed.
    async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert_eq!(answer.status, 200, "{method}: {}", String::from_utf8_lossy(&answer.body));
        let body = answer.json();
        assert!(body.get("error").is_none(), "{method}: {body}");
        body["result"].clone()
    }

    /// The answer of a tool to a call that must succeed. It contains the JSON twice, identically.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        if ["search", "fetch"].contains(&tool) {
            assert!(result.get("structuredContent").is_none(), "{result}");
        } else {
            assert_eq!(result["structuredContent"], text, "{tool}");
            // Clients check that it matches the listed schema.
            let listed = self.result("tools/list", json!({})).await;
            let all = listed["tools"].as_array().unwrap();
            let promised = &all.iter().find(|one| one["name"] == tool).unwrap()["outputSchema"];
            assert!(jsonschema::validate(promised, &text).is_ok(), "{tool}: {text}\n{promised}");
        }
        text
    }

    /// The message of a tool for an invalid call.
    async fn fails(&self, tool: &str, arguments: Value) -> String {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The names of the visible tools, in order.
    async fn tools(&self) -> Vec<String> {
        let listed = self.result("tools/list", json!({})).await;
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// A message of the newest revision.
fn modern(method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}
