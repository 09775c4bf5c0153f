//! Forwarded bytes are the same on both sides except for one block.

use quipu_fake_model::{FakeRequest, FakeScript};
use serde_json::{Value, json};

use crate::rig::{Answer, TestServer};

/// A reply with text that is awkward in JSON, in UTF-8 and in events.
fn reply(asked: &FakeRequest) -> String {
    format!("“Ça va?” – you said {} things:\n\ndata: {{}}\n\\ and 🦙.", asked.messages.len())
}

/// One request for each dialect, plain and streamed.
fn requests() -> Vec<(&'static str, Value)> {
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "where do I live?"}]});
    let responses = json!({"model": "m", "input": "where do I live?"});
    let messages =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "where do I live?"}]});
    let all = [("/v1/chat/completions", chat), ("/v1/responses", responses), ("/v1/messages", messages)];
    let both = |(path, body): (&'static str, Value)| {
        let mut streamed = body.clone();
        streamed["stream"] = json!(true);
        [(path, body), (path, streamed)]
    };
    all.into_iter().flat_map(both).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_the_upstreams_own_bytes() {
    let rig = TestServer::new(FakeScript::making(reply)).await;
    for (number, (path, body)) in requests().into_iter().enumerate() {
        rig.upstream.rescript(FakeScript::making(reply));
        let direct = rig.client.post(format!("{}{path}", rig.upstream.origin()));
        let direct = Answer::of(direct.body(body.to_string()).send().await.unwrap()).await;
        rig.upstream.rescript(FakeScript::making(reply));
        // A new user each time: nothing is injected, so the upstream receives the same.
        let user = format!("user-{number}");
        let through = Answer::of(rig.post(path, &[("x-memory-user", &user)], body.to_string()).await).await;
        assert_eq!(through.body, direct.body, "{path} {body}");
        assert_eq!(through.status, 200);
        assert_eq!(through.header("content-type"), direct.header("content-type"));
        assert_eq!(through.header("x-memory-status"), "ok", "{path}");
        rig.settled().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_gets_one_block_and_the_headers_say_which() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    rig.remembers("ines", "I live in Porto.");
    for (path, body) in requests() {
        let before = rig.upstream.requests();
        let answer = Answer::of(
            rig.post(path, &[("x-memory-user", "ines"), ("x-memory-session", path)], body.to_string()).await,
        )
        .await;
        rig.settled().await;
        assert_eq!(rig.upstream.requests(), before + 1);
        let sent = String::from_utf8(rig.last_sent().body).unwrap();
        for part in ["stable", "changing"] {
            assert_eq!(sent.matches(&format!("part=\\\"{part}\\\"")).count(), 1, "{path}: {sent}");
        }
        assert!(sent.contains("Porto"), "{path}: {sent}");
        assert_eq!(answer.header("x-memory-status"), "ok", "{path}");
        assert_eq!(answer.header("x-memory-injected"), "true");
        assert!(answer.header("x-memory-tokens").parse::<usize>().unwrap() > 10);
        let ids = answer.header("x-memory-ids");
        assert!(ids.split(',').any(|id| id.starts_with("fact_")) && ids.contains("turn_"), "{ids}");
        assert!(answer.header("x-memory-request-id").starts_with("req_"));
        assert!(answer.header("x-memory-latency-ms").parse::<f64>().unwrap() >= 0.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_memory_is_passed_on_as_they_came() {
    let rig = TestServer::new(FakeScript::saying("Hello.")).await;
    let body = "{\"messages\" : [ {\"role\":\"user\",\"content\":\"hi\"} ],\"model\":\"m\", \"temperature\": 0.50 }";
    let answer = Answer::of(rig.post("/v1/chat/completions", &[], body).await).await;
    assert_eq!(rig.last_sent().body, body.as_bytes());
    assert_eq!(answer.header("x-memory-status"), "ok");
    assert_eq!(answer.header("x-memory-injected"), "false");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_that_is_there_already_is_not_put_in_again() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    rig.remembers("ines", "I live in Porto.");
    let block = "<memory user=\"ines\" version=\"1\">\n- lives in Lyon\n</memory>";
    let body = json!({"model": "m", "messages": [{"role": "system", "content": block}, {"role": "user", "content": "where?"}]});
    let answer = rig.chat(&[("x-memory-user", "ines")], &body).await;
    assert_eq!(rig.last_sent().body, body.to_string().into_bytes());
    assert_eq!(answer.header("x-memory-injected"), "false");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_goes_on_with_a_tool_keeps_its_block() {
    let rig = TestServer::new(FakeScript::saying("Rain.")).await;
    rig.remembers("ines", "I live in Porto.");
    let user = json!({"role": "user", "content": "what will the weather be where I live?"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "w", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "rain"});
    let headers = [("x-memory-user", "ines"), ("x-memory-session", "s")];
    rig.chat(&headers, &json!({"model": "m", "messages": [user]})).await;
    let first = rig.last_sent().json()["messages"].clone();
    rig.chat(&headers, &json!({"model": "m", "messages": [user, call, result]})).await;
    let second = rig.last_sent().json()["messages"].clone();
    // The stable part is in the system text, the changing one after the user's message.
    assert!(first[0]["content"].as_str().unwrap().starts_with("<memory user="), "{first}");
    assert!(first[1]["content"].as_str().unwrap().contains("\n\n<memory user="), "{first}");
    assert_eq!((&second[0], &second[1]), (&first[0], &first[1]), "the prefix is the same, so a cache of it holds");
    assert_eq!((&second[2], &second[3]), (&call, &result));
}
