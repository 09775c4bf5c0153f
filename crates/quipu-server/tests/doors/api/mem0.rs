//! The mem0 routes: what one request adds, the next one finds.

use std::sync::Arc;

use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use serde_json::{Value, json};

use super::rig;
use crate::rig::TestServer;

/// Adds messages of a user and returns the ids of the resulting memories.
async fn added(rig: &TestServer, user: &str, words: &str) -> Vec<String> {
    let body = json!({"messages": [{"role": "user", "content": words}], "user_id": user});
    let added = rig.send("/v3/memories/add/", body).await.ok();
    let results = added["results"].as_array().unwrap();
    results.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

async fn listed(rig: &TestServer, filters: Value) -> Vec<Value> {
    let page = rig.send("/v3/memories/?page=1&page_size=50", json!({"filters": filters})).await.ok();
    assert_eq!(page["count"], page["results"].as_array().unwrap().len(), "{page}");
    page["results"].as_array().unwrap().clone()
}

async fn searched(rig: &TestServer, query: &str, filters: Value) -> Vec<Value> {
    let found = rig.send("/v3/memories/search/", json!({"query": query, "filters": filters})).await.ok();
    found["results"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_programs_key_is_as_good_as_none() {
    let open = rig().await;
    let closed = TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| {
        options.needs_key = true
    })
    .await;
    for (rig, path, key, status) in [
        (&open, "/v1/ping/", "Token m0-made-up", 200),
        (&open, "/v1/ping/", "Token qp_made_up", 401),
        (&open, "/v2/entities/user/nobody/", "Token m0-made-up", 405),
        (&open, "/memory/ines/facts", "Bearer m0-made-up", 401),
        (&closed, "/v1/ping/", "Token m0-made-up", 401),
    ] {
        let answer = rig.ask("GET", path, &[("authorization", key)], None).await;
        assert_eq!(answer.status, status, "{path} {key}: {:?}", answer.json());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_added_is_searched_listed_and_read() {
    let rig = rig().await;
    let ping = rig.get("/v1/ping/").await.ok();
    assert!(ping["status"] == "ok" && ping["org_id"].is_string() && ping["project_id"].is_string(), "{ping}");
    let body = json!({
        "messages": [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Noted."}],
        "user_id": "ines", "run_id": "r1", "agent_id": "helper", "metadata": {"origin": "form"}, "custom_instructions": "x",
        "output_format": "v1.1",
    });
    let added = rig.send("/v3/memories/add/", body).await.ok();
    assert_eq!(
        (&added["status"], &added["ignored"]),
        (&json!("SUCCEEDED"), &json!(["custom_instructions"])),
        "{added}"
    );
    assert_eq!(added["results"][0]["data"]["memory"], "User lives in Porto", "{added}");
    let id = added["results"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("ines~fact_"), "{id}");
    let event = rig.get(&format!("/v1/event/{}/", added["event_id"].as_str().unwrap())).await.ok();
    assert_eq!((&event["status"], &event["results"]), (&json!("SUCCEEDED"), &added["results"]), "{event}");

    let memory = rig.get(&format!("/v1/memories/{id}/")).await.ok();
    for (field, value) in [
        ("memory", json!("User lives in Porto")),
        ("user_id", json!("ines")),
        ("run_id", json!("r1")),
        ("agent_id", json!("helper")),
        ("metadata", json!({"origin": "form"})),
        ("trust", json!("user")),
    ] {
        assert_eq!(memory[field], value, "{memory}");
    }
    let found = searched(&rig, "Where does the user live?", json!({"user_id": "ines"})).await;
    assert_eq!((&found[0]["id"], found[0]["score"].is_number()), (&json!(id), true), "{found:?}");
    // Metadata is not part of the text.
    assert!(!found.iter().any(|one| one["memory"].as_str().unwrap().contains("origin")), "{found:?}");
    for (filters, count) in [
        (json!({"user_id": "ines"}), 1),
        (json!({"AND": [{"user_id": "ines"}, {"run_id": "r1"}]}), 1),
        (json!({"AND": [{"user_id": "ines"}, {"run_id": "r2"}]}), 0),
        (json!({"AND": [{"user_id": "ines"}, {"metadata": {"origin": "form"}}]}), 1),
        (json!({"user_id": "nobody"}), 0),
        (json!({"agent_id": "helper"}), 0),
    ] {
        assert_eq!(listed(&rig, filters.clone()).await.len(), count, "{filters}");
    }
    // A text without extracted facts is a memory itself, also one of an agent.
    assert_eq!(added_as_is(&rig).await["results"][0]["data"]["memory"], "The pipeline runs nightly at two.");
    assert_eq!(listed(&rig, json!({"agent_id": "ops"})).await[0]["agent_id"], "ops");
    let users = rig.get("/v1/entities/").await.ok();
    let all: Vec<(Value, Value)> =
        users["results"].as_array().unwrap().iter().map(|one| (one["type"].clone(), one["name"].clone())).collect();
    assert_eq!(all, [(json!("agent"), json!("ops")), (json!("user"), json!("ines"))], "{users}");
    let announced = rig.ask("DELETE", "/v2/entities/agent/ops/", &[], None).await;
    let token = announced.json()["error"]["confirm"].as_str().unwrap().to_owned();
    assert_eq!(announced.refused().0, 428);
    let gone = rig.ask("DELETE", &format!("/v2/entities/agent/ops/?confirm={token}"), &[], None).await.ok();
    assert_eq!(gone["erasure"]["user_id"], "agent:ops", "{gone}");
    assert_eq!(listed(&rig, json!({"agent_id": "ops"})).await.len(), 0);
}

async fn added_as_is(rig: &TestServer) -> Value {
    let body = json!({
        "messages": [{"role": "assistant", "content": "The pipeline runs nightly at two."}], "agent_id": "ops", "infer": false,
    });
    rig.send("/v3/memories/add/", body).await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_keeps_its_name_when_it_is_said_in_other_words() {
    let rig = rig().await;
    for (words, first, second, third) in [
        ("I live in Porto.", "User lives in Porto", "User lives in Lyon", "I moved to Ghent in May."),
        ("The boat is blue and old.", "The boat is blue and old.", "The boat is green.", "The boat was sold."),
    ] {
        let user = if words.starts_with('I') { "ines" } else { "otto" };
        let id = added(&rig, user, words).await.remove(0);
        let path = format!("/v1/memories/{id}/");
        for text in [second, third] {
            let changed = rig.ask("PUT", &path, &[], Some(&json!({"text": text}))).await.ok();
            assert_eq!((&changed["id"], &changed["memory"]), (&json!(id), &json!(text)), "{changed}");
            assert_eq!(rig.get(&path).await.ok()["memory"], text);
            let all = listed(&rig, json!({"user_id": user})).await;
            assert_eq!((all.len(), &all[0]["id"], &all[0]["memory"]), (1, &json!(id), &json!(text)), "{all:?}");
        }
        let found = searched(&rig, first, json!({"user_id": user})).await;
        assert!(!found.iter().any(|one| one["memory"] == first || one["memory"] == second), "{found:?}");
        assert_eq!((&found[0]["id"], &found[0]["memory"]), (&json!(id), &json!(third)), "{found:?}");
        let metadata = json!({"metadata": {"mood": "calm"}, "expiration_date": null, "timestamp": 1});
        let changed = rig.ask("PUT", &path, &[], Some(&metadata)).await.ok();
        assert_eq!((&changed["metadata"], &changed["ignored"]), (&json!({"mood": "calm"}), &json!(["timestamp"])));
        rig.ask("DELETE", &path, &[], None).await.ok();
        assert_eq!(rig.get(&path).await.refused().0, 404);
        assert_eq!(listed(&rig, json!({"user_id": user})).await.len(), 0);
        assert_eq!(searched(&rig, third, json!({"user_id": user})).await, Vec::<Value>::new());
        let history = rig.get(&format!("{path}history/")).await.ok();
        let told: Vec<(&str, &Value, &Value)> = history
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["event"].as_str().unwrap(), &one["old_memory"], &one["new_memory"]))
            .collect();
        let expected = [
            ("ADD", &Value::Null, &json!(first)),
            ("UPDATE", &json!(first), &json!(second)),
            ("UPDATE", &json!(second), &json!(third)),
            ("DELETE", &json!(third), &Value::Null),
        ];
        assert_eq!(told, expected, "{history}");
        // Deleting reverts, it does not destroy: the ledger still has it.
        assert_eq!(rig.get(&format!("/memory/{user}/verify")).await.ok()["intact"], true);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_at_once_ratings_and_everything() {
    let rig = rig().await;
    let first = added(&rig, "ines", "I live in Porto.").await.remove(0);
    let second = added(&rig, "ines", "The boat is blue and old.").await.remove(0);
    let rating = json!({"memory_id": first, "feedback": "VERY_NEGATIVE", "feedback_reason": "not so"});
    assert_eq!(rig.send("/v1/feedback/", rating).await.ok()["feedback"], "VERY_NEGATIVE");
    assert_eq!(
        rig.send("/v1/feedback/", json!({"memory_id": first, "feedback": "FINE"})).await.refused().2,
        "feedback"
    );
    let item = first.rsplit('~').next().unwrap();
    assert_eq!(rig.get(&format!("/memory/ines/items/{item}")).await.ok()["marks"]["rating"], -2);

    let changes = json!({"memories": [{"memory_id": first, "text": "User lives in Lyon"}, {"memory_id": second, "text": "The boat is green."}]});
    rig.ask("PUT", "/v1/batch/", &[], Some(&changes)).await.ok();
    let mut all: Vec<Value> =
        listed(&rig, json!({"user_id": "ines"})).await.iter().map(|one| one["memory"].clone()).collect();
    all.sort_by_key(ToString::to_string);
    assert_eq!(all, ["The boat is green.", "User lives in Lyon"]);
    let unknown = json!({"memories": [{"memory_id": first}, {"memory_id": "ines~fact_0000000000000"}]});
    assert_eq!(rig.ask("DELETE", "/v1/batch/", &[], Some(&unknown)).await.refused().0, 404);
    assert_eq!(listed(&rig, json!({"user_id": "ines"})).await.len(), 2, "all of them or none");
    let gone = json!({"memories": [{"memory_id": first}]});
    rig.ask("DELETE", "/v1/batch/", &[], Some(&gone)).await.ok();
    assert_eq!(listed(&rig, json!({"user_id": "ines"})).await.len(), 1);
    rig.ask("DELETE", "/v1/memories/?user_id=ines", &[], None).await.ok();
    assert_eq!(listed(&rig, json!({"user_id": "ines"})).await.len(), 0);
    assert_eq!(searched(&rig, "boat", json!({"user_id": "ines"})).await, Vec::<Value>::new());
    rig.ask("DELETE", "/v1/memories/?user_id=ines", &[], None).await.ok();
    let dated =
        json!({"messages": "The offer ends.", "user_id": "ada", "expiration_date": "2001-01-01", "infer": false});
    rig.send("/v3/memories/add/", dated).await.ok();
    assert_eq!(listed(&rig, json!({"user_id": "ada"})).await.len(), 0);
    let all = rig.send("/v3/memories/", json!({"filters": {"user_id": "ada"}, "show_expired": true})).await.ok();
    assert_eq!(all["count"], 1, "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_and_nobody_sees_another() {
    let rig = rig().await;
    let id = added(&rig, "otto", "My canary is called Zyxwv.").await.remove(0);
    for (path, body, status, param) in [
        ("/v3/memories/add/", json!({"messages": "x"}), 400, json!("user_id")),
        (
            "/v3/memories/add/",
            json!({"messages": [{"role": "boss", "content": "x"}], "user_id": "a"}),
            400,
            json!("messages"),
        ),
        ("/v3/memories/add/", json!({"messages": [], "user_id": "a"}), 400, Value::Null),
        ("/v3/memories/add/", json!({"messages": "x", "user_id": "../x"}), 400, json!("user_id")),
        ("/v3/memories/search/", json!({"query": "x"}), 400, json!("filters")),
        ("/v3/memories/search/", json!({"query": "x", "filters": {"user_id": {"near": 1}}}), 400, json!("filters")),
        (
            "/v3/memories/search/",
            json!({"query": "x", "filters": {"user_id": "otto"}, "top_k": 0}),
            400,
            json!("top_k"),
        ),
    ] {
        let (is, _, at) = rig.send(path, body.clone()).await.refused();
        assert_eq!((is, at), (status, param), "{path} {body}");
    }
    for path in
        ["/v1/memories/otto~fact_0000000000000/", "/v1/memories/nobody~x/", "/v1/event/otto~9-9/", "/v1/event/x/"]
    {
        assert_eq!(rig.get(path).await.refused().0, 404, "{path}");
    }
    let key = rig.key(&[Scope::Admin], Some("ines"));
    let token = format!("Token {key}");
    let headers = [("authorization", token.as_str())];
    rig.ask("GET", "/v1/ping/", &headers, None).await.ok();
    let body = json!({"messages": "I live in Porto.", "agent_id": "helper"});
    let own = rig.ask("POST", "/v3/memories/add/", &headers, Some(&body)).await.ok();
    assert!(own["results"][0]["id"].as_str().unwrap().starts_with("ines~"), "{own}");
    for user in ["otto", "nobody"] {
        let other = id.replace("otto", user);
        let several = json!({"memories": [{"memory_id": other, "text": "x"}]});
        for (method, path, body) in [
            ("GET", format!("/v1/memories/{other}/"), None),
            ("GET", format!("/v1/memories/{other}/history/"), None),
            ("PUT", format!("/v1/memories/{other}/"), Some(json!({"text": "x"}))),
            ("DELETE", format!("/v1/memories/{other}/"), None),
            ("DELETE", format!("/v1/memories/?user_id={user}"), None),
            ("DELETE", format!("/v2/entities/user/{user}/"), None),
            ("GET", format!("/v1/event/{user}~1-1/"), None),
            ("PUT", "/v1/batch/".to_owned(), Some(several.clone())),
            ("DELETE", "/v1/batch/".to_owned(), Some(several.clone())),
            ("POST", "/v1/feedback/".to_owned(), Some(json!({"memory_id": other, "feedback": "POSITIVE"}))),
            ("POST", "/v3/memories/add/".to_owned(), Some(json!({"messages": "x", "user_id": user}))),
            ("POST", "/v3/memories/".to_owned(), Some(json!({"filters": {"user_id": user}}))),
            ("POST", "/v3/memories/search/".to_owned(), Some(json!({"query": "canary", "filters": {"user_id": user}}))),
        ] {
            let answer = rig.ask(method, &path, &headers, body.as_ref()).await;
            let shown = String::from_utf8_lossy(&answer.body).into_owned();
            assert_eq!(answer.status, 403, "{method} {path}: {shown}");
            assert!(!shown.contains("Zyxwv"), "{shown}");
        }
    }
    let entities = rig.ask("GET", "/v1/entities/", &headers, None).await.ok();
    assert_eq!((&entities["count"], &entities["results"][0]["name"]), (&json!(1), &json!("ines")), "{entities}");
    // An id of the caller's own user finds nothing of another user.
    let bare = id.rsplit('~').next().unwrap();
    assert_eq!(rig.ask("GET", &format!("/v1/memories/{bare}/"), &headers, None).await.refused().0, 404);
    let reader = rig.key(&[Scope::Read], None);
    let reads = [("x-api-key", reader.as_str())];
    let search = json!({"query": "canary", "filters": {"user_id": "otto"}});
    assert!(rig.ask("POST", "/v3/memories/search/", &reads, Some(&search)).await.ok().to_string().contains("Zyxwv"));
    assert_eq!(rig.ask("DELETE", &format!("/v1/memories/{id}/"), &reads, None).await.refused().0, 403);
    assert_eq!(
        rig.ask("POST", "/v3/memories/add/", &reads, Some(&json!({"messages": "x", "user_id": "otto"})))
            .await
            .refused()
            .0,
        403
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_found_by_its_new_words_under_the_same_id() {
    let rig = rig().await;
    for (user, said, old, updates) in [
        ("ines", "I live in Porto.", "Porto", ["User lives in Lyon", "User lives in Reykjavik"]),
        (
            "otto",
            "I need to renew my passport by Friday.",
            "passport",
            ["Renew the driving licence", "Renew the fishing permit"],
        ),
        ("ada", "My goal is to run a marathon this year.", "marathon", ["Learn the violin", "Learn the trombone"]),
        ("bea", "The boat is blue and old.", "boat", ["The canoe is crimson.", "The kayak is yellow."]),
    ] {
        let id = added(&rig, user, said).await.remove(0);
        let path = format!("/v1/memories/{id}/");
        let first = rig.get(&path).await.ok();
        for text in updates {
            let changed = rig.ask("PUT", &path, &[], Some(&json!({"text": text}))).await.ok();
            assert_eq!((&changed["id"], &changed["memory"]), (&json!(id), &json!(text)), "{changed}");
            let times = rig.get(&path).await.ok();
            assert_eq!(times["created_at"], first["created_at"], "{said}: {times}");
            assert!(times["updated_at"].as_str() > first["updated_at"].as_str(), "{said}: {times} after {first}");
            let found = searched(&rig, text, json!({"user_id": user})).await;
            assert_eq!((&found[0]["id"], &found[0]["memory"]), (&json!(id), &json!(text)), "{found:?}");
            // It has a source of its own, as a message has.
            let last = text.rsplit(' ').next().unwrap();
            let pack = rig.send(&format!("/memory/{user}/context"), json!({"query": last})).await.ok();
            let signals = &pack["decision"]["signals"];
            assert!(signals["x"].as_f64().unwrap() > 0.0 && signals["unknown"] == 0.0, "{last}: {pack}");
            assert!(pack["text"].as_str().unwrap().contains(text), "{last}: {pack}");
        }
        let found = searched(&rig, old, json!({"user_id": user})).await;
        assert!(!found.iter().any(|one| one["memory"].as_str().unwrap().contains(old)), "{old}: {found:?}");
        let all = listed(&rig, json!({"user_id": user})).await;
        assert_eq!((all.len(), &all[0]["id"]), (1, &json!(id)), "{all:?}");
        let history = rig.get(&format!("{path}history/")).await.ok();
        assert_eq!(history.as_array().unwrap().len(), 3, "{history}");
        assert_eq!(history[2]["new_memory"], updates[1], "{history}");
        rig.ask("DELETE", &path, &[], None).await.ok();
        assert_eq!(rig.get(&path).await.refused().0, 404);
        assert_eq!(listed(&rig, json!({"user_id": user})).await.len(), 0);
        assert_eq!(searched(&rig, updates[1], json!({"user_id": user})).await, Vec::<Value>::new());
        assert_eq!(rig.get(&format!("/memory/{user}/verify")).await.ok()["intact"], true);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_put_again_is_found_by_its_new_words() {
    let rig = rig().await;
    let put = |text: &str| json!({"namespace": ["notes"], "key": "boat", "value": {"text": text}, "user_id": "ines"});
    let search = json!({"query": "crimson canoe", "user_id": "ines"});
    rig.ask("PUT", "/store/items", &[], Some(&put("The boat is blue."))).await.ok();
    rig.ask("PUT", "/store/items", &[], Some(&put("The crimson canoe leaks."))).await.ok();
    let found = rig.send("/store/items/search", search).await.ok();
    let found = found["items"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["key"], &found[0]["value"]["text"]), (&json!("boat"), &json!("The crimson canoe leaks.")));
    assert!(found[0]["score"].as_f64().unwrap() > 0.0, "{found:?}");
}
