//! Three servers on one PostgreSQL, one of which is killed or paused again and again: what eight clients append and read through any of them
//! is linearizable, history by history.
//!
//! An append has a position, and a read the position of the head, so a history is linearizable exactly if no operation that ended before
//! another one began has a later place in the order of positions: appends by their position, each read after the append that it saw.
//!
//! `QUIPU_HISTORIES=200` and `QUIPU_HISTORY_OPS=500` make it as long as the scorecard wants it (`just scorecard`).

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quipu_testkit::postgres_server::bare_database;
use quipu_testkit::{Rng, seed};
use reqwest::blocking::Client;
use serde_json::{Value, json};

use crate::several::{PATIENCE, Server, client};

const SERVERS: usize = 3;
const CLIENTS: usize = 8;
/// A request of which nothing is heard for so long is sent to another server.
const IMPATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

#[expect(clippy::disallowed_methods, reason = "the order of operations is that of their times")]
fn now() -> Instant {
    Instant::now()
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// An operation that was answered. Its start is that of the first attempt.
#[derive(Debug, Clone, Copy)]
struct Operation {
    is_append: bool,
    position: u64,
    began: Duration,
    ended: Duration,
}

impl Operation {
    /// Its place in the only order that can explain the answers. Reads of one position have no order among each other.
    fn place(self) -> u64 {
        self.position * 2 + u64::from(!self.is_append)
    }
}

/// The first pair of operations whose order in time contradicts that of their positions.
fn anomaly(history: &[Operation]) -> Option<(Operation, Operation)> {
    let mut by_begin = history.to_vec();
    by_begin.sort_by_key(|one| one.began);
    let mut by_end = history.to_vec();
    by_end.sort_by_key(|one| one.ended);
    // Among those that ended before an operation began, the one with the last place decides.
    let (mut latest, mut next): (Option<Operation>, usize) = (None, 0);
    for one in by_begin {
        while next < by_end.len() && by_end[next].ended < one.began {
            latest = latest.filter(|held| held.place() >= by_end[next].place()).or(Some(by_end[next]));
            next += 1;
        }
        let is_wrong = |held: &Operation| held.place() > one.place() || (held.place() == one.place() && one.is_append);
        if let Some(earlier) = latest.filter(is_wrong) {
            return Some((earlier, one));
        }
    }
    None
}

struct Run {
    began: Instant,
    addrs: [Mutex<String>; SERVERS],
    operations: usize,
    of_a_history: usize,
    next: AtomicUsize,
    /// Operations that may begin before the next disturbance.
    permitted: AtomicUsize,
    histories: Vec<Mutex<Vec<Operation>>>,
    failed: AtomicUsize,
    is_over: AtomicBool,
}

impl Run {
    /// Sends a request to one server after the other until one answers it.
    fn send(&self, client: &Client, first: usize, path: &str, body: Option<(&Value, &str)>) -> Value {
        let waiting = now();
        for attempt in first.. {
            assert!(waiting.elapsed() < PATIENCE, "seed {}: no server answers {path}", seed());
            let address = format!("http://{}{path}", self.addrs[attempt % SERVERS].lock().unwrap());
            let request = match body {
                Some((body, key)) => client
                    .post(address)
                    .header("Content-Type", "application/json")
                    .header("Idempotency-Key", key)
                    .body(body.to_string()),
                None => client.get(address),
            };
            match request.send().and_then(|answer| Ok((answer.status().as_u16(), answer.text()?))) {
                Ok((200, text)) => return serde_json::from_str(&text).unwrap(),
                Ok((409 | 503, _)) | Err(_) => drop(self.failed.fetch_add(1, Ordering::SeqCst)),
                Ok((status, text)) => panic!("seed {}: {path} was answered with {status}: {text}", seed()),
            }
            std::thread::sleep(PAUSE);
        }
        unreachable!("there is always a next server")
    }

    /// Appends and reads until every history has its operations.
    fn operate(&self, number: u64) {
        let client = client().tls_certs_only([]).timeout(IMPATIENCE).build().unwrap();
        let mut dice = Rng::new(seed() ^ (number << 32));
        loop {
            let operation = self.next.fetch_add(1, Ordering::SeqCst);
            if operation >= self.operations || self.is_over.load(Ordering::SeqCst) {
                return;
            }
            while operation >= self.permitted.load(Ordering::SeqCst) && !self.is_over.load(Ordering::SeqCst) {
                std::thread::sleep(PAUSE);
            }
            let history = operation / self.of_a_history;
            // The first operation of a history makes its memory.
            let is_append = operation.is_multiple_of(self.of_a_history) || dice.once_in(2);
            let first = dice.below(SERVERS);
            let began = self.began.elapsed();
            let position = if is_append {
                let words = format!("operation {operation}");
                let body = json!({"messages": [{"role": "user", "content": words}], "wait": "durable"});
                let path = format!("/memory/history-{history}/turns");
                self.send(&client, first, &path, Some((&body, &words)))["seq"].as_u64().unwrap()
            } else {
                self.send(&client, first, &format!("/memory/history-{history}"), None)["version"].as_u64().unwrap()
            };
            let ended = self.began.elapsed();
            self.histories[history].lock().unwrap().push(Operation { is_append, position, began, ended });
        }
    }

    /// Kills and pauses servers in turns, each time so many operations have begun. Returns the numbers of both.
    fn disturb(&self, servers: &mut [Server; SERVERS], every: usize) -> (usize, usize) {
        let mut dice = Rng::new(seed() ^ 0xd157);
        let (mut kills, mut pauses) = (0, 0);
        while self.permitted.load(Ordering::SeqCst) < self.operations && !self.is_over.load(Ordering::SeqCst) {
            std::thread::sleep(PAUSE);
            if self.next.load(Ordering::SeqCst) < self.permitted.load(Ordering::SeqCst) {
                continue;
            }
            self.permitted.fetch_add(every, Ordering::SeqCst);
            let at = dice.below(SERVERS);
            if (kills + pauses) % 2 == 0 {
                servers[at].restart();
                self.addrs[at].lock().unwrap().clone_from(&servers[at].serving.addr);
                kills += 1;
            } else {
                signal("-STOP", servers[at].serving.pid());
                std::thread::sleep(Duration::from_millis(dice.below(3000) as u64));
                signal("-CONT", servers[at].serving.pid());
                pauses += 1;
            }
        }
        (kills, pauses)
    }
}

fn signal(name: &str, id: u32) {
    assert!(Command::new("kill").args([name, &id.to_string()]).status().unwrap().success());
}

/// Ends everything also if one thread stops at a surprise.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

#[test]
fn what_three_servers_answer_is_linearizable() {
    let (histories, of_a_history) = (number("QUIPU_HISTORIES", 4), number("QUIPU_HISTORY_OPS", 50));
    let every = of_a_history.min(250);
    let database = bare_database();
    let mut servers: [Server; SERVERS] = ["one", "two", "three"].map(|name| Server::start(name, &database, ""));
    let run = Run {
        began: now(),
        addrs: [0, 1, 2].map(|at| Mutex::new(servers[at].serving.addr.clone())),
        operations: histories * of_a_history,
        of_a_history,
        next: AtomicUsize::new(0),
        permitted: AtomicUsize::new(every),
        histories: (0..histories).map(|_| Mutex::default()).collect(),
        failed: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    let (kills, pauses) = std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let run = &run;
            scope.spawn(move || {
                let _ending = Ending(&run.is_over);
                run.operate(number as u64);
            });
        }
        let _ending = Ending(&run.is_over);
        run.disturb(&mut servers, every)
    });
    let took = run.began.elapsed();
    let histories: Vec<Vec<Operation>> = run.histories.into_iter().map(|one| one.into_inner().unwrap()).collect();
    let operations: usize = histories.iter().map(Vec::len).sum();
    let found: Vec<_> =
        histories.iter().enumerate().filter_map(|(at, history)| Some((at, anomaly(history)?))).collect();
    let appends = histories.iter().flatten().filter(|one| one.is_append).count();
    let mut twice = 0;
    for history in &histories {
        let mut positions: Vec<u64> = history.iter().filter(|one| one.is_append).map(|one| one.position).collect();
        positions.sort_unstable();
        twice += positions.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
    println!(
        "linearizable head: {} histories, {operations} operations ({appends} appends) in {took:.0?}, {kills} kills, {pauses} pauses, {} attempts \
         failed; {} anomalies, {twice} positions given twice, seed {}",
        histories.len(),
        run.failed.into_inner(),
        found.len(),
        seed()
    );
    assert!(found.is_empty(), "seed {}: {:?}", seed(), found.first());
    assert_eq!(twice, 0);
    assert_eq!(operations, histories.len() * of_a_history);
    assert!(kills > 0 && pauses > 0, "nothing was disturbed");
}

#[test]
fn an_order_that_contradicts_itself_is_noticed() {
    let one = |is_append, position, began: u64, ended: u64| Operation {
        is_append,
        position,
        began: Duration::from_secs(began),
        ended: Duration::from_secs(ended),
    };
    let good = [one(true, 1, 0, 3), one(false, 1, 1, 2), one(true, 2, 4, 6), one(false, 1, 5, 7), one(false, 2, 8, 9)];
    assert!(anomaly(&good).is_none());
    // A stale read, an append behind one that ended, a read of what was read before, an append before what was read.
    for wrong in [one(false, 1, 8, 9), one(true, 1, 7, 8), one(false, 0, 3, 4), one(true, 2, 10, 11)] {
        assert!(anomaly(&[good.as_slice(), &[wrong]].concat()).is_some(), "{wrong:?}");
    }
}
