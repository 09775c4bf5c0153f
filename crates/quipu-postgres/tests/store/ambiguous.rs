//! Commits whose outcome nobody knows: the connection is cut around them, or the server ends it. Whoever repeats the request
//! with its key, through the same engine or another one, gets one effect.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::versions::When;
use quipu_engine::{Engine, Error, ListOptions, LogOptions, RememberOptions, Utterance, list, log, remember, verify};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_testkit::{Rng, TestEngine, effort, seed};

use crate::proxy::{Fault, Proxy};
use crate::server::{Admin, database, open, server, url};

const USERS: usize = 10;
/// The last messages of an append, of which the very last one commits.
const LAST_MESSAGES: u64 = 2;
/// The server ends connections at a moment within so many microseconds after a request began.
const ENDED_WITHIN_MICROS: usize = 8000;

/// How a commit is broken.
#[derive(Debug, Clone, Copy)]
enum Break {
    /// At a message, after which the server can be reached again, or cannot until the request failed.
    At { fault: Fault, after: u64, is_final: bool },
    /// The server ends the connections of the database.
    Ended { after: Duration },
}

impl Break {
    /// One of an append that takes so many messages.
    fn any(messages: u64, dice: &mut Rng) -> Self {
        if dice.once_in(4) {
            return Self::Ended { after: Duration::from_micros(dice.below(ENDED_WITHIN_MICROS) as u64) };
        }
        // Most breaks are around the commit.
        let last = messages.saturating_sub(1 + dice.below(LAST_MESSAGES as usize) as u64);
        let after = if !dice.once_in(4) { last } else { dice.below(messages as usize) as u64 };
        let fault = [Fault::CutBefore, Fault::CutAfter, Fault::DropAnswer][dice.below(3)];
        Self::At { fault, after, is_final: dice.once_in(2) }
    }
}

#[derive(Debug, Default)]
struct Tally {
    broken: u32,
    /// Requests that were told to be repeated.
    unknown: u32,
    /// Of these, the ones that had been carried out.
    carried_out: u32,
}

fn all() -> ListOptions {
    ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX }
}

/// Two engines on one database: the first one through a proxy that breaks its connections.
struct Scene {
    engines: [Engine; 2],
    proxy: Proxy,
    admin: Admin,
    /// Ends all connections of the database.
    end: String,
    dice: Rng,
    tally: Tally,
    /// Messages of an append over an open connection.
    messages: u64,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let database = database();
        let proxy = Proxy::start(server().port);
        let broken = PostgresStore::open(&url(proxy.port, &database), PostgresOptions::default()).unwrap();
        let engine = |number, store| TestEngine::new(seed + number).engine(Box::new(store));
        Self {
            engines: [engine(0, broken), engine(1, open(&database))],
            proxy,
            admin: Admin::connect(server(), "postgres"),
            end: format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"),
            dice: Rng::new(seed),
            tally: Tally::default(),
            messages: 1,
        }
    }

    /// Appends without a fault, to learn how many messages it takes, and to have a connection that is open.
    fn measure(&mut self, user: &UserId) {
        for text in ["the first of all", "the second of all"] {
            self.proxy.sent();
            // With a key, as the requests: it is looked up first.
            let key = Some(text.to_owned());
            let options = RememberOptions { idempotency_key: key, durable_only: true, ..RememberOptions::default() };
            remember(&self.engines[0], user, &Utterance::of_user(text), &options).unwrap();
        }
        // Each message but the last of a group is answered together with it.
        self.messages = self.proxy.sent().len() as u64;
        assert!(self.messages > 0);
    }

    /// Sends one request while the connection is broken, and repeats it. Returns its position.
    fn say(&mut self, user: &UserId, text: &str) -> u64 {
        let key = Some(text.to_owned());
        let options = RememberOptions { idempotency_key: key, durable_only: true, ..RememberOptions::default() };
        let told = Utterance::of_user(text);
        let way = Break::any(self.messages, &mut self.dice);
        let (engines, admin, end) = (&self.engines, &mut self.admin, &self.end);
        match way {
            Break::At { fault, after, is_final: true } => self.proxy.plan_end(fault, after),
            Break::At { fault, after, is_final: false } => self.proxy.plan(fault, after),
            Break::Ended { .. } => {}
        }
        let outcome = thread::scope(|scope| {
            let asking = scope.spawn(|| remember(&engines[0], user, &told, &options));
            if let Break::Ended { after } = way {
                thread::sleep(after);
                admin.run(end);
            }
            asking.join().unwrap()
        });
        let is_broken = self.proxy.happened() > 0 || matches!(way, Break::Ended { .. });
        let first = match outcome {
            Ok(receipt) => Some(receipt.seq),
            Err(Error::Unavailable(_)) => None,
            Err(other) => panic!("{way:?}: {other:?}"),
        };
        let again = remember(&engines[self.dice.below(2)], user, &told, &options);
        let receipt = again.unwrap_or_else(|error| panic!("{way:?}, repeated: {error:?}"));
        // Also through the broken one, which has an open connection again afterwards.
        let last = remember(&self.engines[0], user, &told, &options)
            .unwrap_or_else(|error| panic!("{way:?}, last: {error:?}"));
        assert!(last.replayed && last.seq == receipt.seq, "{way:?}: {receipt:?} and then {last:?}");
        let is_same = first.is_none_or(|seq| seq == receipt.seq && receipt.replayed);
        assert!(is_same, "{way:?}: {first:?} and then {receipt:?}");
        self.tally.broken += u32::from(is_broken);
        self.tally.unknown += u32::from(first.is_none());
        self.tally.carried_out += u32::from(first.is_none() && receipt.replayed);
        receipt.seq
    }
}

#[test]
fn a_request_whose_commit_is_unknown_has_one_effect_per_key() {
    let (seed, times) = (seed(), effort(24));
    let mut scene = Scene::new(seed);
    let mut told: BTreeMap<UserId, Vec<(String, u64)>> = BTreeMap::new();
    scene.measure(&UserId::parse("nobody").unwrap());
    for number in 0..times {
        let user = UserId::parse(&format!("user-{}", scene.dice.below(USERS))).unwrap();
        let text = format!("request {number}");
        let seq = scene.say(&user, &text);
        told.entry(user).or_default().push((text, seq));
    }
    let (engine, tally) = (&scene.engines[1], &scene.tally);
    for (user, expected) in &mut told {
        let items = list(engine, user, &all()).unwrap().items;
        let mut found: Vec<(String, u64)> = items.into_iter().map(|item| (item.text, item.event_seq)).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, *expected, "{user}, seed {seed}: found, and acknowledged");
        let entries = log(engine, user, &LogOptions { before: None, limit: usize::MAX, reference: None }).unwrap();
        assert_eq!(entries.len(), expected.len(), "{user}, seed {seed}: events, and requests");
        assert!(verify(engine, user, &[], &mut |_| {}).unwrap().is_intact(), "{user}, seed {seed}");
    }
    println!("ambiguous commits: {times} requests, {tally:?}, one effect for each key, seed {seed}");
    assert!(tally.broken * 2 > times, "hardly any connection was broken: {tally:?}");
    assert!(tally.unknown > 0 && tally.carried_out > 0, "no outcome was unknown: {tally:?}");
}
