//! Several processes at one ledger at the same time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use quipu_core::event::ChangeRef;
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Checkpoint, LedgerStore, Projection, StoreError, WatchEvent};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_testkit::Sample;

use crate::server::{Admin, database, me, open, server, url};

#[test]
fn of_many_appends_at_a_position_one_succeeds() {
    let database = database();
    let stores = [open(&database), open(&database)];
    stores[0].open(&me(), true).unwrap();
    let won = AtomicU64::new(0);
    thread::scope(|scope| {
        for (number, store) in (0..6).zip(stores.iter().cycle()) {
            let won = &won;
            scope.spawn(move || {
                let mut ledger = store.open(&me(), false).unwrap();
                let mut sample = Sample::new(&me(), 100 + number);
                for seq in 0..40 {
                    let event = sample.say_once("a text", &format!("key {number} {seq}")).unwrap();
                    match ledger.append(seq, std::slice::from_ref(&event)) {
                        Ok(()) => {
                            won.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(StoreError::Conflict { expected, head }) => assert!(expected == seq && head > seq),
                        Err(error) => panic!("{error}"),
                    }
                    // Everybody goes on at the next position, which somebody reached.
                    while ledger.head().unwrap().seq < seq + 1 {}
                }
            });
        }
    });
    assert_eq!(won.load(Ordering::SeqCst), 40);
    let mut ledger = stores[0].open(&me(), false).unwrap();
    assert_eq!(ledger.head().unwrap().seq, 40);
    assert_eq!(ledger.check().unwrap(), [""; 0]);
}

#[test]
fn nothing_derived_before_an_erasure_is_stored_after_it() {
    let database = database();
    let (one, two) = (open(&database), open(&database));
    let mut sample = Sample::new(&me(), 5);
    let mut ledger = one.open(&me(), true).unwrap();
    let is_over = AtomicBool::new(false);
    let (level, stored, refused) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for number in 0..2_u8 {
            let (two, is_over, level, stored, refused) = (&two, &is_over, &level, &stored, &refused);
            scope.spawn(move || {
                let mut ledger = two.open(&me(), true).unwrap();
                while !is_over.load(Ordering::SeqCst) {
                    let seq = level.load(Ordering::SeqCst);
                    let projection = Projection { seq, tag: "t".to_owned(), bytes: vec![number; 20_000] };
                    let outcome = ledger
                        .checkpoint(&Checkpoint {
                            snapshot: Some((seq, vec![number; 1000])),
                            snapshots_kept: 2,
                            projections: vec![("recall", projection)],
                            clear_vectors: false,
                            level: seq,
                            lease: None,
                        })
                        .and_then(|()| ledger.put_vectors(seq, "m", &[([number; 16], vec![1])]));
                    match outcome {
                        Ok(()) => stored.fetch_add(1, Ordering::SeqCst),
                        Err(StoreError::Conflict { .. }) => refused.fetch_add(1, Ordering::SeqCst),
                        Err(error) => panic!("{error}"),
                    };
                }
            });
        }
        for round in 0..60 {
            let head = round * 2;
            ledger.append(head, &[sample.say("a secret").unwrap()]).unwrap();
            level.store(head + 1, Ordering::SeqCst);
            let target = ChangeRef { seq: head + 1, index: 0 };
            ledger.erase(head + 1, &[target], &sample.erase(&[target]).unwrap()).unwrap();
            // What is there now was derived at or after the erasure: nobody knows of it yet, so nothing is.
            assert_eq!(ledger.snapshots().unwrap(), [0; 0]);
            assert_eq!(ledger.projection("recall").unwrap(), None);
            assert_eq!(ledger.vectors("m").unwrap(), []);
            level.store(head + 2, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(5));
        }
        is_over.store(true, Ordering::SeqCst);
    });
    assert!(stored.load(Ordering::SeqCst) > 0 && refused.load(Ordering::SeqCst) > 0, "{stored:?} {refused:?}");
    assert_eq!(ledger.check().unwrap(), [""; 0]);
}

#[test]
fn a_watch_waits_for_no_append_even_if_all_connections_are_in_use() {
    let database = database();
    let options = PostgresOptions { connections_max: 1, ..PostgresOptions::default() };
    let store = PostgresStore::open(&url(server().port, &database), options).unwrap();
    let mut ledger = store.open(&me(), true).unwrap();
    let mut watch = store.watch(&me()).unwrap();
    watch.look().unwrap();
    let event = Sample::new(&me(), 6).say("one").unwrap();
    let mut admin = Admin::connect(server(), &database);
    admin.run("BEGIN; SELECT 1 FROM quipu.heads FOR UPDATE");
    thread::scope(|scope| {
        let appended = scope.spawn(|| ledger.append(0, std::slice::from_ref(&event)));
        while admin.rows("SELECT count(*) FROM pg_locks WHERE NOT granted") == [["0"]] {}
        for _ in 0..20 {
            assert_eq!(watch.look().unwrap(), WatchEvent::Same);
        }
        admin.run("COMMIT");
        appended.join().unwrap().unwrap();
    });
    let SealedEvent { hash, .. } = event;
    assert!(matches!(watch.look().unwrap(), WatchEvent::Changed(head) if head.hash == hash));
}
