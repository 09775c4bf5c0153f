//! Damaged and foreign files.

use std::fs;

use quipu_engine::ports::LedgerStore;
use rusqlite::Connection;

use crate::fixture::{Place, check_error, fill, me, open};

/// A closed ledger of 200 events.
fn closed() -> Place {
    let place = Place::new();
    let mut ledger = open(&place.store());
    fill(&mut *ledger, 1, 200);
    place
}

/// Changes the closed database through a separate connection.
fn change(place: &Place, sql: &str) {
    let connection = Connection::open(place.user_file()).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
}

/// Asserts that opening fails and leaves the file and its name unchanged.
fn check_refused(place: &Place, words: &[&str]) {
    let before = fs::read(place.user_file()).unwrap();
    let store = place.store();
    for create in [false, true] {
        check_error(store.open(&me(), create), "Corrupt", words);
    }
    let told: Vec<String> = store.examine().into_iter().filter_map(Result::err).collect();
    assert!(told.iter().any(|line| line.contains("u-me.db")), "{told:#?}");
    assert_eq!(fs::read(place.user_file()).unwrap(), before);
}

#[test]
fn newer_version() {
    let place = closed();
    change(&place, "PRAGMA user_version = 2");
    check_refused(&place, &["newer Quipu", "format 2", "Upgrade", "Nothing was changed"]);
}

#[test]
fn database_of_another_program() {
    let place = closed();
    change(&place, "PRAGMA application_id = 7");
    check_refused(&place, &["not a Quipu ledger", "another program"]);
}

#[test]
fn no_user_in_it() {
    let place = closed();
    change(&place, "DELETE FROM meta");
    check_refused(&place, &["whose ledger"]);
}

#[test]
fn tables_missing() {
    let place = closed();
    change(&place, "DROP TABLE meta");
    check_refused(&place, &["tables"]);
}

#[test]
fn zero_length() {
    let place = closed();
    fs::write(place.user_file(), "").unwrap();
    check_refused(&place, &["has 0 bytes", "backup"]);
}

#[test]
fn truncated() {
    let whole = fs::read(closed().user_file()).unwrap();
    for length in [1, 50, 100, 511, 512, 4095, 4096, 5000, whole.len() / 2, whole.len() - 4096, whole.len() - 1] {
        let place = closed();
        fs::write(place.user_file(), &whole[..length]).unwrap();
        check_refused(&place, &["Nothing was changed", "backup"]);
    }
}

#[test]
fn text_in_place_of_a_database() {
    let place = closed();
    fs::write(place.user_file(), "Dear diary, ".repeat(1000)).unwrap();
    check_refused(&place, &["not a Quipu ledger"]);
}

#[cfg(unix)]
#[test]
fn symbolic_link_in_place_of_a_database() {
    let place = closed();
    let real = place.temp.path().join("real.db");
    fs::rename(place.user_file(), &real).unwrap();
    std::os::unix::fs::symlink(&real, place.user_file()).unwrap();
    check_refused(&place, &["not a regular file"]);
}

#[test]
fn event_lost() {
    let place = closed();
    change(&place, "PRAGMA foreign_keys = OFF; DELETE FROM event WHERE seq IN (1, 77)");
    let mut ledger = open(&place.store());
    let faults = ledger.check().unwrap().join("\n");
    for word in ["missing before event 2", "missing before event 78", "of change belongs to an event that is missing"] {
        assert!(faults.contains(word), "{word:?} is missing in {faults}");
    }
    let mut read = 0;
    ledger
        .read(1..=200, &mut |_| {
            read += 1;
            true
        })
        .unwrap();
    assert_eq!(read, 198, "missing positions are skipped");
}

#[test]
fn change_lost() {
    let place = Place::new();
    {
        let mut ledger = open(&place.store());
        let mut event = crate::fixture::event(1, "one");
        event.changes.push(crate::fixture::change("two"));
        ledger.append(0, &[event]).unwrap();
    }
    change(&place, "DELETE FROM change WHERE idx = 0");
    let mut ledger = open(&place.store());
    assert!(ledger.check().unwrap().concat().contains("a change of event 1 is missing"));
    check_error(ledger.read(1..=1, &mut |_| true), "Corrupt", &["change 0", "event 1"]);
}

#[test]
fn bytes_overwritten() {
    let place = closed();
    let mut bytes = fs::read(place.user_file()).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xff);
    fs::write(place.user_file(), &bytes).unwrap();
    let mut ledger = open(&place.store());
    assert!(!ledger.check().unwrap().is_empty());
    drop(ledger);
    assert!(place.user_file().exists(), "a damaged ledger stays where it is");
}

#[test]
fn piece_of_a_projection_lost() {
    let place = Place::new();
    {
        let mut ledger = open(&place.store());
        let snapshot = Some((1, vec![7; 3 << 20]));
        ledger
            .checkpoint(&quipu_engine::ports::Checkpoint { snapshot, snapshots_kept: 1, ..Default::default() })
            .unwrap();
    }
    change(&place, "DELETE FROM piece WHERE part = 1");
    let mut ledger = open(&place.store());
    assert_eq!(ledger.snapshot(1).unwrap(), None, "it counts as absent");
    assert!(ledger.check().unwrap().concat().contains("the snapshot of version 1 is damaged"));
    ledger.drop_projections().unwrap();
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}

#[test]
fn stray_log_of_a_database_that_is_gone() {
    let place = closed();
    let log = place.folder().join("users/u-me.db-wal");
    fs::remove_file(place.user_file()).unwrap();
    fs::write(&log, "an old log").unwrap();
    let store = place.store();
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 1);
    assert_eq!(fs::read(place.folder().join("aside/u-me.db.1-wal")).unwrap(), b"an old log");

    let backup = place.temp.path().join("me.backup");
    ledger.backup(&backup).unwrap();
    drop(ledger);
    let aside = store.restore(&me(), &backup, true).unwrap().unwrap();
    assert!(aside.ends_with("u-me.db.2"), "{aside:?} does not meet a log that is not its own");
}
