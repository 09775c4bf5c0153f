//! An agent's files: an optional toolset, the messages of Anthropic's memory tool, and scopes of keys.

use quipu_engine::ports::Scope;
use serde_json::{Value, json};

use super::{Client, rig};

/// The text of the tool, and whether it failed.
async fn told(client: &Client<'_>, arguments: Value) -> (String, bool) {
    let result = client.result("tools/call", json!({"name": "memory", "arguments": arguments})).await;
    assert!(result.get("structuredContent").is_none(), "the words alone: {result}");
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{result}");
    (content[0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_speak_as_the_memory_tool_does() {
    let rig = rig().await;
    let usual = Client::of(&rig);
    assert!(!usual.tools().await.contains(&"memory".to_owned()), "only on demand");
    let call = json!({"name": "memory", "arguments": {"command": "view", "path": "/memories"}});
    assert!(usual.ask("tools/call", call).await.json()["error"]["message"].as_str().unwrap().contains("no tool"));
    let client = Client::of(&rig).at("/mcp?toolsets=files");
    assert!(client.tools().await.contains(&"memory".to_owned()));
    let path = "/memories/work/plan.md";
    for (arguments, expected, fails) in [
        (
            json!({"command": "create", "path": path, "file_text": "one\ntwo\n"}),
            "File created successfully at: /memories/work/plan.md",
            false,
        ),
        (
            json!({"command": "create", "path": path, "file_text": "x"}),
            "File /memories/work/plan.md already exists",
            true,
        ),
        (
            json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": "and a half"}),
            "The file /memories/work/plan.md has been edited.",
            false,
        ),
        (
            json!({"command": "view", "path": path, "view_range": [2, 3]}),
            "Here's the content of /memories/work/plan.md with line numbers:\n     2\tand a half\n     3\ttwo",
            false,
        ),
        (json!({"command": "view", "path": "/etc/passwd"}), "Path must start with /memories, got: /etc/passwd", true),
        (
            json!({"command": "rename", "old_path": path, "new_path": "/memories/done.md"}),
            "Successfully renamed /memories/work/plan.md to /memories/done.md",
            false,
        ),
        (json!({"command": "delete", "path": "/memories/done.md"}), "Successfully deleted /memories/done.md", false),
        (json!({"command": "delete", "path": "/memories/done.md"}), "The path /memories/done.md does not exist", true),
    ] {
        assert_eq!(told(&client, arguments.clone()).await, (expected.to_owned(), fails), "{arguments}");
    }
    // An invalid call is reported as with every other tool.
    let (missing, fails) = told(&client, json!({"command": "create", "path": path})).await;
    assert!(fails && missing.contains("this command needs file_text"), "{missing}");
    let (stranger, fails) = told(&client, json!({"command": "view", "path": path, "user_id": "otto"})).await;
    assert!(fails && stranger.contains("user_id"), "no tool takes a user: {stranger}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_only_read_only_views() {
    let rig = rig().await;
    let writer = Client::of(&rig).at("/mcp?toolsets=files").with(&[Scope::Read, Scope::Write], Some("ines"));
    let made = told(&writer, json!({"command": "create", "path": "/memories/a.md", "file_text": "fado"})).await;
    assert!(!made.1, "{made:?}");
    let reader = Client::of(&rig).at("/mcp?toolsets=files").with(&[Scope::Read], Some("ines"));
    assert!(told(&reader, json!({"command": "view", "path": "/memories/a.md"})).await.0.contains("fado"));
    let refused = told(&reader, json!({"command": "delete", "path": "/memories/a.md"})).await;
    assert!(refused.1 && refused.0.contains("scope write"), "{refused:?}");
    assert!(told(&reader, json!({"command": "view", "path": "/memories/a.md"})).await.0.contains("fado"));
    let other = Client::of(&rig).at("/mcp?toolsets=files").with(&[Scope::Read], Some("otto"));
    assert!(
        told(&other, json!({"command": "view", "path": "/memories/a.md"})).await.1,
        "another's files are not there"
    );
    let decider = Client::of(&rig).at("/mcp?toolsets=files").with(&[Scope::Review], Some("ines"));
    assert!(!decider.tools().await.contains(&"memory".to_owned()), "who may not read has no files in sight");
}
