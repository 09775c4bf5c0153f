//! Three servers on one PostgreSQL are killed and started again while eight writers use all of them: what was acknowledged is
//! there, at its position and once, and every read is as current as it was asked to be.
//!
//! `QUIPU_ENDURANCE_SECONDS=300` runs for that long, with 200 users and a kill every 20 seconds (`just endurance`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use quipu::Components;
use quipu::system::{SystemClock, SystemEntropy};
use quipu_core::id::UserId;
use quipu_encryption::{EncryptedStore, MasterKeys, UserKeys};
use quipu_engine::versions::When;
use quipu_engine::{Engine, ListOptions, LogOptions, list, log, verify};
use quipu_postgres::{PostgresOptions, PostgresStore, PostgresUserKeys};
use quipu_testkit::postgres_server::{bare_database, server, url};
use quipu_testkit::seed;
use reqwest::blocking::Client;
use serde_json::{Value, json};

use crate::several::{MASTER_KEY, PATIENCE, Server, client};

const SERVERS: usize = 3;
const WRITERS: usize = 8;
const KILLS_MIN: usize = 2;
/// Every such request is sent again to another server with the same key, as after a lost answer.
const TWICE: u64 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// How long the writers write, and when a server is killed.
#[derive(Clone, Copy)]
enum Plan {
    /// A number of messages, so that a slow machine does the same.
    Messages {
        users: u64,
        total: usize,
        kill_every: usize,
    },
    Time {
        users: u64,
        total: Duration,
        kill_every: Duration,
    },
}

impl Plan {
    fn new() -> Self {
        match std::env::var("QUIPU_ENDURANCE_SECONDS") {
            Ok(seconds) => Self::Time {
                users: 200,
                total: Duration::from_secs(seconds.parse().unwrap()),
                kill_every: Duration::from_secs(20),
            },
            Err(_) => Self::Messages { users: 24, total: 360, kill_every: 120 },
        }
    }

    fn users(self) -> u64 {
        match self {
            Self::Messages { users, .. } | Self::Time { users, .. } => users,
        }
    }

    fn is_over(self, run: &Run, kills: usize) -> bool {
        match self {
            Self::Messages { total, .. } => kills >= KILLS_MIN && run.acknowledged.load(Ordering::SeqCst) >= total,
            Self::Time { total, .. } => run.began.elapsed() >= total,
        }
    }

    /// Whether it is time for the next kill after so many.
    fn kills(self, run: &Run, kills: usize) -> bool {
        let next = kills + 1;
        match self {
            Self::Messages { kill_every, .. } => run.acknowledged.load(Ordering::SeqCst) >= next * kill_every,
            Self::Time { kill_every, .. } => {
                run.began.elapsed() >= kill_every.saturating_mul(u32::try_from(next).unwrap())
            }
        }
    }
}

/// What a writer was told about a message.
struct Acknowledged {
    user: u64,
    words: String,
    seq: u64,
    hash: String,
}

#[derive(Default)]
struct Tally {
    acknowledged: Vec<Acknowledged>,
    /// Attempts that got no answer, or were told to try again.
    failed: usize,
    /// Answers that were given before.
    replayed: usize,
    read: usize,
}

/// What all writers share.
struct Run {
    plan: Plan,
    began: Instant,
    /// Where each server listens at the moment.
    addrs: [Mutex<String>; SERVERS],
    acknowledged: AtomicUsize,
    is_over: AtomicBool,
}

#[expect(clippy::disallowed_methods, reason = "the long run lasts for a time, and a request is not repeated for ever")]
fn now() -> Instant {
    Instant::now()
}

/// A number that follows from the seed.
fn scattered(writer: usize, number: u64) -> u64 {
    let place = (number << 8) + writer as u64;
    let mut bits = seed().wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A request as it is sent to any server.
struct Request<'a> {
    /// None reads the core document.
    body: Option<&'a Value>,
    path: &'a str,
    header: (&'static str, &'a str),
}

