//! The files of users, and the findings for `doctor`.

use std::fs;

use quipu_core::id::UserId;
use quipu_engine::ports::LedgerStore;

use crate::fixture::{Place, check_error, event, fill, me, open, read_all};

#[test]
fn unusual_ids_are_kept_apart() {
    let place = Place::new();
    let long = "a".repeat(128);
    let ids = ["me", "Me", "mE", "a.b", "a:b", "a+b", "alice@example.com", "7", "con", "u-me", &long, &long[..65]];
    let mut ids = ids.map(|id| UserId::parse(id).unwrap()).to_vec();
    let store = place.store();
    for (index, id) in ids.iter().enumerate() {
        let mut ledger = store.open(id, true).unwrap();
        ledger.append(0, &[event(1, &format!("user {index}"))]).unwrap();
    }
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(read_all(&mut *store.open(id, false).unwrap()), [event(1, &format!("user {index}"))]);
    }
    ids.sort();
    assert_eq!(store.users().unwrap(), ids);
}

#[test]
fn a_ledger_is_made_only_when_asked_for() {
    let place = Place::new();
    let store = place.store();
    check_error(store.open(&me(), false), "NotFound", &["me"]);
    assert!(store.users().unwrap().is_empty());
    drop(open(&store));
    assert_eq!(store.users().unwrap(), [me()]);
}

#[test]
fn a_removed_user_leaves_no_file() {
    let place = Place::new();
    let store = place.store();
    let other = UserId::parse("other").unwrap();
    drop(store.open(&other, true).unwrap());
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 3);
    let backup = place.temp.path().join("me.backup");
    ledger.backup(&backup).unwrap();
    drop(ledger);
    let aside = store.restore(&me(), &backup, true).unwrap().unwrap();
    assert!(aside.is_file());
    let mut late = open(&store);
    store.remove(&me(), None).unwrap();
    check_error(late.append(3, &[event(4, "late")]), "Removed", &["removed", "Open the user again"]);
    check_error(late.backup(&place.temp.path().join("late")), "Removed", &[]);
    drop(late);
    let left = crate::fixture::files(&place.folder());
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("u-me")), "{left:?}");
    check_error(store.remove(&me(), None), "NotFound", &["me"]);
    check_error(store.open(&me(), false), "NotFound", &[]);
    assert_eq!(store.users().unwrap(), [other]);
}

#[test]
fn a_renamed_database_is_not_taken_for_another_user() {
    let place = Place::new();
    drop(open(&place.store()));
    fs::rename(place.user_file(), place.folder().join("users/u-you.db")).unwrap();
    let store = place.store();
    check_error(store.open(&UserId::parse("you").unwrap(), false), "Corrupt", &["u-you.db", "of me", "u-me.db"]);
    let told: Vec<String> = store.examine().into_iter().filter_map(Result::err).collect();
    assert!(told.iter().any(|line| line.contains("u-you.db") && line.contains("of me")), "{told:#?}");
    check_error(store.remove(&UserId::parse("you").unwrap(), None), "Corrupt", &["u-you.db", "of me"]);
    assert!(place.folder().join("users/u-you.db").exists());
}

#[test]
fn a_damaged_ledger_is_removed_by_a_process_that_is_alone() {
    let place = Place::new();
    fill(&mut *open(&place.store()), 1, 3);
    fs::write(place.user_file(), vec![7; 9000]).unwrap();
    let (store, other) = (place.store(), place.store());
    check_error(store.remove(&me(), Some(3)), "Corrupt", &["u-me.db"]);
    check_error(store.remove(&me(), None), "Unavailable", &["in use", "Stop the others"]);
    drop(other);
    store.remove(&me(), None).unwrap();
    assert_eq!(store.users().unwrap(), []);
}

#[test]
fn a_healthy_place_needs_no_attention() {
    let place = Place::new();
    let store = place.store();
    drop(open(&store));
    let lines = store.examine();
    assert!(lines.iter().all(Result::is_ok), "{lines:#?}");
    let text = format!("{lines:?}");
    for word in [
        "SQLite 3.",
        "is open in this process",
        "no other process",
        "MiB free",
        "ballast",
        "journal_mode=wal synchronous=2",
        "1 ledgers",
    ] {
        assert!(text.contains(word), "{word:?} is missing in {lines:#?}");
    }
}

#[test]
fn a_careless_place_needs_attention() {
    let place = Place::new();
    let store = place.store();
    store.release_ballast().unwrap();
    fs::write(place.folder().join("users/notes.txt"), "x").unwrap();
    fs::write(place.folder().join("users/other.db"), "x").unwrap();
    let needs = store.examine().into_iter().filter_map(Result::err).collect::<Vec<_>>().join("\n");
    for word in ["ballast: 0 of", "notes.txt", "other.db"] {
        assert!(needs.contains(word), "{word:?} is missing in {needs}");
    }
}
