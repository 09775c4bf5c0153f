//! Destructive requests: previews, confirmation tokens, and what an interface may not destroy.

use std::sync::Arc;

use quipu_engine::ports::Scope;
use quipu_engine::{Engine, EngineParts, EngineRules, OptionalParts};
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use quipu_testkit::{FixedClock, MemoryStore, SeededEntropy};
use serde_json::{Value, json};

use super::rig;
use crate::rig::{Answer, TestServer};

fn token(answer: &Answer) -> String {
    answer.json()["error"]["confirm"].as_str().unwrap_or_else(|| panic!("no token in {}", answer.json())).to_owned()
}

/// Number of events of a user.
async fn events(rig: &TestServer, user: &str) -> u64 {
    rig.get(&format!("/memory/{user}/verify")).await.ok()["head_seq"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_announced_and_holds_for_what_was_announced() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    rig.told("otto", "I live in Rome.").await;
    rig.key(&[Scope::Read], Some("ines"));
    let first = rig.ask("DELETE", "/memory/ines", &[], None).await;
    let preview = first.json()["error"]["preview"].clone();
    assert_eq!(first.refused(), (428, "confirmation_required".into(), Value::Null));
    let version = json!(events(&rig, "ines").await);
    assert_eq!((&preview["events"], &preview["version"], &preview["keys"]), (&version, &version, &json!(1)));
    assert!(preview["items"].as_u64().unwrap() >= 2, "a turn and a fact: {preview}");
    // The token is bound to the user and the version.
    let elsewhere = rig.ask("DELETE", &format!("/memory/otto?confirm={}", token(&first)), &[], None).await;
    assert_eq!(elsewhere.refused(), (412, "confirmation_outdated".into(), json!("confirm")));
    rig.told("ines", "I moved to Ghent.").await;
    let stale = rig.ask("DELETE", &format!("/memory/ines?confirm={}", token(&first)), &[], None).await;
    assert_eq!(stale.refused(), (412, "confirmation_outdated".into(), json!("confirm")));
    assert!(stale.json()["error"]["preview"]["events"].as_u64() > preview["events"].as_u64());
    assert!(rig.knows("ines") && rig.knows("otto"));
    let done = rig.ask("DELETE", &format!("/memory/ines?confirm={}", token(&stale)), &[], None).await.ok();
    assert_eq!(done["events"], stale.json()["error"]["preview"]["events"]);
    assert!(!rig.knows("ines") && rig.knows("otto"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_erasure_is_announced_and_a_small_one_is_not() {
    let rig = rig().await;
    let line = |number: usize| json!({"role": "assistant", "content": format!("The lamp number {number} hums.")});
    for batch in 0..2 {
        let messages: Vec<Value> = (0..51).map(|number| line(51 * batch + number)).collect();
        rig.send("/memory/ines/turns", json!({"messages": messages})).await.ok();
    }
    let log = rig.get("/memory/ines/events?limit=500").await.ok();
    let recorded = log["items"].as_array().unwrap().iter().filter(|event| event["source"] == "assistant_said");
    let all: Vec<String> = recorded.map(|event| event["seq"].to_string()).collect();
    assert_eq!(all.len(), 102, "{log}");
    let path = "/memory/ines/erase";
    let many = rig.send(path, json!({"targets": all})).await;
    assert!(many.json()["error"]["preview"]["items"].as_u64().unwrap() >= 102);
    assert_eq!(many.refused().0, 428);
    assert_eq!(rig.get("/memory/ines/events?limit=500").await.ok(), log, "nothing was erased");
    // The token is bound to its targets.
    let fewer = json!({"targets": all[1..], "confirm": token(&many)});
    assert_eq!(rig.send(path, fewer).await.refused().0, 412);
    let few = rig.send(path, json!({"targets": all[..1]})).await.ok();
    assert_eq!(few["erased"].as_array().unwrap().len(), 1);
    let rest = rig.send(path, json!({"targets": all[1..], "confirm": token(&many)})).await;
    assert_eq!(rest.refused().0, 412, "the memory has changed");
    let done = rig.send(path, json!({"targets": all[1..], "confirm": token(&rest)})).await.ok();
    assert!(done["erased"].as_array().unwrap().len() >= 101);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conditional_deletion_takes_nothing_its_caller_has_not_seen() {
    // Nothing is extracted from the message, so a turn is one event.
    let engine = Arc::new(Engine::new(EngineParts {
        store: Box::new(MemoryStore::new()),
        embedder: Arc::new(HashedNgrams::new()),
        clock: Arc::new(FixedClock::new()),
        entropy: Arc::new(SeededEntropy::new(1)),
        extractor: None,
        summarizer: None,
        rules: EngineRules::default(),
        optional: OptionalParts::default(),
    }));
    let rig = Arc::new(TestServer::over(engine, FakeScript::saying("hello"), |_| {}).await);
    rig.told("ines", "The lamp hums.").await;
    let old = rig.ask("DELETE", "/memory/ines", &[], None).await;
    rig.told("ines", "The lamp hums again.").await;
    let confirm = format!("/memory/ines?confirm={}", token(&old));
    for headers in [&[("if-match", "1")][..], &[]] {
        assert_eq!(rig.ask("DELETE", &confirm, headers, None).await.refused().0, 412);
        assert_eq!(rig.ask("DELETE", "/memory/ines", &[("if-match", "1")], None).await.refused().0, 412);
    }
    let now = token(&rig.ask("DELETE", "/memory/ines", &[("if-match", "2")], None).await);
    let stale = rig.ask("DELETE", &format!("/memory/ines?confirm={now}"), &[("if-match", "1")], None).await;
    assert_eq!(stale.refused().0, 412);
    assert_eq!(events(&rig, "ines").await, 2, "nothing was deleted");

    let mut running = Vec::new();
    for writer in 0..2 {
        let rig = rig.clone();
        running.push(tokio::spawn(async move {
            for turn in 0..60 {
                let body =
                    json!({"messages": [{"role": "user", "content": format!("Lamp {writer} hums {turn} times.")}]});
                // A memory deleted and created again between two steps is a conflict, and nothing is recorded.
                loop {
                    let sent = rig.send("/memory/ines/turns", body.clone()).await;
                    if sent.status != 409 {
                        sent.ok();
                        break;
                    }
                }
            }
            60u64
        }));
    }
    let mut deleted = 0;
    let mut tried = 0;
    while tried < 40 || (deleted == 0 && tried < 400) {
        tried += 1;
        let announced = rig.ask("DELETE", "/memory/ines", &[], None).await;
        if announced.status == 404 {
            continue;
        }
        let version = announced.json()["error"]["preview"]["version"].to_string();
        let path = format!("/memory/ines?confirm={}", token(&announced));
        let done = rig.ask("DELETE", &path, &[("if-match", version.as_str())], None).await;
        match done.status {
            200 => deleted += done.json()["events"].as_u64().unwrap(),
            412 | 404 | 503 => {}
            other => panic!("{other}: {}", done.json()),
        }
    }
    let mut told = 2;
    for one in running {
        told += one.await.unwrap();
    }
    let left = if rig.knows("ines") { events(&rig, "ines").await } else { 0 };
    assert_eq!(deleted + left, told, "every turn that was acknowledged is there, or was counted in a receipt");
}

async fn added(rig: &TestServer, headers: &[(&str, &str)], user: &str, text: &str) -> String {
    let body = json!({"messages": text, "user_id": user, "infer": false});
    let added = rig.ask("POST", "/v3/memories/add/", headers, Some(&body)).await.ok();
    added["results"][0]["id"].as_str().unwrap().to_owned()
}

async fn entities(rig: &TestServer, headers: &[(&str, &str)]) -> Vec<String> {
    let page = rig.ask("GET", "/v1/entities/", headers, None).await.ok();
    page["results"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_whoever_came_through_the_same_door() {
    let rig = rig().await;
    rig.told("otto", "I live in Rome.").await;
    added(&rig, &[], "ines", "The boat is blue.").await;
    assert_eq!(entities(&rig, &[]).await, ["ines"]);
    // A client that deletes all users lists them and deletes one after the other.
    for path in ["/v2/entities/user/ines/", "/v2/entities/user/ines/?confirm=1-0"] {
        let refused = rig.ask("DELETE", path, &[], None).await;
        let said = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(matches!(refused.status, 428 | 412) && said.contains("DELETE /memory/ines?confirm="), "{said}");
    }
    for path in [
        "/v1/memories/",
        "/v1/memories/?user_id=*",
        "/v1/memories/?agent_id=*",
        "/v2/entities/user/*/",
        "/v2/entities/app/*/",
    ] {
        let refused = rig.ask("DELETE", path, &[], None).await;
        assert!(refused.json()["detail"].as_str().unwrap().contains("on purpose"), "{path}: {}", refused.json());
        assert_eq!(refused.refused().1, "wildcard", "{path}");
    }
    // A user added through another interface cannot be deleted here.
    let path = "/v2/entities/user/otto/";
    assert_eq!(rig.ask("DELETE", path, &[], None).await.refused().1, "entry_point");
    let turn = rig.get("/memory/otto/events").await.ok()["items"][0].clone();
    assert_eq!(turn["seq"], 1);
    rig.ask("DELETE", "/v1/memories/?user_id=otto", &[], None).await.ok();
    assert!(rig.get("/memory/otto/facts").await.ok().to_string().contains("Rome"), "nothing of it came in here");
    // Neither can one that began here and continued elsewhere.
    rig.told("ines", "I live in Porto.").await;
    assert_eq!(rig.ask("DELETE", "/v2/entities/user/ines/", &[], None).await.refused().1, "entry_point");
    rig.ask("DELETE", "/v1/memories/?user_id=ines", &[], None).await.ok();
    let left = rig.send("/v3/memories/", json!({"filters": {"user_id": "ines"}})).await.ok();
    let left: Vec<&str> =
        left["results"].as_array().unwrap().iter().map(|one| one["memory"].as_str().unwrap()).collect();
    assert_eq!(left, ["User lives in Porto"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_takes_away_what_came_with_it() {
    let rig = rig().await;
    let keys = [rig.key(&[Scope::Admin], None), rig.key(&[Scope::Admin], None)];
    let headers: Vec<[(&str, &str); 1]> = keys.iter().map(|key| [("x-api-key", key.as_str())]).collect();
    let (one, other) = (&headers[0][..], &headers[1][..]);
    let id = added(&rig, one, "ines", "The boat is blue.").await;
    added(&rig, other, "otto", "The car is red.").await;
    assert_eq!((entities(&rig, one).await, entities(&rig, other).await), (vec!["ines".into()], vec!["otto".into()]));
    assert_eq!(entities(&rig, &[]).await, ["ines", "otto"], "without keys the door alone counts");
    let path = format!("/v1/memories/{id}/");
    assert_eq!(rig.ask("DELETE", &path, other, None).await.refused().1, "entry_point");
    let several = json!({"memories": [{"memory_id": id}]});
    assert_eq!(rig.ask("DELETE", "/v1/batch/", other, Some(&several)).await.refused().1, "entry_point");
    assert_eq!(rig.ask("DELETE", "/v2/entities/user/ines/", other, None).await.refused().1, "entry_point");
    rig.ask("DELETE", "/v1/memories/?user_id=ines", other, None).await.ok();
    // Neither an edit nor a note changes which interface an item belongs to.
    rig.ask("PUT", &path, other, Some(&json!({"text": "The boat is green.", "metadata": {"a": 1}}))).await.ok();
    assert_eq!(rig.ask("DELETE", &path, other, None).await.refused().1, "entry_point");
    assert_eq!(rig.ask("GET", &path, one, None).await.ok()["memory"], "The boat is green.");
    rig.ask("DELETE", &path, one, None).await.ok();
    assert_eq!(rig.ask("GET", &path, one, None).await.refused().0, 404);
    let announced = rig.ask("DELETE", "/v2/entities/user/ines/", one, None).await;
    let path = format!("/v2/entities/user/ines/?confirm={}", token(&announced));
    rig.ask("DELETE", &path, one, None).await.ok();
    assert!(!rig.knows("ines") && rig.knows("otto"));
    // The same holds for values and files.
    let value = json!({"namespace": ["a"], "key": "k", "value": {"x": 1}, "user_id": "otto"});
    let gone = json!({"namespace": ["a"], "key": "k", "user_id": "otto"});
    rig.ask("PUT", "/store/items", one, Some(&value)).await.ok();
    assert_eq!(rig.ask("DELETE", "/store/items", other, Some(&gone)).await.refused().0, 422);
    rig.ask("DELETE", "/store/items", one, Some(&gone)).await.ok();
    let file = |command: &str| json!({"command": command, "path": "/memories/a", "file_text": "x", "user_id": "otto"});
    rig.ask("POST", "/v1/memory-tool", one, Some(&file("create"))).await.ok();
    assert_eq!(rig.ask("POST", "/v1/memory-tool", other, Some(&file("delete"))).await.refused().0, 422);
    assert_eq!(rig.ask("POST", "/v1/memory-tool", one, Some(&file("delete"))).await.ok()["is_error"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_an_edit_go_with_what_was_made_of_them() {
    let rig = rig().await;
    let facts = async |user: &str| {
        let facts = rig.get(&format!("/memory/{user}/facts")).await.ok();
        facts["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let found = async |user: &str, query: &str| {
        rig.send("/memory/retrieve", json!({"user_id": user, "query": query})).await.ok()["episodic"].to_string()
    };
    for user in ["ines", "otto", "ada"] {
        rig.told(user, "I live in Porto.").await;
        let path = format!("/memory/{user}/items/{}", facts(user).await[0]);
        rig.ask("PATCH", &path, &[], Some(&json!({"text": "User lives in Reykjavik"}))).await.ok();
    }
    let made = facts("ines").await.remove(0);
    rig.send("/memory/ines/retract", json!({"item_id": made})).await.ok();
    assert!(!found("ines", "Reykjavik").await.contains("Reykjavik"));
    let made = facts("otto").await.remove(0);
    let receipt = rig.send("/memory/otto/erase", json!({"targets": [made]})).await.ok();
    assert_eq!(receipt["sources_left"], json!([]), "{receipt}");
    let left = rig.get("/memory/otto/export").await;
    assert!(!String::from_utf8_lossy(&left.body).contains("Reykjavik"));
    let path = format!("/memory/ada/items/{}", facts("ada").await[0]);
    rig.ask("PATCH", &path, &[], Some(&json!({"text": "User lives in Tallinn"}))).await.ok();
    assert!(!found("ada", "Reykjavik").await.contains("Reykjavik"), "the words of an earlier edit");
    let made = facts("ada").await.remove(0);
    // Reverting the last edit restores the text before it.
    let seq = rig.get(&format!("/memory/ada/items/{made}")).await.ok()["item"]["event_seq"].clone();
    rig.send("/memory/ada/revert", json!({"events": [seq]})).await.ok();
    assert!(rig.get("/memory/ada/facts").await.ok().to_string().contains("Reykjavik"));
}
