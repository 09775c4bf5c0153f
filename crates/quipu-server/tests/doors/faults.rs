//! Failures: memory that is late or broken, upstreams that fail or break off, clients that disconnect.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use quipu_core::source::Role::{Assistant, User};
use quipu_engine::ports::{EmbedError, Embedder, EmbeddingModel};
use quipu_fake_model::{FakeScript, Fault, Repetition};
use quipu_models::HashedNgrams;
use serde_json::{Value, json};

use crate::rig::{Answer, TestServer, said};

const INES: [(&str, &str); 2] = [("x-memory-user", "ines"), ("x-memory-session", "s")];

fn question() -> String {
    json!({"model": "m", "messages": [{"role": "user", "content": "where do I live?"}]}).to_string()
}

fn streamed() -> String {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "where do I live?"}]}).to_string()
}

/// An embedder that answers when released.
struct Gate {
    inner: HashedNgrams,
    is_shut: AtomicBool,
    state: Mutex<()>,
    opened: Condvar,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: HashedNgrams::new(),
            is_shut: AtomicBool::new(false),
            state: Mutex::new(()),
            opened: Condvar::new(),
        })
    }

    fn shut(&self, is_shut: bool) {
        let _state = self.state.lock().unwrap();
        self.is_shut.store(is_shut, Ordering::SeqCst);
        self.opened.notify_all();
    }
}

