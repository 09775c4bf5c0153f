//! A connection that breaks at any message of an operation leaves the state before it or after it, and the operation is
//! never carried out twice.

use std::thread;

use quipu_core::event::ChangeRef;
use quipu_core::id::UserId;
use quipu_core::ledger::{SealedEvent, Verifier};
use quipu_engine::ports::{Checkpoint, KeyStore, LedgerStore, Projection, Scope, StoreError, StoredKey, UserLedger};
use quipu_postgres::{PostgresOptions, PostgresStore};
use quipu_testkit::Sample;

use crate::proxy::{Fault, Proxy};
use crate::server::{database, everything, open, server, url};

/// Messages of the longest operation here, with room for those of a new connection.
const MESSAGES_MAX: u64 = 60;

/// Two stores on one database: one through a proxy, one that looks at the outcome.
struct Scene {
    proxy: Proxy,
    broken: PostgresStore,
    whole: PostgresStore,
}

impl Scene {
    fn new() -> Self {
        let database = database();
        let proxy = Proxy::start(server().port);
        let broken = PostgresStore::open(&url(proxy.port, &database), PostgresOptions::default()).unwrap();
        Self { proxy, broken, whole: open(&database) }
    }

    /// Runs an operation for a new user with each fault at each of its messages, until a message is not reached. `work` gets
    /// a store whose connection breaks, a ledger of three events in it, their sample, a call that arms the fault, and its
    /// name.
    fn at_every_message(
        &self,
        mut work: impl FnMut(&PostgresStore, &mut dyn UserLedger, &mut Sample, &dyn Fn(), &str),
    ) -> usize {
        let mut count = 0;
        for fault in Fault::ALL {
            for after in 0..MESSAGES_MAX {
                let user = UserId::parse(&format!("u-{fault:?}-{after}")).unwrap();
                let mut sample = Sample::new(&user, after);
                let events: Vec<_> = (0..3).map(|number| sample.say(&format!("text {number}")).unwrap()).collect();
                let mut ledger = self.broken.open(&user, true).unwrap();
                ledger.append(0, &events).unwrap();
                let told = format!("{fault:?} at message {after}");
                work(&self.broken, &mut *ledger, &mut sample, &|| self.proxy.plan(fault, after), &told);
                let happened = self.proxy.happened();
                let found = everything(&mut *self.whole.open(&user, true).unwrap());
                let mut verifier = Verifier::new(user.clone(), &[]);
                found.iter().for_each(|event| verifier.check(event));
                assert!(verifier.finish().is_intact(), "{told}");
                self.whole.remove(&user, None).unwrap();
                if happened == 0 {
                    break;
                }
                count += 1;
            }
        }
        count
    }
}

#[test]
fn an_append_is_made_once() {
    let scene = Scene::new();
    let faults = scene.at_every_message(|_, ledger, sample, arm, told| {
        let more = [sample.say_once("once", "a key").unwrap(), sample.say("and this").unwrap()];
        arm();
        let outcome = ledger.append(3, &more);
        scene.proxy.rest();
        outcome.unwrap_or_else(|error| panic!("{told}: {error}"));
        let found = everything(ledger);
        assert_eq!(found.len(), 5, "{told}");
        assert_eq!(found[3..], more, "{told}");
        // A caller that repeats it by itself is refused.
        assert!(matches!(ledger.append(3, &more), Err(StoreError::Conflict { head: 5, .. })), "{told}");
    });
    // Each fault at each message of the transaction: its beginning, the five of the append, its end.
    assert_eq!(faults, 4 * 7);
}

