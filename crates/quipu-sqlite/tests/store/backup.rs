//! Backup and restore.

use std::fs;

use quipu_core::id::UserId;
use quipu_engine::ports::LedgerStore;

use crate::fixture::{Place, check_error, event, files, fill, me, open, read_all};

#[test]
fn a_backup_is_one_file_with_the_same_head() {
    let place = Place::new();
    let store = place.store();
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 20);
    let to = place.temp.path().join("out").join("me.backup");
    fs::create_dir(to.parent().unwrap()).unwrap();
    let backup = ledger.backup(&to).unwrap();
    assert_eq!(backup.head, ledger.head().unwrap());
    assert_eq!((&backup.path, backup.bytes), (&to, fs::metadata(&to).unwrap().len()));
    assert_eq!(files(to.parent().unwrap()), std::slice::from_ref(&to));
    check_error(ledger.backup(&to), "Exists", &["me.backup", "another name"]);
    check_error(ledger.backup(&place.temp.path().join("nowhere/x")), "NotFound", &["nowhere"]);
}

#[test]
fn a_backup_restores_the_same_ledger() {
    let (place, elsewhere) = (Place::new(), Place::new());
    let to = place.temp.path().join("me.backup");
    let store = place.store();
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 20);
    let backup = ledger.backup(&to).unwrap();

    let other = elsewhere.store();
    assert_eq!(other.restore(&me(), &to, false).unwrap(), None);
    let mut restored = other.open(&me(), false).unwrap();
    assert_eq!(restored.head().unwrap(), backup.head);
    assert_eq!(read_all(&mut *restored), read_all(&mut *ledger));
    assert_eq!(restored.check().unwrap(), Vec::<String>::new());
    restored.append(20, &[event(21, "goes on")]).unwrap();
}

#[test]
fn what_a_restore_replaces_is_set_aside() {
    let place = Place::new();
    let store = place.store();
    let to = place.temp.path().join("me.backup");
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 3);
    ledger.backup(&to).unwrap();
    fill(&mut *ledger, 4, 9);
    check_error(store.restore(&me(), &to, false), "Exists", &["me", "replace"]);

    let first = store.restore(&me(), &to, true).unwrap().unwrap();
    check_error(ledger.append(9, &[event(10, "late")]), "Removed", &["replaced", "Open the user again"]);
    drop(ledger);
    assert_eq!(open(&store).head().unwrap().seq, 3);
    let second = store.restore(&me(), &first, true).unwrap().unwrap();
    assert_ne!(first, second);
    assert_eq!(open(&store).head().unwrap().seq, 9, "what was set aside can be restored in turn");
    assert!(store.examine().iter().flatten().any(|line| line.contains("2 ledgers set aside")));
}

#[test]
fn a_damaged_ledger_can_be_replaced() {
    let place = Place::new();
    let store = place.store();
    let to = place.temp.path().join("me.backup");
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 3);
    ledger.backup(&to).unwrap();
    drop(ledger);
    for (damage, content) in [("noise", vec![7; 9000]), ("nothing", vec![])] {
        fs::write(place.user_file(), &content).unwrap();
        fs::write(place.folder().join("users/u-me.db-wal"), b"stray").unwrap();
        let aside = store.restore(&me(), &to, true).unwrap().unwrap();
        assert_eq!(fs::read(aside).unwrap(), content, "{damage} is kept");
        assert_eq!(open(&store).head().unwrap().seq, 3, "after {damage}");
    }
}

#[test]
fn only_a_whole_backup_of_the_user_is_restored() {
    let place = Place::new();
    let store = place.store();
    let at = |name: &str| place.temp.path().join(name);
    let mut ledger = store.open(&UserId::parse("you").unwrap(), true).unwrap();
    fill(&mut *ledger, 1, 200);
    ledger.backup(&at("you")).unwrap();
    let whole = fs::read(at("you")).unwrap();
    fs::write(at("short"), &whole[..whole.len() / 2]).unwrap();
    fs::write(at("noise"), "no database at all, but long enough to be looked at").unwrap();
    fs::write(at("empty"), "").unwrap();
    for (name, kind, words) in [
        ("you", "Corrupt", &["of you", "not of me"][..]),
        ("short", "Corrupt", &["damaged"]),
        ("noise", "Corrupt", &["not a Quipu ledger"]),
        ("empty", "Corrupt", &["not a Quipu ledger"]),
        ("missing", "NotFound", &["missing"]),
    ] {
        check_error(store.restore(&me(), &at(name), false), kind, words);
    }
    check_error(store.open(&me(), false), "NotFound", &[]);
}

#[test]
fn a_backup_can_be_made_while_another_handle_writes() {
    let place = Place::new();
    let store = place.store();
    let mut writer = open(&store);
    fill(&mut *writer, 1, 50);
    let going = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut seq = 51;
            while going.load(std::sync::atomic::Ordering::Relaxed) {
                fill(&mut *writer, seq, seq);
                seq += 1;
            }
        });
        let mut ledger = open(&store);
        for round in 0..10 {
            let backup = ledger.backup(&place.temp.path().join(format!("backup {round}"))).unwrap();
            assert!(backup.head.seq >= 50);
        }
        going.store(false, std::sync::atomic::Ordering::Relaxed);
    });
}

/// While a reader holds an older state, the log cannot be merged into the file. A copy of the file alone would miss
/// later commits, including those of other processes.
#[test]
fn a_backup_holds_what_only_the_log_holds() {
    let place = Place::new();
    let (store, other) = (place.store(), place.store());
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 3);
    let reader = rusqlite::Connection::open(place.user_file()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    reader.query_row("SELECT count(*) FROM event", [], |_| Ok(())).unwrap();
    fill(&mut *ledger, 4, 5);
    fill(&mut *open(&other), 6, 7);
    let file = fs::read(place.user_file()).unwrap();
    assert!(!file.windows(6).any(|window| window == b"said 7"), "it is in the log only");
    let to = place.temp.path().join("me.backup");
    assert_eq!(ledger.backup(&to).unwrap().head.seq, 7);
    let elsewhere = Place::new();
    let restored = elsewhere.store();
    restored.restore(&me(), &to, false).unwrap();
    assert_eq!(
        read_all(&mut *open(&restored)),
        (1..=7).map(|seq| event(seq, &format!("said {seq}"))).collect::<Vec<_>>()
    );
    drop(reader);
}