impl Embedder for Gate {
    fn model(&self) -> &EmbeddingModel {
        self.inner.model()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let state = self.state.lock().unwrap();
        drop(self.opened.wait_while(state, |()| self.is_shut.load(Ordering::SeqCst)).unwrap());
        self.inner.embed(texts)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.inner.count_tokens(text)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_late_is_done_without_and_the_answer_says_so() {
    let gate = Gate::new();
    let rig = TestServer::with(FakeScript::saying("In Porto."), gate.clone(), |options| {
        options.recall_within = Duration::from_millis(500);
    })
    .await;
    rig.remembers("ines", "I live in Porto.");
    gate.shut(true);
    let mut headers = INES.to_vec();
    headers.push(("x-memory-mode", "readonly"));
    let answer = Answer::of(rig.post("/v1/chat/completions", &headers, question()).await).await;
    gate.shut(false);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-memory-status"), "degraded");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_that_misses_the_deadline_costs_nothing_but_itself() {
    let gate = Gate::new();
    let rig = TestServer::with(FakeScript::saying("In Porto."), gate.clone(), |options| {
        options.recall_within = Duration::from_millis(100);
        options.bounds.recalls_max = 1;
    })
    .await;
    // Words without a vector are embedded before recall answers, however long that takes.
    let user = quipu_core::id::UserId::parse("ines").unwrap();
    let later = quipu_engine::RememberOptions { durable_only: true, ..Default::default() };
    quipu_engine::remember(&rig.engine, &user, &quipu_engine::Utterance::of_user("I live in Porto."), &later).unwrap();
    gate.shut(true);
    for _ in 0..3 {
        let answer = Answer::of(rig.post("/v1/chat/completions", &INES, question()).await).await;
        assert_eq!((answer.status, answer.header("x-memory-status")), (200, "degraded"));
        assert_eq!(answer.header("x-memory-injected"), "false");
        assert_eq!(rig.last_sent().body, question().into_bytes(), "the request goes through as it came");
    }
    gate.shut(false);
    rig.settled().await;
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "where do I live?"), (Assistant, "In Porto.")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_cannot_be_read_is_told_and_does_no_harm() {
    let rig = TestServer::new(FakeScript::saying("In Porto.")).await;
    rig.remembers("ines", "I live in Porto.");
    let mut headers = INES.to_vec();
    // An unknown version.
    headers.push(("x-memory-as-of", "999"));
    let answer = Answer::of(rig.post("/v1/chat/completions", &headers, question()).await).await;
    assert_eq!((answer.status, answer.header("x-memory-status")), (200, "error"));
    assert_eq!(rig.last_sent().body, question().into_bytes());
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "In Porto.");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_place_to_wait_the_request_goes_through_and_says_it_is_not_kept() {
    let script = FakeScript::saying("Hello.").with(Fault::HangsMidway, Repetition::First(1));
    let rig = TestServer::with(script, Arc::new(HashedNgrams::new()), |options| {
        options.recall_within = Duration::from_millis(100);
        options.bounds.turns_waiting_max = 1;
    })
    .await;
    let first = [("x-memory-user", "ines"), ("x-memory-session", "a"), ("x-memory-mode", "writeonly")];
    let second = [("x-memory-user", "ines"), ("x-memory-session", "b"), ("x-memory-mode", "writeonly")];
    // A reply in progress keeps its place in the queue.
    let one = rig.post("/v1/chat/completions", &first, streamed()).await;
    let other = Answer::of(rig.post("/v1/chat/completions", &second, question()).await).await;
    assert_eq!(
        (one.headers()["x-memory-status"].to_str().unwrap(), other.header("x-memory-status")),
        ("ok", "degraded")
    );
    assert_eq!(other.status, 200);
    drop(one);
    let kept = async {
        while rig.kept("ines", "a").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), kept).await.unwrap();
    assert_eq!(rig.kept("ines", "b"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_breaks_off_leaves_what_it_said_and_the_client_is_told() {
    let words = "It is Porto, as you have told me in spring, and again in summer, and I have not forgotten.";
    for (fault, breaks) in [(Fault::ResetMidway, true), (Fault::ClosesMidway, true), (Fault::NoEnd, false)] {
        let rig = TestServer::new(FakeScript::saying(words).with(fault, Repetition::Always)).await;
        let mut response = rig.post("/v1/chat/completions", &INES, streamed()).await;
        assert_eq!(response.status(), 200, "{fault:?}");
        let mut seen = String::new();
        let end = loop {
            match response.chunk().await {
                Ok(Some(bytes)) => seen.push_str(&String::from_utf8_lossy(&bytes)),
                end => break end,
            }
        };
        assert_eq!(end.is_err(), breaks, "{fault:?}: {end:?}");
        rig.settled().await;
        let kept = rig.kept("ines", "s");
        assert_eq!(kept[0], (User, "where do I live?".to_owned()), "{fault:?}");
        let partial = kept.get(1);
        assert!(
            partial.is_none_or(|(role, said)| *role == Assistant && words.starts_with(said.as_str())),
            "{partial:?}"
        );
        let deltas = seen.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
        let told: String =
            deltas.filter_map(|said| said["choices"][0]["delta"]["content"].as_str().map(str::to_owned)).collect();
        assert_eq!(partial.map_or("", |(_, said)| said), told.trim(), "{fault:?}: what is kept is what the client got");
        let flagged = rig.reasons("ines").iter().filter(|why| why.contains("; partial: ")).count();
        assert_eq!(flagged, usize::from(partial.is_some()), "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_leaves_what_it_got() {
    let words = "It is Porto, as you have told me in spring, and again in summer, and I have not forgotten.";
    let rig = TestServer::new(FakeScript::saying(words).paced(Duration::from_millis(50))).await;
    let body = streamed();
    let mut stream = TcpStream::connect(rig.addr).unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {}\r\nX-Memory-User: ines\r\nX-Memory-Session: s\r\nContent-Length: {}\r\n\r\n",
        rig.addr,
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut seen = String::new();
    let mut space = [0u8; 512];
    while !seen.contains("as you") && !seen.contains("Porto") {
        let read = stream.read(&mut space).unwrap();
        assert!(read > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&space[..read]));
    }
    drop(stream);
    let kept = async {
        loop {
            let kept = rig.kept("ines", "s");
            if kept.len() == 2 {
                return kept;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let kept = tokio::time::timeout(Duration::from_secs(20), kept).await.unwrap();
    assert!(words.starts_with(&kept[1].1) && kept[1].1.len() < words.len(), "{kept:?}");
    assert!(rig.reasons("ines").iter().any(|why| why.contains("partial: the client went away")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_before_the_first_byte_has_said_what_it_said() {
    let rig = TestServer::new(FakeScript::saying("x").with(Fault::HangsAtOnce, Repetition::Always)).await;
    let (client, url) = (rig.client.clone(), rig.url("/v1/chat/completions"));
    let asking = tokio::spawn(async move {
        let request = client.post(url).header(INES[0].0, INES[0].1).header(INES[1].0, INES[1].1);
        request.body(question()).send().await.map(drop)
    });
    while rig.upstream.requests() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    asking.abort();
    let kept = async {
        while rig.kept("ines", "s").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), kept).await.unwrap();
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "where do I live?")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_to_an_upstream_that_is_down_is_kept_and_once() {
    let rig = TestServer::new(FakeScript::saying("In Porto.").with(Fault::Unavailable500, Repetition::First(2))).await;
    let statuses = [500, 500, 200];
    for status in statuses {
        let answer = Answer::of(rig.post("/v1/chat/completions", &INES, question()).await).await;
        assert_eq!(answer.status, status);
        rig.settled().await;
    }
    assert_eq!(rig.kept("ines", "s"), said(&[(User, "where do I live?"), (Assistant, "In Porto.")]));
    // Nothing listens there any more.
    let (_, engine, upstream) = rig.stop().await;
    let gone = upstream.base_url();
    drop(upstream);
    let rig = TestServer::over(engine, FakeScript::saying("x"), |options| options.upstreams[0].base_url = gone).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "I moved to Lyon"}]});
    let answer = rig.chat(&INES, &body).await;
    assert_eq!((answer.status, answer.header("x-memory-status")), (502, "ok"));
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("cannot be reached"));
    assert_eq!(rig.kept("ines", "s").pop(), Some((User, "I moved to Lyon".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_upstream_are_its_own() {
    for (fault, status) in [
        (Fault::RateLimited, 429),
        (Fault::Unauthorised401, 401),
        (Fault::TooLong400, 400),
        (Fault::BadGateway502, 502),
        (Fault::Overloaded529, 529),
        (Fault::Redirects302, 302),
    ] {
        let rig = TestServer::new(FakeScript::saying("x").with(fault, Repetition::Always)).await;
        let direct = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let direct = direct.post(format!("{}/chat/completions", rig.upstream.base_url())).body(question());
        let direct = Answer::of(direct.send().await.unwrap()).await;
        let through = Answer::of(rig.post("/v1/chat/completions", &INES, question()).await).await;
        assert_eq!((through.status, direct.status), (status, status), "{fault:?}");
        assert_eq!(through.body, direct.body, "{fault:?}");
        assert_eq!(through.header("retry-after"), direct.header("retry-after"), "{fault:?}");
        assert_eq!(through.header("location"), "", "{fault:?}");
        assert_eq!(through.header("x-memory-status"), "ok", "{fault:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_waits_for_what_is_still_said_and_kept() {
    let words = "It is Porto, as you have told me in spring.";
    let rig = TestServer::new(FakeScript::saying(words).paced(Duration::from_millis(20))).await;
    let response = rig.post("/v1/chat/completions", &INES, streamed()).await;
    let (taken, (drained, engine, _upstream)) = tokio::join!(response.bytes(), rig.stop());
    assert!(String::from_utf8(taken.unwrap().to_vec()).unwrap().ends_with("data: [DONE]\n\n"));
    assert_eq!(drained.lost, 0);
    assert_eq!(crate::rig::kept(&engine, "ines", "s"), said(&[(User, "where do I live?"), (Assistant, words)]));
}

#[tokio::test]
async fn a_request_that_failed_is_recorded_once_however_much_of_it_is_sent_again() {
    let long = json!([
        {"role": "user", "content": "I moved."}, {"role": "assistant", "content": "Nice."},
        {"role": "user", "content": "To Porto."}, {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "I keep bees."},
    ]);
    let shorter = json!([
        {"role": "user", "content": "To Porto."}, {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "I keep bees."},
    ]);
    let folded = json!([
        {"role": "user", "content": "So far: I moved to Porto."}, {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "I keep bees."},
    ]);
    for fault in [Fault::Unavailable500, Fault::TooLong400, Fault::ResetAtOnce] {
        // A session with a name, and one without, whose name follows from its first message.
        for (session, again) in [(Some("s"), &shorter), (Some("s"), &folded), (Some("s"), &long), (None, &shorter)] {
            let script = FakeScript::saying("How many?").with(fault, Repetition::First(1));
            let rig = TestServer::new(script).await;
            let mut headers = vec![("x-memory-user", "ines")];
            headers.extend(session.map(|session| ("x-memory-session", session)));
            let failed = rig.chat(&headers, &json!({"model": "m", "messages": long})).await;
            assert!(failed.status >= 400, "{fault:?}: {}", failed.status);
            let answer = rig.chat(&headers, &json!({"model": "m", "messages": again})).await;
            assert_eq!(answer.status, 200, "{fault:?}");
            let texts = rig.texts("ines");
            assert_eq!(texts, ["I keep bees.", "How many?"], "{fault:?} {session:?} {again}");
            // A new message is recorded as new.
            let mut longer = again.as_array().unwrap().clone();
            longer.push(json!({"role": "assistant", "content": "How many?"}));
            longer.push(json!({"role": "user", "content": "I keep bees."}));
            rig.chat(&headers, &json!({"model": "m", "messages": longer})).await;
            assert_eq!(rig.texts("ines").len(), 4, "{fault:?} {session:?}");
        }
    }
}