/// Appends, erases and stores while the server becomes unreachable at a message. Nobody can then say what happened, but the
/// state is that before or after, and whoever repeats it later does not do it twice.
#[test]
fn without_a_server_the_outcome_is_unknown_and_a_later_repetition_is_safe() {
    let database = database();
    let whole = open(&database);
    thread::scope(|scope| {
        let faults = [Fault::CutBefore, Fault::CutAfter, Fault::DropAnswer];
        for (fault, first) in faults.into_iter().flat_map(|fault| (0..4).map(move |first| (fault, first))) {
            let (database, whole) = (&database, &whole);
            scope.spawn(move || {
                let proxy = Proxy::start(server().port);
                let broken = PostgresStore::open(&url(proxy.port, database), PostgresOptions::default()).unwrap();
                for after in (first..24).step_by(4) {
                    let user = UserId::parse(&format!("u-{fault:?}-{after}")).unwrap();
                    let told = format!("{fault:?} at message {after}");
                    let mut sample = Sample::new(&user, after);
                    let mut ledger = broken.open(&user, true).unwrap();
                    ledger.append(0, &[sample.say("a secret").unwrap()]).unwrap();
                    let target = ChangeRef { seq: 1, index: 0 };
                    let erasure = sample.erase(&[target]).unwrap();
                    proxy.plan_end(fault, after);
                    let outcome = ledger.erase(1, &[target], &erasure);
                    let is_broken = proxy.happened() > 0;
                    match outcome {
                        Ok(()) => assert!(!is_broken, "{told}: an answer that nobody gave"),
                        Err(StoreError::Unavailable(text)) => {
                            assert!(text.contains("look at the head"), "{told}: {text}")
                        }
                        Err(error) => panic!("{told}: {error}"),
                    }
                    // The server may still be at what it had received.
                    let mut seen = whole.open(&user, false).unwrap();
                    let repeated = seen.erase(1, &[target], &erasure);
                    assert!(
                        matches!(repeated, Ok(()) | Err(StoreError::Conflict { head: 2, .. })),
                        "{told}: {repeated:?}"
                    );
                    let found = everything(&mut *seen);
                    assert!(found.len() == 2 && found[1] == erasure && found[0].changes[0].bytes.is_none(), "{told}");
                    assert_eq!(seen.check().unwrap(), [""; 0], "{told}");
                }
            });
        }
    });
}

#[test]
fn an_append_that_another_process_outran_is_a_conflict() {
    let scene = Scene::new();
    scene.at_every_message(|_, ledger, sample, arm, told| {
        let late = sample.clone().say("late").unwrap();
        let faster = sample.say("faster").unwrap();
        let mut events = everything(ledger);
        ledger.append(3, std::slice::from_ref(&faster)).unwrap();
        events.push(faster);
        arm();
        let outcome = ledger.append(3, &[SealedEvent { id: uuid_of(77), ..late }]);
        scene.proxy.rest();
        assert!(matches!(outcome, Err(StoreError::Conflict { expected: 3, head: 4 })), "{told}: {outcome:?}");
        assert_eq!(everything(ledger), events, "{told}");
    });
}

fn uuid_of(number: u64) -> quipu_core::id::EventId {
    quipu_core::id::EventId::from_u64_pair(0, number)
}

#[test]
fn an_erasure_is_whole_or_not_there() {
    let scene = Scene::new();
    let faults = scene.at_every_message(|_, ledger, sample, arm, told| {
        let checkpoint = Checkpoint { snapshot: Some((3, b"folded".to_vec())), level: 3, ..Checkpoint::default() };
        ledger.checkpoint(&checkpoint).unwrap();
        let target = ChangeRef { seq: 2, index: 0 };
        let erasure = sample.erase(&[target]).unwrap();
        arm();
        let outcome = ledger.erase(3, &[target], &erasure);
        scene.proxy.rest();
        outcome.unwrap_or_else(|error| panic!("{told}: {error}"));
        let found = everything(ledger);
        assert_eq!(found.len(), 4, "{told}");
        assert_eq!(found[3], erasure, "{told}");
        assert!(found[1].changes[0].bytes.is_none() && found[1].changes[0].salt.is_none(), "{told}");
        assert_eq!(ledger.snapshots().unwrap(), [0; 0], "{told}");
    });
    assert!(faults >= 4 * 12, "only {faults} faults happened");
}

