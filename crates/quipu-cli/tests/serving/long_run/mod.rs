//! A server under a steady mixed load: every request succeeds, and memory, file handles and threads stay level.
//!
//! The capacity of the machine is measured with a few clients that send one request after the other. Then requests are sent at
//! 70 % of that rate, whether earlier ones were answered or not; a request's time counts from the moment it was due.
//!
//! `QUIPU_LONG_RUN_SECONDS=7200 QUIPU_LONG_RUN_USERS=10000` runs for that long (`just long-run`). A short run, of which only
//! counts are judged, is among the tests.

mod load;
mod report;
mod samples;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use self::load::{Load, Pace};
use self::samples::{Sample, Sampler};
use crate::Serving;
use crate::place::Place;

/// Clients that send one request after the other while the capacity is measured.
const CLIENTS: usize = 4;
/// Share of the capacity at which requests are sent.
const SHARE: f64 = 0.7;
/// Requests in progress at most: one more is sent late, and its time counts from when it was due.
const IN_PROGRESS_MAX: usize = 16;
/// Users of whom ledgers are verified at the end.
const VERIFIED: usize = 5;
/// How long the server may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// What is run.
pub(crate) struct Plan {
    seconds: f64,
    users: usize,
    /// Limit on the memories that are held open, so that the messages of the run do not count as growth.
    open_memories_mib: usize,
    /// Time to measure the capacity.
    capacity_seconds: f64,
    /// Whether memory, handles and threads are judged, which takes more than a few seconds.
    is_long: bool,
}

impl Plan {
    fn new() -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u32>().unwrap());
        let users = number("QUIPU_LONG_RUN_USERS").map_or(20, |users| users as usize);
        match number("QUIPU_LONG_RUN_SECONDS").map(f64::from) {
            Some(seconds) => {
                let capacity_seconds = (seconds / 20.0).clamp(2.0, 60.0);
                Self { seconds, users, open_memories_mib: 128, capacity_seconds, is_long: true }
            }
            None => Self { seconds: 4.0, users, open_memories_mib: 128, capacity_seconds: 1.0, is_long: false },
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the load has a rate")]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn a_server_under_steady_load_answers_everything_and_stays_level() {
    let plan = Plan::new();
    let place = Place::new(&format!("open_memories_mib = {}\n", plan.open_memories_mib));
    let mut serving = Serving::start(&place);
    let (pid, data) = (serving.pid(), place.0.path().join("data"));
    let load = Load::new(&serving.addr, plan.users);
    let created = load.create_users(CLIENTS);
    let closed = load.run(CLIENTS, &Pace::OneAfterTheOther { seconds: plan.capacity_seconds });
    let capacity = closed.iter().map(|tally| tally.took_ms.len()).sum::<usize>() as f64 / plan.capacity_seconds;

    let before = (samples::bytes_below(&data), load.messages.load(Ordering::SeqCst));
    let sampler = Sampler::start(pid, &data, plan.seconds);
    let tallies = load.run(IN_PROGRESS_MAX, &Pace::Steady { per_second: capacity * SHARE, seconds: plan.seconds });
    let samples: Vec<Sample> = sampler.stop();
    let after = (samples::bytes_below(&data), load.messages.load(Ordering::SeqCst));

    let ended = serving.terminate(ENDS_WITHIN);
    assert!(ended.is_some_and(|status| status.success()), "the server did not end as it should: {ended:?}");
    let report = report::Report { plan: &plan, created, capacity, tallies: &tallies, samples: &samples, before, after };
    println!("{report}");
    for user in 0..plan.users.min(VERIFIED) {
        let verified = place.run(&["-u", &load::named(user), "verify"]);
        assert!(String::from_utf8_lossy(&verified.stdout).contains("INTACT"), "{verified:?}");
    }
    let failures = load.failures.lock().unwrap();
    assert!(
        failures.is_empty(),
        "{} requests failed, such as {:#?}",
        failures.len(),
        &failures[..failures.len().min(5)]
    );
    for tally in &tallies {
        assert!(!tally.took_ms.is_empty(), "no {} was sent", tally.kind.as_str());
    }
    assert!(samples.len() > 1, "nothing was measured meanwhile");
    report.assert_level();
}
