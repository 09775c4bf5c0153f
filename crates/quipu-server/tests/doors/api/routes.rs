//! Every route does its task.

use serde_json::{Value, json};

use super::rig;
use crate::rig::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn seed_0_the_core_document() {
    let rig = rig().await;
    let event = json!({
        "id": "msg-1", "timestamp": "2026-01-05T10:00:00Z", "actor": "user", "source": "chat", "confidence": 0.9,
        "rationale": "said so", "patch": [{"op": "add", "path": "/location", "value": {"city": "Porto"}}],
    });
    let receipt = rig.send("/memory/ines/events", event.clone()).await.ok();
    assert_eq!((&receipt["seq"], &receipt["replayed"]), (&json!(1), &json!(false)));
    // The same event again, by its id.
    assert_eq!(rig.send("/memory/ines/events", event).await.ok()["replayed"], true);
    let core = rig.get("/memory/ines").await.ok();
    assert_eq!((&core["version"], &core["document"]["location"]["city"]), (&json!(1), &json!("Porto")));
    assert_eq!(rig.get("/memory/ines?at=0").await.ok()["document"].get("location"), None);
    let log = rig.get("/memory/ines/events").await.ok();
    assert_eq!(log["events"][0]["reference"], "chat");
    assert_eq!(log["events"][0]["rationale"], "said so");
    let agent = json!({"actor": "agent", "patch": []});
    assert_eq!(rig.send("/memory/ines/events", agent).await.refused(), (422, "refused".into(), json!("actor")));
    let bad = json!({"patch": [{"op": "remove", "path": "/nowhere"}]});
    assert_eq!(rig.send("/memory/ines/events", bad).await.refused(), (422, "refused".into(), Value::Null));
    assert_eq!(rig.get("/memory/nobody").await.ok()["version"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn seed_3_retrieve_write_and_close() {
    let rig = rig().await;
    let write = json!({
        "user_id": "ines", "actor": "user",
        "facts": [{"s": "user", "p": "lives_in", "o": "Porto", "text": "The user lives in Porto.",
                   "valid_from": "2020-05-01T00:00:00Z"}],
        "reflective": [{"text": "Short answers work best in the morning."}],
        "tasks": [{"title": "renew the passport"}],
        "episodes": [{"summary": "They met."}],
    });
    let keyed = [("idempotency-key", "w1")];
    let written = rig.ask("POST", "/memory/write", &keyed, Some(&write)).await.ok();
    assert_eq!(written["accepted"].as_array().unwrap().len(), 3, "{written}");
    assert_eq!(written["rejected"][0]["item"], "They met.", "{written}");
    let again = rig.ask("POST", "/memory/write", &keyed, Some(&write)).await.ok();
    assert_eq!((&again["accepted"], &again["replayed"]), (&written["accepted"], &json!(true)));

    let asked =
        json!({"user_id": "ines", "query": "Where does the user live?", "K": 8, "intent": "recall", "explain": true});
    let found = rig.send("/memory/retrieve", asked).await.ok();
    assert_eq!(found["profile"][0]["text"], "User lives in Porto.", "{found}");
    assert!(found["debug"]["scores"][0]["contributions"].is_object() && found["debug"]["trace"].is_object(), "{found}");
    let fact = found["profile"][0]["id"].as_str().unwrap();

    let close = |valid_to| json!({"user_id": "ines", "fact_id": fact, "valid_to": valid_to});
    let (status, _, at) = rig.send("/memory/profile/version", close("1999-03-01T00:00:00Z")).await.refused();
    assert_eq!((status, at), (400, Value::Null), "it would have ended before it began");
    rig.send("/memory/profile/version", close("2036-03-01T00:00:00Z")).await.ok();
    let closed = rig.get(&format!("/memory/ines/items/{fact}")).await.ok();
    assert_eq!(closed["item"]["valid_to"], "2036-03-01T00:00:00Z", "{closed}");
    // An agent's claims about the user wait for a review.
    let claims = json!({"user_id": "otto", "facts": [{"s": "user", "p": "lives_in", "o": "Rome"}]});
    rig.send("/memory/write", claims).await.ok();
    assert_eq!(rig.get("/memory/otto/facts").await.ok()["total"], 0);
    for (body, param) in [
        (json!({"query": "where", "K": "many"}), "K"),
        (json!({"user_id": "ines"}), "query"),
        (json!({"query": "where", "wrong": 1}), "wrong"),
        (json!({"user_id": "../x", "query": "where"}), "user_id"),
    ] {
        let (status, _, at) = rig.send("/memory/retrieve", body.clone()).await.refused();
        assert_eq!((status, at), (400, json!(param)), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_wait_as_long_as_asked_and_are_recorded_once() {
    let rig = rig().await;
    for wait in ["durable", "indexed", "extracted"] {
        let body = json!({"session_id": "s1", "said_at": "2026-01-05T10:00:00Z", "wait": wait, "messages": [
            {"role": "user", "content": format!("My {wait} friend Ana lives in Porto.")},
            {"role": "assistant", "content": "Noted.", "name": "Otto"},
        ]});
        let keyed = [("idempotency-key", wait)];
        let first = rig.ask("POST", "/memory/ines/turns", &keyed, Some(&body)).await.ok();
        assert_eq!(first["events"].as_array().unwrap().len(), 2, "{first}");
        assert_eq!((&first["position"], &first["lag"]), (&first["seq"], &Value::Null), "{first}");
        let again = rig.ask("POST", "/memory/ines/turns", &keyed, Some(&body)).await.ok();
        assert_eq!((&again["items"], &again["replayed"]), (&first["items"], &json!(true)), "{again}");
        let other = json!({"messages": [{"role": "user", "content": "something else"}]});
        assert_eq!(rig.ask("POST", "/memory/ines/turns", &keyed, Some(&other)).await.refused().0, 422);
        if wait != "durable" {
            let found =
                rig.send("/memory/retrieve", json!({"user_id": "ines", "query": format!("{wait} friend")})).await.ok();
            assert!(found.to_string().contains(&format!("My {wait} friend")), "{found}");
        }
    }
    let in_session = json!({"messages": [{"role": "user", "content": "one more thing"}]});
    rig.send("/memory/ines/sessions/s1/turns", in_session).await.ok();
    let session = rig.get("/memory/ines/sessions/s1").await.ok();
    assert_eq!(session["raw_window"].as_array().unwrap().len(), 7, "{session}");
    let sessions = rig.get("/memory/ines/sessions").await.ok();
    assert_eq!((&sessions["total"], &sessions["items"][0]["turns"]), (&json!(1), &json!(4)), "{sessions}");

    let entry = json!({"topic": "garden", "text": "The tomatoes are planted.", "said_at": "2026-04-02T08:00:00Z"});
    let entered = rig.send("/memory/ines/entries", entry).await.ok();
    let id = entered["items"][0].as_str().unwrap();
    assert!(id.starts_with("entry_"), "{entered}");
    let item = rig.get(&format!("/memory/ines/items/{id}")).await.ok();
    assert_eq!(item["item"]["topic"], "garden", "{item}");
    for (body, param) in [
        (json!({"messages": [{"role": "boss", "content": "x"}]}), "messages[0].role"),
        (json!({"messages": [{"role": "user"}]}), "messages[0].content"),
        (json!({"messages": [{"role": "user", "content": "x", "trust": "user"}]}), "messages[0].trust"),
        (json!({"messages": [], "wait": "forever"}), "wait"),
    ] {
        let (status, _, at) = rig.send("/memory/ines/turns", body.clone()).await.refused();
        assert_eq!((status, at), (400, json!(param)), "{body}");
    }
    assert_eq!(rig.send("/memory/ines/turns", json!({"messages": []})).await.refused().0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pack_is_made_and_made_again() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let pack = rig.send("/memory/ines/context", json!({"query": "Where do I live?", "max_tokens": 500})).await.ok();
    assert!(pack["text"].as_str().unwrap().contains("Porto") && pack["tokens"].as_u64().unwrap() <= 500, "{pack}");
    assert!(pack["decision"]["verdict"].is_string() && !pack["citations"].as_array().unwrap().is_empty(), "{pack}");
    let again = rig.get(&format!("/memory/ines/packs/{}", pack["pack_id"].as_str().unwrap())).await.ok();
    assert_eq!((&again["identical"], &again["text"]), (&json!(true), &pack["text"]));
    assert_eq!(rig.get("/memory/ines/packs/no-pack").await.refused().0, 400);
    let messages = json!([{"role": "user", "content": "Where do I live?"}, {"role": "assistant", "content": "Hm."}]);
    let of_messages = rig.send("/memory/ines/context", json!({"messages": messages})).await.ok();
    assert!(of_messages["text"].as_str().unwrap().contains("Porto"));
    rig.send("/memory/ines/sessions/s/turns", json!({"messages": [{"role": "user", "content": "Hello there."}]}))
        .await
        .ok();
    let session = rig.send("/memory/ines/context", json!({"session_id": "s", "query": "Where do I live?"})).await.ok();
    assert_eq!(session["messages"][0]["text"], "Hello there.", "{session}");
    assert_eq!(
        rig.send("/memory/ines/context", json!({})).await.refused(),
        (400, "invalid_request".into(), json!("query"))
    );
}

/// Records three facts, a task and a note of a user.
async fn life(rig: &TestServer) {
    let write = json!({
        "user_id": "ines", "actor": "user",
        "facts": [{"p": "lives_in", "o": "Porto"}, {"p": "likes", "o": "oysters"}, {"p": "likes", "o": "fado"}],
        "tasks": [{"title": "renew the passport"}], "reflective": [{"text": "Short answers work best."}],
    });
    let written = rig.send("/memory/write", write).await.ok();
    assert_eq!(written["accepted"].as_array().unwrap().len(), 5, "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_paged_and_items_are_changed() {
    let rig = rig().await;
    life(&rig).await;
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let page = rig.get(&format!("/memory/ines/facts?limit=1{after}")).await.ok();
        assert_eq!(page["total"], 3, "{page}");
        seen.push(page["items"][0]["id"].as_str().unwrap().to_owned());
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen.len(), 3);
    let expected =
        [("tasks", 1), ("notes", 1), ("tenets", 0), ("conflicts", 0), ("sessions", 0), ("facts?predicate=likes", 2)];
    for (list, many) in expected {
        assert_eq!(rig.get(&format!("/memory/ines/{list}")).await.ok()["total"], many, "{list}");
    }
    for (path, status, param) in [
        ("facts?limit=0", 400, "limit"),
        ("facts?limit=x", 400, "limit"),
        ("facts?after=gone", 404, "after"),
        ("facts?colour=red", 400, "colour"),
        ("facts?at=whenever", 400, "at"),
    ] {
        let refused = rig.get(&format!("/memory/ines/{path}")).await.refused();
        assert_eq!((refused.0, refused.2), (status, json!(param)), "{path}");
    }
    let path = format!("/memory/ines/items/{}", seen[0]);
    let change = json!({"pinned": true, "rating": 2, "user_fact_score": 9});
    let changed = rig.ask("PATCH", &path, &[], Some(&change)).await.ok();
    assert_eq!(changed["receipts"].as_array().unwrap().len(), 2, "{changed}");
    let item = rig.get(&path).await.ok();
    assert_eq!((&item["marks"]["pinned"], &item["item"]["user_fact_score"]), (&json!(true), &json!(9)), "{item}");
    assert_eq!(rig.get(&format!("{path}?at=3")).await.ok()["marks"]["pinned"], false);
    let why = rig.get(&format!("{path}/why")).await.ok();
    assert!(why["events"].as_array().unwrap().len() >= 3 && !why["quotes"].as_array().unwrap().is_empty(), "{why}");
    for body in [json!({}), json!({"rating": 3}), json!({"user_fact_score": 11}), json!({"text": " "})] {
        assert_eq!(rig.ask("PATCH", &path, &[], Some(&body)).await.refused().0, 400, "{body}");
    }
    assert_eq!(rig.get("/memory/ines/items/fact_0000000000000").await.refused().0, 404);
    let likes = rig.get("/memory/ines/facts?predicate=likes").await.ok();
    let [one, other] = [0, 1].map(|place| likes["items"][place]["id"].clone());
    rig.send("/memory/ines/merge", json!({"from": [one], "into": other})).await.ok();
    assert_eq!(rig.get("/memory/ines/facts?predicate=likes").await.ok()["total"], 1);
    let again = rig.send("/memory/ines/merge", json!({"from": [one], "into": other})).await.refused();
    assert_eq!(again.0, 422, "it was merged before");
    rig.send("/memory/ines/retract", json!({"item_id": seen[0], "reason": "not so"})).await.ok();
    assert!(rig.get("/memory/ines/facts").await.ok()["total"].as_u64().unwrap() < 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn times_are_taken_as_people_type_them() {
    let rig = rig().await;
    let said =
        |said_at: &str| json!({"messages": [{"role": "user", "content": "I live in Porto."}], "said_at": said_at});
    rig.send("/memory/ines/turns", said("3 days ago")).await.ok();
    assert_eq!(rig.send("/memory/ines/turns", said("soonish")).await.refused().0, 400);
    let task = |due: &str| json!({"user_id": "ines", "actor": "user", "tasks": [{"title": "call Ana", "due": due}]});
    rig.send("/memory/write", task("next friday 18:30")).await.ok();
    assert_eq!(rig.send("/memory/write", task("soonish")).await.refused().0, 400);
    for path in ["facts?at=tomorrow", "facts?valid_at=yesterday%2014:00", "tasks?at=2026-07-15", "facts?at=next%20year"]
    {
        rig.get(&format!("/memory/ines/{path}")).await.ok();
    }
    let refused = rig.get("/memory/ines/facts?at=monday").await.refused();
    assert_eq!((refused.0, refused.2), (400, json!("at")));
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_compared_taken_back_picked_and_copied() {
    let rig = rig().await;
    for (path, value) in [
        ("/uncategorized", json!({"location": "Lyon"})),
        ("/uncategorized/pet", json!("cat")),
        ("/uncategorized/tea", json!("green")),
    ] {
        let patch = json!({"patch": [{"op": "add", "path": path, "value": value}]});
        rig.send("/memory/ines/events", patch).await.ok();
    }
    let page = rig.get("/memory/ines/events?limit=2").await.ok();
    let seqs: Vec<u64> =
        page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!((seqs, &page["next"]), (vec![1, 2], &json!(2)));
    let rest = rig.get("/memory/ines/events?limit=2&after=2").await.ok();
    assert_eq!((&rest["events"][0]["seq"], &rest["next"]), (&json!(3), &Value::Null), "{rest}");
    assert_eq!(rig.get("/memory/ines/events?after=99").await.ok()["events"], json!([]));
    let diff = rig.get("/memory/ines/diff?from=1&to=2").await.ok();
    assert!(diff["core_patch"].to_string().contains("pet"), "{diff}");
    let blame = rig.get("/memory/ines/blame?path=/uncategorized/pet").await.ok();
    assert_eq!(blame["steps"][0]["seq"], 2, "{blame}");
    let verified = rig.get("/memory/ines/verify").await.ok();
    assert_eq!(verified["intact"], true, "{verified}");
    let wrong = format!("1:{}", "0".repeat(64));
    assert_eq!(rig.get(&format!("/memory/ines/verify?pin={wrong}")).await.ok()["intact"], false);
    assert_eq!(rig.get("/memory/ines/verify?pin=x").await.refused().2, "pin");

    let dry = rig.send("/memory/ines/revert", json!({"events": [2], "dry_run": true, "probes": ["tea"]})).await.ok();
    assert_eq!(dry["events"], json!([2]));
    assert_eq!(rig.get("/memory/ines").await.ok()["version"], 3, "a dry run appends nothing");
    rig.send("/memory/ines/revert", json!({"events": [2], "rationale": "wrong"})).await.ok();
    assert_eq!(rig.get("/memory/ines").await.ok()["document"]["uncategorized"].get("pet"), None);
    for body in [json!({}), json!({"events": [1], "session": "s"}), json!({"events": ["x"]})] {
        assert_eq!(rig.send("/memory/ines/revert", body.clone()).await.refused().0, 400, "{body}");
    }
    assert_eq!(rig.send("/memory/ines/revert", json!({"session": "none"})).await.refused().0, 404);
    let picked = rig.send("/memory/ines/pick", json!({"events": [1, 3], "into": "otto"})).await.ok();
    assert_eq!(picked["receipts"].as_array().unwrap().len(), 2, "{picked}");
    rig.send("/memory/ines/fork", json!({"into": "ines2", "at": "2"})).await.ok();
    assert_eq!(rig.get("/memory/ines2").await.ok()["document"]["uncategorized"]["pet"], "cat");
    assert_eq!(rig.send("/memory/ines/fork", json!({"into": "ines2"})).await.refused().0, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_decide_and_erase() {
    let rig = rig().await;
    let claims = json!({"user_id": "ines", "actor": "agent", "facts": [{"s": "user", "p": "lives_in", "o": "Rome"}]});
    rig.send("/memory/write", claims).await.ok();
    let waiting = rig.get("/memory/ines/review").await.ok();
    assert_eq!(waiting["total"], 1, "{waiting}");
    let path = format!("/memory/ines/review/{}", waiting["items"][0]["id"].as_str().unwrap());
    assert_eq!(rig.send(&path, json!({"action": "edit"})).await.refused().2, "text");
    assert_eq!(rig.send(&path, json!({"action": "approve", "text": "x"})).await.refused().2, "text");
    rig.send(&path, json!({"action": "approve"})).await.ok();
    assert_eq!(rig.get("/memory/ines/review").await.ok()["total"], 0);
    assert_eq!(rig.send(&path, json!({"action": "decline"})).await.refused().0, 422);
    rig.send(&path, json!({"action": "undo"})).await.ok();
    rig.send(&path, json!({"action": "edit", "text": "Porto"})).await.ok();
    assert!(rig.get("/memory/ines/facts").await.ok().to_string().contains("Porto"));
    assert_eq!(rig.send("/memory/ines/review/review_none", json!({"action": "approve"})).await.refused().0, 404);

    let told = rig.told("ines", "My locker code is nine nine two.").await;
    let erase = json!({"targets": [told["items"][0]], "reason": "asked for"});
    let receipt = rig.send("/memory/ines/erase", erase.clone()).await.ok();
    assert!(!receipt["erased"].as_array().unwrap().is_empty(), "{receipt}");
    assert!(!rig.get("/memory/ines/events").await.ok().to_string().contains("locker"));
    assert!((404..=422).contains(&rig.send("/memory/ines/erase", erase).await.refused().0));
    assert_eq!(rig.send("/memory/ines/erase", json!({"targets": ["??"]})).await.refused().2, "targets");
    let gone = rig.deleted("ines").await;
    assert_eq!(gone["user_id"], "ines", "{gone}");
    assert!(!rig.knows("ines"));
}

#[tokio::test(flavor = "multi_thread")]
async fn episodes_by_topic_and_place() {
    let rig = rig().await;
    for (day, words) in
        [("05", "The garden needs water, the garden is dry."), ("09", "Work is busy, the deadline at work is near.")]
    {
        let body = json!({"session_id": format!("s{day}"), "said_at": format!("2026-01-{day}T10:00:00Z"),
                          "messages": [{"role": "user", "content": words}, {"role": "assistant", "content": "I see."}]});
        rig.send("/memory/ines/turns", body).await.ok();
    }
    let all = rig.get("/memory/ines/episodes?k=10").await.ok();
    for episode in all["episodes"].as_array().unwrap() {
        assert!(episode["score"].as_u64().unwrap() >= 1 && episode["title"].is_string(), "{episode}");
    }
    assert_eq!(rig.get("/memory/ines/episodes?k=0").await.refused().2, "k");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_told_as_they_come() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let live = [("accept", "text/event-stream"), ("last-event-id", "1")];
    let mut request = rig.client.get(rig.url("/memory/ines/events?after=0"));
    for (name, value) in live {
        request = request.header(name, value);
    }
    let mut response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut seen = String::new();
    rig.told("ines", "My sister is called Ana.").await;
    while !seen.contains("My sister is called Ana.") {
        let piece = tokio::time::timeout(std::time::Duration::from_secs(30), response.chunk()).await.unwrap();
        seen += std::str::from_utf8(&piece.unwrap().unwrap()).unwrap();
    }
    assert!(!seen.contains("id: 1\n") && seen.contains("event: event\ndata: {"), "{seen}");
    // For a user without a memory, events arrive once there are any.
    let request = rig.client.get(rig.url("/memory/nobody/events")).header(live[0].0, live[0].1);
    let mut nobody = request.send().await.unwrap();
    rig.told("nobody", "I like jazz.").await;
    let mut seen = String::new();
    while !seen.contains("I like jazz.") {
        let piece = tokio::time::timeout(std::time::Duration::from_secs(30), nobody.chunk()).await.unwrap();
        seen += std::str::from_utf8(&piece.unwrap().unwrap()).unwrap();
    }
    // When the server stops, the stream ends and does not delay the shutdown.
    let (drained, ..) = rig.stop().await;
    assert_eq!(drained.lost, 0);
    while let Ok(Some(_)) = response.chunk().await {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_grows_when_it_is_asked_to() {
    let rig = rig().await;
    life(&rig).await;
    let before = rig.get("/memory/ines").await.ok();
    let dry = rig.send("/memory/compact", json!({"user_id": "ines", "dry_run": true})).await.ok();
    assert_eq!(dry["dry_run"], true, "{dry}");
    assert_eq!(rig.get("/memory/ines").await.ok(), before, "a dry run appends nothing");
    rig.send("/memory/compact", json!({"user_id": "ines"})).await.ok();
    let notes = json!({"sleep_with_boris": "Having trouble staying asleep", "sleep_note_2": "Higher BG after poor sleep",
                       "sleep_note_3": "Started using sleep mask"});
    let patch = json!({"patch": [{"op": "add", "path": "/uncategorized", "value": notes}]});
    rig.send("/memory/ines/events", patch).await.ok();
    let promote = json!({"candidate": "sleep", "proposedName": "sleepHealth", "rationale": "we speak of it often"});
    let keyed = [("idempotency-key", "p1")];
    rig.ask("POST", "/memory/ines/schema/promote", &keyed, Some(&promote)).await.ok();
    let again = rig.ask("POST", "/memory/ines/schema/promote", &keyed, Some(&promote)).await.ok();
    assert_eq!(again["replayed"], true, "{again}");
    assert!(rig.get("/memory/ines").await.ok()["document"]["sleepHealth"].is_object());
    let none = json!({"candidate": "nothing_like_it"});
    assert_eq!(rig.send("/memory/ines/schema/promote", none).await.refused().0, 404);
}
