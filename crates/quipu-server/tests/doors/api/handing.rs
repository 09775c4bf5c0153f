//! Export, import, topics and edits.

use quipu_engine::ports::Scope;
use serde_json::{Value, json};

use super::rig;

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_handed_on_in_every_shape_and_taken_up() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let json = rig.get("/memory/ines/export").await.ok();
    assert_eq!((&json["schema"], &json["user_id"]), (&json!("quipu_export.v1"), &json!("ines")), "{json}");
    let mem0 = rig.get("/memory/ines/export?format=mem0").await.ok();
    assert_eq!(mem0["memories"][0]["memory"], "User lives in Porto", "{mem0}");
    let markdown = rig.get("/memory/ines/export?format=markdown").await;
    assert_eq!((markdown.status, markdown.header("content-type")), (200, "text/markdown"));
    assert!(String::from_utf8_lossy(&markdown.body).contains("Porto"), "{markdown:?}");
    assert_eq!(rig.get("/memory/ines/export?format=pdf").await.refused().0, 400);
    assert_eq!(rig.get("/memory/nobody/export").await.ok()["version"], 0);

    let bundle = rig.get("/memory/ines/export?format=bundle").await;
    assert_eq!((bundle.status, bundle.header("content-type")), (200, "application/jsonl"));
    let text = String::from_utf8(bundle.body).unwrap();
    let import = |text: &str| json!({"format": "bundle", "text": text});
    assert_eq!(rig.send("/memory/otto/import", import(&text)).await.refused().2, "user_id");
    assert_eq!(rig.send("/memory/ines/import", import(&text)).await.refused().0, 422, "there is one already");
    let writer = rig.key(&[Scope::Write], None);
    let denied = rig.ask("POST", "/memory/ines/import", &[("x-api-key", &writer)], Some(&import(&text))).await;
    assert_eq!(denied.refused().0, 403);
    let head = rig.get("/memory/ines/verify").await.ok()["head_hash"].clone();
    rig.deleted("ines").await;
    let changed = text.replacen("Porto", "Lagos", 1);
    if changed != text {
        assert!((400..=500).contains(&rig.send("/memory/ines/import", import(&changed)).await.refused().0));
    }
    let restored = rig.send("/memory/ines/import", import(&text)).await.ok();
    assert_eq!(restored["restored"]["head_hash"], head, "{restored}");
    assert_eq!(rig.get("/memory/ines/export?format=mem0").await.ok(), mem0);

    let list = mem0.to_string();
    let import = json!({"format": "mem0", "text": list, "name": "from mem0.json"});
    let dry: Value = {
        let mut dry = import.clone();
        dry["dry_run"] = json!(true);
        rig.send("/memory/otto/import", dry).await.ok()
    };
    assert_eq!((&dry["dry_run"], &dry["conversations"][0]["new"]), (&json!(true), &json!(1)), "{dry}");
    assert_eq!(rig.get("/memory/otto").await.ok()["version"], 0, "a dry run makes nothing");
    let report = rig.send("/memory/otto/import", import.clone()).await.ok();
    assert_eq!(report["reference"], "mem0:from mem0.json", "{report}");
    assert_eq!(rig.send("/memory/otto/import", import).await.ok()["conversations"][0]["known"], 1);
    let found = rig.send("/memory/retrieve", json!({"user_id": "otto", "query": "Porto"})).await.ok();
    assert!(found.to_string().contains("Porto"), "{found}");
    for (body, param) in [
        (json!({"format": "text"}), "text"),
        (json!({"format": "text", "text": "a", "base64": "YQ=="}), "text"),
        (json!({"format": "text", "base64": "?"}), "base64"),
        (json!({"format": "fish", "text": "a"}), "format"),
        (json!({"format": "whatsapp", "text": "a", "timezone": "Lisbon"}), "timezone"),
    ] {
        assert_eq!(rig.send("/memory/otto/import", body.clone()).await.refused().2, param, "{body}");
    }
    // The error of a truncated file says what was imported.
    let cut = "{\"messages\": [{\"role\": \"user\", \"content\": \"a whole line\"}]}\n{\"messages\": [{";
    let broken = rig.send("/memory/ada/import", json!({"format": "openai", "text": cut})).await;
    assert!(
        broken.refused().0 == 400 && broken.json()["detail"].as_str().unwrap().contains("is recorded (1)"),
        "{broken:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_and_the_whole() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    rig.send("/memory/ines/entries", json!({"topic": "garden", "text": "The tomatoes are planted."})).await.ok();
    let topics = rig.get("/memory/ines/topics").await.ok();
    let names: Vec<&str> =
        topics["items"].as_array().unwrap().iter().map(|topic| topic["topic"].as_str().unwrap()).collect();
    assert!(names.contains(&"garden"), "{topics}");
    let first = rig.get("/memory/ines/topics?limit=1").await.ok();
    let next = first["next"].as_str().unwrap();
    assert_eq!(rig.get(&format!("/memory/ines/topics?after={next}")).await.ok()["items"][0], topics["items"][1]);
    let global = rig.get("/memory/ines/global").await.ok();
    assert!(global["active_topics"].as_array().is_some_and(|all| !all.is_empty()), "{global}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_is_said_in_other_words() {
    let rig = rig().await;
    let told = rig.told("ines", "I live in Porto.").await;
    let fact = rig.get("/memory/ines/facts").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let patch = |id: &str| format!("/memory/ines/items/{id}");
    let path = patch(&fact);
    // Another value is another claim; the old one was never true.
    let edited = rig.ask("PATCH", &path, &[], Some(&json!({"text": "User lives in Lyon"}))).await.ok();
    let made = edited["receipts"][0]["items"].as_array().unwrap().iter().map(|id| id.as_str().unwrap());
    let made = made.filter(|id| id.starts_with("fact_")).collect::<Vec<_>>().concat();
    let facts = rig.get("/memory/ines/facts?all=true").await.ok();
    let of = |id: &str| facts["items"].as_array().unwrap().iter().find(|fact| fact["id"] == id).unwrap().clone();
    assert_eq!((&of(&fact)["status"], &of(&fact)["superseded_by"]), (&json!("corrected"), &json!(made)), "{facts}");
    assert_eq!((&of(&made)["object"], &of(&made)["trust"]), (&json!("Lyon"), &json!("user")), "{facts}");
    let core = rig.get("/memory/ines").await.ok();
    assert!(core.to_string().contains("Lyon") && !core.to_string().contains("Porto"), "{core}");
    assert_eq!(rig.ask("PATCH", &path, &[], Some(&json!({"text": "User lives in Rome"}))).await.refused().0, 422);
    // A completely different text is the user's own.
    let edited = rig.ask("PATCH", &patch(&made), &[], Some(&json!({"text": "I moved to Ghent in May."}))).await.ok();
    let entry = edited["receipts"].as_array().unwrap().iter().flat_map(|receipt| receipt["items"].as_array().unwrap());
    let entry = entry.map(|id| id.as_str().unwrap()).find(|id| id.starts_with("entry_")).unwrap().to_owned();
    assert_eq!(rig.get(&patch(&entry)).await.ok()["item"]["native_id"], json!(made));
    assert!(!rig.get("/memory/ines/facts").await.ok().to_string().contains("Lyon"));

    // An edited message: the old text is no longer found, but stays in the ledger.
    let turn = told["items"][0].as_str().unwrap();
    rig.ask("PATCH", &patch(turn), &[], Some(&json!({"text": "I like green tea."}))).await.ok();
    assert_eq!(rig.get(&patch(turn)).await.ok()["text"], "I like green tea.", "the old name leads to the new words");
    let found = rig.send("/memory/retrieve", json!({"user_id": "ines", "query": "Porto"})).await.ok();
    assert!(!found["episodic"].to_string().contains("I live in Porto"), "{found}");
    assert!(rig.get("/memory/ines/verify").await.ok()["intact"] == true);
    for (body, status) in
        [(json!({"text": "I like green tea.", "pinned": true}), 400), (json!({"text": "x".repeat(2_000_000)}), 400)]
    {
        assert_eq!(rig.ask("PATCH", &patch(&entry), &[], Some(&body)).await.refused().0, status);
    }
    assert_eq!(rig.ask("PATCH", &patch("fact_0000000000000"), &[], Some(&json!({"text": "x"}))).await.refused().0, 404);
    let version = rig.get("/memory/ines/verify").await.ok()["head_seq"].to_string();
    let stale = [("if-match", "1")];
    assert_eq!(rig.ask("PATCH", &patch(&entry), &stale, Some(&json!({"text": "y"}))).await.refused().0, 412);
    assert_eq!(rig.get("/memory/ines/verify").await.ok()["head_seq"].to_string(), version);
}
