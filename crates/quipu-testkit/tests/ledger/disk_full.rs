//! A full disk: acknowledged events stay readable, erasing still works, and freed space is used without a restart.
//!
//! The disk is a small tmpfs. Mounting needs root; otherwise the test restarts itself in its own user namespace. If
//! neither is possible the test fails, because skipping it would hide that it did not run.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use quipu_core::id::UserId;
use quipu_engine::erase::EraseTarget;
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{Engine, Error, ListOptions, RememberOptions, Utterance, erase, list, remember, show, verify};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{TestEngine, effort, seed};
use tempfile::TempDir;

/// Set in the process that runs in its own namespace.
const INSIDE: &str = "QUIPU_TEST_IN_NAMESPACE";
const TEST: &str = "a_full_disk_loses_nothing_and_can_be_cleaned_from_inside";
const DISK_MIB: u64 = 160;
const ROOM_BYTES: u64 = 4 << 20;
const BALLAST_BYTES: u64 = 6 << 20;

/// Rounds before a new disk is used, as the memory would fill it in the end.
const ROUNDS_OF_A_DISK: u32 = 3;

#[derive(Debug, Default)]
struct Tally {
    rounds: u32,
    acknowledged: usize,
    refused: usize,
    erasures: usize,
    /// The longest time of the first message after space was freed.
    recovered_within: Duration,
}

#[expect(clippy::disallowed_methods, reason = "a report of times, by which nothing is decided")]
fn now() -> Instant {
    Instant::now()
}

/// A small file system, unmounted when dropped.
struct Disk(TempDir);

impl Disk {
    fn mount() -> Option<Self> {
        let place = TempDir::new().unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={DISK_MIB}m"), "tmpfs"])
            .arg(place.path())
            .output();
        done.is_ok_and(|done| done.status.success()).then_some(Self(place))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // If unmounting fails, the mount ends with the namespace or the machine.
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn said(n: u64) -> String {
    format!("turn {n}: {}", "words that fill the disk ".repeat(300))
}

/// Checks that exactly the acknowledged turns are present.
fn same_turns(engine: &Engine, acked: &[(u64, String)], when: &str) {
    let name = |text: &str| text.split(':').next().map(str::to_owned);
    let (found, told): (BTreeSet<String>, BTreeSet<String>) =
        (texts(engine).into_iter().collect(), acked.iter().map(|(_, text)| text.clone()).collect());
    let lost: Vec<_> = told.difference(&found).map(|text| name(text)).collect();
    let extra: Vec<_> = found.difference(&told).map(|text| name(text)).collect();
    assert!(lost.is_empty(), "{when}: acknowledged and lost: {lost:?}");
    assert!(extra.is_empty(), "{when}: there, though the caller was told `Unavailable`: {extra:?}");
}

fn texts(engine: &Engine) -> Vec<String> {
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    list(engine, &me(), &all).unwrap().items.into_iter().map(|item| item.text).collect()
}

#[test]
fn a_full_disk_loses_nothing_and_can_be_cleaned_from_inside() {
    let mut tally = Tally::default();
    while let Some(disk) = Disk::mount() {
        fill_and_free(&disk, &mut tally);
        if tally.rounds >= effort(ROUNDS_OF_A_DISK) {
            println!("full disk: {tally:?}, lost 0, seed {}", seed());
            return;
        }
    }
    assert!(std::env::var_os(INSIDE).is_none(), "cannot mount a tmpfs, not even in a user namespace of its own");
    let again = Command::new("unshare")
        .arg("-rm")
        .arg(std::env::current_exe().unwrap())
        .args([TEST, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .status();
    let worked = again.as_ref().is_ok_and(std::process::ExitStatus::success);
    assert!(
        worked,
        "this test needs a small disk of its own. Run it as root, or allow `unshare -rm` and `mount -t tmpfs` \
         (kernel.unprivileged_userns_clone); what came of it: {again:?}"
    );
}

/// Fills the disk except for a small remainder.
fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    let block = vec![0x5a; 1 << 18];
    while file.write_all(&block).is_ok() {}
    let bytes = file.metadata().unwrap().len();
    file.set_len(bytes.checked_sub(ROOM_BYTES).unwrap()).unwrap();
}

fn fill_and_free(disk: &Disk, tally: &mut Tally) {
    let folder = disk.path().join("memory");
    let store = SqliteStore::open(
        &folder,
        StoreOptions { ballast_bytes: BALLAST_BYTES, free_bytes_min: 0, ..StoreOptions::default() },
    )
    .unwrap();
    let engine = TestEngine::new(1).engine(Box::new(store));
    let filler = disk.path().join("filler");
    let mut acked: Vec<(u64, String)> = Vec::new();
    let mut number = 0;
    for _ in 0..ROUNDS_OF_A_DISK {
        let round = tally.rounds;
        // given a disk that another file fills for the most part
        fill(&filler);
        // when it is written to until it is full
        let mut refused = 0;
        while refused < 3 {
            number += 1;
            // Every other turn is also indexed. If there is no space for that, the durable turn must still be
            // acknowledged.
            let options = RememberOptions { durable_only: number % 2 == 0, ..RememberOptions::default() };
            match remember(&engine, &me(), &Utterance::of_user(said(number)), &options) {
                Ok(receipt) => acked.push((receipt.seq, said(number))),
                Err(Error::Unavailable(_)) => refused += 1,
                Err(other) => panic!("round {round}, turn {number}: {other:?}"),
            }
            assert!(number < 10_000, "the disk never got full");
        }
        tally.refused += refused;
        // then every acknowledged turn can be read, and the ledger verifies
        same_turns(&engine, &acked, &format!("round {round}, full"));
        let report = verify(&engine, &me(), &[], &mut |_| {}).unwrap();
        assert!(report.is_intact(), "round {round}: {report:?}");
        // and erasing works, thanks to the ballast
        for _ in 0..2 {
            let (seq, _) = acked.remove(acked.len() / 2);
            let outcome = erase(&engine, &me(), &[EraseTarget::Event(seq)], "asked to", &mut |_| {});
            assert!(outcome.is_ok(), "round {round}: {outcome:?}");
            tally.erasures += 1;
            assert_eq!(show(&engine, &me(), EventRef::Seq(seq)).unwrap().changes, [None], "round {round}");
        }
        // and when space is freed, writing works without a restart
        fs::remove_file(&filler).unwrap();
        for turn in 0..5 {
            number += 1;
            let began = now();
            let receipt =
                remember(&engine, &me(), &Utterance::of_user(said(number)), &RememberOptions::default()).unwrap();
            if turn == 0 {
                tally.recovered_within = tally.recovered_within.max(began.elapsed());
            }
            acked.push((receipt.seq, said(number)));
        }
        quipu_engine::snapshot(&engine, &me()).unwrap();
        let ballast = fs::metadata(folder.join("ballast")).map_or(0, |found| found.len());
        println!("round {round}: {} turns held, ballast {ballast} bytes", acked.len());
        tally.rounds += 1;
    }
    tally.acknowledged += acked.len();
    // and a restart finds the same turns
    drop(engine);
    let store = SqliteStore::open(
        &folder,
        StoreOptions { ballast_bytes: BALLAST_BYTES, free_bytes_min: 0, ..StoreOptions::default() },
    )
    .unwrap();
    let engine = TestEngine::new(2).engine(Box::new(store));
    same_turns(&engine, &acked, "after a restart");
    assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact());
}
