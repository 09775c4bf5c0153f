//! A user without a memory, with every read-only tool.

use serde_json::{Value, json};

use super::{Client, rig};

/// Arguments for a tool.
fn arguments(tool: &str) -> Value {
    match tool {
        "search_memories" | "search" | "search_nodes" | "get_context" => json!({"query": "canary"}),
        "get_memory" | "get_memory_history" | "fetch" => json!({"id": "fact_0000000000000"}),
        "open_nodes" => json!({"names": ["Ada"]}),
        "memory" => json!({"command": "view", "path": "/memories"}),
        _ => json!({}),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_said_nothing_is_told_nothing() {
    let rig = rig().await;
    rig.told("zelda", "My canary is called Zyxwv.").await;
    let client = Client::of(&rig).at("/mcp/nobody?toolsets=graph,files,admin");
    let listed = client.result("tools/list", json!({})).await;
    let (mut tried, mut wrong) = (0, Vec::new());
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        if tool["annotations"]["readOnlyHint"] != true && name != "memory" {
            continue;
        }
        tried += 1;
        let result = client.result("tools/call", json!({"name": name, "arguments": arguments(name)})).await;
        let fails = ["get_memory", "get_memory_history", "fetch"].contains(&name);
        let told = result.to_string();
        if result["isError"] != fails || told.contains("zelda") || told.contains("Zyxwv") {
            wrong.push(format!("{name}: {told}"));
        }
    }
    assert!(tried >= 10, "{tried}: {listed}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
