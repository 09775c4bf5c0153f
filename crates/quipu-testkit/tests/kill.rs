//! Kills a writer repeatedly in the middle of its work: acknowledged events are present, the chain has no gap, and
//! acknowledged erasures leave the erased text in no file.
//!
//! This covers the death of a process. The page cache survives it, so power failures are not covered.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::Pin;
use quipu_engine::log::{LogOptions, log};
use quipu_engine::{ListOptions, list, rebuild, verify, versions::When};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{Rng, TestEngine, effort, files_below, seed};
use tempfile::TempDir;

/// Length of the text that only one item of a writer contains.
const TEXT_BYTES: usize = 28;

/// The acknowledgements of the writer.
#[derive(Default)]
struct Acked {
    hashes: BTreeMap<Seq, String>,
    /// Erased event, and a text that only it contained.
    erased: BTreeMap<Seq, String>,
    head: Seq,
}

#[derive(Default, Debug)]
struct Tally {
    cycles: u32,
    acked: u64,
    erasures: u64,
    snapshots: u64,
    in_flight: u64,
    events: u64,
}

impl Acked {
    fn take(&mut self, line: &str, tally: &mut Tally) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<Seq>().unwrap();
        match words[0] {
            "ready" => return,
            "wrote" => drop(self.hashes.insert(number(1), words[2].to_owned())),
            "erased" => {
                tally.erasures += 1;
                self.erased.insert(number(2), words[3].to_owned());
            }
            "snapshot" => tally.snapshots += 1,
            other => panic!("the writer said {other:?}"),
        }
        tally.acked += 1;
        self.head = self.head.max(number(1));
    }
}

/// Runs a writer until `acks` calls are acknowledged, kills it, and reads the rest of its output.
fn kill_after(acks: usize, folder: &Path, seed: u64, acked: &mut Acked, tally: &mut Tally) {
    let mut writer: Child = Command::new(env!("CARGO_BIN_EXE_torture_writer"))
        .args([folder.as_os_str(), seed.to_string().as_ref()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut heard = 0;
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    for line in lines.by_ref() {
        let line = line.unwrap();
        heard += usize::from(!line.starts_with("ready"));
        acked.take(&line, tally);
        if heard >= acks {
            break;
        }
    }
    // Varies the point at which the writer dies.
    std::thread::sleep(std::time::Duration::from_micros(seed % 4000));
    writer.kill().unwrap();
    let status = writer.wait().unwrap();
    assert_ne!(status.code(), Some(1), "the writer failed by itself");
    // A line truncated by the kill is not an acknowledgement.
    lines.map_while(Result::ok).filter(|line| is_whole(line)).for_each(|line| acked.take(&line, tally));
}

fn is_whole(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["wrote", _, hash] => hash.len() == 64,
        ["erased", _, _, text] => text.len() == TEXT_BYTES,
        // A truncated position may still be a number, so the line is not used.
        _ => false,
    }
}

/// Checks the state after a restart.
fn examine(folder: &Path, acked: &mut Acked, tally: &mut Tally, thorough: bool) {
    let me = UserId::parse("me").unwrap();
    let store = SqliteStore::open(folder, StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() }).unwrap();
    let engine = TestEngine::new(1).engine(Box::new(store));
    let pins: Vec<Pin> = acked
        .hashes
        .iter()
        .map(|(&seq, hash)| Pin { seq, hash: quipu_core::event::Hash::from_hex(hash).unwrap() })
        .collect();
    let report = verify(&engine, &me, &pins, &mut |_| {}).unwrap();
    assert!(report.is_intact(), "{:?} {:?}", report.ledger.damage, report.medium);
    assert!(report.ledger.pins.iter().all(|pin| pin.holds), "acknowledged, then lost: {:?}", report.ledger.pins);
    let head = report.ledger.head_seq;
    assert!(head >= acked.head, "acknowledged up to {}, found {head}", acked.head);
    // The call that was running when the writer died either took effect or did not.
    assert!(head <= acked.head + 1, "acknowledged up to {}, found {head}", acked.head);
    tally.in_flight += head - acked.head;
    tally.events += head - acked.head;
    acked.head = head;

    let gone: BTreeSet<Seq> = report.ledger.erased.iter().map(|gone| gone.target.seq).collect();
    assert!(acked.erased.keys().all(|seq| gone.contains(seq)), "erased {:?}, found {gone:?}", acked.erased.keys());
    let all = ListOptions { at: When::Now, session: None, kind: None, offset: 0, limit: usize::MAX };
    let items = list(&engine, &me, &all).unwrap();
    assert!(items.items.iter().all(|item| !gone.contains(&item.event_seq)));
    if thorough {
        assert!(rebuild(&engine, &me, &mut |_| {}).unwrap().identical, "the memory differs from its ledger");
        let entries = log(&engine, &me, &LogOptions { before: None, limit: usize::MAX, reference: None }).unwrap();
        assert_eq!(entries.len() as u64, head);
    }
    drop(engine);
    let kept = items.items.first().map(|item| item.text[..TEXT_BYTES].to_owned());
    let mut seen = kept.is_none();
    for file in files_below(folder) {
        let bytes = fs::read(&file).unwrap();
        seen |= needles(&bytes).any(|needle| kept.as_deref().is_some_and(|text| text.as_bytes() == needle));
        let found = needles(&bytes).find(|needle| acked.erased.values().any(|text| text.as_bytes() == *needle));
        assert!(found.is_none(), "{} holds what was erased: {:?}", file.display(), found.map(String::from_utf8_lossy));
    }
    assert!(seen, "the search does not even find what is there");
}

/// Every `needle-…` text of a writer in these bytes.
fn needles(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts = bytes.windows(7).enumerate().filter(|(_, window)| *window == b"needle-").map(|(at, _)| at);
    starts.filter_map(|at| bytes.get(at..at + TEXT_BYTES))
}

/// Cycles in one folder before a new one is used, as checking gets slower with the size of the ledger.
const CYCLES_PER_FOLDER: u32 = 25;

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let seed = seed();
    let mut dice = Rng::new(seed);
    let cycles = effort(300);
    let mut tally = Tally::default();
    let mut acked = Acked::default();
    let mut folder = TempDir::new().unwrap();
    while tally.cycles < cycles {
        if tally.cycles % CYCLES_PER_FOLDER == 0 {
            (folder, acked) = (TempDir::new().unwrap(), Acked::default());
        }
        let before = acked.hashes.len() + acked.erased.len();
        // Some writers die before the first acknowledgement.
        let acks = dice.below(25);
        kill_after(acks, folder.path(), dice.roll(), &mut acked, &mut tally);
        tally.cycles += 1;
        let has_ledger = acked.head > 0 || files_below(folder.path()).iter().any(|path| is_ledger(path));
        if has_ledger {
            let thorough = tally.cycles % CYCLES_PER_FOLDER == 0;
            examine(folder.path(), &mut acked, &mut tally, thorough);
        }
        assert!(acked.hashes.len() + acked.erased.len() >= before);
    }
    println!("kill -9: {tally:?}, lost 0, seed {seed}");
    assert!(tally.acked > u64::from(cycles) * 8, "the writer hardly worked: {tally:?}");
    assert!(
        tally.erasures > 0 && tally.snapshots > 0 && tally.in_flight > 0,
        "some kind of work was never cut: {tally:?}"
    );
}

fn is_ledger(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "db") && fs::read(path).unwrap().starts_with(b"SQLite format 3")
}
