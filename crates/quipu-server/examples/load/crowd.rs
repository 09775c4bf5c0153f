//! Runs many concurrent streams for a while and checks that no turn is lost, no request contains words of another
//! user, and memory use stays constant.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use quipu_core::id::UserId;
use quipu_core::source::Role;
use quipu_engine::versions::When;
use quipu_engine::{ListOptions, list};
use serde_json::json;

use crate::{Door, percentile, upstream};

/// With the pace of the upstream a reply takes about four seconds.
const PIECES: usize = 40;
const PACE: Duration = Duration::from_millis(100);
/// Turns in one session.
const TURNS: usize = 3;

/// Results of one stream: counts of each memory status, times to the first byte in milliseconds, number of messages.
#[derive(Default)]
struct Done {
    statuses: BTreeMap<String, u64>,
    first_bytes: Vec<f64>,
    said: usize,
}

pub(crate) async fn run(streams: usize, seconds: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (model, seen) = upstream::start(PIECES, PACE).await;
    let door = Door::open(folder.path(), model).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let end = Instant::now() + Duration::from_secs(seconds as u64);
    let talking: Vec<_> = (0..streams).map(|user| tokio::spawn(talk(client.clone(), door.addr, user, end))).collect();
    let mut resident = Vec::new();
    while Instant::now() < end {
        resident.push(resident_mb());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let mut all = Done::default();
    let mut said_by = Vec::new();
    for one in talking {
        let done = one.await.unwrap();
        for (status, count) in done.statuses {
            *all.statuses.entry(status).or_default() += count;
        }
        all.first_bytes.extend(done.first_bytes);
        all.said += done.said;
        said_by.push(done.said);
    }
    let page = client.get(format!("http://{}/metrics", door.addr)).send().await.unwrap().text().await.unwrap();
    let engine = door.engine.clone();
    let waited = Instant::now();
    let late = door.close().await;
    let drained_s = waited.elapsed().as_secs_f64();
    let kept: Vec<(usize, usize)> = (0..streams).map(|user| kept(&engine, user)).collect();
    let lost_words: usize = kept.iter().zip(&said_by).map(|((words, _), said)| said.abs_diff(*words)).sum();
    let lost_replies: usize = kept.iter().zip(&said_by).map(|((_, replies), said)| said.abs_diff(*replies)).sum();
    all.first_bytes.sort_by(f64::total_cmp);
    let tail = resident.len() / 2;
    let report = json!({
        "streams": streams,
        "seconds": seconds,
        "exchanges": all.said,
        "memory_status": all.statuses,
        "requests_with_a_block": seen.blocks.load(Ordering::Relaxed),
        "requests_with_words_of_two_users": seen.mixed.load(Ordering::Relaxed),
        "words_lost": lost_words,
        "replies_lost": lost_replies,
        "not_recorded_at_the_end": late,
        "seconds_to_record_the_rest": drained_s,
        "first_byte_ms": {"p50": percentile(&all.first_bytes, 50), "p95": percentile(&all.first_bytes, 95)},
        "mean_ms_and_count": means(&page),
        "resident_mb": {"start": resident.first(), "middle": resident.get(tail), "end": resident.last()},
    });
    println!("{report:#}");
}

/// Mean duration in milliseconds and count of each operation, by outcome.
fn means(page: &str) -> BTreeMap<String, (f64, f64)> {
    let prefix = "quipu_operation_duration_seconds_";
    let values = |what: &str| -> BTreeMap<String, f64> {
        let lines = page.lines().filter_map(|line| line.strip_prefix(prefix)?.strip_prefix(what)?.rsplit_once(' '));
        lines.filter_map(|(labels, value)| Some((labels.to_owned(), value.parse().ok()?))).collect()
    };
    let counts = values("count");
    let mean = |(labels, sum): (String, f64)| {
        let count = counts.get(&labels).copied().unwrap_or(1.0);
        (labels.replace('"', "'"), (sum * 1e3 / count, count))
    };
    values("sum").into_iter().map(mean).collect()
}

async fn talk(client: reqwest::Client, addr: SocketAddr, user: usize, end: Instant) -> Done {
    let mut done = Done::default();
    // Starts are spread out, as users do not send at the same moment.
    tokio::time::sleep(Duration::from_millis(user as u64 * 37 % 4000)).await;
    let mut messages = Vec::new();
    while Instant::now() < end {
        let session = format!("session-{}", done.said / TURNS);
        let words = format!("My pet canary{user:04} went to place number {} and I like it there.", done.said);
        messages.push(json!({"role": "user", "content": words}));
        let body = json!({"model": "m", "stream": true, "messages": messages}).to_string();
        let start = Instant::now();
        let request =
            client.post(format!("http://{addr}/v1/chat/completions")).header("x-memory-user", format!("user-{user}"));
        let mut response = request.header("x-memory-session", session).body(body).send().await.unwrap();
        let status = response.headers()["x-memory-status"].to_str().unwrap().to_owned();
        *done.statuses.entry(status).or_default() += 1;
        response.chunk().await.unwrap();
        done.first_bytes.push(start.elapsed().as_secs_f64() * 1e3);
        while response.chunk().await.unwrap().is_some() {}
        done.said += 1;
        if done.said % TURNS == 0 {
            messages.clear();
        } else {
            messages.push(json!({"role": "assistant", "content": "noted"}));
        }
    }
    done
}

/// The number of recorded messages and replies of a user.
fn kept(engine: &quipu_engine::Engine, user: usize) -> (usize, usize) {
    let user = UserId::parse(&format!("user-{user}")).unwrap();
    let options = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let Ok(page) = list(engine, &user, &options) else { return (0, 0) };
    let of = |role: Role| page.items.iter().filter(|item| item.role == role).count();
    (of(Role::User), of(Role::Assistant))
}

/// Resident memory of this process in megabytes; 0 if it cannot be read.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
