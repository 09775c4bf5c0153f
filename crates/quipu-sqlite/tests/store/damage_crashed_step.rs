//! A process that died in the middle of a step: the next one finishes or undoes the step.

use std::fs;
use std::path::PathBuf;

use quipu_engine::ports::LedgerStore;

use crate::fixture::{Place, check_error, event, files, files_with, fill, me, open};

/// A closed ledger of 3 events, and the path of another one with 1 event.
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

fn unfinished(place: &Place, name: &str) -> PathBuf {
    place.folder().join("unfinished").join(name)
}

/// Asserts that the step left no files.
fn check_swept(place: &Place) {
    assert_eq!(files(&place.folder().join("users")), [place.user_file()]);
    assert_eq!(files(&place.folder().join("unfinished")), Vec::<PathBuf>::new());
}

/// Opens the folder again, and asserts that it reports the finished step.
fn check_told(place: &Place, line: &str) {
    let lines: Vec<String> = place.store().examine().into_iter().flatten().collect();
    assert!(lines.iter().any(|told| told.contains(line)), "{line:?} is missing in {lines:#?}");
}

#[test]
fn while_a_ledger_was_made() {
    let (place, other) = two_ledgers();
    for end in [".partial", ".partial-journal", ".partial-wal"] {
        fs::copy(&other, unfinished(&place, &format!("u-me.db{end}"))).unwrap();
    }
    check_told(&place, "dropped an unfinished new ledger of me");
    assert_eq!(head(&place), 3);
    check_swept(&place);
}

#[test]
fn while_a_ledger_was_built() {
    let (place, other) = two_ledgers();
    for end in ["", "-wal", "-shm"] {
        fs::copy(&other, unfinished(&place, &format!("u-me.db.building.4294967295-0.7{end}"))).unwrap();
    }
    check_told(&place, "dropped an unfinished copy of the ledger of me");
    assert_eq!(head(&place), 3);
    check_swept(&place);
}

#[test]
fn before_the_old_ledger_was_set_aside() {
    let (place, other) = two_ledgers();
    fs::copy(&other, unfinished(&place, "u-me.db.incoming")).unwrap();
    give_up(&place, "replaced");
    check_told(&place, "the one before stays");
    assert_eq!(head(&place), 3, "nobody was told that it was replaced");
    check_swept(&place);
    let mut ledger = open(&place.store());
    ledger.append(3, &[event(4, "goes on")]).unwrap();
}

#[test]
fn after_the_old_ledger_was_set_aside() {
    let (place, other) = two_ledgers();
    fs::rename(place.user_file(), place.folder().join("aside/u-me.db.1")).unwrap();
    fs::write(place.folder().join("users/u-me.db-wal"), "its log").unwrap();
    fs::copy(&other, unfinished(&place, "u-me.db.incoming")).unwrap();
    check_told(&place, "finished replacing the ledger of me");
    assert_eq!(head(&place), 1);
    check_swept(&place);
    assert!(place.folder().join("aside/u-me.db.2-wal").exists(), "the old log is not applied to the new ledger");
}

#[test]
fn before_a_removal_was_decided() {
    let (place, _) = two_ledgers();
    fs::write(unfinished(&place, "u-me.db.removing"), "").unwrap();
    assert_eq!(head(&place), 3, "nobody was told that it was removed");
    check_swept(&place);
}

#[test]
fn after_a_removal_was_decided() {
    for note in [true, false] {
        let (place, other) = two_ledgers();
        if note {
            fs::write(unfinished(&place, "u-me.db.removing"), "").unwrap();
        }
        give_up(&place, "removed");
        fs::copy(&other, place.folder().join("aside/u-me.db.1")).unwrap();
        let store = place.store();
        check_error(store.open(&me(), false), "NotFound", &[]);
        let told: Vec<String> = store.examine().into_iter().flatten().collect();
        assert!(told.iter().any(|line| line.contains("finished the removal of me")), "{told:#?}");
        check_gone(&place);
    }
}

#[test]
fn while_a_ledger_was_removed() {
    let (place, other) = two_ledgers();
    fs::rename(place.user_file(), unfinished(&place, "u-me.db.removing")).unwrap();
    fs::write(place.folder().join("users/u-me.db-wal"), "its log").unwrap();
    fs::copy(&other, place.folder().join("aside/u-me.db.1")).unwrap();
    let store = place.store();
    check_error(store.open(&me(), false), "NotFound", &[]);
    check_gone(&place);
}

/// A running process finishes the interrupted step of another one when it next opens the user.
#[test]
fn in_another_process_while_this_one_goes_on() {
    let (place, _) = two_ledgers();
    let store = place.store();
    fs::write(unfinished(&place, "u-me.db.removing"), "").unwrap();
    give_up(&place, "removed");
    assert_eq!(store.users().unwrap(), []);
    let mut ledger = open(&store);
    assert_eq!(ledger.head().unwrap().seq, 0, "a user of that name starts afresh");
    check_gone_but(&place, &[place.user_file()]);
}

fn give_up(place: &Place, word: &str) {
    let connection = rusqlite::Connection::open(place.user_file()).unwrap();
    connection.execute("INSERT INTO meta VALUES ('given_up', ?1)", [word]).unwrap();
}

fn check_gone(place: &Place) {
    check_gone_but(place, &[]);
}

fn check_gone_but(place: &Place, kept: &[PathBuf]) {
    for folder in ["users", "aside", "unfinished"] {
        let mut left = files(&place.folder().join(folder));
        left.retain(|path| !kept.iter().any(|kept| path.to_string_lossy().starts_with(&*kept.to_string_lossy())));
        assert_eq!(left, Vec::<PathBuf>::new(), "in {folder}");
    }
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
    // The state after a kill: the log with its whole content. The copy is taken while the ledger is open.
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
