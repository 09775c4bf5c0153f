//! Measures how much the proxy delays the first byte of a reply: warm, one request at a time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use quipu_core::id::UserId;
use quipu_engine::{RememberOptions, Utterance, remember};
use serde_json::json;

use crate::{Door, percentile, upstream};

/// Turns in the memory before the test.
const TURNS: usize = 1000;
const WARM: usize = 50;
const MESSAGES_BEFORE: usize = 20;

pub(crate) async fn run(requests: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (model, seen) = upstream::start(8, Duration::ZERO).await;
    let door = Door::open(folder.path(), model).await;
    fill(&door);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let (mut direct, mut off, mut with) = (Vec::new(), Vec::new(), Vec::new());
    // The variants alternate, so that other load on the machine affects all of them.
    for number in 0..requests + WARM {
        let body = body(number);
        let is_measured = number >= WARM;
        let time = async |addr: SocketAddr, mode: &str, times: &mut Vec<f64>| {
            let took = first_byte(&client, addr, mode, &body).await;
            if is_measured {
                times.push(took);
            }
        };
        time(model, "off", &mut direct).await;
        time(door.addr, "off", &mut off).await;
        time(door.addr, "readonly", &mut with).await;
    }
    let blocks = seen.blocks.load(std::sync::atomic::Ordering::Relaxed);
    let added: Vec<f64> = with.iter().zip(&direct).map(|(with, direct)| with - direct).collect();
    let shown = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        json!({"p50_ms": percentile(&times, 50), "p95_ms": percentile(&times, 95), "p99_ms": percentile(&times, 99)})
    };
    let report = json!({
        "requests": requests,
        "turns_in_memory": TURNS,
        "requests_with_a_block": blocks,
        "first_byte": {"direct": shown(direct), "memory_off": shown(off), "memory_on": shown(with)},
        "added": shown(added),
        "lost": door.close().await,
    });
    println!("{report:#}");
}

fn fill(door: &Door) {
    let user = UserId::parse("ines").unwrap();
    let places = ["Porto", "Lyon", "Turin", "Ghent", "Bergen", "Kyoto", "Lima", "Quito"];
    for number in 0..TURNS {
        let place = places[number % places.len()];
        let words = format!(
            "On day {number} I met friend {} in {place} and we talked about plan {}.",
            number % 37,
            number % 53
        );
        let last = number + 1 == TURNS;
        let options = RememberOptions { durable_only: !last, ..RememberOptions::default() };
        remember(&door.engine, &user, &Utterance::of_user(words), &options).unwrap();
    }
    quipu_engine::process(&door.engine, &user, quipu_engine::Until::Extracted, &quipu_engine::Budget::default())
        .unwrap();
}

/// A request late in a conversation, with a different question for each number.
fn body(number: usize) -> String {
    let mut messages = vec![json!({"role": "system", "content": "You are a helpful assistant."})];
    for turn in 0..MESSAGES_BEFORE {
        messages.push(json!({"role": "user", "content": format!("Message {turn}: what do you think of this?")}));
        messages.push(json!({"role": "assistant", "content": format!("Reply {turn}: it depends on many things.")}));
    }
    messages.push(json!({"role": "user", "content": format!("Whom did I meet about plan {} in Porto?", number % 53)}));
    // Different words each time, so that the memory block is not reused from the turn before.
    messages.push(json!({"role": "user", "content": format!("And on day {number}?")}));
    json!({"model": "m", "stream": true, "messages": messages}).to_string()
}

/// Time to the first byte of the body, in milliseconds.
async fn first_byte(client: &reqwest::Client, addr: SocketAddr, mode: &str, body: &str) -> f64 {
    let start = Instant::now();
    let request = client.post(format!("http://{addr}/v1/chat/completions")).header("content-type", "application/json");
    let request =
        request.header("x-memory-user", "ines").header("x-memory-session", "bench").header("x-memory-mode", mode);
    let mut response = request.body(body.to_owned()).send().await.unwrap();
    let first = response.chunk().await.unwrap();
    let took = start.elapsed().as_secs_f64() * 1e3;
    assert!(first.is_some_and(|bytes| bytes.starts_with(b"data:")));
    if let Some(status) = response.headers().get("x-memory-status") {
        assert!(status == "ok" || status == "skipped" || status == "degraded", "{status:?}");
    }
    while response.chunk().await.unwrap().is_some() {}
    took
}
