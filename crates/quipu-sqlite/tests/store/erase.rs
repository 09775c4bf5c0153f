//! Erased content is in no file afterwards.

use std::fs;

use quipu_core::event::ChangeRef;
use quipu_core::id::Seq;
use quipu_core::ledger::{SealedChange, SealedEvent};
use quipu_engine::ports::{Checkpoint, LedgerStore, Projection, StoreError};

use crate::fixture::{Place, change, check_error, event, files_with, fill, hash, me, open, read_all};

fn target(seq: Seq) -> ChangeRef {
    ChangeRef { seq, index: 0 }
}

fn erasure(seq: Seq) -> SealedEvent {
    SealedEvent { control: true, changes: vec![change(&format!("erasure {seq}"))], ..event(seq, "") }
}

#[test]
fn erased_text_is_in_no_file() {
    let place = Place::new();
    let store = place.store();
    let mut ledger = open(&store);
    // Short, one page long, and over many pages.
    let canaries =
        ["CANARY-short".to_owned(), format!("CANARY-page{}", "y".repeat(4000)), "CANARY-long".repeat(100_000)];
    fill(&mut *ledger, 1, 50);
    for (seq, canary) in (51..).zip(&canaries) {
        ledger.append(seq - 1, &[event(seq, canary)]).unwrap();
    }
    fill(&mut *ledger, 54, 100);
    let held = || canaries.concat().into_bytes();
    let projections = vec![("passages", Projection { seq: 100, tag: "t".into(), bytes: held() })];
    let checkpoint = Checkpoint {
        snapshot: Some((100, held())),
        snapshots_kept: 2,
        projections,
        level: 100,
        ..Checkpoint::default()
    };
    ledger.checkpoint(&checkpoint).unwrap();
    ledger.checkpoint(&checkpoint).unwrap();
    ledger.put_vectors(100, "CANARY-tag-is-no-content", &[([1; 16], held())]).unwrap();
    let salts: Vec<_> = canaries.iter().map(|canary| *hash(canary).as_bytes()).collect();
    let mut needles: Vec<&[u8]> = vec![b"CANARY-short", b"CANARY-page", b"CANARY-long", b"yyyyyyyy"];
    needles.extend(salts.iter().map(|salt| salt.as_slice()));
    assert!(files_with(&place.folder(), &needles).len() >= needles.len(), "the search finds what is there");

    let targets = [target(51), target(52), target(53)];
    ledger.erase(100, &targets, &erasure(101)).unwrap();
    assert_eq!(files_with(&place.folder(), &needles), [], "while the ledger is open");
    let events = read_all(&mut *ledger);
    for event in &events {
        let erased = (51..=53).contains(&event.seq);
        assert_eq!(event.changes[0] == SealedChange { bytes: None, salt: None }, erased, "event {}", event.seq);
    }
    assert_eq!(events[100], erasure(101));
    assert!(ledger.snapshots().unwrap().is_empty() && ledger.projection("passages").unwrap().is_none());
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
    ledger.backup(&place.folder().join("backup")).unwrap();
    drop((ledger, store));
    assert_eq!(files_with(&place.folder(), &needles), [], "after closing, and in a backup");
}

/// When rows come and go, SQLite moves others between pages and leaves copies of them behind.
#[test]
fn erasing_one_by_one_leaves_no_stray_copies() {
    let place = Place::new();
    let store = place.store();
    let mut ledger = open(&store);
    let count = 120;
    let text = |seq: Seq| format!("CANARY-{seq}-{}", "z".repeat((seq as usize * 37) % 700));
    for seq in 1..=count {
        ledger.append(seq - 1, &[event(seq, &text(seq))]).unwrap();
    }
    let order = (0..count).map(|step| (step * 7919) % count + 1);
    for (step, seq) in order.enumerate() {
        let head = count + step as u64;
        ledger.erase(head, &[target(seq)], &erasure(head + 1)).unwrap();
    }
    assert_eq!(files_with(&place.folder(), &[b"CANARY"]), []);
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}

#[test]
fn erasing_reaches_copies_set_aside() {
    let place = Place::new();
    let store = place.store();
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 2);
    ledger.append(2, &[event(3, "CANARY")]).unwrap();
    fill(&mut *ledger, 4, 5);
    let to = place.temp.path().join("me.backup");
    ledger.backup(&to).unwrap();
    drop(ledger);
    let aside = store.restore(&me(), &to, true).unwrap().unwrap();
    let mut ledger = open(&store);
    ledger.erase(5, &[target(3)], &erasure(6)).unwrap();
    assert_eq!(files_with(&place.folder(), &[b"CANARY"]), []);
    drop(ledger);

    store.restore(&me(), &aside, true).unwrap();
    let mut old = open(&store);
    let events = read_all(&mut *old);
    assert_eq!(events.len(), 5, "the rest of the copy is as it was");
    assert_eq!(events[2].changes, [SealedChange { bytes: None, salt: None }]);
}

#[test]
fn an_erasure_that_cannot_finish_says_so_and_finishes_later() {
    let place = Place::new();
    let store = place.store();
    let mut ledger = open(&store);
    ledger.append(0, &[event(1, "CANARY")]).unwrap();
    let unreadable = place.folder().join("aside/u-me.db.1");
    fs::write(&unreadable, "neither a database nor ours to delete").unwrap();
    check_error(ledger.erase(1, &[target(1)], &erasure(2)), "Unavailable", &["is recorded", "u-me.db.1", "Delete it"]);
    assert_eq!(ledger.head().unwrap().seq, 2);
    assert!(ledger.check().unwrap().concat().contains("not finished"));
    drop(ledger);
    fs::remove_file(unreadable).unwrap();
    let mut ledger = open(&store);
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}

#[test]
fn an_erasure_is_all_or_nothing() {
    let place = Place::new();
    let store = place.store();
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 3);
    check_error(ledger.erase(3, &[target(1), target(7)], &erasure(4)), "NotFound", &["change 7"]);
    check_error(ledger.erase(3, &[target(1), ChangeRef { seq: 2, index: 1 }], &erasure(4)), "NotFound", &[]);
    let late = ledger.erase(2, &[target(1)], &erasure(3));
    assert!(matches!(late, Err(StoreError::Conflict { expected: 2, head: 3 })), "{late:?}");
    assert!(read_all(&mut *ledger).iter().all(|event| event.changes[0].bytes.is_some()));
    ledger.erase(3, &[target(1), target(1)], &erasure(4)).unwrap();
    ledger.erase(4, &[target(1)], &erasure(5)).unwrap();
    assert_eq!(ledger.head().unwrap().seq, 5);
}
