//! Erases many items, and whole users, from a folder with everything in it: no file holds a word of them, every chain verifies, and the
//! memories of others are the same to the byte.

use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_engine::erase::{EraseTarget, delete_user};
use quipu_engine::export::{ExportFormat, export};
use quipu_engine::{
    CoreEdit, Engine, PatchOptions, RememberOptions, Utterance, VaultOptions, backup, edit_core, end_session, erase,
    files, remember, snapshot, users, verify,
};
use quipu_files::FolderVault;
use quipu_models::{RuleExtractor, RuleSummarizer};
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{Rng, TestEngine, effort, files_below, seed};
use tempfile::TempDir;

/// Items and users that are erased.
const ITEMS: u32 = 25;
const USERS: u32 = 1;
/// Items of a user of whom some are erased, and how many of them.
const SAID: usize = 20;
const ERASED: usize = 10;

/// A word that only one item contains.
fn needle(user: usize, number: usize) -> String {
    format!("needle{user:03}x{number:03}")
}

fn words(user: usize, number: usize) -> String {
    let needle = needle(user, number);
    match number % 5 {
        0 => format!("I live in {needle}."),
        1 => format!("My sister is called {needle}."),
        2 => format!("I must call {needle} tomorrow about the flat."),
        3 => format!("Remember that the locker of {needle} has the number {number}."),
        _ => format!("Yesterday I talked with {needle} for an hour, and we laughed a lot."),
    }
}

fn id(user: usize) -> UserId {
    UserId::parse(&format!("user-{user:03}")).unwrap()
}

/// The folders of a memory with plain files.
struct Place(TempDir);

impl Place {
    fn engine(&self) -> Engine {
        let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
        let rig = TestEngine {
            extractor: Some(Arc::new(RuleExtractor::english())),
            summarizer: Some(Arc::new(RuleSummarizer)),
            vault: Some(Arc::new(FolderVault::new(self.0.path().join("files")))),
            ..TestEngine::new(seed())
        };
        rig.engine(Box::new(SqliteStore::open(&self.0.path().join("memory"), options).unwrap()))
    }

    /// The words of a list that a file contains, and the files.
    fn found(&self, needles: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for path in files_below(self.0.path()) {
            let bytes = std::fs::read(&path).unwrap();
            let starts = bytes.windows(6).enumerate().filter(|(_, window)| *window == b"needle").map(|(at, _)| at);
            let held: Vec<&[u8]> = starts.filter_map(|at| bytes.get(at..at + 13)).collect();
            let hits = needles.iter().filter(|needle| held.contains(&needle.as_bytes()));
            found.extend(hits.map(|needle| format!("{needle} in {}", path.display())));
        }
        found
    }
}

/// Records what a user says, edits, ends, and has written to plain files. Returns the positions of the messages.
fn live(engine: &Engine, user: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    for number in 0..SAID {
        let session = format!("session {}", number / 7);
        let said = Utterance { session: Some(session.clone()), ..Utterance::of_user(words(user, number)) };
        seqs.push(remember(engine, &id(user), &said, &RememberOptions::default()).unwrap().seq);
        if number % 7 == 6 {
            end_session(engine, &id(user), &session).unwrap();
        }
    }
    let edit = CoreEdit::Set("/uncategorized/colour".to_owned(), serde_json::json!("green"));
    edit_core(engine, &id(user), &edit, &PatchOptions::default()).unwrap();
    snapshot(engine, &id(user)).unwrap();
    files::level(engine, &id(user), VaultOptions::default()).unwrap();
    seqs
}

fn exported(engine: &Engine, user: usize) -> String {
    export(engine, &id(user), ExportFormat::Json).unwrap()
}

#[test]
fn erased_items_and_users_are_in_no_file_and_others_stay_the_same() {
    let (seed, mut dice) = (seed(), Rng::new(seed()));
    let place = Place(TempDir::new().unwrap());
    let engine = place.engine();
    let losing = (effort(ITEMS) as usize).div_ceil(ERASED);
    let leaving = effort(USERS) as usize;
    let all = losing + leaving + 3;
    let mut said: Vec<Vec<u64>> = (0..all).map(|user| live(&engine, user)).collect();
    let staying: Vec<usize> = (losing + leaving..all).collect();
    let before: Vec<String> = staying.iter().map(|user| exported(&engine, *user)).collect();
    let everything: Vec<String> = (0..all).flat_map(|user| (0..SAID).map(move |number| needle(user, number))).collect();
    let held = place.found(&everything);
    assert!(
        everything.iter().all(|needle| held.iter().any(|hit| hit.starts_with(needle.as_str()))),
        "the search misses something"
    );

    let mut gone = Vec::new();
    for (user, seqs) in said.iter_mut().enumerate().take(losing) {
        for _ in 0..ERASED {
            let number = loop {
                let number = dice.below(SAID);
                if seqs[number] > 0 {
                    break number;
                }
            };
            let target = EraseTarget::Event(seqs[number]);
            let receipt = erase(&engine, &id(user), &[target], "asked to", &mut |_| {}).unwrap();
            assert_eq!(receipt.lag, None, "seed {seed}");
            seqs[number] = 0;
            gone.push(needle(user, number));
        }
        let hits = place.found(&gone);
        assert!(hits.is_empty(), "seed {seed}, after the erasures of user {user}: {hits:?}");
    }
    let items = gone.len();
    for user in losing..losing + leaving {
        delete_user(&engine, &id(user)).unwrap();
        gone.extend((0..SAID).map(|number| needle(user, number)));
    }
    // Neither while the memory is open, nor in a backup, nor after a restart.
    let known = users(&engine).unwrap();
    backup::backup(&engine, &known, &place.0.path().join("backup")).unwrap();
    let mut hits = place.found(&gone);
    let after: Vec<String> = staying.iter().map(|user| exported(&engine, *user)).collect();
    drop(engine);
    hits.extend(place.found(&gone));
    let engine = place.engine();
    let restarted: Vec<String> = staying.iter().map(|user| exported(&engine, *user)).collect();
    let broken = (0..losing).chain(staying).filter(|user| !intact(&engine, *user, &mut said[*user].iter())).count();
    let changed = before
        .iter()
        .zip(after.iter().zip(&restarted))
        .filter(|(old, (new, again))| old != new || old != again)
        .count();
    hits.extend(place.found(&gone));
    println!(
        "erasure: {items} items of {losing} users and {leaving} whole users, {} words searched in {} files; {} found, {broken} chains broken, \
         {changed} of {} other memories changed, seed {seed}",
        gone.len(),
        files_below(place.0.path()).len(),
        hits.len(),
        before.len()
    );
    assert!(hits.is_empty(), "seed {seed}: {hits:?}");
    assert_eq!((broken, changed), (0, 0), "seed {seed}");
    let left: Vec<String> = (0..losing)
        .flat_map(|user| (0..SAID).map(move |number| (user, number)))
        .filter(|(user, number)| said[*user][*number] > 0)
        .map(|(user, number)| needle(user, number))
        .collect();
    let found = place.found(&left);
    let lost = left.iter().filter(|needle| !found.iter().any(|hit| hit.starts_with(needle.as_str()))).count();
    assert_eq!(lost, 0, "seed {seed}: words that nobody erased are gone");
}

/// The chain verifies, and the erasures are those that were asked for.
fn intact(engine: &Engine, user: usize, seqs: &mut dyn Iterator<Item = &u64>) -> bool {
    let report = verify(engine, &id(user), &[], &mut |_| {}).unwrap();
    let asked = seqs.filter(|seq| **seq == 0).count();
    report.is_intact() && report.ledger.erased.len() >= asked
}
