//! The executor of Anthropic's memory tool, compared message by message, and LangGraph's store.

use quipu_engine::ports::Scope;
use serde_json::{Value, json};

use super::rig;
use crate::rig::TestServer;

/// Runs a command; returns its message and whether it failed.
async fn run(rig: &TestServer, command: Value) -> (String, bool) {
    let ran = rig.send("/v1/memory-tool", command).await.ok();
    (ran["content"].as_str().unwrap().to_owned(), ran["is_error"].as_bool().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_says_what_the_tool_says() {
    let rig = rig().await;
    let view = |path: &str| json!({"command": "view", "path": path});
    let create = |path: &str, text: &str| json!({"command": "create", "path": path, "file_text": text});
    let replace = |path: &str, old: &str, new: &str| json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new});
    let insert = |path: &str, line: i64, text: &str| json!({"command": "insert", "path": path, "insert_line": line, "insert_text": text});
    let delete = |path: &str| json!({"command": "delete", "path": path});
    let rename = |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    let listing = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:";
    let table: Vec<(Value, String, bool)> = vec![
        (view("/memories"), format!("{listing}\n0B\t/memories"), false),
        (create("/memories/a.md", "one\ntwo\nthree\n"), "File created successfully at: /memories/a.md".into(), false),
        (create("/memories/a.md", "x"), "File /memories/a.md already exists".into(), true),
        (create("/memories/work/plan/next.md", ""), "File created successfully at: /memories/work/plan/next.md".into(), false),
        (create("/memories/.hidden", "x"), "File created successfully at: /memories/.hidden".into(), false),
        (create("/memories/a.md/b", "x"), "The path /memories/a.md is a file, not a directory.".into(), true),
        (
            view("/memories"),
            format!("{listing}\n15B\t/memories\n14B\t/memories/a.md\n0B\t/memories/work/\n0B\t/memories/work/plan/"),
            false,
        ),
        (
            view("/memories/a.md"),
            "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t".into(),
            false,
        ),
        (
            json!({"command": "view", "path": "/memories/a.md", "view_range": [2, 3]}),
            "Here's the content of /memories/a.md with line numbers:\n     2\ttwo\n     3\tthree".into(),
            false,
        ),
        (view("/memories/no"), "The path /memories/no does not exist. Please provide a valid path.".into(), true),
        (
            replace("/memories/a.md", "two", "2"),
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\t2\n     3\tthree\n     4\t".into(),
            false,
        ),
        (
            replace("/memories/a.md", "two", "2"),
            "No replacement was performed, old_str `two` did not appear verbatim in /memories/a.md.".into(),
            true,
        ),
        (
            replace("/memories/a.md", "e", "E"),
            "No replacement was performed. Multiple occurrences of old_str `e` in lines: 1, 3, 3. Please ensure it is unique".into(),
            true,
        ),
        (replace("/memories/work", "a", "b"), "The path /memories/work is not a file.".into(), true),
        (insert("/memories/a.md", 1, "between\n"), "The file /memories/a.md has been edited.".into(), false),
        (
            insert("/memories/a.md", 9, "x"),
            "Invalid `insert_line` parameter: 9. It should be within the range [0, 4].".into(),
            true,
        ),
        (
            view("/memories/a.md"),
            "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\tbetween\n     3\t2\n     4\tthree\n     5\t".into(),
            false,
        ),
        (rename("/memories/a.md", "/memories/work/plan"), "The destination /memories/work/plan already exists".into(), true),
        (rename("/memories/work", "/memories/job"), "Successfully renamed /memories/work to /memories/job".into(), false),
        (rename("/memories/work", "/memories/b"), "The path /memories/work does not exist".into(), true),
        (rename("/memories", "/memories/b"), "Cannot rename the /memories directory itself".into(), true),
        (insert("/memories/job/plan/next.md", 0, "begin"), "The file /memories/job/plan/next.md has been edited.".into(), false),
        (delete("/memories"), "Cannot delete the /memories directory itself".into(), true),
        (delete("/memories/job"), "Successfully deleted /memories/job".into(), false),
        (delete("/memories/job"), "The path /memories/job does not exist".into(), true),
        (view("/etc/passwd"), "Path must start with /memories, got: /etc/passwd".into(), true),
        (view("/memories/../etc"), "Path /memories/../etc would escape /memories directory".into(), true),
        (create("/memories/../../x", "x"), "Path /memories/../../x would escape /memories directory".into(), true),
    ];
    for (command, says, is_error) in table {
        assert_eq!(run(&rig, command.clone()).await, (says, is_error), "{command}");
    }
    assert_eq!(rig.send("/v1/memory-tool", json!({"command": "view"})).await.refused().2, "path");
    assert_eq!(rig.send("/v1/memory-tool", json!({"command": "dance"})).await.refused().0, 400);
    // A file is attributed to the agent, and every version of it is in the ledger.
    let found = rig.send("/memory/retrieve", json!({"query": "between"})).await.ok();
    let kept = &found["episodic"][0];
    assert_eq!((&kept["trust"], &kept["native_id"]), (&json!("agent"), &json!("file:/memories/a.md")), "{found}");
    let everything = rig.send("/memory/retrieve", json!({"query": "begin two", "K": 50})).await.ok();
    assert!(!everything.to_string().contains("begin\\n"), "{everything}");
    assert_eq!(rig.get("/memory/me/verify").await.ok()["intact"], true);
    assert_eq!(rig.get("/memory/me/facts").await.ok()["total"], 0);
    let reader = rig.key(&[Scope::Read], Some("ines"));
    let headers = [("x-api-key", reader.as_str())];
    let other = json!({"command": "view", "path": "/memories", "user_id": "me"});
    assert_eq!(rig.ask("POST", "/v1/memory-tool", &headers, Some(&other)).await.refused().0, 403);
    let own = rig.ask("POST", "/v1/memory-tool", &headers, Some(&view("/memories"))).await.ok();
    assert!(!own.to_string().contains("a.md"), "{own}");
    assert_eq!(rig.ask("POST", "/v1/memory-tool", &headers, Some(&create("/memories/x", "x"))).await.refused().0, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_holds_values_under_names() {
    let rig = rig().await;
    let put = |namespace: &[&str], key: &str, value: Value| json!({"namespace": namespace, "key": key, "value": value});
    for (namespace, key, value) in [
        (&["users", "ines"][..], "food", json!({"text": "Ines likes pizza with basil.", "stars": 5})),
        (&["users", "ines"], "car", json!({"text": "The red car needs new tyres.", "stars": 2})),
        (&["users", "otto"], "food", json!({"text": "Otto likes soup.", "stars": 3})),
        (&["docs"], "a b/c", json!({})),
    ] {
        rig.ask("PUT", "/store/items", &[], Some(&put(namespace, key, value))).await.ok();
    }
    let path = "/store/items?namespace=users.ines&key=food";
    let first = rig.get(path).await.ok();
    assert_eq!((&first["value"]["stars"], &first["namespace"]), (&json!(5), &json!(["users", "ines"])), "{first}");
    let better = put(&["users", "ines"], "food", json!({"text": "Ines likes pasta.", "stars": 4}));
    rig.ask("PUT", "/store/items/", &[], Some(&better)).await.ok();
    let second = rig.get(path).await.ok();
    assert_eq!(second["value"], json!({"text": "Ines likes pasta.", "stars": 4}), "{second}");
    assert_eq!(second["created_at"], first["created_at"]);
    assert_eq!(rig.get("/store/items?namespace=docs&key=a%20b/c").await.ok()["value"], json!({}));
    assert_eq!(rig.get("/store/items?namespace=docs&key=none").await.ok(), Value::Null);

    let keys = |found: &Value| -> Vec<String> {
        found["items"].as_array().unwrap().iter().map(|item| item["key"].as_str().unwrap().to_owned()).collect()
    };
    let users = json!({"namespace_prefix": ["users"]});
    assert_eq!(rig.send("/store/items/search", users).await.ok()["items"].as_array().unwrap().len(), 3);
    let asked = json!({"namespace_prefix": ["users", "ines"], "query": "tyres of the car"});
    let found = rig.send("/store/items/search", asked).await.ok();
    assert_eq!(keys(&found)[0], "car", "{found}");
    assert!(found["items"][0]["score"].is_number(), "{found}");
    assert!(!found.to_string().contains("pizza"), "what was replaced is not found: {found}");
    for (filter, expected) in [
        (json!({"stars": {"$gte": 4}}), vec!["food"]),
        (json!({"stars": 2}), vec!["car"]),
        (json!({"stars": {"$gt": 1, "$ne": 4}, "text": {"$gt": "P"}}), vec!["car"]),
    ] {
        let asked = json!({"namespace_prefix": ["users", "ines"], "filter": filter});
        assert_eq!(keys(&rig.send("/store/items/search", asked).await.ok()), expected, "{filter}");
    }
    for (asked, expected) in [
        (json!({}), json!([["docs"], ["users", "ines"], ["users", "otto"]])),
        (json!({"prefix": ["users"], "limit": 1}), json!([["users", "ines"]])),
        (json!({"prefix": ["users"], "offset": 1}), json!([["users", "otto"]])),
        (json!({"suffix": ["otto"]}), json!([["users", "otto"]])),
        (json!({"prefix": ["*", "otto"], "max_depth": 1}), json!([["users"]])),
    ] {
        assert_eq!(rig.send("/store/namespaces", asked.clone()).await.ok()["namespaces"], expected, "{asked}");
    }
    let gone = json!({"namespace": ["users", "ines"], "key": "car"});
    rig.ask("DELETE", "/store/items", &[], Some(&gone)).await.ok();
    rig.ask("DELETE", "/store/items", &[], Some(&gone)).await.ok();
    assert_eq!(rig.get("/store/items?namespace=users.ines&key=car").await.ok(), Value::Null);
    for (body, param) in [
        (json!({"namespace": [], "key": "a", "value": {}}), "namespace"),
        (json!({"namespace": ["a.b"], "key": "a", "value": {}}), "namespace"),
        (json!({"namespace": ["a"], "key": "", "value": {}}), "key"),
        (json!({"namespace": ["a"], "key": "k".repeat(2000), "value": {}}), "key"),
        (json!({"namespace": ["a"], "key": "a", "value": {}, "ttl": 5.0}), "ttl"),
        (json!({"namespace": ["a"], "key": "a", "value": 1}), "value"),
    ] {
        assert_eq!(rig.ask("PUT", "/store/items", &[], Some(&body)).await.refused().2, param, "{body}");
    }
    // The tool and the store share one memory.
    let key = rig.key(&[Scope::Write, Scope::Read], Some("ines"));
    let headers = [("x-api-key", key.as_str())];
    let own = rig.ask("POST", "/store/items/search", &headers, Some(&json!({}))).await.ok();
    assert_eq!(own["items"], json!([]));
    for (method, path, body) in [
        ("GET", "/store/items?namespace=docs&key=a&user_id=me", None),
        ("PUT", "/store/items", Some(json!({"namespace": ["a"], "key": "a", "value": {}, "user_id": "me"}))),
        ("DELETE", "/store/items", Some(json!({"namespace": ["a"], "key": "a", "user_id": "me"}))),
        ("POST", "/store/items/search", Some(json!({"user_id": "me"}))),
        ("POST", "/store/namespaces", Some(json!({"user_id": "me"}))),
    ] {
        assert_eq!(rig.ask(method, path, &headers, body.as_ref()).await.refused().0, 403, "{method} {path}");
    }
}
