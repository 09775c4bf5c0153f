//! One server on a folder is killed again and again under eight writers, which send what was not acknowledged again with its key: every
//! acknowledged message is there once, and nothing else.
//!
//! `QUIPU_KILLS=1000` and `QUIPU_KILL_ACKS=200` make it as long as the scorecard wants it (`just scorecard`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use quipu_testkit::{Rng, seed};
use reqwest::blocking::Client;
use serde_json::{Value, json};

use crate::Serving;
use crate::place::Place;
use crate::several::{PATIENCE, client};

const WRITERS: usize = 8;
const USERS: usize = 4;
/// Kills in one folder. Then a new one is used, as the final check gets slower with the size of the memory.
const KILLS_OF_A_FOLDER: u32 = 50;

#[expect(clippy::disallowed_methods, reason = "a report of times, and nothing is waited for for ever")]
fn now() -> Instant {
    Instant::now()
}

fn number(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// A message that is sent until it is acknowledged.
struct Writer {
    number: usize,
    client: Client,
    /// The next message. It may have been sent before, without an answer.
    next: usize,
    /// Acknowledged messages with user and position.
    acknowledged: Vec<(usize, u64, String)>,
    again: u64,
    is_in_flight: bool,
}

impl Writer {
    fn new(number: usize) -> Self {
        let client = client().tls_certs_only([]).build().unwrap();
        Self { number, client, next: 0, acknowledged: Vec::new(), again: 0, is_in_flight: false }
    }

    /// Sends its messages until the server is gone or enough is said.
    fn write(&mut self, addr: &str, is_over: &AtomicBool, acks: &AtomicU64) {
        while !is_over.load(Ordering::SeqCst) {
            let user = (self.number + self.next) % USERS;
            let words = format!("Writer {} has seen bird {}.", self.number, self.next);
            let body = json!({"messages": [{"role": "user", "content": words}], "wait": "durable"});
            let request = self.client.post(format!("http://{addr}/memory/user-{user}/turns"));
            let request = request.header("Content-Type", "application/json").header("Idempotency-Key", &words);
            self.again += u64::from(self.is_in_flight);
            self.is_in_flight = true;
            let answer = request.body(body.to_string()).send().and_then(|answer| Ok((answer.status(), answer.text()?)));
            let Ok((status, text)) = answer else { return };
            if status == 503 {
                // Too much at once, or the folder is in use: it may be repeated.
                std::thread::sleep(Duration::from_millis(2));
                continue;
            }
            assert_eq!(status, 200, "seed {}: {words}: {text}", seed());
            let told: Value = serde_json::from_str(&text).unwrap();
            self.acknowledged.push((user, told["seq"].as_u64().unwrap(), words));
            self.is_in_flight = false;
            self.next += 1;
            acks.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[derive(Default)]
struct Tally {
    kills: u32,
    acknowledged: usize,
    again: u64,
    events: usize,
    lost: usize,
    twice: usize,
    breaks: usize,
    /// From the start of the process to its first answer, after a kill.
    recoveries: Vec<Duration>,
}

/// What the folder holds against what was acknowledged.
fn check(place: &Place, writers: &[Writer], tally: &mut Tally) {
    for user in 0..USERS {
        let name = format!("user-{user}");
        let expected: Vec<(u64, &str)> = writers
            .iter()
            .flat_map(|writer| &writer.acknowledged)
            .filter(|(of, ..)| *of == user)
            .map(|(_, seq, words)| (*seq, words.as_str()))
            .collect();
        if expected.is_empty() {
            continue;
        }
        let verified = place.run(&["-u", &name, "verify"]);
        tally.breaks += usize::from(!String::from_utf8_lossy(&verified.stdout).contains("INTACT"));
        let page = |command: &[&str]| -> Value {
            let output = place.run(&[&["-u", &name], command].concat());
            assert!(output.status.success(), "{output:?}");
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let log = page(&["log", "--json", "-n", "1000000"]);
        let mut seqs: Vec<u64> =
            log["items"].as_array().unwrap().iter().filter_map(|event| event["seq"].as_u64()).collect();
        seqs.sort_unstable();
        tally.breaks += usize::from(!seqs.iter().copied().eq(1..=seqs.len() as u64));
        tally.events += seqs.len();
        let items = page(&["list", "--json", "--limit", "1000000"]);
        let mut found: Vec<(u64, &str)> = items["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (item["event_seq"].as_u64().unwrap(), item["text"].as_str().unwrap()))
            .collect();
        found.sort_unstable();
        tally.lost += expected.iter().filter(|one| found.binary_search(one).is_err()).count();
        let mut texts: Vec<&str> = found.iter().map(|(_, text)| *text).collect();
        texts.sort_unstable();
        tally.twice += texts.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
}

fn run_in_a_folder(kills: u32, acks_max: u32, dice: &mut Rng, tally: &mut Tally) {
    let place = Place::new("");
    let mut writers: Vec<Writer> = (0..WRITERS).map(Writer::new).collect();
    for round in 0..=kills {
        let began = now();
        let mut serving = Serving::start(&place);
        let live = format!("http://{}/memory/user-0", serving.addr);
        assert!(writers[0].client.get(live).send().is_ok(), "no answer after the start");
        if round > 0 {
            tally.recoveries.push(began.elapsed());
        }
        // The last round only acknowledges what is left.
        let wanted = if round < kills { 1 + dice.below(acks_max as usize) as u64 } else { 2 * WRITERS as u64 };
        let (is_over, acks) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let (is_over, acks, addr) = (&is_over, &acks, serving.addr.clone());
            for writer in &mut writers {
                let addr = addr.clone();
                scope.spawn(move || writer.write(&addr, is_over, acks));
            }
            let waiting = now();
            while acks.load(Ordering::SeqCst) < wanted {
                std::thread::sleep(Duration::from_micros(200));
                assert!(waiting.elapsed() < PATIENCE, "seed {}: nothing is acknowledged any more", seed());
            }
            if round < kills {
                serving.kill_at_once();
            }
            is_over.store(true, Ordering::SeqCst);
        });
    }
    tally.kills += kills;
    tally.acknowledged += writers.iter().map(|writer| writer.acknowledged.len()).sum::<usize>();
    tally.again += writers.iter().map(|writer| writer.again).sum::<u64>();
    check(&place, &writers, tally);
}

#[test]
fn a_server_that_is_killed_again_and_again_loses_nothing() {
    let (kills, acks_max) = (number("QUIPU_KILLS", 8), number("QUIPU_KILL_ACKS", 40));
    let (mut dice, mut tally) = (Rng::new(seed()), Tally::default());
    while tally.kills < kills {
        run_in_a_folder(KILLS_OF_A_FOLDER.min(kills - tally.kills), acks_max, &mut dice, &mut tally);
    }
    tally.recoveries.sort();
    let at = |share: usize| tally.recoveries[(tally.recoveries.len() - 1) * share / 100];
    println!(
        "kill -9 of a server under {WRITERS} writers: {} kills, {} acknowledged, {} sent again, {} events; {} lost, {} twice, {} chains or \
         positions broken; start to first answer p50 {:?}, p99 {:?}, seed {}",
        tally.kills,
        tally.acknowledged,
        tally.again,
        tally.events,
        tally.lost,
        tally.twice,
        tally.breaks,
        at(50),
        at(99),
        seed()
    );
    assert_eq!((tally.lost, tally.twice, tally.breaks), (0, 0, 0), "seed {}", seed());
    assert!(tally.again > 0, "no request was cut");
}