impl Run {
    /// Sends a request to one server after the other until one answers. Every answer but 409 and 503, which say that it may be
    /// repeated, must be a success.
    fn send(&self, client: &Client, first: usize, request: &Request<'_>, tally: &mut Tally) -> Value {
        let began = now();
        for attempt in first.. {
            assert!(began.elapsed() < PATIENCE, "no server answers {} for {PATIENCE:?}", request.path);
            let addr = self.addrs[attempt % SERVERS].lock().unwrap().clone();
            let address = format!("http://{addr}{}", request.path);
            let sending = match request.body {
                Some(body) => client.post(address).header("Content-Type", "application/json").body(body.to_string()),
                None => client.get(address),
            };
            let answer = sending.header(request.header.0, request.header.1).send();
            // The body may be cut off as well.
            let read = answer.and_then(|answer| Ok((answer.status().as_u16(), answer.text()?)));
            match read {
                Ok((200, text)) => return serde_json::from_str(&text).unwrap(),
                Ok((409 | 503, _)) | Err(_) => tally.failed += 1,
                Ok((status, text)) => panic!("{} was answered with {status}: {text}", request.path),
            }
            std::thread::sleep(PAUSE);
        }
        unreachable!("there is always a next server")
    }

    /// Records messages and reads them through other servers.
    fn write(&self, writer: usize) -> Tally {
        let client = client().tls_certs_only([]).build().unwrap();
        let mut tally = Tally::default();
        for number in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                break;
            }
            let roll = scattered(writer, number);
            let (user, first) = (roll % self.plan.users(), (roll >> 32) as usize % SERVERS);
            let words = format!("Writer {writer} has seen bird {number} today.");
            let key = format!("w{writer}-{number}");
            let wait = if roll >> 40 & 3 == 0 { "indexed" } else { "durable" };
            let body = json!({
                "messages": [{"role": "user", "content": words}], "session_id": format!("w{writer}"), "wait": wait
            });
            let path = format!("/memory/user-{user}/turns");
            let request = Request { body: Some(&body), path: &path, header: ("Idempotency-Key", &key) };
            let told = self.send(&client, first, &request, &mut tally);
            let seq = told["seq"].as_u64().unwrap();
            let hash = told["events"][0]["hash"].as_str().unwrap().to_owned();
            tally.replayed += usize::from(told["replayed"] == true);
            if number % TWICE == 0 {
                let again = self.send(&client, first + 1, &request, &mut tally);
                assert_eq!((again["seq"].as_u64(), &again["replayed"]), (Some(seq), &json!(true)), "{words}: {again}");
            }
            tally.acknowledged.push(Acknowledged { user, words: words.clone(), seq, hash });
            self.read(&client, first + 1 + number as usize % 2, (user, &words, seq), &mut tally);
            self.acknowledged.fetch_add(1, Ordering::SeqCst);
        }
        tally
    }

    /// Reads what was acknowledged through another server, which must know its position.
    fn read(&self, client: &Client, server: usize, (user, words, seq): (u64, &str, u64), tally: &mut Tally) {
        let needed = seq.to_string();
        let header = ("X-Memory-Min-Version", needed.as_str());
        if tally.read.is_multiple_of(2) {
            let body = json!({"user_id": format!("user-{user}"), "query": words, "K": 20});
            let request = Request { body: Some(&body), path: "/memory/retrieve", header };
            let found = self.send(client, server, &request, tally);
            let hits = found["episodic"].as_array().unwrap();
            assert!(
                hits.iter().any(|hit| hit["text"] == words),
                "user-{user} at {seq}, {words:?} is not found: {found}"
            );
        } else {
            let path = format!("/memory/user-{user}");
            let core = self.send(client, server, &Request { body: None, path: &path, header }, tally);
            assert!(core["version"].as_u64().unwrap() >= seq, "user-{user}: {core} is older than {seq}");
        }
        tally.read += 1;
    }

    /// Kills one server after the other and starts it again, until the writers are done. Returns the number of kills.
    fn kill(&self, servers: &mut [Server; SERVERS], plan: Plan) -> usize {
        let mut kills = 0;
        while !plan.is_over(self, kills) && !self.is_over.load(Ordering::SeqCst) {
            if plan.kills(self, kills) {
                let at = kills % SERVERS;
                servers[at].restart();
                self.addrs[at].lock().unwrap().clone_from(&servers[at].serving.addr);
                kills += 1;
            }
            std::thread::sleep(PAUSE);
        }
        self.is_over.store(true, Ordering::SeqCst);
        kills
    }
}

