//! A full disk: acknowledged events stay, and freed space helps at once.

use std::path::Path;

use quipu_core::event::ChangeRef;
use quipu_engine::ports::{Checkpoint, LedgerStore, StoreError, UserLedger};
use quipu_sqlite::{SqliteStore, StoreOptions};

use crate::fixture::{Place, check_error, event, files_with, fill, me, open, small};

/// Appends until it fails; returns the last acknowledged position and the error.
fn append_until_full(ledger: &mut dyn UserLedger, text: &str) -> (u64, StoreError) {
    let mut seq = ledger.head().unwrap().seq;
    loop {
        match ledger.append(seq, &[event(seq + 1, text)]) {
            Ok(()) => seq += 1,
            Err(error) => return (seq, error),
        }
    }
}

#[test]
fn quota_reached_and_raised() {
    let place = Place::new();
    let with_pages =
        |pages| SqliteStore::open(&place.folder(), StoreOptions { pages_max: Some(pages), ..small() }).unwrap();
    let store = with_pages(100);
    let mut ledger = open(&store);
    let (acknowledged, error) = append_until_full(&mut *ledger, &"x".repeat(3000));
    check_error::<()>(Err(error), "Unavailable", &["full", "Free space", "is lost"]);
    assert!(acknowledged > 20);
    assert_eq!(ledger.head().unwrap().seq, acknowledged);
    assert_eq!(crate::fixture::read_all(&mut *ledger).len() as u64, acknowledged);
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
    check_error(
        ledger.checkpoint(&Checkpoint { snapshot: Some((1, vec![1; 1 << 20])), ..Default::default() }),
        "Unavailable",
        &["full"],
    );
    drop((ledger, store));

    let store = with_pages(200);
    let mut ledger = store.open(&me(), false).unwrap();
    assert_eq!(ledger.head().unwrap().seq, acknowledged);
    fill(&mut *ledger, acknowledged + 1, acknowledged + 5);
}

#[test]
fn the_ballast_is_given_up_and_taken_again() {
    let place = Place::new();
    let ballast = place.folder().join("ballast");
    let store = place.store();
    assert_eq!(std::fs::metadata(&ballast).unwrap().len(), 64 << 10);
    assert_eq!(store.release_ballast().unwrap(), 64 << 10);
    assert_eq!(store.release_ballast().unwrap(), 0);
    assert!(!ballast.exists());
    open(&store).checkpoint(&Checkpoint::default()).unwrap();
    assert_eq!(std::fs::metadata(&ballast).unwrap().len(), 64 << 10);
}

const SMALL_DISK: &str = "QUIPU_TEST_SMALL_DISK";

/// Fills a real file system: a small one in memory, mounted in a namespace of this test.
#[test]
#[cfg(target_os = "linux")]
fn small_disk() {
    if let Some(disk) = std::env::var_os(SMALL_DISK) {
        return fill_disk(&disk);
    }
    let place = Place::new();
    let mount = format!(
        r#"mount -t tmpfs -o size=24m none "$0" && {SMALL_DISK}="$0" "$1" --exact damage_full_disk::small_disk --nocapture"#
    );
    let ran = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &mount])
        .args([place.path(), std::env::current_exe().unwrap().as_path()])
        .output()
        .unwrap_or_else(|error| panic!("this test needs `unshare` (util-linux): {error}"));
    assert!(
        ran.status.success(),
        "on a small disk (this test needs user namespaces): {}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn below_the_floor_nothing_is_written_and_erasing_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("memory");
    let store = SqliteStore::open(&folder, small()).unwrap();
    open(&store).append(0, &[event(1, "CANARY")]).unwrap();
    drop(store);
    // No disk has this much free.
    let store = SqliteStore::open(&folder, StoreOptions { free_bytes_min: u64::MAX, ..small() }).unwrap();
    let mut ledger = open(&store);
    check_error(ledger.append(1, &[event(2, "more")]), "Unavailable", &["nearly full", "Make room"]);
    check_error(ledger.checkpoint(&Checkpoint::default()), "Unavailable", &["nearly full"]);
    assert_eq!(ledger.head().unwrap().seq, 1);
    assert_eq!(crate::fixture::read_all(&mut *ledger).len(), 1);
    ledger.erase(1, &[ChangeRef { seq: 1, index: 0 }], &event(2, "erasure")).unwrap();
    assert_eq!(files_with(&folder, &[b"CANARY"]), []);
}

fn fill_disk(disk: &std::ffi::OsStr) {
    let folder = Path::new(disk).join("memory");
    let store = SqliteStore::open(
        &folder,
        StoreOptions { ballast_bytes: 4 << 20, free_bytes_min: 0, ..StoreOptions::default() },
    )
    .unwrap();
    let mut ledger = open(&store);
    let (mut snapshot, mut round) = (vec![0; 6 << 20], 0);
    ledger.append(0, &[event(1, "CANARY")]).unwrap();
    snapshot[..6].copy_from_slice(b"CANARY");
    ledger.checkpoint(&Checkpoint { snapshot: Some((1, snapshot)), snapshots_kept: 1, ..Default::default() }).unwrap();
    let acknowledged = loop {
        let (acknowledged, error) = append_until_full(&mut *ledger, &"x".repeat(4000 >> round));
        check_error::<()>(Err(error), "Unavailable", &["full"]);
        round += 1;
        if round == 8 {
            break acknowledged;
        }
    };
    assert!(folder.join("ballast").exists());
    assert_eq!(crate::fixture::read_all(&mut *ledger).len() as u64, acknowledged);
    ledger.erase(acknowledged, &[ChangeRef { seq: 1, index: 0 }], &event(acknowledged + 1, "erasure")).unwrap();
    assert_eq!(files_with(&folder, &[b"CANARY"]), []);
    assert_eq!(ledger.check().unwrap(), Vec::<String>::new());
    fill(&mut *ledger, acknowledged + 2, acknowledged + 20);
}
