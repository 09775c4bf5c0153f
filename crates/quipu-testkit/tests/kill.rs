//! Given a writer that says what was acknowledged, when it is killed at any moment, then everything it said is there.
//!
//! Process death only: what the kernel was given survives, so this says nothing about power cuts.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use quipu_core::core_document::Registry;
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::Pin;
use quipu_engine::{Engine, Parts, rebuild, verify};
use quipu_models::HashedNgrams;
use quipu_sqlite::{Options, SqliteStore};
use quipu_testkit::{Dice, FixedClock, SeededEntropy};

/// Kills in all, spread over folders so that short and long ledgers both die.
const CYCLES: u64 = 300;
const CYCLES_PER_FOLDER: u64 = 30;

/// What the writers of one folder acknowledged.
#[derive(Default)]
struct Acknowledged {
    hashes: HashMap<Seq, String>,
    erased: Vec<(Seq, String)>,
    snapshots: u64,
}

/// Runs a writer and kills it after some acknowledgements, possibly in the middle of the next step.
fn run_and_kill(folder: &Path, seed: u64, dice: &mut Dice, seen: &mut Acknowledged) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_torture_writer"))
        .arg(folder)
        .arg(seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let wanted = 1 + dice.below(12) as u64;
    let mut acknowledged = 0;
    for line in lines.by_ref().take(wanted as usize + 1) {
        acknowledged += note(&line.unwrap(), seen);
    }
    // Some die at once, some a little later, inside whatever comes next.
    std::thread::sleep(std::time::Duration::from_micros(dice.below(4000) as u64));
    child.kill().unwrap();
    child.wait().unwrap();
    // What it said before it died counts too; a line cut in the middle was not said.
    for line in lines.map_while(Result::ok) {
        acknowledged += note(&line, seen);
    }
    acknowledged
}

fn note(line: &str, seen: &mut Acknowledged) -> u64 {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["wrote", seq, hash] if hash.len() == 64 => {
            seen.hashes.insert(seq.parse().unwrap(), (*hash).to_owned());
            1
        }
        ["erased", _, target, text] if text.len() == 28 => {
            seen.erased.push((target.parse().unwrap(), (*text).to_owned()));
            1
        }
        ["snapshot", _] => {
            seen.snapshots += 1;
            0
        }
        _ => 0,
    }
}

fn check(folder: &Path, seen: &Acknowledged, rebuilt: bool) {
    let me = UserId::parse("me").unwrap();
    let store = SqliteStore::open(folder, Options { ballast_bytes: 1 << 16, ..Options::default() }).unwrap();
    let engine = Engine::new(Parts {
        store: Box::new(store),
        embedder: Arc::new(HashedNgrams::new()),
        clock: Arc::new(FixedClock::new()),
        entropy: Arc::new(SeededEntropy::new(9)),
        registry: Registry::default_registry(),
    });
    if seen.hashes.is_empty() {
        return;
    }
    let pins: Vec<Pin> = seen
        .hashes
        .iter()
        .map(|(&seq, hash)| Pin { seq, hash: quipu_core::event::Hash::from_hex(hash).unwrap() })
        .collect();
    let report = verify(&engine, &me, &pins, &mut |_| {}).unwrap();
    assert!(report.is_intact(), "{report:?}");
    for (target, _) in &seen.erased {
        assert!(report.ledger.erased.iter().any(|gone| gone.target.seq == *target), "{target} is back");
    }
    if rebuilt {
        assert!(rebuild(&engine, &me, &mut |_| {}).unwrap().identical);
    }
}

/// No file of the folder holds a text whose erasure was acknowledged.
fn search(folder: &Path, seen: &Acknowledged) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            for (seq, text) in &seen.erased {
                let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
                assert!(!found, "the erased text of event {seq} is in {}", path.display());
            }
        }
    }
}

#[test]
fn everything_acknowledged_outlives_kill_9() {
    let seed: u64 = 20_261_121;
    let mut dice = Dice::new(seed);
    let (mut cycles, mut acknowledged, mut erased, mut snapshots) = (0, 0, 0, 0);
    while cycles < CYCLES {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("memory");
        let mut seen = Acknowledged::default();
        for _ in 0..CYCLES_PER_FOLDER {
            acknowledged += run_and_kill(&folder, seed + cycles, &mut dice, &mut seen);
            cycles += 1;
            check(&folder, &seen, false);
        }
        check(&folder, &seen, true);
        search(&folder, &seen);
        erased += seen.erased.len();
        snapshots += seen.snapshots;
    }
    println!("seed {seed}: {cycles} kills, {acknowledged} acknowledged, 0 lost, {erased} erased, {snapshots} snapshots");
    assert!(acknowledged > CYCLES, "the writers hardly wrote: {acknowledged}");
    assert!(erased > 0 && snapshots > 0);
}
