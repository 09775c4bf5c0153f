//! Runs several writers on many users for a while and checks that nothing acknowledged is lost, nothing is duplicated,
//! and no position is skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use quipu_core::id::UserId;
use quipu_engine::versions::When;
use quipu_engine::{Engine, ListOptions, LogOptions, list, log, verify};
use reqwest::Client;
use serde_json::{Value, json};

use crate::{Door, NOBODY, percentile};

/// Every Nth request is repeated with the same key, as after a lost response.
const TWICE: usize = 10;

/// Results of one writer.
#[derive(Default)]
struct Done {
    /// Acknowledged texts with user and position.
    told: BTreeMap<String, (usize, u64)>,
    took: Vec<f64>,
    errors: usize,
    /// Repeated requests with a different response.
    torn: usize,
}

pub(crate) async fn run(writers: usize, users: usize, seconds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let door = Door::open(folder.path(), NOBODY).await;
    let addr = door.addr;
    let end = Instant::now() + Duration::from_secs(seconds as u64);
    let writing: Vec<_> = (0..writers).map(|one| tokio::spawn(write(addr, one, users, end))).collect();
    let mut all = Done::default();
    for one in writing {
        let done = one.await.unwrap();
        all.told.extend(done.told);
        all.took.extend(done.took);
        all.errors += done.errors;
        all.torn += done.torn;
    }
    let engine = door.engine.clone();
    let late = door.close().await;
    let checked: Vec<Checked> = (0..users).map(|user| check(&engine, user, &all.told)).collect();
    let sum = |of: fn(&Checked) -> usize| checked.iter().map(of).sum::<usize>();
    all.took.sort_by(f64::total_cmp);
    let report = json!({
        "writers": writers,
        "users": users,
        "seconds": seconds,
        "turns_acknowledged": all.told.len(),
        "errors": all.errors + all.torn,
        "events": sum(|one| one.events),
        "gaps": sum(|one| one.gaps),
        "duplicates": sum(|one| one.duplicates),
        "lost": sum(|one| one.lost),
        "not_intact": sum(|one| usize::from(!one.intact)),
        "not_read_at_the_end": late,
        "ms": {"p50": percentile(&all.took, 50), "p95": percentile(&all.took, 95), "p99": percentile(&all.took, 99)},
    });
    println!("{report:#}");
}

/// Writes to one user after another. All writers visit all users, so that they collide.
async fn write(addr: SocketAddr, one: usize, users: usize, end: Instant) -> Done {
    let client = Client::builder().no_proxy().build().unwrap();
    let mut done = Done::default();
    for number in 0.. {
        if Instant::now() >= end {
            break;
        }
        let user = (number + one * 7) % users;
        let words = format!("Writer {one} has said sentence number {number} of its own.");
        let body = json!({"messages": [{"role": "user", "content": words}], "session_id": format!("w{one}"), "wait": "durable"});
        let mut told: Option<u64> = None;
        for again in 0..1 + usize::from(number % TWICE == 0) {
            let sending = client.post(format!("http://{addr}/memory/user-{user}/turns"));
            let sending = sending
                .header("content-type", "application/json")
                .header("idempotency-key", format!("w{one}-{number}"));
            let start = Instant::now();
            let answer = sending.body(body.to_string()).send().await;
            if again == 0 {
                done.took.push(start.elapsed().as_secs_f64() * 1e3);
            }
            let Ok(answer) = answer.and_then(reqwest::Response::error_for_status) else {
                done.errors += 1;
                continue;
            };
            let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            let seq = answer["seq"].as_u64().unwrap();
            done.torn += usize::from(told.is_some_and(|first| first != seq || answer["replayed"] != true));
            told = Some(seq);
        }
        if let Some(seq) = told {
            done.told.insert(words, (user, seq));
        }
    }
    done
}

/// State of a user's ledger.
struct Checked {
    events: usize,
    gaps: usize,
    duplicates: usize,
    lost: usize,
    intact: bool,
}

fn check(engine: &Engine, number: usize, told: &BTreeMap<String, (usize, u64)>) -> Checked {
    let user = UserId::parse(&format!("user-{number}")).unwrap();
    let own: BTreeMap<&str, u64> =
        told.iter().filter(|(_, (user, _))| *user == number).map(|(words, (_, seq))| (words.as_str(), *seq)).collect();
    let Ok(events) = log(engine, &user, &LogOptions { before: None, limit: usize::MAX, reference: None }) else {
        return Checked { events: 0, gaps: 0, duplicates: 0, lost: own.len(), intact: own.is_empty() };
    };
    // The log is ordered newest first.
    let seqs: Vec<u64> = events.iter().rev().map(|event| event.seq).collect();
    let gaps = seqs.iter().zip(1u64..).filter(|(seq, place)| *seq != place).count();
    let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let items = list(engine, &user, &options).unwrap().items;
    let mut seen = BTreeSet::new();
    let duplicates = items.iter().filter(|item| !seen.insert(item.text.as_str())).count();
    let at: BTreeMap<&str, u64> = items.iter().map(|item| (item.text.as_str(), item.event_seq)).collect();
    let lost = own.iter().filter(|(words, seq)| at.get(*words) != Some(seq)).count();
    let intact = verify(engine, &user, &[], &mut |_| {}).unwrap().is_intact();
    Checked { events: events.len(), gaps, duplicates, lost, intact }
}
