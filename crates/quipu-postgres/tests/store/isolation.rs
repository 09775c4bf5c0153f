//! The rows of one user are out of reach of another: by the statements, and by row-level security.

use quipu_engine::ports::{Checkpoint, LedgerStore, StoreError};
use quipu_testkit::Sample;

use crate::server::{Admin, database, me, open, other, server, url};

#[test]
fn a_transaction_of_one_user_sees_and_writes_nothing_of_another() {
    let database = database();
    let store = open(&database);
    for (user, seed) in [(me(), 1), (other(), 2)] {
        let mut ledger = store.open(&user, true).unwrap();
        ledger.append(0, &[Sample::new(&user, seed).say_once("one", "a key").unwrap()]).unwrap();
        let checkpoint = Checkpoint { snapshot: Some((1, b"one".to_vec())), level: 1, ..Checkpoint::default() };
        ledger.checkpoint(&checkpoint).unwrap();
        ledger.put_vectors(1, "m", &[([1; 16], vec![1])]).unwrap();
    }
    // The role of the store, with statements that forget the user.
    let mut role = Admin::open(&url(server().port, &database));
    for table in ["heads", "events", "keys", "changes", "blobs", "vectors"] {
        let count = format!("SELECT count(*) FROM quipu.{table}");
        assert_eq!(role.rows(&count), [["0"]], "{table}, without a user");
        let seen = |role: &mut Admin, user: &str| {
            role.rows(&format!(
                "BEGIN; SELECT set_config('quipu.user_id', '{user}', true); \
                 SELECT count(*), min(user_id), max(user_id) FROM quipu.{table}; COMMIT"
            ))[1]
                .clone()
        };
        assert_eq!(seen(&mut role, "me"), ["1", "me", "me"], "{table}");
        assert_eq!(seen(&mut role, "other"), ["1", "other", "other"], "{table}");
        if table != "heads" {
            assert_eq!(seen(&mut role, "*"), ["0", "null", "null"], "{table}, for the whole store");
        }
        assert_eq!(role.rows(&count), [["0"]], "{table}, after the transaction");
        let partitions = role
            .rows(&format!("SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'quipu.{table}'::regclass"));
        for partition in partitions.iter().take(64) {
            let direct = format!(
                "BEGIN; SELECT set_config('quipu.user_id', 'me', true); SELECT count(*) FROM {}; COMMIT",
                partition[0]
            );
            assert_eq!(role.rows(&direct)[1], ["0"], "{}", partition[0]);
        }
    }
    for statement in [
        "UPDATE quipu.heads SET user_id = 'other' WHERE user_id = 'me'",
        "INSERT INTO quipu.vectors SELECT 'other', fence, key, tag, bytes FROM quipu.vectors WHERE user_id = 'me'",
    ] {
        let refused = role.try_run(&format!("BEGIN; SELECT set_config('quipu.user_id', 'me', true); {statement}"));
        assert!(refused.unwrap_err().as_db_error().unwrap().message().contains("row-level security"), "{statement}");
        role.run("ROLLBACK");
    }
    let deleted = "BEGIN; SELECT set_config('quipu.user_id', 'me', true); DELETE FROM quipu.events; COMMIT";
    role.run(deleted);
    assert_eq!(Admin::connect(server(), &database).rows("SELECT user_id FROM quipu.events"), [["other"]]);
}

#[test]
fn access_keys_are_out_of_reach_of_a_users_transaction() {
    let mut role = Admin::open(&url(server().port, &database()));
    let insert =
        "INSERT INTO quipu.api_keys VALUES ('k', 'key', decode(repeat('00', 32), 'hex'), 'admin', NULL, 0, NULL)";
    assert!(role.try_run(&format!("BEGIN; SELECT set_config('quipu.user_id', 'me', true); {insert}")).is_err());
    role.run("ROLLBACK");
    role.run(&format!("BEGIN; SELECT set_config('quipu.user_id', '*', true); {insert}; COMMIT"));
    let count = "SELECT count(*) FROM quipu.api_keys";
    assert_eq!(role.rows(count), [["0"]]);
}

#[test]
fn damage_is_found_and_not_used() {
    let database = database();
    let store = open(&database);
    let mut ledger = store.open(&me(), true).unwrap();
    let mut sample = Sample::new(&me(), 3);
    let events: Vec<_> = (0..3).map(|number| sample.say(&format!("text {number}")).unwrap()).collect();
    ledger.append(0, &events).unwrap();
    let checkpoint = Checkpoint { snapshot: Some((3, b"folded".to_vec())), level: 3, ..Checkpoint::default() };
    ledger.checkpoint(&checkpoint).unwrap();
    ledger.put_vectors(3, "m", &[([1; 16], vec![1])]).unwrap();
    assert_eq!(ledger.check().unwrap(), [""; 0]);
    assert!(ledger.bytes().unwrap() > 200);
    let mut admin = Admin::connect(server(), &database);
    admin.run("UPDATE quipu.blobs SET bytes = '\\x00'; UPDATE quipu.vectors SET bytes = '\\x00'");
    admin.run("DELETE FROM quipu.events WHERE seq = 2; DELETE FROM quipu.changes WHERE seq = 3");
    admin.run("UPDATE quipu.heads SET last_control = 2");
    assert_eq!(ledger.snapshot(3).unwrap(), None);
    assert_eq!(ledger.vectors("m").unwrap(), []);
    let faults = ledger.check().unwrap();
    for expected in
        ["before event 3", "belongs to event 2", "the head does not match", "snapshot:3 is damaged", "1 vectors"]
    {
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{expected}: {faults:?}");
    }
    let mut seqs = Vec::new();
    ledger
        .read(1..=9, &mut |event| {
            seqs.push(event.seq);
            true
        })
        .unwrap();
    assert_eq!(seqs, [1, 3]);
    admin.run("UPDATE quipu.changes SET idx = 1 WHERE seq = 1");
    let told = ledger.read(1..=9, &mut |_| true);
    assert!(matches!(told, Err(StoreError::Corrupt(_))), "{told:?}");
}
