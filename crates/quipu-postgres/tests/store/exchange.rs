//! Backups go from one store to the other, and copies that were set aside are erased and restored like ledgers.

use quipu_core::event::ChangeRef;
use quipu_core::ledger::{SealedEvent, Verifier};
use quipu_engine::move_ledgers::{MoveOutcome, move_ledger};
use quipu_engine::ports::{LedgerStore, StoreError};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::Sample;

use crate::server::{Admin, database, everything, me, open, other, server, store};

/// Two thousand events, of which one is erased, some have keys and one is large.
fn fill(store: &dyn LedgerStore) -> Vec<SealedEvent> {
    fill_with(store, &mut Sample::new(&me(), 7))
}

fn fill_with(store: &dyn LedgerStore, sample: &mut Sample) -> Vec<SealedEvent> {
    let mut ledger = store.open(&me(), true).unwrap();
    let mut events: Vec<_> = (0..2000)
        .map(|number| match number % 10 {
            0 => sample.say_once("with a key", &format!("key {number}")).unwrap(),
            5 if number == 5 => sample.say(&"long ".repeat(100_000)).unwrap(),
            _ => sample.say(&format!("text {number}")).unwrap(),
        })
        .collect();
    ledger.append(0, &events).unwrap();
    let target = ChangeRef { seq: 3, index: 0 };
    let erasure = sample.erase(&[target]).unwrap();
    ledger.erase(2000, &[target], &erasure).unwrap();
    (events[2].changes[0].bytes, events[2].changes[0].salt) = (None, None);
    events.push(erasure);
    assert_eq!(everything(&mut *ledger), events);
    events
}

#[test]
fn a_ledger_moves_into_a_database_and_back_and_erasures_follow() {
    let (folder, back) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = StoreOptions { ballast_bytes: 0, ..StoreOptions::default() };
    let in_folder = SqliteStore::open(folder.path(), options.clone()).unwrap();
    let (in_database, again) = (store(), SqliteStore::open(back.path(), options).unwrap());
    let mut sample = Sample::new(&me(), 7);
    let mut events = fill_with(&in_folder, &mut sample);
    assert_eq!(move_ledger(&in_folder, &in_database, &me()).unwrap().outcome, MoveOutcome::Copied);
    assert_eq!(move_ledger(&in_database, &again, &me()).unwrap().outcome, MoveOutcome::Copied);
    // What the folder erases afterwards is erased in the database by the next move.
    let mut ledger = in_folder.open(&me(), false).unwrap();
    let target = ChangeRef { seq: 8, index: 0 };
    let erasure = sample.erase(&[target]).unwrap();
    ledger.erase(2001, &[target], &erasure).unwrap();
    (events[7].changes[0].bytes, events[7].changes[0].salt) = (None, None);
    events.push(erasure);
    for to in [&in_database as &dyn LedgerStore, &again] {
        assert_eq!(move_ledger(&in_folder, to, &me()).unwrap().outcome, MoveOutcome::Continued);
        assert_eq!(everything(&mut *to.open(&me(), false).unwrap()), events);
        assert_eq!(move_ledger(&in_folder, to, &me()).unwrap().outcome, MoveOutcome::AlreadyThere);
    }
}

#[test]
fn a_backup_goes_from_one_store_to_the_other_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder =
        SqliteStore::open(&folder.path().join("data"), StoreOptions { ballast_bytes: 0, ..StoreOptions::default() });
    let (in_folder, in_database, again) = (in_folder.unwrap(), store(), store());
    let events = fill(&in_folder);
    let first = in_folder.open(&me(), false).unwrap().backup(&folder.path().join("first")).unwrap();
    assert_eq!(in_database.restore(&me(), &first.path, false).unwrap(), None);
    let mut ledger = in_database.open(&me(), false).unwrap();
    assert_eq!(everything(&mut *ledger), events);
    assert_eq!(ledger.key_use("key 10").unwrap().unwrap().seq, 11);
    assert_eq!(ledger.controls(5000).unwrap(), events[2000..]);
    assert_eq!(ledger.check().unwrap(), [""; 0]);
    let second = ledger.backup(&folder.path().join("second")).unwrap();
    assert_eq!(second.head, first.head);
    in_folder.remove(&me(), None).unwrap();
    in_folder.restore(&me(), &second.path, false).unwrap();
    again.restore(&me(), &second.path, false).unwrap();
    for store in [&in_folder as &dyn LedgerStore, &again] {
        let found = everything(&mut *store.open(&me(), false).unwrap());
        assert!(found == events);
        let mut verifier = Verifier::new(me(), &[]);
        found.iter().for_each(|event| verifier.check(event));
        assert!(verifier.finish().is_intact());
    }
    let wrong = in_database.restore(&other(), &second.path, false);
    assert!(matches!(wrong, Err(StoreError::Corrupt(_))), "{wrong:?}");
    assert_eq!(in_database.users().unwrap(), [me()]);
}