#[test]
fn a_checkpoint_is_whole_or_not_there() {
    let scene = Scene::new();
    let bytes = vec![7; 300_000];
    let projection = |bytes: &[u8]| Projection { seq: 3, tag: "t".to_owned(), bytes: bytes.to_vec() };
    let checkpoint = |bytes: &[u8]| Checkpoint {
        snapshot: Some((3, bytes.to_vec())),
        snapshots_kept: 2,
        projections: vec![("recall", projection(bytes))],
        clear_vectors: true,
        level: 3,
        lease: None,
    };
    let faults = scene.at_every_message(|_, ledger, _, arm, told| {
        ledger.checkpoint(&checkpoint(b"old")).unwrap();
        arm();
        let outcome = ledger.checkpoint(&checkpoint(&bytes));
        scene.proxy.rest();
        outcome.unwrap_or_else(|error| panic!("{told}: {error}"));
        assert_eq!(ledger.snapshots().unwrap(), [3], "{told}");
        assert!(ledger.snapshot(3).unwrap() == Some(bytes.clone()), "{told}");
        assert!(ledger.projection("recall").unwrap() == Some(projection(&bytes)), "{told}");
    });
    assert!(faults >= 4 * 25, "only {faults} faults happened");
}

#[test]
fn a_removal_and_a_replacement_are_made_once() {
    let scene = Scene::new();
    scene.at_every_message(|store, ledger, sample, arm, told| {
        let user = UserId::parse(&format!("u-{}", told.replace(" at message ", "-"))).unwrap();
        let later = sample.say("later").unwrap();
        ledger.append(3, std::slice::from_ref(&later)).unwrap();
        let old = everything(ledger);
        arm();
        let aside = store.build(&user, true, &mut |new| new.append(0, &old[..2]));
        scene.proxy.rest();
        let aside = aside.unwrap_or_else(|error| panic!("{told}: {error}")).unwrap();
        assert_eq!(everything(&mut *store.open(&user, false).unwrap()), old[..2], "{told}");
        arm();
        let removed = store.remove(&user, Some(2));
        scene.proxy.rest();
        removed.unwrap_or_else(|error| panic!("{told}: {error}"));
        assert!(matches!(store.open(&user, false).map(drop), Err(StoreError::NotFound(_))), "{told}");
        assert!(store.restore(&user, &aside, false).is_err(), "{told}: copies set aside are removed as well");
        store.open(&user, true).unwrap();
    });
}

#[test]
fn an_access_key_is_stored_once() {
    let scene = Scene::new();
    let (keys, whole) = (scene.broken.keys(), scene.whole.keys());
    let mut count = 0;
    for fault in Fault::ALL {
        for after in 0..MESSAGES_MAX {
            let key = StoredKey {
                id: format!("{fault:?}-{after}"),
                name: "a key".to_owned(),
                digest: [1; 32],
                scopes: vec![Scope::Read],
                user: None,
                created_at: jiff::Timestamp::UNIX_EPOCH,
                revoked_at: None,
            };
            scene.proxy.plan(fault, after);
            let put = keys.put(&key);
            let happened = scene.proxy.happened();
            put.unwrap_or_else(|error| panic!("{fault:?} at message {after}: {error}"));
            assert_eq!(whole.find(&key.id).unwrap(), Some(key));
            if happened == 0 {
                break;
            }
            count += 1;
        }
    }
    // As for an append: a transaction of one statement.
    assert_eq!(count, 4 * 7);
}

#[test]
fn a_server_that_is_gone_is_reported_and_used_again_when_it_is_back() {
    let database = database();
    let proxy = Proxy::start(server().port);
    let broken = PostgresStore::open(&url(proxy.port, &database), PostgresOptions::default()).unwrap();
    let user = UserId::parse("me").unwrap();
    let mut ledger = broken.open(&user, true).unwrap();
    let mut sample = Sample::new(&user, 9);
    let event = sample.say("one").unwrap();
    // Every connection breaks at its first message, again and again.
    for _ in 0..2 {
        proxy.plan(Fault::CutBefore, 0);
        ledger.append(0, &[]).unwrap();
    }
    ledger.append(0, std::slice::from_ref(&event)).unwrap();
    assert_eq!(everything(&mut *ledger), [event]);
    let mut admin = crate::server::Admin::connect(server(), "postgres");
    admin.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'quipu' AND datname LIKE 'test_%'",
    );
    let next = sample.say("two").unwrap();
    ledger.append(1, &[next]).unwrap();
    assert_eq!(ledger.head().unwrap().seq, 2);
}
