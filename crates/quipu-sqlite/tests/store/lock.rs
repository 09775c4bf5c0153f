//! One process a folder.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use quipu_engine::ports::LedgerStore;
use quipu_sqlite::{Options, SqliteStore};

use crate::fixture::{Place, check_error, fill, me, open, small};

const FOLDER: &str = "QUIPU_TEST_FOLDER";

fn read_only() -> Options {
    Options { read_only: true, ..small() }
}

#[test]
fn a_second_store_in_this_process_is_kept_out() {
    let place = Place::new();
    let store = place.store();
    let folder = place.folder();
    let pid = format!("pid {}", std::process::id());
    check_error(
        SqliteStore::open(&folder, small()),
        "Unavailable",
        &[folder.to_str().unwrap(), &pid, "Stop that process"],
    );
    check_error(SqliteStore::open(&folder, read_only()), "Unavailable", &[&pid]);
    let ledger = open(&store);
    drop(store);
    check_error(SqliteStore::open(&folder, small()), "Unavailable", &[&pid]);
    drop(ledger);
    SqliteStore::open(&folder, small()).unwrap();
}

#[test]
fn a_second_process_is_kept_out_until_the_first_is_killed() {
    let place = Place::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lock::child_that_holds_a_folder", "--nocapture"])
        .env(FOLDER, place.folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("held")));
    let pid = format!("pid {}", child.id());
    check_error(SqliteStore::open(&place.folder(), small()), "Unavailable", &[&pid]);
    child.kill().unwrap();
    child.wait().unwrap();
    let store = place.store();
    let mut ledger = store.open(&me(), false).unwrap();
    assert_eq!(ledger.head().unwrap().seq, 3, "what was acknowledged outlives the kill");
}

/// The first process of `a_second_process_is_kept_out_until_the_first_is_killed`; alone it has nothing to do.
#[test]
fn child_that_holds_a_folder() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = SqliteStore::open(folder.as_ref(), small()).unwrap();
    let mut ledger = open(&store);
    fill(&mut *ledger, 1, 3);
    let mut out = std::io::stdout();
    writeln!(out, "\nheld").unwrap();
    out.flush().unwrap();
    // Until the parent kills it; if the parent dies first, the pipe closes.
    std::io::stdin().read_line(&mut String::new()).unwrap();
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
    check_error(SqliteStore::open(&place.folder(), small()), "Unavailable", &["in use"]);
    for store in [&one, &two] {
        assert_eq!(store.users().unwrap(), [me()]);
        let mut ledger = store.open(&me(), true).unwrap();
        assert_eq!(ledger.head().unwrap().seq, 3);
        assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
        check_error(ledger.append(3, &[crate::fixture::event(4, "x")]), "Unavailable", &["reading only"]);
        check_error(ledger.drop_projections(), "Unavailable", &["reading only"]);
        check_error(store.remove(&me()), "Unavailable", &["reading only"]);
        check_error(store.restore(&me(), &place.user_file(), true), "Unavailable", &["reading only"]);
        check_error(store.release_ballast(), "Unavailable", &["reading only"]);
        check_error(store.open(&quipu_core::id::UserId::parse("new").unwrap(), true), "Unavailable", &["reading only"]);
    }
    drop((one, two));
    assert_eq!(fs::read(place.user_file()).unwrap(), before);
    assert!(!place.folder().join("users/u-me.db-wal").exists());
}

#[test]
fn a_reader_sees_what_a_killed_writer_left_in_the_log() {
    let place = Place::new();
    {
        // Leaks the ledger, as a kill would: nothing is merged, and the lock goes with the copy of the folder below.
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
    // A folder where the lock file should be works for every user; permission bits do not stop root.
    fs::remove_file(place.folder().join("quipu.lock")).unwrap();
    fs::create_dir(place.folder().join("quipu.lock")).unwrap();
    check_error(
        SqliteStore::open(&place.folder(), small()),
        "Unavailable",
        &["cannot write", "writable", "reading only"],
    );
}
