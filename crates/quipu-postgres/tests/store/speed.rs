//! How long an append and a look take. It is printed, and not judged.

use quipu_engine::ports::LedgerStore;
use quipu_testkit::Sample;

use crate::server::{me, store};

#[test]
#[expect(clippy::disallowed_methods, reason = "a report of times, by which nothing is decided")]
fn appends_and_watches_are_timed() {
    let store = store();
    let mut ledger = store.open(&me(), true).unwrap();
    let mut watch = store.watch(&me()).unwrap();
    let mut sample = Sample::new(&me(), 1);
    let (mut appends, mut looks) = (Vec::new(), Vec::new());
    for seq in 0..400 {
        let event = sample.say("I moved to Porto in May, and my sister lives in Lisbon.").unwrap();
        let started = std::time::Instant::now();
        ledger.append(seq, &[event]).unwrap();
        appends.push(started.elapsed());
        let started = std::time::Instant::now();
        watch.look().unwrap();
        looks.push(started.elapsed());
    }
    for (name, times) in [("append", &mut appends), ("look", &mut looks)] {
        times.sort();
        println!("{name}: p50 {:?}, p95 {:?}, p99 {:?}", times[200], times[380], times[396]);
    }
    assert_eq!(ledger.head().unwrap().seq, 400);
}
