//! The contract of stores, on encrypted ones.

use std::cell::{Cell, RefCell};

use quipu_encryption::EncryptedStore;
use quipu_engine::ports::LedgerStore;
use quipu_sqlite::{SqliteStore, StoreOptions};
use quipu_testkit::{MemoryStore, MemoryUserKeys, contract};
use tempfile::TempDir;

use crate::encrypted;

fn options() -> StoreOptions {
    StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() }
}

#[test]
fn an_encrypted_store_in_memory_keeps_the_contract() {
    let (keys, seed) = (MemoryUserKeys::new(), Cell::new(0));
    contract::ledger_store(&|| {
        seed.set(seed.get() + 1);
        Box::new(encrypted(Box::new(MemoryStore::new()), &keys, seed.get()))
    });
}

#[test]
fn an_encrypted_store_in_memory_keeps_the_contract_of_sharing() {
    let seed = Cell::new(0);
    contract::shared_store(&|| {
        let (store, keys) = (MemoryStore::new(), MemoryUserKeys::new());
        seed.set(seed.get() + 2);
        let open = |seed| Box::new(encrypted(Box::new(store.clone()), &keys, seed));
        (open(seed.get()), open(seed.get() + 1))
    });
}

#[test]
fn an_encrypted_sqlite_store_keeps_the_contract() {
    let folders: RefCell<Vec<TempDir>> = RefCell::default();
    let (keys, seed) = (MemoryUserKeys::new(), Cell::new(0));
    contract::ledger_store(&|| -> Box<dyn LedgerStore> {
        let folder = TempDir::new().unwrap();
        let store = SqliteStore::open(folder.path(), options()).unwrap();
        folders.borrow_mut().push(folder);
        seed.set(seed.get() + 1);
        Box::new(encrypted(Box::new(store), &keys, seed.get()))
    });
}

#[test]
fn an_encrypted_sqlite_store_keeps_the_contract_of_sharing() {
    let folders: RefCell<Vec<TempDir>> = RefCell::default();
    let seed = Cell::new(0);
    contract::shared_store(&|| {
        let folder = TempDir::new().unwrap();
        let keys = MemoryUserKeys::new();
        seed.set(seed.get() + 2);
        let open = |seed| {
            let store = SqliteStore::open(folder.path(), options()).unwrap();
            Box::new(encrypted(Box::new(store), &keys, seed))
        };
        let pair = (open(seed.get()), open(seed.get() + 1));
        folders.borrow_mut().push(folder);
        (pair.0, pair.1)
    });
}

#[test]
fn a_store_whose_encryption_is_off_keeps_the_contract() {
    contract::ledger_store(&|| Box::new(EncryptedStore::off(Box::new(MemoryStore::new()))));
}