/// Ends the writers also if the thread that kills servers stops at a surprise.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// An engine on the database, as a fourth machine would have it.
fn engine(database: &str) -> Engine {
    let address = url(server().port, database);
    let store = PostgresStore::open(&address, PostgresOptions::default()).unwrap();
    let keys = UserKeys {
        store: Box::new(PostgresUserKeys::open(&address, PostgresOptions::default()).unwrap()),
        masters: MasterKeys::from_text(MASTER_KEY, "the test").unwrap(),
        clock: Arc::new(SystemClock::default()),
        entropy: Arc::new(SystemEntropy),
    };
    quipu::open_engine_on(
        Box::new(EncryptedStore::new(Box::new(store), Arc::new(keys)).unwrap()),
        Components::default(),
    )
}

/// Checks one user: the chain is intact, positions have no gap, and each acknowledged message is there once at its position.
/// Nothing else is, since a writer repeats a message until it is acknowledged.
fn check(engine: &Engine, user: u64, told: &[&Acknowledged]) -> usize {
    let id = UserId::parse(&format!("user-{user}")).unwrap();
    let pins: Vec<_> = told
        .iter()
        .map(|one| quipu_core::ledger::Pin {
            seq: one.seq,
            hash: quipu_core::event::Hash::from_hex(&one.hash).unwrap(),
        })
        .collect();
    let verified = verify(engine, &id, &pins, &mut |_| {}).unwrap();
    assert!(verified.is_intact(), "{id}: {:?} {:?}", verified.ledger.damage, verified.medium);
    assert!(verified.ledger.pins.iter().all(|pin| pin.holds), "{id}: {:?}", verified.ledger.pins);
    let events = log(engine, &id, &LogOptions { before: None, limit: usize::MAX, reference: None }).unwrap();
    // The newest comes first.
    let positions: Vec<u64> = events.iter().rev().map(|event| event.seq).collect();
    assert_eq!(positions, (1..=events.len() as u64).collect::<Vec<_>>(), "{id} has gaps");
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let items = list(engine, &id, &all).unwrap().items;
    let mut found: Vec<(&str, u64)> = items.iter().map(|item| (item.text.as_str(), item.event_seq)).collect();
    let mut expected: Vec<(&str, u64)> = told.iter().map(|one| (one.words.as_str(), one.seq)).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{id}: found, and acknowledged");
    events.len()
}

#[test]
fn servers_are_killed_under_writers_and_nothing_acknowledged_is_lost() {
    let (plan, database) = (Plan::new(), bare_database());
    let mut servers: [Server; SERVERS] = ["one", "two", "three"].map(|name| Server::start(name, &database, ""));
    let run = Run {
        plan,
        began: now(),
        addrs: [0, 1, 2].map(|at| Mutex::new(servers[at].serving.addr.clone())),
        acknowledged: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
    };
    let (kills, tallies) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let run = &run;
                scope.spawn(move || {
                    // A writer that stops at a surprise ends the run.
                    let ending = Ending(&run.is_over);
                    let tally = run.write(writer);
                    drop(ending);
                    tally
                })
            })
            .collect();
        let kills = run.kill(&mut servers, plan);
        (kills, writers.into_iter().map(|one| one.join().unwrap()).collect::<Vec<Tally>>())
    });
    let took = run.began.elapsed();
    let engine = engine(&database);
    let mut by_user: BTreeMap<u64, Vec<&Acknowledged>> = BTreeMap::new();
    for one in tallies.iter().flat_map(|tally| &tally.acknowledged) {
        by_user.entry(one.user).or_default().push(one);
    }
    let events: usize = by_user.iter().map(|(user, told)| check(&engine, *user, told)).sum();
    for user in by_user.keys().take(3) {
        let verified = servers[0].place.run(&["-u", &format!("user-{user}"), "verify"]);
        assert!(String::from_utf8_lossy(&verified.stdout).contains("INTACT"), "{verified:?}");
    }
    let sum = |of: fn(&Tally) -> usize| tallies.iter().map(of).sum::<usize>();
    println!(
        "{took:.0?}, {kills} kills, {} users: {} messages acknowledged, {} reads, {} attempts failed, {} answers of the failed ones \
         were already recorded, {events} events; lost 0, twice 0, gaps 0, seed {}",
        by_user.len(),
        sum(|tally| tally.acknowledged.len()),
        sum(|tally| tally.read),
        sum(|tally| tally.failed),
        sum(|tally| tally.replayed),
        seed()
    );
    assert!(kills >= KILLS_MIN, "no server was killed while there were writers");
    assert!(sum(|tally| tally.failed) > 0, "no request met a killed server");
}
