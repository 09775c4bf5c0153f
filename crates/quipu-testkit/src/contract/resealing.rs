//! Replacing the stored form of changes.

use jiff::Timestamp;
use quipu_core::event::ChangeRef;
use quipu_core::ledger::{SealedChange, SealedEvent};
use quipu_engine::ports::{LeaseRequest, ResealedChange, StoreError, UserLedger};

use super::{ContractCase, Make, everything, me, open};
use crate::sample::Sample;

pub(super) const CASES: &[ContractCase] = &[
    ("the stored form of a change is replaced if its salt is still the given one", replaces),
    ("an erased change stays erased, and one that was replaced meanwhile stays as it is", never_back),
    ("without the lease nothing is replaced", needs_the_lease),
];

const LEASE: &str = "reseal";

fn hold(ledger: &mut dyn UserLedger, holder: u64, now: i64) -> bool {
    let time = |second| Timestamp::from_second(second).unwrap();
    ledger.lease(&LeaseRequest { name: LEASE, holder, now: time(now), until: time(now + 60) }).unwrap()
}

fn filled(ledger: &mut dyn UserLedger) -> (Sample, Vec<SealedEvent>) {
    let mut sample = Sample::new(&me(), 70);
    let events = vec![sample.say("one").unwrap(), sample.say("two").unwrap(), sample.say("three").unwrap()];
    ledger.append(0, &events).unwrap();
    (sample, events)
}

/// Replaces change 0 of an event by bytes that are no text.
fn replacement(event: &SealedEvent, byte: u8) -> ResealedChange {
    ResealedChange {
        target: ChangeRef { seq: event.seq, index: 0 },
        from: event.changes[0].salt.unwrap(),
        to: SealedChange { bytes: Some(vec![byte; 900]), salt: Some([byte; 32]) },
    }
}

fn replaces(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (_, mut events) = filled(&mut *ledger);
    assert!(hold(&mut *ledger, 5, 100));
    let changes = [replacement(&events[0], 0xff), replacement(&events[2], 0x01)];
    ledger.reseal(LEASE, 5, &changes).unwrap();
    ledger.reseal(LEASE, 5, &changes).unwrap();
    ledger.reseal(LEASE, 5, &[]).unwrap();
    for change in changes {
        events[change.target.seq as usize - 1].changes[0] = change.to;
    }
    assert_eq!(everything(&mut *ledger), events);
    drop(ledger);
    assert_eq!(everything(&mut *open(&*store, &me())), events);
}

fn never_back(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (mut sample, mut events) = filled(&mut *ledger);
    let (late, next, stale) = (replacement(&events[0], 2), replacement(&events[1], 3), replacement(&events[1], 4));
    let erasure = sample.erase(&[late.target]).unwrap();
    ledger.erase(3, &[late.target], &erasure).unwrap();
    assert!(hold(&mut *ledger, 5, 100));
    ledger.reseal(LEASE, 5, std::slice::from_ref(&next)).unwrap();
    ledger.reseal(LEASE, 5, &[late, stale]).unwrap();
    events[0].changes[0] = SealedChange { bytes: None, salt: None };
    events[1].changes[0] = next.to;
    events.push(erasure);
    assert_eq!(everything(&mut *ledger), events);
}

fn needs_the_lease(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (_, events) = filled(&mut *ledger);
    let change = [replacement(&events[0], 2)];
    let refused =
        |outcome: Result<(), StoreError>| assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    refused(ledger.reseal(LEASE, 5, &change));
    assert!(hold(&mut *ledger, 5, 100));
    ledger.release(LEASE, 5).unwrap();
    assert!(hold(&mut *ledger, 6, 200), "the first lease was given back");
    refused(ledger.reseal(LEASE, 5, &change));
    assert_eq!(everything(&mut *ledger), events);
    ledger.reseal(LEASE, 6, &change).unwrap();
}
