//! Test ledgers. The store verifies no hashes, so the events can contain any bytes.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_core::event::Hash;
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::{SealedChange, SealedEvent};
use quipu_engine::ports::{LedgerStore, StoreError, UserLedger};
use quipu_sqlite::{SqliteStore, StoreOptions};
use tempfile::TempDir;

/// A data folder that is deleted with the test.
pub(crate) struct Place {
    pub(crate) temp: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.temp.path()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.temp.path().join("memory")
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.folder(), small()).unwrap()
    }

    pub(crate) fn user_file(&self) -> PathBuf {
        self.folder().join("users/u-me.db")
    }
}

/// Options with a small ballast, to save time.
pub(crate) fn small() -> StoreOptions {
    StoreOptions { ballast_bytes: 64 << 10, ..StoreOptions::default() }
}

pub(crate) fn me() -> UserId {
    UserId::parse("me").unwrap()
}

pub(crate) fn open(store: &SqliteStore) -> Box<dyn UserLedger> {
    store.open(&me(), true).unwrap()
}

/// An event with one change that contains `text`.
pub(crate) fn event(seq: Seq, text: &str) -> SealedEvent {
    SealedEvent {
        seq,
        id: EventId::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(seq)),
        format: 1,
        recorded_at_micros: 1_700_000_000_000_000 + i64::try_from(seq).unwrap() * 1_000_000,
        control: false,
        idempotency: None,
        header: format!("header {seq}").into_bytes(),
        hash: hash(&format!("event {seq}")),
        changes: vec![change(text)],
    }
}

pub(crate) fn change(text: &str) -> SealedChange {
    SealedChange { bytes: Some(text.as_bytes().to_vec()), salt: Some(*hash(text).as_bytes()) }
}

pub(crate) fn hash(text: &str) -> Hash {
    let mut bytes = [17_u8; 32];
    for (index, byte) in text.bytes().enumerate() {
        bytes[index % 32] = bytes[index % 32].wrapping_mul(31).wrapping_add(byte);
    }
    Hash::from_bytes(bytes)
}

/// Appends events `first ..= last`, each in its own transaction.
pub(crate) fn fill(ledger: &mut dyn UserLedger, first: Seq, last: Seq) {
    for seq in first..=last {
        ledger.append(seq - 1, &[event(seq, &format!("said {seq}"))]).unwrap();
    }
}

pub(crate) fn read_all(ledger: &mut dyn UserLedger) -> Vec<SealedEvent> {
    let mut events = Vec::new();
    ledger
        .read(1..=Seq::MAX, &mut |event| {
            events.push(event);
            true
        })
        .unwrap();
    events
}

/// Every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// The files below a folder that contain one of the needles, with the needle.
pub(crate) fn files_with(folder: &Path, needles: &[&[u8]]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut hits = Vec::new();
    for path in files(folder) {
        let bytes = fs::read(&path).unwrap();
        for needle in needles {
            if bytes.windows(needle.len()).any(|window| window == *needle) {
                hits.push((path.clone(), needle.to_vec()));
            }
        }
    }
    hits
}

/// Asserts the kind of an error and that its text contains each of the words.
pub(crate) fn check_error<T>(result: Result<T, StoreError>, kind: &str, words: &[&str]) {
    let Err(error) = result else { panic!("expected {kind}, but it worked") };
    let debug = format!("{error:?}");
    assert!(debug.starts_with(kind), "expected {kind}, got {debug}");
    for word in words {
        assert!(error.to_string().contains(word), "{word:?} is missing in: {error}");
    }
}
