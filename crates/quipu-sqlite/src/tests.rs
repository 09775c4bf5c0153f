//! Tests that observe the file system calls: names are made durable, the cost does not depend on the number of users,
//! and the process may die between any two calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use quipu_core::event::Hash;
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_engine::ports::{Checkpoint, LedgerStore, UserLedger};
use tempfile::TempDir;

use crate::SqliteStore;
use crate::StoreOptions;
use crate::data_folder::disk::{self, trace};

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn store(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, StoreOptions { ballast_bytes: 1 << 12, ..StoreOptions::default() }).unwrap()
}

fn event(seq: Seq) -> SealedEvent {
    SealedEvent {
        seq,
        id: EventId::from_u128(u128::from(seq) + 1),
        format: 1,
        recorded_at_micros: 1,
        control: false,
        idempotency: None,
        header: vec![7; 10],
        hash: Hash::from_bytes([seq as u8; 32]),
        changes: Vec::new(),
    }
}

fn append(ledger: &mut dyn UserLedger, events: Seq) -> Result<(), quipu_engine::ports::StoreError> {
    let head = ledger.head()?.seq;
    (head + 1..=head + events).try_for_each(|seq| ledger.append(seq - 1, &[event(seq)]))
}

/// Every step that moves files, in a store with a ledger of `me` at version 2 and a backup of it at version 1.
const STEPS: [&str; 6] = ["create", "build", "build over", "restore", "restore over", "remove"];

fn prepare(place: &Path) -> PathBuf {
    let folder = place.join("memory");
    let mut ledger = store(&folder).open(&user("me"), true).unwrap();
    append(&mut *ledger, 1).unwrap();
    ledger.backup(&place.join("backup")).unwrap();
    append(&mut *ledger, 1).unwrap();
    drop(ledger);
    // A copy set aside, which a removal must delete too.
    fs::copy(place.join("backup"), folder.join("aside/u-me.db.1")).unwrap();
    folder
}

fn take(step: &str, store: &SqliteStore, place: &Path) {
    let (me, you, backup) = (user("me"), user("you"), place.join("backup"));
    let mut fill = |ledger: &mut dyn UserLedger| append(ledger, 3);
    match step {
        "create" => drop(store.open(&you, true).unwrap()),
        "build" => drop(store.build(&you, false, &mut fill).unwrap()),
        "build over" => drop(store.build(&me, true, &mut fill).unwrap().unwrap()),
        "restore" => {
            store.remove(&me, None).unwrap();
            store.restore(&me, &backup, false).unwrap();
        }
        "restore over" => drop(store.restore(&me, &backup, true).unwrap().unwrap()),
        "remove" => store.remove(&me, Some(2)).unwrap(),
        other => panic!("{other}"),
    }
}

#[test]
fn every_name_is_made_durable() {
    for step in STEPS {
        let place = TempDir::new().unwrap();
        let folder = prepare(place.path());
        let store = store(&folder);
        trace::take();
        take(step, &store, place.path());
        check_synced(step, &trace::take());
    }
    let place = TempDir::new().unwrap();
    let folder = prepare(place.path());
    let store = store(&folder);
    store.release_ballast().unwrap();
    trace::take();
    let mut ledger = store.open(&user("me"), false).unwrap();
    ledger.backup(&place.path().join("another")).unwrap();
    ledger.checkpoint(&Checkpoint { level: 2, ..Checkpoint::default() }).unwrap();
    check_synced("backup and ballast", &trace::take());
}

/// Checks that both folders of a rename are synced before the call returns, and the file before the rename.
fn check_synced(step: &str, calls: &[(&str, PathBuf)]) {
    let mut renames = 0;
    for (at, pair) in calls.windows(2).enumerate() {
        let [("rename", from), ("renamed", to)] = pair else { continue };
        renames += 1;
        for folder in [from.parent().unwrap(), to.parent().unwrap()] {
            let synced = calls[at..].iter().any(|(call, path)| *call == "sync folder" && path == folder);
            assert!(synced, "{step}: {} was not synced after {to:?} in {calls:#?}", folder.display());
        }
        if [".partial", ".building"].iter().any(|mark| from.to_string_lossy().contains(mark))
            && !to.ends_with("ballast")
        {
            let synced = calls[..at].iter().any(|(call, path)| *call == "sync file" && path == from);
            assert!(synced, "{step}: {from:?} was not synced before it was renamed");
        }
    }
    assert!(renames > 0, "{step}: {calls:#?}");
}

#[test]
fn only_one_module_changes_files() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for name in disk::names(&source).unwrap().iter().filter(|name| name.ends_with(".rs")) {
        let text = fs::read_to_string(source.join(name)).unwrap();
        for call in ["rename", "remove_file", "hard_link", "copy", "write", "create_dir", "remove_dir"] {
            let called = text.contains(&format!("fs::{call}("));
            assert!(!called || ["disk.rs", "tests.rs"].contains(&name.as_str()), "{name} calls fs::{call}");
        }
    }
}

