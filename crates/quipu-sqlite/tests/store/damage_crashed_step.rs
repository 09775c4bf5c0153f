//! A process that died between two steps: the next one finishes or undoes what was begun.

use std::fs;
use std::path::PathBuf;

use quipu_engine::ports::LedgerStore;

use crate::fixture::{Place, check_error, event, files, files_with, fill, me, open};

/// A closed ledger of 3 events, and where another one of 1 event is.
fn two_ledgers() -> (Place, PathBuf) {
    let place = Place::new();
    let other = place.temp.path().join("other");
    let mut ledger = open(&place.store());
    fill(&mut *ledger, 1, 1);
    ledger.backup(&other).unwrap();
    fill(&mut *ledger, 2, 3);
    drop(ledger);
    (place, other)
}

fn head(place: &Place) -> u64 {
    place.store().open(&me(), false).unwrap().head().unwrap().seq
}

fn check_swept(place: &Place) {
    let left = files(&place.folder().join("users"));
    assert_eq!(left, [place.user_file()]);
}

#[test]
fn while_a_ledger_was_made_or_copied() {
    let (place, other) = two_ledgers();
    for end in [".partial", ".partial-journal", ".partial-wal"] {
        fs::copy(&other, place.folder().join(format!("users/u-me.db{end}"))).unwrap();
    }
    assert_eq!(head(&place), 3);
    check_swept(&place);
}

#[test]
fn before_the_old_ledger_was_set_aside() {
    let (place, other) = two_ledgers();
    fs::copy(&other, place.folder().join("users/u-me.db.incoming")).unwrap();
    assert_eq!(head(&place), 3, "nobody was told that it was replaced");
    check_swept(&place);
}

#[test]
fn after_the_old_ledger_was_set_aside() {
    let (place, other) = two_ledgers();
    fs::rename(place.user_file(), place.folder().join("aside/u-me.db.1")).unwrap();
    fs::write(place.folder().join("users/u-me.db-wal"), "its log").unwrap();
    fs::copy(&other, place.folder().join("users/u-me.db.incoming")).unwrap();
    assert_eq!(head(&place), 1);
    check_swept(&place);
    assert!(place.folder().join("aside/u-me.db.2-wal").exists(), "the old log is not applied to the new ledger");
}

#[test]
fn while_a_ledger_was_removed() {
    let (place, other) = two_ledgers();
    fs::rename(place.user_file(), place.folder().join("users/u-me.db.removing")).unwrap();
    fs::write(place.folder().join("users/u-me.db-wal"), "its log").unwrap();
    fs::copy(&other, place.folder().join("aside/u-me.db.1")).unwrap();
    let store = place.store();
    check_error(store.open(&me(), false), "NotFound", &[]);
    assert_eq!(files(&place.folder().join("users")), Vec::<PathBuf>::new());
    assert_eq!(files(&place.folder().join("aside")), Vec::<PathBuf>::new());
}

#[test]
fn after_an_erasure_was_committed() {
    let place = Place::new();
    let mut ledger = open(&place.store());
    ledger.append(0, &[event(1, "CANARY")]).unwrap();
    drop(ledger);
    let connection = rusqlite::Connection::open(place.user_file()).unwrap();
    connection
        .execute_batch(
            "UPDATE change SET bytes = bytes; \
             UPDATE change SET erased = 1, bytes = zeroblob(length(bytes)); \
             INSERT INTO meta VALUES ('scrub', 'pending')",
        )
        .unwrap();
    // What a kill leaves: the log with everything that ever went through it. The copy is taken while it is open.
    let killed = Place::new();
    fs::create_dir_all(killed.folder().join("users")).unwrap();
    for name in ["u-me.db", "u-me.db-wal"] {
        fs::copy(place.folder().join("users").join(name), killed.folder().join("users").join(name)).unwrap();
    }
    assert!(!files_with(&killed.folder(), &[b"CANARY"]).is_empty());
    let mut ledger = killed.store().open(&me(), false).unwrap();
    assert_eq!(files_with(&killed.folder(), &[b"CANARY"]), []);
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}
