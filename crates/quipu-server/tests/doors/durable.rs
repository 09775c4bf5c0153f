//! Messages are durable before anything acts on them, whatever hangs behind them, and a server that hangs reports it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use quipu_core::extract::window::{self, Window};
use quipu_core::id::UserId;
use quipu_core::source::Role::{self, Assistant, User};
use quipu_engine::Engine;
use quipu_engine::ports::{ExtractError, StoreError, WindowReader};
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use quipu_testkit::{MemoryStore, RecordingStore};
use serde_json::{Value, json};

use crate::rig::{Answer, TestServer, engine, engine_of, kept, said};

const INES: [(&str, &str); 2] = [("x-memory-user", "ines"), ("x-memory-session", "s")];
const REPLY: &str = "It is Porto, as you have told me.";
/// The messages of a session, with their speakers.
type Conversation = Vec<(Role, String)>;

/// Time limit for a condition that a test waits for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A gate that blocks callers while it is shut.
#[derive(Default)]
struct Gate {
    is_shut: Mutex<bool>,
    opened: Condvar,
    has_waited: AtomicBool,
}

impl Gate {
    fn shut(&self, is_shut: bool) {
        *self.is_shut.lock().unwrap() = is_shut;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let mut is_shut = self.is_shut.lock().unwrap();
        while *is_shut {
            self.has_waited.store(true, Ordering::SeqCst);
            is_shut = self.opened.wait(is_shut).unwrap();
        }
    }
}

/// Opens the gate, also if the test fails.
struct Opens(Arc<Gate>);

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.shut(false);
    }
}

/// A model reader that waits at a gate and finds nothing.
struct GatedReader(Arc<Gate>);

impl WindowReader for GatedReader {
    fn id(&self) -> &str {
        "gated/v1"
    }

    fn read(&self, _: &UserId, _: &Window) -> Result<window::ModelReply, ExtractError> {
        self.0.pass();
        Ok(window::ModelReply::default())
    }
}

/// An engine whose appends, or whose user lists, wait at a gate.
fn gated_store(call: &'static str, gate: Arc<Gate>) -> Arc<Engine> {
    gated(&MemoryStore::new(), call, gate)
}

/// The same over a store shared with others.
fn gated(store: &MemoryStore, call: &'static str, gate: Arc<Gate>) -> Arc<Engine> {
    let store = RecordingStore::new(Box::new(store.clone())).before(move |called| {
        if called == call {
            gate.pass();
        }
        Ok(())
    });
    engine_of(Box::new(store), Arc::new(HashedNgrams::new()), None)
}

/// Waits until a condition holds.
async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