/// The calls of the first and a later use of one user's ledger, with `others` other users.
fn calls_with(others: usize) -> [Vec<&'static str>; 2] {
    let place = TempDir::new().unwrap();
    for folder in ["users", "aside"] {
        fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    for number in 0..others {
        // These files are invalid, so opening one of them would fail.
        fs::write(place.path().join(format!("users/u-other{number}.db")), "x").unwrap();
        fs::write(place.path().join(format!("users/h-{number:032x}.db")), "x").unwrap();
        fs::write(place.path().join(format!("aside/u-other{number}.db.1")), "x").unwrap();
    }
    let store = store(place.path());
    [(), ()].map(|()| {
        trace::take();
        let mut ledger = store.open(&user("newcomer"), true).unwrap();
        let mut watch = store.watch(&user("newcomer")).unwrap();
        watch.look().unwrap();
        append(&mut *ledger, 1).unwrap();
        watch.look().unwrap();
        drop((ledger, watch));
        let calls = trace::take();
        assert!(calls.iter().all(|(_, path)| !path.to_string_lossy().contains("other")), "{calls:#?}");
        calls.into_iter().map(|(call, _)| call).collect()
    })
}

#[test]
fn a_turn_costs_the_same_however_many_users_there_are() {
    let few = calls_with(10);
    assert!(few.iter().flatten().all(|call| *call != "list"), "a folder is listed: {few:?}");
    assert!(few[0].len() > few[1].len() && few[1].contains(&"connect"), "{few:?}");
    assert_eq!(calls_with(2000), few);
}

#[test]
fn listing_users_opens_no_database_whose_name_says_whose_it_is() {
    let place = TempDir::new().unwrap();
    let store = store(place.path());
    for name in ["ana", "bob", "carl@example.com"] {
        store.open(&user(name), true).unwrap();
    }
    let connects = || {
        trace::take();
        assert_eq!(store.users().unwrap().len(), 3);
        trace::take().iter().filter(|(call, _)| *call == "connect").count()
    };
    assert_eq!((connects(), connects()), (1, 0), "a hashed name is looked up once");
    store.remove(&user("carl@example.com"), None).unwrap();
    assert_eq!(store.users().unwrap(), [user("ana"), user("bob")]);
}

const PLACE: &str = "QUIPU_TEST_PLACE";
const STEP: &str = "QUIPU_TEST_STEP";
const CALLS: &str = "QUIPU_TEST_CALLS";

/// The process that is killed in `a_step_that_is_killed_anywhere_has_its_whole_effect_or_none`; does nothing when run
/// alone.
#[test]
fn child_that_is_killed() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let store = store(&Path::new(&place).join("memory"));
    trace::abort_after(std::env::var(CALLS).unwrap().parse().unwrap());
    take(&std::env::var(STEP).unwrap(), &store, Path::new(&place));
}

#[test]
fn a_step_that_is_killed_anywhere_has_its_whole_effect_or_none() {
    for step in STEPS {
        let mut outcomes = Vec::new();
        for calls in 0.. {
            let place = TempDir::new().unwrap();
            let folder = prepare(place.path());
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "tests::child_that_is_killed"])
                .envs([(PLACE, place.path().as_os_str()), (STEP, step.as_ref()), (CALLS, calls.to_string().as_ref())])
                .output()
                .unwrap();
            outcomes.push(judge(&format!("{step}, killed after {calls} calls"), step, &folder));
            if child.status.success() {
                break;
            }
            assert!(child.status.code().is_none(), "{step}: {}", String::from_utf8_lossy(&child.stdout));
        }
        assert!(outcomes.len() > 8, "{step}: only {} calls", outcomes.len());
        assert_eq!((outcomes.first(), outcomes.last()), (Some(&false), Some(&true)), "{step}: {outcomes:?}");
    }
}

/// The state that the next opening finds: true for the whole effect, false for none. Panics on anything in between.
fn judge(what: &str, step: &str, folder: &Path) -> bool {
    let next = store(folder);
    let left: Vec<String> = disk::names(&folder.join("unfinished")).unwrap();
    assert!(left.is_empty(), "{what}: {left:?}");
    let head = |name: &str| next.open(&user(name), false).ok().map(|mut ledger| ledger.head().unwrap().seq);
    let (me, you) = (head("me"), head("you"));
    let listed: Vec<UserId> = ["me", "you"].into_iter().filter(|name| head(name).is_some()).map(user).collect();
    assert_eq!(next.users().unwrap(), listed, "{what}");
    let copies = disk::names(&folder.join("aside")).unwrap().len();
    let whole = match (step, me, you, copies) {
        (_, Some(2), None, 1) => false,
        ("create", Some(2), Some(0), 1) | ("build", Some(2), Some(3), 1) => true,
        ("build over", Some(3), None, 2) | ("restore over", Some(1), None, 2) | ("remove", None, None, 0) => true,
        // Two steps; in between the ledger does not exist.
        ("restore", Some(1) | None, None, 0) => me.is_some(),
        other => panic!("{what}: {other:?}"),
    };
    for name in listed {
        let mut ledger = next.open(&name, false).unwrap();
        assert_eq!(ledger.check().unwrap(), Vec::<String>::new(), "{what}");
        append(&mut *ledger, 1).unwrap();
    }
    assert!(next.examine().iter().all(Result::is_ok), "{what}: {:#?}", next.examine());
    whole
}

#[test]
fn a_log_that_others_write_and_write_back_meanwhile_is_emptied() {
    let place = TempDir::new().unwrap();
    let open = || {
        let connection = rusqlite::Connection::open(place.path().join("a.db")).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS line (text)").unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
        connection
    };
    let (own, others) = (open(), [open(), open()]);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for other in others {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    other.execute("INSERT INTO line VALUES ('words')", []).unwrap();
                    other.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
                }
            });
        }
        let emptied = (0..100).filter(|_| crate::connection::empty_log(&own).unwrap()).count();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(emptied, 100);
    });
}
