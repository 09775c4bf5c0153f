//! Plain files: they depend only on the ledger, to the byte, and nothing leads outside their folder.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod building;
mod bundling;
mod editing;
mod erasing;
mod guarding;
mod life;
mod restoring;
mod upgrading;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_engine::{Engine, RememberOptions, Utterance, VaultOptions, VaultReport, files, remember};
use quipu_files::FolderVault;
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine, files_below};

/// 2026-03-02T08:00:00Z.
const MONDAY: i64 = 1_772_438_400_000_000;
const DAY: i64 = 86_400_000_000;

/// An engine with rules and a vault.
struct House {
    rig: TestEngine,
    engine: Engine,
    place: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        Self::over(MemoryStore::new(), 1)
    }

    fn over(store: MemoryStore, seed: u64) -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut rig = TestEngine::new(seed);
        rig.extractor = Some(Arc::new(RuleExtractor::english()));
        rig.vault = Some(Arc::new(FolderVault::new(place.path().join("vault"))));
        rig.clock.put(MONDAY);
        let engine = rig.engine(Box::new(store));
        Self { rig, engine, place }
    }

    /// The same memories with another, empty vault.
    fn elsewhere(&self, store: MemoryStore) -> Self {
        let mut other = Self::over(store, 2);
        other.rig.clock = self.rig.clock.clone();
        other
    }

    fn day(&self, number: i64) {
        self.rig.clock.put(MONDAY + number * DAY);
    }

    fn says(&self, text: &str) -> u64 {
        remember(&self.engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap().seq
    }

    fn level(&self) -> VaultReport {
        files::level(&self.engine, &me(), VaultOptions { look: true, ..VaultOptions::default() }).unwrap()
    }

    fn rebuild(&self) -> VaultReport {
        files::rebuild(&self.engine, &me(), VaultOptions::default()).unwrap()
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("vault/me")
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_in(&self.folder())
    }

    fn page(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder().join(path)).unwrap()
    }
}

/// Every file below a folder, by path.
fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
    files_below(folder).into_iter().map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
}

fn me() -> UserId {
    UserId::parse("me").unwrap()
}
