//! Several processes in one folder.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use quipu_core::id::UserId;
use quipu_engine::ports::{Checkpoint, LedgerStore, StoreError, WatchEvent};
use quipu_sqlite::{SqliteStore, StoreOptions};

use crate::fixture::{Place, check_error, event, fill, me, open, read_all, small};

const FOLDER: &str = "QUIPU_TEST_FOLDER";
const ALONE: &str = "QUIPU_TEST_ALONE";

fn read_only() -> StoreOptions {
    StoreOptions { read_only: true, ..small() }
}

/// Another process that has the folder and the ledger of `me` open until it is killed.
struct Other(Child);

impl Other {
    fn start(place: &Place, does: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "lock::child_in_a_folder", "--nocapture"])
            .env(FOLDER, place.folder())
            .env(ALONE, does)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("held")));
        Self(child)
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// The other process of these tests; does nothing when run alone.
#[test]
fn child_in_a_folder() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = SqliteStore::open(folder.as_ref(), small()).unwrap();
    let mut ledger = open(&store);
    let head = ledger.head().unwrap().seq;
    fill(&mut *ledger, head + 1, head + 3);
    let held = || {
        let mut out = std::io::stdout();
        writeln!(out, "\nheld").unwrap();
        out.flush().unwrap();
        // Waits until the parent kills it; if the parent dies first, the pipe closes.
        std::io::stdin().read_line(&mut String::new()).unwrap();
    };
    if std::env::var_os(ALONE).is_some_and(|does| does == "builds") {
        store
            .build(&UserId::parse("built").unwrap(), false, &mut |ledger| {
                fill(ledger, 1, 3);
                held();
                Ok(())
            })
            .unwrap();
    }
    held();
}

#[test]
fn two_processes_write_to_one_ledger() {
    let place = Place::new();
    let other = Other::start(&place, "");
    let store = place.store();
    let mut ledger = open(&store);
    assert_eq!(ledger.head().unwrap().seq, 3, "what the other appended");
    let pid = other.0.id().to_string();
    assert!(store.examine().iter().flatten().any(|line| line.contains(&format!("the processes {pid}"))));
    fill(&mut *ledger, 4, 6);
    other.kill();
    fill(&mut *ledger, 7, 7);
    drop((ledger, store));
    let mut ledger = open(&place.store());
    assert_eq!(read_all(&mut *ledger).len(), 7, "what was acknowledged outlives the kill");
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
}

