//! Many concurrent users: no memory in another user's request, and no turn lost.

use std::sync::Arc;
use std::time::Duration;

use quipu_core::source::Role;
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;
use serde_json::json;

use crate::rig::TestServer;

const USERS: usize = 30;
const TURNS: usize = 4;

/// A word that only one user says.
fn canary(user: usize) -> String {
    format!("canary{user:03}")
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_streams_at_a_time_keep_every_turn_and_tell_nobody_elses() {
    let script =
        FakeScript::making(|asked| format!("You said: {}", asked.last_user().lines().next().unwrap_or_default()))
            .paced(Duration::from_millis(2));
    let rig = Arc::new(TestServer::with(script, Arc::new(HashedNgrams::new()), |_| {}).await);
    for user in 0..USERS {
        rig.remembers(&format!("user-{user}"), &format!("My pet is called {}.", canary(user)));
    }
    let talk = |user: usize| {
        let rig = rig.clone();
        async move {
            let mut messages = Vec::new();
            for turn in 0..TURNS {
                let words = format!("My pet {} likes place number {turn}.", canary(user));
                messages.push(json!({"role": "user", "content": words}));
                let body = json!({"model": "m", "stream": turn % 2 == 0, "messages": messages});
                let name = format!("user-{user}");
                let session = format!("session-{}", turn / 2);
                let headers = [("x-memory-user", name.as_str()), ("x-memory-session", session.as_str())];
                let answer = rig.post("/v1/chat/completions", &headers, body.to_string()).await;
                assert_eq!(answer.headers()["x-memory-status"], "ok");
                answer.bytes().await.unwrap();
                // A new conversation begins.
                if turn % 2 == 1 {
                    messages.clear();
                } else {
                    messages.push(json!({"role": "assistant", "content": "noted"}));
                }
            }
        }
    };
    let all: Vec<_> = (0..USERS).map(|user| tokio::spawn(talk(user))).collect();
    for one in all {
        one.await.unwrap();
    }
    rig.settled().await;

    let mut blocks = 0;
    for sent in rig.upstream.received() {
        let text = String::from_utf8(sent.body).unwrap();
        let named: Vec<usize> = (0..USERS).filter(|user| text.contains(&canary(*user))).collect();
        assert_eq!(named.len(), 1, "{text}");
        blocks += usize::from(text.contains("<memory user="));
        assert!(!text.contains("<memory user=") || text.contains(&format!("user-{}\\\"", named[0])), "{text}");
    }
    assert_eq!(blocks, USERS * TURNS);
    for user in 0..USERS {
        for session in 0..2 {
            let kept = rig.kept(&format!("user-{user}"), &format!("session-{session}"));
            let words: Vec<&str> =
                kept.iter().filter(|(role, _)| *role == Role::User).map(|(_, words)| words.as_str()).collect();
            let expected: Vec<String> = (0..2)
                .map(|turn| format!("My pet {} likes place number {}.", canary(user), session * 2 + turn))
                .collect();
            assert_eq!(words, expected);
            assert_eq!(kept.len(), 4, "each has its reply: {kept:?}");
        }
    }
}