#[test]
fn an_erasure_reaches_a_copy_that_was_set_aside() {
    let database = database();
    let store = open(&database);
    let mut sample = Sample::new(&me(), 8);
    let events = [sample.say("a secret").unwrap(), sample.say("two").unwrap()];
    store.open(&me(), true).unwrap().append(0, &events).unwrap();
    let aside = store.build(&me(), true, &mut |ledger| ledger.append(0, &events)).unwrap().unwrap();
    let target = ChangeRef { seq: 1, index: 0 };
    let erasure = sample.erase(&[target]).unwrap();
    store.open(&me(), true).unwrap().erase(2, &[target], &erasure).unwrap();
    let left = "SELECT count(*) FROM quipu.changes WHERE seq = 1 AND (bytes IS NOT NULL OR salt IS NOT NULL)";
    assert_eq!(Admin::connect(server(), &database).rows(left), [["0"]]);
    store.restore(&me(), &aside, true).unwrap();
    let restored = everything(&mut *store.open(&me(), false).unwrap());
    assert!(restored[0].changes[0].bytes.is_none() && restored[1] == events[1]);
    store.remove(&me(), None).unwrap();
    let mut admin = Admin::connect(server(), &database);
    for table in ["heads", "events", "keys", "changes", "blobs", "vectors", "leases"] {
        assert_eq!(admin.rows(&format!("SELECT count(*) FROM quipu.{table}")), [["0"]], "{table}");
    }
}

#[test]
fn what_a_process_left_unfinished_is_removed_a_day_later() {
    let database = database();
    let store = open(&database);
    let event = Sample::new(&me(), 9).say("one").unwrap();
    let failed = store.build(&me(), false, &mut |ledger| {
        ledger.append(0, std::slice::from_ref(&event))?;
        Err(StoreError::Unavailable("no".to_owned()))
    });
    assert!(failed.is_err());
    let mut admin = Admin::connect(server(), &database);
    assert_eq!(admin.rows("SELECT count(*) FROM quipu.events"), [["0"]]);
    admin.run(
        "INSERT INTO quipu.heads VALUES ('me', gen_random_uuid(), 1, 0, decode(repeat('00', 32), 'hex'), 0, now()), \
         ('me', gen_random_uuid(), 1, 0, decode(repeat('00', 32), 'hex'), 0, now() - interval '2 days')",
    );
    assert_eq!(store.users().unwrap(), []);
    store.build(&me(), false, &mut |ledger| ledger.append(0, std::slice::from_ref(&event))).unwrap();
    assert_eq!(admin.rows("SELECT state FROM quipu.heads ORDER BY state"), [["0"], ["1"]]);
}

#[test]
fn a_removal_and_an_erasure_reach_what_is_being_built() {
    let database = database();
    let (store, other_store) = (open(&database), open(&database));
    let mut sample = Sample::new(&me(), 10);
    let events = [sample.say("a secret").unwrap(), sample.say("two").unwrap()];
    let mut live = store.open(&me(), true).unwrap();
    live.append(0, &events).unwrap();
    let target = ChangeRef { seq: 1, index: 0 };
    let erasure = sample.erase(&[target]).unwrap();
    let mut admin = Admin::connect(server(), &database);
    let built = store.build(&me(), true, &mut |ledger| {
        ledger.append(0, &events)?;
        live.erase(2, &[target], &erasure)?;
        let left = "SELECT count(*) FROM quipu.changes WHERE seq = 1 AND (bytes IS NOT NULL OR salt IS NOT NULL)";
        assert_eq!(admin.rows(left), [["0"]]);
        other_store.remove(&me(), Some(3))
    });
    assert!(matches!(built, Err(StoreError::Removed(_))), "{built:?}");
    for table in ["heads", "events", "keys", "changes", "blobs", "vectors", "leases"] {
        assert_eq!(admin.rows(&format!("SELECT count(*) FROM quipu.{table}")), [["0"]], "{table}");
    }
}

#[test]
fn of_many_placements_without_a_live_ledger_one_succeeds() {
    let database = database();
    let stores: Vec<_> = (0..4).map(|_| open(&database)).collect();
    let events = [Sample::new(&me(), 11).say("one").unwrap()];
    for round in 0..10 {
        let barrier = std::sync::Barrier::new(stores.len());
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = stores
                .iter()
                .map(|store| {
                    scope.spawn(|| {
                        store.build(&me(), false, &mut |ledger| {
                            ledger.append(0, &events)?;
                            barrier.wait();
                            Ok(())
                        })
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{round}: {outcomes:?}");
        let is_told = |outcome: &Result<_, StoreError>| matches!(outcome, Ok(_) | Err(StoreError::Exists(_)));
        assert!(outcomes.iter().all(is_told), "{round}: {outcomes:?}");
        stores[0].remove(&me(), None).unwrap();
    }
}