/// One request for each dialect, plain and streamed.
fn requests() -> Vec<(&'static str, Value)> {
    let words = "where do I live?";
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": words}]});
    let responses = json!({"model": "m", "input": words});
    let messages = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": words}]});
    let all = [("/v1/chat/completions", chat), ("/v1/responses", responses), ("/v1/messages", messages)];
    let both = |(path, body): (&'static str, Value)| {
        let mut streamed = body.clone();
        streamed["stream"] = json!(true);
        [(path, body), (path, streamed)]
    };
    all.into_iter().flat_map(both).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_has_the_words_before_the_upstream_and_the_reply_before_its_end() {
    // Nothing is read during this test: durability does not depend on reading.
    let gate = Arc::new(Gate::default());
    let _opens = Opens(gate.clone());
    gate.shut(true);
    let reader = Arc::new(GatedReader(gate.clone()));
    let engine = engine_of(Box::new(MemoryStore::new()), Arc::new(HashedNgrams::new()), Some(reader));
    let asked: Arc<Mutex<Vec<Conversation>>> = Arc::default();
    let (seen, own) = (asked.clone(), engine.clone());
    let script = FakeScript::making(move |request| {
        let session = format!("session-{}", request.number);
        seen.lock().unwrap().push(kept(&own, "ines", &session));
        REPLY.to_owned()
    });
    let rig = TestServer::over(engine, script, |_| {}).await;
    for (number, (path, body)) in requests().into_iter().enumerate() {
        let session = format!("session-{number}");
        let headers =
            [("x-memory-user", "ines"), ("x-memory-session", session.as_str()), ("x-memory-mode", "writeonly")];
        let mut response = rig.post(path, &headers, body.to_string()).await;
        assert_eq!(response.headers()["x-memory-status"], "ok", "{path}");
        assert_eq!(asked.lock().unwrap().pop().unwrap(), said(&[(User, "where do I live?")]), "{path} {body}");
        // Checked once the client has the complete reply, before the body has ended.
        let mut taken = Vec::new();
        while let Some(bytes) = response.chunk().await.unwrap() {
            taken.extend_from_slice(&bytes);
            let text = String::from_utf8_lossy(&taken);
            let ends = [
                "\"finish_reason\":\"stop\"",
                "\"finish_reason\": \"stop\"",
                "[DONE]",
                "message_stop",
                "response.completed",
            ];
            let is_complete = if body["stream"] == true {
                ends.iter().any(|end| text.contains(end))
            } else {
                serde_json::from_str::<Value>(&text).is_ok()
            };
            if is_complete {
                let expected = said(&[(User, "where do I live?"), (Assistant, REPLY)]);
                assert_eq!(rig.kept("ines", &session), expected, "{path} {body}");
            }
        }
    }
    // The reader reaches the messages, and none of them waited for it.
    let reader_waits = async {
        while !gate.has_waited.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, reader_waits).await.unwrap();
    gate.shut(false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_hangs_holds_up_no_request_for_long_and_loses_nothing() {
    let gate = Arc::new(Gate::default());
    let _opens = Opens(gate.clone());
    let rig = TestServer::over(gated_store("append", gate.clone()), FakeScript::saying(REPLY), |options| {
        options.bounds.append_within = Duration::from_millis(50);
        options.bounds.stalled_after = Duration::from_millis(200);
        options.recall_within = Duration::from_millis(200);
    })
    .await;
    gate.shut(true);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "I live in Porto."}]});
    let answer = Answer::of(rig.post("/v1/chat/completions", &INES, body.to_string()).await).await;
    assert_eq!((answer.status, answer.header("x-memory-status")), (200, "degraded"), "the request goes on and says so");
    let ready = async || rig.ask("GET", "/health/ready", &[], None).await;
    until(async || ready().await.status == 503).await;
    let told = ready().await.json();
    assert_eq!((told["ready"].as_bool(), told["stalled"].as_str()), (Some(false), Some("append")), "{told}");
    assert!(told["reason"].as_str().unwrap().contains("no progress"), "{told}");
    gate.shut(false);
    until(async || ready().await.status == 200).await;
    rig.settled().await;
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "I live in Porto."), (Assistant, REPLY)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_for_a_while_is_tried_again_and_the_answer_says_so() {
    let is_full = Arc::new(AtomicBool::new(true));
    let full = is_full.clone();
    let store = RecordingStore::new(Box::new(MemoryStore::new())).before(move |called| {
        let fails = called == "append" && full.load(Ordering::SeqCst);
        if fails { Err(StoreError::Unavailable("the disk is full".to_owned())) } else { Ok(()) }
    });
    let engine = engine_of(Box::new(store), Arc::new(HashedNgrams::new()), None);
    let rig = TestServer::over(engine, FakeScript::saying(REPLY), |_| {}).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "I live in Porto."}]});
    let answer = Answer::of(rig.post("/v1/chat/completions", &INES, body.to_string()).await).await;
    assert_eq!((answer.status, answer.header("x-memory-status")), (200, "degraded"));
    is_full.store(false, Ordering::SeqCst);
    rig.settled().await;
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "I live in Porto."), (Assistant, REPLY)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_does_not_answer_is_not_ready_and_is_asked_by_one_thread() {
    let gate = Arc::new(Gate::default());
    let _opens = Opens(gate.clone());
    let rig = TestServer::over(gated_store("users", gate.clone()), FakeScript::saying(REPLY), |options| {
        options.bounds.stalled_after = Duration::from_millis(100);
    })
    .await;
    assert_eq!(rig.ask("GET", "/health/ready", &[], None).await.status, 200);
    gate.shut(true);
    for _ in 0..3 {
        let answer = rig.ask("GET", "/health/ready", &[], None).await;
        assert_eq!(answer.status, 503);
        assert!(answer.json()["store"].as_str().unwrap().contains("did not answer"), "{}", answer.json());
    }
    gate.shut(false);
    until(async || rig.ask("GET", "/health/ready", &[], None).await.status == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_hangs_is_told_of_and_costs_no_words() {
    let gate = Arc::new(Gate::default());
    let _opens = Opens(gate.clone());
    gate.shut(true);
    let reader = Arc::new(GatedReader(gate.clone()));
    let engine = engine_of(Box::new(MemoryStore::new()), Arc::new(HashedNgrams::new()), Some(reader));
    let rig = TestServer::over(engine, FakeScript::saying(REPLY), |options| {
        options.bounds.reading_stalled_after = Duration::from_millis(100);
    })
    .await;
    for number in 0..5 {
        rig.say("ines", &format!("session-{number}"), &format!("I live in house {number}.")).await;
        assert_eq!(rig.kept("ines", &format!("session-{number}")).len(), 2);
    }
    until(async || rig.ask("GET", "/health/ready", &[], None).await.json()["stalled"] == "read").await;
    gate.shut(false);
    until(async || rig.ask("GET", "/health/ready", &[], None).await.status == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_does_not_bring_back_what_was_erased_by_somebody_else() {
    let rig = TestServer::over(engine(Arc::new(HashedNgrams::new())), FakeScript::saying("I see."), |_| {}).await;
    let headers = [INES[0], INES[1], ("x-memory-mode", "readonly")];
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "where do I live?"}]}).to_string();
    let ask = async || {
        rig.post("/v1/chat/completions", &headers, body.clone()).await.bytes().await.unwrap();
        String::from_utf8(rig.last_sent().body).unwrap()
    };
    let ines = quipu_core::id::UserId::parse("ines").unwrap();
    rig.remembers("ines", "I live in Porto.");
    rig.remembers("ines", "I keep bees.");
    let first = ask().await;
    assert!(first.contains("Porto"), "{first}");
    // Uses the engine directly, as another process on the same folder would: the server is not notified.
    rig.remembers("ines", "I live at number 7.");
    assert_eq!(ask().await, first, "without an erasure the same turn gets the same block");
    let target = [quipu_engine::erase::EraseTarget::Event(1)];
    quipu_engine::erase(&rig.engine, &ines, &target, "asked for", &mut |_| {}).unwrap();
    let after = ask().await;
    assert!(!after.contains("Porto") && after.contains("number 7"), "{after}");
    // A revert removes it, too.
    let undone = quipu_engine::revert::Selection::Since(quipu_engine::versions::When::Seq(2));
    quipu_engine::revert(&rig.engine, &ines, &undone, &Default::default(), &mut |_| {}).unwrap();
    let taken_back = ask().await;
    assert!(!taken_back.contains("number 7"), "{taken_back}");
    quipu_engine::erase::delete_user(&rig.engine, &ines).unwrap();
    let gone = ask().await;
    assert_eq!(gone, body, "nothing is put in");
    rig.remembers("ines", "I live in Lyon.");
    let recreated = ask().await;
    assert!(!recreated.contains("Porto") && !recreated.contains("number 7"), "{recreated}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_store_hangs_ends_and_tells_what_is_not_recorded() {
    let gate = Arc::new(Gate::default());
    let _opens = Opens(gate.clone());
    let rig = TestServer::over(gated_store("append", gate.clone()), FakeScript::saying(REPLY), |options| {
        options.bounds.append_within = Duration::from_millis(50);
        options.bounds.drain_within = Duration::from_millis(200);
        options.recall_within = Duration::from_millis(200);
    })
    .await;
    rig.say("otto", "s", "I keep bees.").await;
    gate.shut(true);
    for number in 0..3 {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": format!("thing {number}")}]});
        let answer = Answer::of(rig.post("/v1/chat/completions", &INES, body.to_string()).await).await;
        assert_eq!((answer.status, answer.header("x-memory-status")), (200, "degraded"));
    }
    let (drained, engine, _upstream) = tokio::time::timeout(PATIENCE, rig.stop()).await.unwrap();
    assert!(drained.lost >= 3, "{drained:?}");
    assert_eq!(kept(&engine, "otto", "s").len(), 2, "what was acknowledged is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_has_not_begun_is_empty_and_the_version_is_that_of_the_memory() {
    let rig = TestServer::over(engine(Arc::new(HashedNgrams::new())), FakeScript::saying(REPLY), |_| {}).await;
    let asked = |session: &str, query: &str| json!({"session_id": session, "query": query});
    // No messages at all, and then none in this session
    for known in [false, true] {
        if known {
            rig.remembers("ines", "I live in Porto.");
            rig.remembers("ines", "What a day.");
        }
        let answer = rig.ask("POST", "/memory/ines/context", &[], Some(&asked("chat-1", "where do I live?"))).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        assert_eq!(answer.json()["messages"].as_array().map(Vec::len), Some(0));
        assert_eq!(answer.json()["text"].to_string().contains("Porto"), known);
    }
    for (session, query) in [("", "where?"), ("chat-1", " ")] {
        let answer = rig.ask("POST", "/memory/ines/context", &[], Some(&asked(session, query))).await;
        assert_eq!(answer.status, 400, "{}", answer.json());
    }
    // A precondition is compared with the version that was read
    let version = rig.ask("GET", "/memory/ines", &[], None).await.json()["version"].to_string();
    let body = json!({"messages": [{"role": "user", "content": "I like tea."}]});
    let said = rig.ask("POST", "/memory/ines/turns", &[("if-match", &format!("\"{version}\""))], Some(&body)).await;
    assert!(said.status < 300, "{}", said.json());
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_that_wait_do_not_make_a_user_again_whom_another_process_deleted() {
    let (gate, store) = (Arc::new(Gate::default()), MemoryStore::new());
    let _opens = Opens(gate.clone());
    let rig = TestServer::over(gated(&store, "append", gate.clone()), FakeScript::saying(REPLY), |options| {
        options.bounds.append_within = Duration::from_millis(50);
    })
    .await;
    rig.say("ines", "s", "I live in Porto.").await;
    gate.shut(true);
    for number in 0..3 {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": format!("thing {number}")}]});
        let answer = Answer::of(rig.post("/v1/chat/completions", &INES, body.to_string()).await).await;
        assert_eq!((answer.status, answer.header("x-memory-status")), (200, "degraded"));
    }
    until(async || gate.has_waited.load(Ordering::SeqCst)).await;
    let elsewhere = engine_of(Box::new(store.clone()), Arc::new(HashedNgrams::new()), None);
    quipu_engine::erase::delete_user(&elsewhere, &UserId::parse("ines").unwrap()).unwrap();
    gate.shut(false);
    rig.settled().await;
    assert_eq!(quipu_engine::users(&elsewhere).unwrap(), []);
    // Messages from here on belong to a new memory.
    rig.say("ines", "s", "Hello again.").await;
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "Hello again."), (Assistant, REPLY)]));
}
