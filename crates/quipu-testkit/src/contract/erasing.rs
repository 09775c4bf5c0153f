//! Erasing payloads.

use quipu_core::event::{Actor, Change, ChangeRef, Draft, SourceKind};
use quipu_core::ledger::{SealedEvent, Verifier};
use quipu_engine::ports::{Checkpoint, Projection, StoreError, UserLedger};

use super::{ContractCase, Make, everything, me, open};
use crate::sample::Sample;

pub(super) const CASES: &[ContractCase] = &[
    ("erasing destroys payload and salt of the targets and of nothing else, and appends the record", erases),
    ("erasing drops all derived data", derived),
    ("data derived before an erasure or a revert is not stored after it", stale),
    ("erasing at the wrong position changes nothing", conflict),
    ("erasing missing targets changes nothing", missing),
    ("an erased ledger verifies, and stays erased when it is opened again", verifies),
];

fn at(seq: u64, index: u32) -> ChangeRef {
    ChangeRef { seq, index }
}

/// A ledger with one text, two texts in one event, and one more text; and the sample, for further events.
fn filled(ledger: &mut dyn UserLedger) -> (Sample, Vec<SealedEvent>) {
    let mut sample = Sample::new(&me(), 20);
    let two = vec![Change::SourceRecorded(sample.source("two")), Change::SourceRecorded(sample.source("three"))];
    let events = vec![
        sample.say("one").unwrap(),
        sample.seal(&Draft::new(Actor::User, SourceKind::UserSaid, two)).unwrap(),
        sample.say("four").unwrap(),
    ];
    ledger.append(0, &events).unwrap();
    (sample, events)
}

fn without(events: &[SealedEvent], targets: &[ChangeRef]) -> Vec<SealedEvent> {
    let mut events = events.to_vec();
    for target in targets {
        let change = &mut events[target.seq as usize - 1].changes[target.index as usize];
        (change.bytes, change.salt) = (None, None);
    }
    events
}

fn erases(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (mut sample, events) = filled(&mut *ledger);
    let targets = [at(2, 1), at(3, 0)];
    let erasure = sample.erase(&targets).unwrap();
    ledger.erase(3, &targets, &erasure).unwrap();
    let mut expected = without(&events, &targets);
    expected.push(erasure.clone());
    assert_eq!(everything(&mut *ledger), expected);
    assert_eq!(ledger.controls(9).unwrap(), [erasure]);
}

fn derived(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (mut sample, _) = filled(&mut *ledger);
    let projection = Projection { seq: 3, tag: "t".to_owned(), bytes: b"one".to_vec() };
    ledger
        .checkpoint(&Checkpoint {
            snapshot: Some((3, b"one two".to_vec())),
            snapshots_kept: 2,
            projections: vec![("recall", projection)],
            level: 3,
            ..Checkpoint::default()
        })
        .unwrap();
    ledger.put_vectors(3, "t", &[([1; 16], vec![1, 2, 3])]).unwrap();
    let erasure = sample.erase(&[at(1, 0)]).unwrap();
    ledger.erase(3, &[at(1, 0)], &erasure).unwrap();
    assert_eq!(ledger.snapshots().unwrap(), [0; 0]);
    assert_eq!(ledger.snapshot(3).unwrap(), None);
    assert_eq!(ledger.projection("recall").unwrap(), None);
    assert_eq!(ledger.vectors("t").unwrap(), []);
}

fn stale(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (mut sample, _) = filled(&mut *ledger);
    let made_at = |level: u64| Checkpoint {
        snapshot: Some((level, b"one two".to_vec())),
        snapshots_kept: 2,
        projections: vec![("recall", Projection { seq: level, tag: "t".to_owned(), bytes: b"one".to_vec() })],
        level,
        ..Checkpoint::default()
    };
    let later = sample.say("five").unwrap();
    ledger.append(3, &[later]).unwrap();
    ledger.checkpoint(&made_at(3)).unwrap();
    let erasure = sample.erase(&[at(1, 0)]).unwrap();
    ledger.erase(4, &[at(1, 0)], &erasure).unwrap();
    for level in [0, 3, 4] {
        let outcome = ledger.checkpoint(&made_at(level));
        let said = matches!(outcome, Err(StoreError::Conflict { expected, head: 5 }) if expected == level);
        assert!(said, "{outcome:?}");
        let outcome = ledger.put_vectors(level, "t", &[([1; 16], vec![1])]);
        assert!(matches!(outcome, Err(StoreError::Conflict { .. })), "{outcome:?}");
    }
    assert_eq!(ledger.snapshots().unwrap(), [0; 0]);
    assert_eq!(ledger.projection("recall").unwrap(), None);
    assert_eq!(ledger.vectors("t").unwrap(), []);
    ledger.checkpoint(&made_at(5)).unwrap();
    ledger.put_vectors(5, "t", &[([1; 16], vec![1])]).unwrap();
    let reverted = vec![Change::Reverted { events: vec![4] }];
    let revert = sample.seal(&Draft::new(Actor::User, SourceKind::UserEdited, reverted)).unwrap();
    ledger.append(5, &[revert]).unwrap();
    assert!(matches!(ledger.checkpoint(&made_at(5)), Err(StoreError::Conflict { expected: 5, head: 6 })));
    ledger.checkpoint(&made_at(6)).unwrap();
}

fn conflict(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (mut sample, mut events) = filled(&mut *ledger);
    let late = sample.clone().erase(&[at(1, 0)]).unwrap();
    let faster = sample.say("faster").unwrap();
    ledger.append(3, std::slice::from_ref(&faster)).unwrap();
    let outcome = ledger.erase(3, &[at(1, 0)], &late);
    assert!(matches!(outcome, Err(StoreError::Conflict { expected: 3, head: 4 })), "{outcome:?}");
    events.push(faster);
    assert_eq!(everything(&mut *ledger), events);
}

fn missing(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (mut sample, events) = filled(&mut *ledger);
    for wrong in [at(9, 0), at(1, 1)] {
        let erasure = sample.clone().erase(&[at(1, 0), wrong]).unwrap();
        let outcome = ledger.erase(3, &[at(1, 0), wrong], &erasure);
        assert!(matches!(outcome, Err(StoreError::NotFound(_))), "{outcome:?}");
    }
    assert_eq!(everything(&mut *ledger), events);
    let erasure = sample.erase(&[at(1, 0)]).unwrap();
    ledger.erase(3, &[at(1, 0)], &erasure).unwrap();
}

fn verifies(make: Make<'_>) {
    let store = make();
    let mut ledger = open(&*store, &me());
    let (mut sample, _) = filled(&mut *ledger);
    let targets = [at(1, 0), at(2, 0)];
    let erasure = sample.erase(&targets).unwrap();
    ledger.erase(3, &targets, &erasure).unwrap();
    drop(ledger);
    let mut ledger = store.open(&me(), false).unwrap();
    let mut verifier = Verifier::new(me(), &[]);
    everything(&mut *ledger).iter().for_each(|event| verifier.check(event));
    let verdict = verifier.finish();
    assert!(verdict.is_intact(), "{verdict:?}");
    let gone: Vec<(ChangeRef, u64)> = verdict.erased.iter().map(|gone| (gone.target, gone.by)).collect();
    assert_eq!(gone, [(at(1, 0), 4), (at(2, 0), 4)]);
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}
