//! Runs the contract of ledger stores on every implementation.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::cell::RefCell;

use quipu_engine::ports::LedgerStore;
use quipu_sqlite::{SqliteKeys, SqliteStore, SqliteUserKeys, StoreOptions};
use quipu_testkit::{MemoryKeys, MemoryStore, MemoryUserKeys, RecordingStore, contract};
use tempfile::TempDir;

#[test]
fn the_store_in_memory_keeps_the_contract() {
    contract::ledger_store(&|| Box::new(MemoryStore::new()));
    contract::sealable_store(&|| Box::new(MemoryStore::new()));
}

#[test]
fn a_recording_store_keeps_the_contract_of_the_store_it_wraps() {
    contract::ledger_store(&|| Box::new(RecordingStore::new(Box::new(MemoryStore::new()))));
}

#[test]
fn the_sqlite_store_keeps_the_contract() {
    let folders: RefCell<Vec<TempDir>> = RefCell::default();
    let make = || -> Box<dyn LedgerStore> {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
        let store = SqliteStore::open(folder.path(), options).unwrap();
        folders.borrow_mut().push(folder);
        Box::new(store)
    };
    contract::ledger_store(&make);
    contract::sealable_store(&make);
}

#[test]
fn the_store_in_memory_keeps_the_contract_of_sharing() {
    contract::shared_store(&|| {
        let store = MemoryStore::new();
        (Box::new(store.clone()), Box::new(store))
    });
}

#[test]
fn a_recording_store_keeps_the_contract_of_sharing() {
    contract::shared_store(&|| {
        let store = MemoryStore::new();
        (Box::new(RecordingStore::new(Box::new(store.clone()))), Box::new(RecordingStore::new(Box::new(store))))
    });
}

#[test]
fn the_sqlite_store_keeps_the_contract_of_sharing() {
    let folders: RefCell<Vec<TempDir>> = RefCell::default();
    contract::shared_store(&|| {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
        let open = || Box::new(SqliteStore::open(folder.path(), options.clone()).unwrap());
        let pair = (open(), open());
        folders.borrow_mut().push(folder);
        (pair.0, pair.1)
    });
}

#[test]
fn the_keys_in_memory_keep_the_contract() {
    let keys = MemoryKeys::new();
    contract::key_store(&keys, &keys.clone());
}

#[test]
fn the_sqlite_keys_keep_the_contract() {
    let folder = TempDir::new().unwrap();
    let open = || SqliteKeys::open(folder.path()).unwrap();
    contract::key_store(&open(), &open());
}

#[test]
fn the_user_keys_in_memory_keep_the_contract() {
    let keys = MemoryUserKeys::new();
    contract::user_key_store(&keys, &keys.clone());
}

#[test]
fn the_sqlite_user_keys_keep_the_contract() {
    let folder = TempDir::new().unwrap();
    let open = || SqliteUserKeys::open(&folder.path().join("user-keys.db")).unwrap();
    contract::user_key_store(&open(), &open());
}
