//! The audit after a run: every ledger verifies and contains each acknowledged text exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use quipu_core::event::Change;
use quipu_core::id::UserId;
use quipu_engine::versions::EventRef;
use quipu_engine::{Engine, RecallOptions, rebuild, recall, show, status, users, verify};

use crate::said::Fate;
use crate::worker::{NEEDLE, NEEDLE_END};
use crate::world::{LIMITS, World};

pub(crate) fn check(mut world: World) {
    let seed = world.seed;
    let all = users(&world.engines[0]).unwrap();
    assert!(all.len() > 10, "QUIPU_SEED={seed}: only {all:?}");
    let mut ledgers: BTreeMap<UserId, Vec<String>> = BTreeMap::new();
    for user in &all {
        for engine in &world.engines {
            let report = verify(engine, user, &[], &mut |_| {}).unwrap();
            assert!(report.is_intact(), "QUIPU_SEED={seed} {user}: {report:?}");
            let rebuilt = rebuild(engine, user, &mut |_| {});
            let rebuilt = rebuilt.unwrap_or_else(|error| panic!("QUIPU_SEED={seed} {user}: {error}"));
            assert!(rebuilt.identical, "QUIPU_SEED={seed} {user}: {rebuilt:?}");
        }
        ledgers.insert(user.clone(), texts(&world.engines[0], user, seed));
    }
    words(&world, &ledgers);
    handles(&world);
    // Files that could not be cleaned because of a reader are cleaned when the ledger is next opened.
    world.engines.clear();
    let again = world.engine();
    ledgers.keys().for_each(|user| drop(status(&again, user).unwrap()));
    drop(again);
    files(&world, &ledgers);
}

/// The recorded texts, event by event. Checks that positions are consecutive and no event occurs twice.
fn texts(engine: &Engine, user: &UserId, seed: u64) -> Vec<String> {
    let version = status(engine, user).unwrap().version;
    let mut ids = BTreeSet::new();
    let mut texts = Vec::new();
    for seq in 1..=version {
        let event = show(engine, user, EventRef::Seq(seq)).unwrap();
        assert!(ids.insert(event.header.id), "QUIPU_SEED={seed} {user}: event {} twice", event.header.id);
        texts.extend(event.changes.iter().flatten().filter_map(|change| match change {
            Change::SourceRecorded(source) => Some(source.text.to_string()),
            _ => None,
        }));
    }
    texts
}

fn words(world: &World, ledgers: &BTreeMap<UserId, Vec<String>>) {
    let seed = world.seed;
    let count = |user: &UserId, word: &str| {
        let texts = ledgers.get(user).into_iter().flatten();
        texts.filter(|text| text.contains(word)).count()
    };
    let register = world.said.register();
    assert!(!register.kept.is_empty());
    for word in &register.kept {
        let (found, fate) = (count(&word.user, &word.word), register.fate(word));
        let is_right = match fate {
            Fate::Once => found == 1,
            Fate::Gone => found == 0,
            Fate::Either => found <= 1,
        };
        assert!(is_right, "QUIPU_SEED={seed}: {word:?} is there {found} times, {fate:?} is right");
    }
    for word in &register.erased {
        assert_eq!(count(&word.user, &word.word), 0, "QUIPU_SEED={seed}: {word:?} is in the ledger after its erasure");
        for engine in world.engines.iter().filter(|_| ledgers.contains_key(&word.user)) {
            let found = recall(engine, &word.user, &RecallOptions::of(&word.word)).unwrap();
            let is_told = found.hits.iter().any(|hit| word.is_in(&hit.text));
            assert!(!is_told, "QUIPU_SEED={seed}: {word:?} is recalled after its erasure");
        }
    }
}

/// Checks that no file of a user contains an erased word: database, files beside it, copies set aside, plain files.
fn files(world: &World, ledgers: &BTreeMap<UserId, Vec<String>>) {
    let seed = world.seed;
    let register = world.said.register();
    let mut kept = 0;
    for user in ledgers.keys() {
        let mut own = Vec::new();
        files_of(user, &world.data(), false, &mut own);
        assert!(!own.is_empty(), "QUIPU_SEED={seed} {user}: there is no file");
        let held: BTreeMap<String, PathBuf> = own.into_iter().flat_map(needles).collect();
        for word in register.erased.iter().filter(|word| word.user == *user) {
            let path = held.get(&word.word);
            assert_eq!(path, None, "QUIPU_SEED={seed}: {word:?} is in a file after its erasure");
        }
        let of_user = register.kept.iter().filter(|word| word.user == *user && register.fate(word) == Fate::Once);
        kept += of_user.filter(|word| held.contains_key(&word.word)).count();
    }
    assert!(kept > 0, "QUIPU_SEED={seed}: no word that is kept was found in a file: nothing was looked through");
}

/// Every unique word in a file, at any offset.
fn needles(path: PathBuf) -> Vec<(String, PathBuf)> {
    let bytes = std::fs::read(&path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let starts = text.match_indices(NEEDLE).map(|(at, _)| &text[at + NEEDLE.len()..]);
    let numbers = starts.filter_map(|rest| Some(rest.split_once(NEEDLE_END)?.0));
    numbers.map(|numbers| (format!("{NEEDLE}{numbers}{NEEDLE_END}"), path.clone())).collect()
}

/// Files of a user, identified by their names or those of their folders.
fn files_of(user: &UserId, folder: &Path, is_own: bool, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_own = is_own || name == user.as_str() || name.starts_with(&format!("u-{user}.db"));
        if path.is_dir() {
            files_of(user, &path, is_own, found);
        } else if is_own {
            found.push(path);
        }
    }
}

/// Checks that the number of open ledgers stays within the limits.
#[cfg(target_os = "linux")]
fn handles(world: &World) {
    /// A database, its log and its shared memory, each for the ledger and for its watch, and a lock.
    const A_LEDGER: usize = 8;
    let folder = world.folder.path();
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let held: Vec<_> = targets.filter(|target| target.starts_with(folder)).collect();
    let most = (LIMITS.ledgers_max + 1) * A_LEDGER * world.engines.len() + 4;
    assert!(
        held.len() <= most,
        "QUIPU_SEED={}: {} files are open, at most {most} should be: {held:#?}",
        world.seed,
        held.len()
    );
}

#[cfg(not(target_os = "linux"))]
fn handles(_: &World) {}
