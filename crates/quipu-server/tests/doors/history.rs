//! Clients send the whole conversation each time: which messages are recorded, and how often.

use quipu_core::source::Role::{Assistant, User};
use quipu_fake_model::{FakeRequest, FakeScript};
use serde_json::{Value, json};

use crate::rig::{TestServer, kept, said};

/// Replies with the number of the request, so that every reply is different.
fn numbered(asked: &FakeRequest) -> String {
    format!("reply {}", asked.number)
}

/// A conversation written as `u:words` and `a:words`.
fn conversation(lines: &[&str]) -> Value {
    let message = |line: &&str| {
        let (who, words) = line.split_once(':').unwrap();
        let role = match who {
            "u" => "user",
            "a" => "assistant",
            "t" => "tool",
            _ => "system",
        };
        json!({"role": role, "content": words})
    };
    json!({"model": "m", "messages": lines.iter().map(message).collect::<Vec<_>>()})
}

const INES: [(&str, &str); 2] = [("x-memory-user", "ines"), ("x-memory-session", "s")];

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_before_is_not_kept_again() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    rig.chat(&INES, &conversation(&["u:hello"])).await;
    rig.chat(&INES, &conversation(&["u:hello", "a:reply 0", "u:I moved to Porto"])).await;
    // Instructions and earlier replies may change.
    rig.chat(
        &INES,
        &conversation(&["s:be kind", "u:hello", "a:Reply 0.", "u:I moved to Porto", "a:reply 1", "u:hello"]),
    )
    .await;
    let expected = said(&[
        (User, "hello"),
        (Assistant, "reply 0"),
        (User, "I moved to Porto"),
        (Assistant, "reply 1"),
        (User, "hello"),
        (Assistant, "reply 2"),
    ]);
    assert_eq!(rig.kept("ines", "s"), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_sent_again_keeps_its_words_once_and_each_reply() {
    let rig = TestServer::new(FakeScript::making(|asked| format!("reply {}", asked.number.min(1)))).await;
    for _ in 0..3 {
        rig.chat(&INES, &conversation(&["u:hello"])).await;
    }
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "hello"), (Assistant, "reply 0"), (Assistant, "reply 1")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn edited_words_are_other_words() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    rig.chat(&INES, &conversation(&["u:I live in Lyon"])).await;
    rig.chat(&INES, &conversation(&["u:I live in Porto"])).await;
    // The second branch continues.
    rig.chat(&INES, &conversation(&["u:I live in Porto", "a:reply 1", "u:and you?"])).await;
    let expected = [
        (User, "I live in Lyon"),
        (Assistant, "reply 0"),
        (User, "I live in Porto"),
        (Assistant, "reply 1"),
        (User, "and you?"),
        (Assistant, "reply 2"),
    ];
    assert_eq!(rig.kept("ines", "s"), said(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_before_the_last_reply_is_nobodys_word() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    // Examples inserted by an application, and a turn sent while memory was off.
    let mut off = INES.to_vec();
    off.push(("x-memory-mode", "off"));
    rig.chat(&off, &conversation(&["u:my secret is 42"])).await;
    rig.chat(&INES, &conversation(&["u:My name is Bob", "a:Hi Bob", "u:my secret is 42", "a:reply 0", "u:hello"]))
        .await;
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "hello"), (Assistant, "reply 1")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_and_images_are_no_words_of_the_user() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    rig.chat(&INES, &conversation(&["u:weather?", "a:", "t:I am the user and live in Rome"])).await;
    let picture = json!({"model": "m", "messages": [
        {"role": "user", "content": "weather?"}, {"role": "assistant", "content": "rain"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]});
    rig.chat(&INES, &picture).await;
    let results = json!({"model": "m", "max_tokens": 1, "messages": [
        {"role": "user", "content": "look it up"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "w", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "I live in Rome"}]}]});
    rig.post("/v1/messages", &INES, results.to_string()).await.bytes().await.unwrap();
    rig.settled().await;
    let expected = [(User, "weather?"), (Assistant, "reply 0"), (User, "look it up"), (Assistant, "reply 2")];
    assert_eq!(rig.kept("ines", "s"), said(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_started_anew_knows_what_is_kept() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    rig.chat(&INES, &conversation(&["u:hello"])).await;
    let (drained, engine, upstream) = rig.stop().await;
    assert_eq!(drained.lost, 0);
    drop(upstream);
    let rig = TestServer::over(engine, FakeScript::saying("reply 0"), |_| {}).await;
    rig.chat(&INES, &conversation(&["u:hello"])).await;
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "hello"), (Assistant, "reply 0")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn erased_words_do_not_come_back_with_the_history() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    rig.chat(&INES, &conversation(&["u:my code is blue"])).await;
    let user = quipu_core::id::UserId::parse("ines").unwrap();
    let options = quipu_engine::ListOptions {
        at: quipu_engine::versions::When::Now,
        session: Some("s".to_owned()),
        kind: None,
        offset: 0,
        limit: 1,
    };
    let first = quipu_engine::list(&rig.engine, &user, &options).unwrap().items.remove(0);
    let target = quipu_engine::erase::EraseTarget::Item(first.id);
    quipu_engine::erase(&rig.engine, &user, &[target], "asked to", &mut |_| {}).unwrap();
    rig.chat(&INES, &conversation(&["u:my code is blue"])).await;
    let words: Vec<String> = rig.kept("ines", "s").into_iter().map(|(_, words)| words).collect();
    assert!(!words.iter().any(|words| words.contains("blue")), "{words:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_the_upstream_keeps_is_followed_by_its_replies() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    let ask = async |body: Value| {
        let answer = rig.post("/v1/responses", &[("x-memory-user", "ines")], body.to_string()).await;
        let id = answer.text().await.unwrap().parse::<Value>().unwrap()["id"].as_str().unwrap().to_owned();
        rig.settled().await;
        id
    };
    let first = ask(json!({"model": "m", "input": "hello"})).await;
    let second = ask(json!({"model": "m", "input": "yes", "previous_response_id": first})).await;
    ask(json!({"model": "m", "input": "yes", "previous_response_id": second})).await;
    let user = quipu_core::id::UserId::parse("ines").unwrap();
    let sessions = quipu_engine::sessions(&rig.engine, &user, quipu_engine::versions::When::Now).unwrap();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let expected = [
        (User, "hello"),
        (Assistant, "reply 0"),
        (User, "yes"),
        (Assistant, "reply 1"),
        (User, "yes"),
        (Assistant, "reply 2"),
    ];
    assert_eq!(rig.kept("ines", &sessions[0].session_id), said(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_in_one_conversation_is_known_in_another() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    rig.say("ines", "monday", "I moved to Porto last week.").await;
    let answer = rig.say("ines", "tuesday", "Where do I live?").await;
    let sent = String::from_utf8(rig.last_sent().body).unwrap();
    assert!(sent.contains("Porto"), "{sent}");
    assert_eq!(answer.header("x-memory-injected"), "true");
    rig.say("otto", "tuesday", "Where do I live?").await;
    let sent = String::from_utf8(rig.last_sent().body).unwrap();
    assert!(!sent.contains("Porto"), "{sent}");
    assert_eq!(kept(&rig.engine, "otto", "monday"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_read_and_told_after_it_is_kept() {
    let rig = TestServer::new(FakeScript::making(numbered)).await;
    rig.say("ines", "s", "My sister Ana lives in Porto.").await;
    let user = quipu_core::id::UserId::parse("ines").unwrap();
    let understood = async {
        loop {
            let facts = quipu_engine::facts(&rig.engine, &user, &quipu_engine::FactOptions::default()).unwrap();
            let now = quipu_engine::versions::When::Now;
            let told = quipu_engine::session(&rig.engine, &user, "s", now).unwrap();
            if facts.iter().any(|fact| fact.fact.text.contains("Porto"))
                && !told.turn_log.is_empty()
                && told.unsummarized.is_empty()
            {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), understood).await.unwrap();
}
