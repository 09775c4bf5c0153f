//! Measures the API over one keep-alive connection for each client: retrievals from a memory of a given size, and
//! durable turns.

use std::net::SocketAddr;
use std::time::Instant;

use reqwest::Client;
use serde_json::{Value, json};

use crate::{Door, NOBODY, percentile};

/// Turns recorded with one request while the memory is filled.
const AT_ONCE: usize = 250;
/// Turns in one session.
const SESSION: usize = 50;
/// Number of concurrent clients in the throughput test.
const CROWD: usize = 4;
const PEOPLE: [&str; 8] = ["Ana", "Boris", "Carla", "Dmitri", "Elif", "Farid", "Greta", "Hugo"];
const PLACES: [&str; 10] = ["Porto", "Oslo", "Lyon", "Kyoto", "Quito", "Tallinn", "Accra", "Turin", "Bergen", "Cusco"];
const DOINGS: [&str; 12] = [
    "repaired the bicycle",
    "cooked lentil soup",
    "missed the last train",
    "planted tomatoes",
    "lost the house keys",
    "learned a song on the piano",
    "painted the kitchen",
    "found a stray cat",
    "ran ten kilometres",
    "booked a dentist",
    "read about old maps",
    "argued about the rent",
];

/// A different statement for each number.
fn said(number: usize) -> String {
    let (who, place, what) = (PEOPLE[number % 8], PLACES[number / 8 % 10], DOINGS[number / 80 % 12]);
    format!("On day {number} {who} {what} in {place}, and we talked about it until late.")
}

/// A different question for each number, so that each one is embedded.
fn question(number: usize) -> String {
    let (who, place, what) = (PEOPLE[number * 3 % 8], PLACES[number * 7 % 10], DOINGS[number * 5 % 12]);
    format!("Was it {who} who {what} in {place}, and what happened around day {}?", number * 37 % 9973)
}

pub(crate) async fn post(client: &Client, addr: SocketAddr, path: &str, body: &Value) -> Value {
    let sending = client.post(format!("http://{addr}{path}")).header("content-type", "application/json");
    let answer = sending.body(body.to_string()).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
}

/// `POST /memory/retrieve` in a memory with `turns` turns: one client, then several concurrently.
pub(crate) async fn retrieve(turns: usize, requests: usize) {
    let folder = tempfile::tempdir().unwrap();
    let door = Door::open(folder.path(), NOBODY).await;
    let (addr, client) = (door.addr, Client::builder().no_proxy().build().unwrap());
    let filling = Instant::now();
    let mut session = 0;
    for from in (0..turns).step_by(AT_ONCE) {
        let until = (from + AT_ONCE).min(turns);
        for piece in (from..until).step_by(SESSION) {
            let messages: Vec<Value> = (piece..(piece + SESSION).min(until))
                .map(|turn| json!({"role": "user", "content": said(turn)}))
                .collect();
            let body = json!({"messages": messages, "session_id": format!("s{session}"), "wait": "indexed"});
            post(&client, addr, "/memory/ines/turns", &body).await;
            session += 1;
        }
    }
    let filled_s = filling.elapsed().as_secs_f64();
    let held = client.get(format!("http://{addr}/memory/ines/facts?limit=1")).send().await.unwrap();
    let held: Value = serde_json::from_slice(&held.bytes().await.unwrap()).unwrap();
    // The first request opens the filled memory.
    let (_, degraded) = ask(&client, addr, 0, 4).await;
    assert_eq!(degraded, 0, "recall did without something");
    let (mut alone, degraded_alone) = ask(&client, addr, 4, requests).await;
    let start = Instant::now();
    let asking: Vec<_> = (0..CROWD)
        .map(|one| {
            // Each client has its own connection.
            let client = Client::builder().no_proxy().build().unwrap();
            tokio::spawn(async move { ask(&client, addr, (one + 2) * requests, requests).await })
        })
        .collect();
    let (mut crowd, mut degraded_crowd) = (Vec::new(), 0);
    for one in asking {
        let (took, degraded) = one.await.unwrap();
        crowd.extend(took);
        degraded_crowd += degraded;
    }
    let per_second = crowd.len() as f64 / start.elapsed().as_secs_f64();
    alone.sort_by(f64::total_cmp);
    crowd.sort_by(f64::total_cmp);
    let report = json!({
        "turns": turns,
        "facts": held["total"],
        "filled_s": filled_s,
        "requests": alone.len(),
        "one_client_ms": {"p50": percentile(&alone, 50), "p95": percentile(&alone, 95)},
        "clients": CROWD,
        "many_clients_ms": {"p50": percentile(&crowd, 50), "p95": percentile(&crowd, 95)},
        "requests_per_second": per_second,
        "degraded": degraded_alone + degraded_crowd,
    });
    println!("{report:#}");
    assert_eq!(door.close().await, 0);
}

/// Sends questions one after another. Returns the latency of each and how often recall was degraded.
async fn ask(client: &Client, addr: SocketAddr, from: usize, requests: usize) -> (Vec<f64>, usize) {
    let (mut took, mut degraded) = (Vec::with_capacity(requests), 0);
    for number in from..from + requests {
        let body = json!({"user_id": "ines", "query": question(number)});
        let start = Instant::now();
        let found = post(client, addr, "/memory/retrieve", &body).await;
        took.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(!found["debug"]["scores"].as_array().unwrap().is_empty(), "nothing was found");
        degraded += usize::from(!found["degraded"].is_null());
    }
    (took, degraded)
}

/// `POST …/turns` with durable wait, one message each. The turns are processed in the background and finished at the
/// end.
pub(crate) async fn turns(requests: usize) {
    let folder = tempfile::tempdir().unwrap();
    let door = Door::open(folder.path(), NOBODY).await;
    let (addr, client) = (door.addr, Client::builder().no_proxy().build().unwrap());
    let mut took = Vec::with_capacity(requests);
    for number in 0..requests {
        let body = json!({"messages": [{"role": "user", "content": said(number)}], "wait": "durable"});
        let start = Instant::now();
        post(&client, addr, "/memory/ines/turns", &body).await;
        took.push(start.elapsed().as_secs_f64() * 1e3);
    }
    took.sort_by(f64::total_cmp);
    let ms = json!({"p50": percentile(&took, 50), "p95": percentile(&took, 95), "p99": percentile(&took, 99)});
    println!("{:#}", json!({"requests": requests, "durable_ms": ms}));
    assert_eq!(door.close().await, 0);
}
