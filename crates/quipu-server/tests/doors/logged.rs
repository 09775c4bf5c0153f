//! What the server writes to its log: neither secrets nor what anybody said.

use std::fmt::{Debug, Write};
use std::sync::{Mutex, Once, PoisonError};

use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use serde_json::json;
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::rig::TestServer;

/// Every event and span of this process, with all of their fields.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LISTENING: Once = Once::new();

struct Listener;

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

fn keep(line: Line) {
    LINES.lock().unwrap_or_else(PoisonError::into_inner).push(line.0);
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("quipu")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = Line(span.metadata().name().to_owned());
        span.record(&mut line);
        keep(line);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut line = Line::default();
        values.record(&mut line);
        keep(line);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().target().to_owned());
        event.record(&mut line);
        keep(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_and_no_word_of_anybody_is_logged() {
    LISTENING.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
    // Words that no other test uses.
    const SAID: &str = "Quuxlogged";
    const PASSWORD: &str = "hunter2logged";
    let rig =
        TestServer::with(FakeScript::saying(SAID), Arc::new(HashedNgrams::new()), |options| options.needs_key = true)
            .await;
    let key = rig.key(&[Scope::Admin], None);
    let headers = [("x-memory-key", key.as_str()), ("x-memory-user", "ines"), ("authorization", "Bearer sk-logged-1")];
    let own = [("x-api-key", key.as_str())];
    let text = format!("My friend {SAID} lives in Porto. My password is {PASSWORD}.");
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
    rig.post("/v1/chat/completions", &headers, chat.to_string()).await.text().await.unwrap();
    let turn = json!({"messages": [{"role": "user", "content": text}], "session_id": "s"});
    rig.ask("POST", "/memory/ines/turns", &own, Some(&turn)).await.ok();
    let recall = json!({"user_id": "ines", "query": format!("Who is {SAID}?")});
    rig.ask("POST", "/memory/retrieve", &own, Some(&recall)).await.ok();
    for (path, body) in [
        ("/memory/ines/erase", json!({"targets": ["1"], "reason": "asked to"})),
        ("/memory/ines/revert", json!({"since": 0})),
        ("/memory/ines/turns", json!({"messages": SAID, PASSWORD: 1})),
        ("/keys", json!({"name": "mine", "scopes": ["read"]})),
    ] {
        rig.ask("POST", path, &own, Some(&body)).await;
    }
    let made = rig.ask("POST", "/keys", &own, Some(&json!({"name": "second", "scopes": ["read"]}))).await.ok();
    let wrong = format!("{}x", &key[..key.len() - 1]);
    assert_eq!(rig.ask("GET", &format!("/memory/ines?key={key}"), &[], None).await.status, 401);
    assert_eq!(rig.ask("GET", "/memory/ines", &[("x-api-key", &wrong)], None).await.status, 401);
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(lines.iter().any(|line| line.contains("privileged request")), "nothing was listened to: {lines:?}");
    let second = made["key"].as_str().unwrap();
    for secret in [SAID, PASSWORD, key.as_str(), wrong.as_str(), second, "sk-logged-1", "sk-of-open"] {
        let told = lines.iter().find(|line| line.contains(secret));
        assert_eq!(told, None, "{secret} is in the log");
    }
}