/// Many threads open, append to, close and remove the same few ledgers at once: each acknowledged append counts once,
/// or was removed with its ledger.
#[test]
fn ledgers_are_made_filled_and_removed_by_many_at_once() {
    let place = Place::new();
    let stores = [place.store(), place.store(), place.store()];
    let name = |number: u64| UserId::parse(&format!("user-{}", number % 2)).unwrap();
    let removed = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for (thread, store) in stores.iter().chain(&stores).enumerate() {
            let removed = &removed;
            scope.spawn(move || {
                for round in 0..20 {
                    let user = name(round);
                    let mut ledger = store.open(&user, true).unwrap();
                    loop {
                        let head = ledger.head().unwrap().seq;
                        match ledger.append(head, &[event(head + 1, &format!("{thread} {round}"))]) {
                            Ok(()) => break,
                            Err(StoreError::Conflict { .. }) => {}
                            Err(StoreError::Removed(_)) => ledger = store.open(&user, true).unwrap(),
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    let head = ledger.head().unwrap().seq;
                    if round % 7 == 6 && store.remove(&user, Some(head)).is_ok() {
                        removed.fetch_add(head, std::sync::atomic::Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut left = 0;
    for user in stores[0].users().unwrap() {
        let mut ledger = stores[0].open(&user, false).unwrap();
        assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
        let events = read_all(&mut *ledger);
        assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
        left += events.len() as u64;
    }
    assert_eq!(left + removed.into_inner(), 6 * 20);
}

#[test]
fn a_ledger_is_replaced_only_where_no_other_process_is() {
    let place = Place::new();
    let backup = place.temp.path().join("me.backup");
    let other = Other::start(&place, "");
    let store = place.store();
    open(&store).backup(&backup).unwrap();
    let pid = format!("pid {}", other.0.id());
    let words = [place.folder().to_str().unwrap().to_owned(), pid, "Stop the others".to_owned()];
    let words = words.each_ref().map(String::as_str);
    check_error(store.restore(&me(), &backup, true), "Unavailable", &words);
    check_error(store.build(&me(), true, &mut |_| panic!("is not even begun")), "Unavailable", &words);
    // Steps that do not replace a ledger still work.
    store.build(&UserId::parse("you").unwrap(), false, &mut |ledger| ledger.append(0, &[event(1, "x")])).unwrap();
    fill(&mut *open(&store), 4, 4);
    other.kill();
    store.restore(&me(), &backup, true).unwrap().unwrap();
    assert_eq!(open(&store).head().unwrap().seq, 3);
    assert!(store.examine().iter().flatten().any(|line| line.contains("no other process")));
}

#[test]
fn what_a_live_process_builds_is_not_swept_and_what_a_killed_one_built_is() {
    let place = Place::new();
    let other = Other::start(&place, "builds");
    let built = || crate::fixture::files(&place.folder().join("unfinished"));
    let before = built();
    assert!(!before.is_empty());
    let store = place.store();
    assert_eq!(store.users().unwrap(), [me()], "nobody sees what is not complete");
    assert_eq!(built(), before);
    other.kill();
    assert_eq!(store.users().unwrap(), [me()]);
    assert!(built().is_empty(), "{:?}", built());
    assert!(
        store.examine().iter().flatten().any(|line| line.contains("dropped an unfinished copy of the ledger of built"))
    );
}

/// SQLite removes the log beside a database when its last connection closes. The log of a new ledger with the same
/// name must survive the closing of the old one.
#[test]
fn an_old_connection_does_no_harm_to_a_new_ledger_of_the_same_name() {
    let place = Place::new();
    let (one, two) = (place.store(), place.store());
    let mut old = open(&one);
    fill(&mut *old, 1, 3);
    let mut watch = one.watch(&me()).unwrap();
    assert_eq!(watch.look().unwrap(), WatchEvent::Changed(old.head().unwrap()));
    two.remove(&me(), Some(3)).unwrap();
    let mut new = open(&two);
    fill(&mut *new, 1, 2);
    assert!(fs::metadata(place.folder().join("users/u-me.db-wal")).unwrap().len() > 0);
    check_error(old.append(3, &[event(4, "late")]), "Removed", &[]);
    check_error(old.checkpoint(&Checkpoint { level: 3, ..Checkpoint::default() }), "Removed", &[]);
    check_error(old.put_vectors(3, "t", &[]), "Removed", &[]);
    check_error(old.erase(3, &[], &event(4, "erasure")), "Removed", &[]);
    assert_eq!(watch.look().unwrap(), WatchEvent::Removed);
    drop((old, watch));
    fill(&mut *new, 3, 4);
    // Like a kill: nothing is merged on exit.
    let copy = Place::new();
    fs::create_dir_all(copy.folder().join("users")).unwrap();
    for name in ["u-me.db", "u-me.db-wal"] {
        fs::copy(place.folder().join("users").join(name), copy.folder().join("users").join(name)).unwrap();
    }
    let mut found = open(&copy.store());
    assert_eq!(read_all(&mut *found), (1..=4).map(|seq| event(seq, &format!("said {seq}"))).collect::<Vec<_>>());
    assert_eq!(found.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_removal_expects_the_head_it_was_decided_on() {
    let place = Place::new();
    let (one, two) = (place.store(), place.store());
    let mut ledger = open(&one);
    fill(&mut *ledger, 1, 3);
    let refused = two.remove(&me(), Some(2));
    assert!(matches!(refused, Err(StoreError::Conflict { expected: 2, head: 3 })), "{refused:?}");
    assert!(crate::fixture::files(&place.folder().join("unfinished")).is_empty());
    fill(&mut *ledger, 4, 4);
    two.remove(&me(), Some(4)).unwrap();
}

#[test]
fn a_ledger_that_is_closed_holds_no_file() {
    let place = Place::new();
    let folder = fs::canonicalize(place.temp.path()).unwrap();
    let held = || {
        let links =
            fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        links.filter(|path| path.starts_with(&folder)).count()
    };
    let store = place.store();
    fill(&mut *open(&store), 1, 3);
    let before = held();
    let ledgers: Vec<_> =
        (0..20).map(|n| store.open(&UserId::parse(&format!("user-{n}")).unwrap(), true).unwrap()).collect();
    let watches: Vec<_> =
        (0..20).map(|n| store.watch(&UserId::parse(&format!("user-{n}")).unwrap()).unwrap()).collect();
    assert!(held() > before + 60, "{} and {before}", held());
    drop((ledgers, watches));
    assert_eq!(held(), before);
}

#[test]
fn readers_share_a_folder_and_change_nothing() {
    let place = Place::new();
    {
        let mut ledger = open(&place.store());
        fill(&mut *ledger, 1, 3);
    }
    let before = fs::read(place.user_file()).unwrap();
    let one = SqliteStore::open(&place.folder(), read_only()).unwrap();
    let two = SqliteStore::open(&place.folder(), read_only()).unwrap();
    for store in [&one, &two] {
        assert_eq!(store.users().unwrap(), [me()]);
        let mut ledger = store.open(&me(), true).unwrap();
        assert_eq!(ledger.head().unwrap().seq, 3);
        assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
        check_error(ledger.append(3, &[event(4, "x")]), "Unavailable", &["reading only"]);
        check_error(ledger.drop_projections(), "Unavailable", &["reading only"]);
        check_error(store.remove(&me(), None), "Unavailable", &["reading only"]);
        check_error(store.restore(&me(), &place.user_file(), true), "Unavailable", &["reading only"]);
        check_error(store.build(&me(), true, &mut |_| Ok(())), "Unavailable", &["reading only"]);
        check_error(store.release_ballast(), "Unavailable", &["reading only"]);
        check_error(store.open(&UserId::parse("new").unwrap(), true), "Unavailable", &["reading only"]);
    }
    drop((one, two));
    assert_eq!(fs::read(place.user_file()).unwrap(), before);
    assert!(!place.folder().join("users/u-me.db-wal").exists());
}

/// A database opened as immutable is read incorrectly as soon as another connection writes to it.
#[test]
fn a_reader_sees_what_a_writer_does_beside_it() {
    let place = Place::new();
    fill(&mut *open(&place.store()), 1, 3);
    let reading = SqliteStore::open(&place.folder(), read_only()).unwrap();
    let mut reader = reading.open(&me(), false).unwrap();
    assert_eq!(read_all(&mut *reader).len(), 3);
    let writing = place.store();
    let mut writer = open(&writing);
    for seq in 4..=200 {
        fill(&mut *writer, seq, seq);
        if seq % 50 == 0 {
            writer
                .checkpoint(&Checkpoint { snapshot: Some((seq, vec![7; 100_000])), ..Checkpoint::default() })
                .unwrap();
        }
        assert_eq!(reader.head().unwrap().seq, seq);
    }
    assert_eq!(read_all(&mut *reader).len(), 200);
    assert_eq!(reader.check().unwrap(), Vec::<String>::new());
    drop(writer);
    drop(writing);
    assert_eq!(reader.head().unwrap().seq, 200);
}

#[test]
fn a_reader_sees_what_a_killed_writer_left_in_the_log() {
    let place = Place::new();
    {
        // Leaks the ledger, like a kill: nothing is merged, and the copy of the folder below has no lock.
        let store = place.store();
        let mut ledger = open(&store);
        fill(&mut *ledger, 1, 3);
        std::mem::forget(ledger);
    }
    let copy = Place::new();
    fs::create_dir_all(copy.folder().join("users")).unwrap();
    for name in ["u-me.db", "u-me.db-wal"] {
        fs::copy(place.folder().join("users").join(name), copy.folder().join("users").join(name)).unwrap();
    }
    let store = SqliteStore::open(&copy.folder(), read_only()).unwrap();
    assert_eq!(store.open(&me(), false).unwrap().head().unwrap().seq, 3);
}

#[test]
fn a_missing_folder_is_not_made_for_a_reader() {
    let place = Place::new();
    check_error(SqliteStore::open(&place.folder(), read_only()), "NotFound", &["memory"]);
    assert!(!place.folder().exists());
}

#[test]
fn a_folder_under_a_file_is_refused_with_advice() {
    let place = Place::new();
    let file = place.temp.path().join("file");
    fs::write(&file, "x").unwrap();
    check_error(SqliteStore::open(&file, small()), "Unavailable", &["Choose a"]);
    check_error(SqliteStore::open(&file.join("memory"), small()), "Unavailable", &["Choose a folder"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_with_advice() {
    let place = Place::new();
    drop(open(&place.store()));
    // A folder in place of the lock file works for every user; permission bits do not stop root.
    fs::remove_file(place.folder().join("quipu.lock")).unwrap();
    fs::create_dir(place.folder().join("quipu.lock")).unwrap();
    check_error(
        SqliteStore::open(&place.folder(), small()),
        "Unavailable",
        &["cannot write", "writable", "reading only"],
    );
}
