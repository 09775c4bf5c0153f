//! The three verdicts of verify, and the use of pins.

use quipu_core::event::NO_HASH;
use quipu_core::ledger::Pin;
use quipu_engine::erase::EraseTarget;
use quipu_engine::versions::EventRef;
use quipu_engine::{Engine, erase, show, status, verify};
use quipu_testkit::{MemoryStore, TestEngine, engine};

use crate::{me, said};

fn pin(engine: &Engine, seq: u64) -> Pin {
    Pin { seq, hash: show(engine, &me(), EventRef::Seq(seq)).unwrap().hash }
}

#[test]
fn every_event_is_intact_or_erased_on_record_or_damaged() {
    // given three events, one of them erased by the engine
    let store = MemoryStore::new();
    let engine = engine(Box::new(store.clone()));
    said(&engine, &["one", "two", "three"]);
    erase(&engine, &me(), &[EraseTarget::Event(2)], "asked to", &mut |_| {}).unwrap();
    let report = verify(&engine, &me(), &[], &mut |_| {}).unwrap();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!((report.ledger.events, report.ledger.changes_intact), (4, 3));
    assert_eq!((report.ledger.erased[0].target.seq, report.ledger.erased[0].by), (2, 4));
    // when a payload is removed without a record
    store.tamper(&me(), |events| {
        events[2].changes[0].bytes = None;
        events[2].changes[0].salt = None;
    });
    // then that is damage, and the report names the place
    let report = verify(&engine, &me(), &[], &mut |_| {}).unwrap();
    let places: Vec<_> = report.ledger.damage.iter().map(|damage| (damage.seq, damage.change)).collect();
    assert_eq!(places, [(3, Some(0))], "{report:?}");
    assert!(!report.is_intact());
}

#[test]
fn verify_reads_what_is_stored_now_not_what_was_open() {
    let store = MemoryStore::new();
    let engine = engine(Box::new(store.clone()));
    said(&engine, &["one", "two"]);
    assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
    store.tamper(&me(), |events| events[0].header[20] ^= 1);
    assert!(!verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
}

#[test]
fn a_cut_tail_is_noticed_by_who_pinned_the_head() {
    // given a pinned head
    let rig = TestEngine::new(1);
    let store = MemoryStore::new();
    let engine = rig.engine(Box::new(store.clone()));
    said(&engine, &["one", "two", "three"]);
    let head = pin(&engine, 3);
    // when the newest event is removed
    store.tamper(&me(), |events| events.truncate(2));
    // then the chain alone verifies, but the pin does not match
    assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
    let report = verify(&engine, &me(), &[head], &mut |_| {}).unwrap();
    assert!(!report.is_intact());
    assert_eq!(report.ledger.pins[0].reason.as_deref(), Some("the ledger ends at 2: events were cut off"));
    // and replacing it by another event does not help
    let engine = rig.engine(Box::new(store.clone()));
    said(&engine, &["three, rewritten", "four"]);
    let report = verify(&engine, &me(), &[head], &mut |_| {}).unwrap();
    assert!(report.ledger.damage.is_empty() && !report.is_intact(), "{report:?}");
}

#[test]
fn pins_of_every_past_version_hold() {
    let engine = engine(Box::new(MemoryStore::new()));
    let mut pins = vec![Pin { seq: 0, hash: NO_HASH }];
    for number in 1..=5 {
        said(&engine, &[&format!("text {number}")]);
        pins.push(pin(&engine, number));
    }
    erase(&engine, &me(), &[EraseTarget::Event(3)], "asked to", &mut |_| {}).unwrap();
    let report = verify(&engine, &me(), &pins, &mut |_| {}).unwrap();
    assert!(report.is_intact() && report.ledger.pins.len() == 6, "{report:?}");
    assert_eq!(report.ledger.head_hash, status(&engine, &me()).unwrap().head);
}

#[test]
fn a_ledger_under_another_name_is_not_that_users() {
    let store = MemoryStore::new();
    let engine = engine(Box::new(store.clone()));
    said(&engine, &["mine"]);
    let mut taken = Vec::new();
    store.tamper(&me(), |events| taken.clone_from(events));
    let other = quipu_core::id::UserId::parse("other").unwrap();
    let verdict = quipu_engine::verify::verify_events(&other, taken.iter(), &[]);
    assert!(!verdict.is_intact(), "{verdict:?}");
}
