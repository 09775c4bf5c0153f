//! After a run: every ledger is sound, and holds what was acknowledged exactly once.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::event::Change;
use quipu_core::id::UserId;
use quipu_engine::versions::EventRef;
use quipu_engine::{Engine, RecallOptions, rebuild, recall, show, status, users, verify};

use crate::said::Fate;
use crate::world::{LIMITS, World};

pub(crate) fn check(world: &World) {
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
    words(world, &ledgers);
    handles(world);
}

/// What was said, event by event. Positions follow each other, and no event is there twice.
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
        // A word is a prefix of another one with more digits, so the character after it counts.
        let ends = |text: &str, at: usize| !text[at + word.len()..].starts_with(|c: char| c.is_ascii_digit());
        let texts = ledgers.get(user).into_iter().flatten();
        texts.filter(|text| text.match_indices(word).any(|(at, _)| ends(text, at))).count()
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

/// Only so many ledgers stay open as the limits say.
#[cfg(target_os = "linux")]
fn handles(world: &World) {
    /// A database, its log and its index of the log, each for the ledger and for its watch, and a lock.
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
