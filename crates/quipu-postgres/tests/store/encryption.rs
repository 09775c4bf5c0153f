//! Encrypted ledgers in PostgreSQL: what is in the server's files, and keys that several servers share.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quipu_core::event::ChangeRef;
use quipu_core::ledger::SealedEvent;
use quipu_encryption::{EncryptedStore, MasterKeys, UserKeys, new_master_key, rewrap};
use quipu_engine::ports::{Checkpoint, LedgerStore, Projection, StoreError, UserKeyStore, UserLedger, WrappedKey};
use quipu_postgres::{PostgresOptions, PostgresUserKeys};
use quipu_testkit::{FixedClock, MemoryStore, MemoryUserKeys, Sample, SeededEntropy, contract};

use crate::server::{Admin, bare_database, database, everything, me, open, server, url};

fn keys_in(database: &str) -> PostgresUserKeys {
    PostgresUserKeys::open(&url(server().port, database), PostgresOptions::default()).unwrap()
}

/// Master keys of the seeds, the first one first.
fn user_keys(store: Box<dyn UserKeyStore>, masters: &[u64], seed: u64) -> UserKeys {
    let text: Vec<String> =
        masters.iter().map(|seed| new_master_key(&SeededEntropy::new(*seed)).as_str().to_owned()).collect();
    UserKeys {
        store,
        masters: MasterKeys::from_text(&text.join("\n"), "the test").unwrap(),
        clock: Arc::new(FixedClock::new()),
        entropy: Arc::new(SeededEntropy::new(seed)),
    }
}

/// A server on a database, whose keys are in another one.
fn encrypted(database: &str, keys: &str, seed: u64) -> EncryptedStore {
    let keys = user_keys(Box::new(keys_in(keys)), &[900], seed);
    EncryptedStore::new(Box::new(open(database)), Arc::new(keys)).unwrap()
}

#[test]
fn an_encrypted_postgres_store_keeps_the_contract() {
    let (keys, seed) = (bare_database(), Cell::new(0));
    contract::ledger_store(&|| {
        seed.set(seed.get() + 1);
        Box::new(encrypted(&database(), &keys, seed.get()))
    });
}

#[test]
fn an_encrypted_postgres_store_keeps_the_contract_of_sharing() {
    let seed = Cell::new(0);
    contract::shared_store(&|| {
        // The keys are in the database of the ledgers.
        let database = database();
        seed.set(seed.get() + 2);
        (
            Box::new(encrypted(&database, &database, seed.get())),
            Box::new(encrypted(&database, &database, seed.get() + 1)),
        )
    });
}

/// Files of the server that contain a text: the write-ahead log, and what belongs to these databases or to all.
fn files_with(databases: &[&str], text: &str) -> Vec<PathBuf> {
    let mut admin = Admin::connect(server(), "postgres");
    admin.run("CHECKPOINT");
    let data = server().authority.parent().unwrap().join("data");
    let mut folders = vec![data.join("pg_wal"), data.join("global"), data.join("log"), data.join("pg_xact")];
    for name in databases {
        let oid = admin.rows(&format!("SELECT oid FROM pg_database WHERE datname = '{name}'"));
        folders.push(data.join("base").join(&oid[0][0]));
    }
    let mut found = Vec::new();
    folders.iter().for_each(|folder| search(folder, text.as_bytes(), &mut found));
    found
}

fn search(folder: &Path, text: &[u8], found: &mut Vec<PathBuf>) {
    // The server may remove files meanwhile.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            search(&path, text, found);
        } else if memchr::memmem::find(&fs::read(&path).unwrap_or_default(), text).is_some() {
            found.push(path);
        }
    }
}

fn at(seq: u64) -> ChangeRef {
    ChangeRef { seq, index: 0 }
}

/// Everything that an engine writes, with the canary in each.
fn fill(ledger: &mut dyn UserLedger, canary: &str) -> Sample {
    let mut sample = Sample::new(&me(), 7);
    let events: Vec<SealedEvent> = (0..20).map(|n| sample.say(&format!("{canary} {n}")).unwrap()).collect();
    ledger.append(0, &events).unwrap();
    let projection = Projection { seq: 20, tag: "t".to_owned(), bytes: format!("index {canary}").into_bytes() };
    ledger
        .checkpoint(&Checkpoint {
            snapshot: Some((20, format!("memory {canary}").into_bytes())),
            snapshots_kept: 1,
            projections: vec![("recall", projection)],
            clear_vectors: false,
            level: 20,
            lease: None,
        })
        .unwrap();
    ledger.put_vectors(20, "t", &[([1; 16], format!("vector {canary}").into_bytes())]).unwrap();
    sample
}

/// The keys that a query found, for many attempts.
fn copy_of(found: &[WrappedKey]) -> Box<dyn UserKeyStore> {
    let keys = MemoryUserKeys::new();
    keys.replace(found.to_vec());
    Box::new(keys)
}

/// Whether stored events can be opened with the keys of a store.
fn opens(stored: &[SealedEvent], keys: Box<dyn UserKeyStore>, masters: &[u64]) -> bool {
    let elsewhere = MemoryStore::new();
    elsewhere.open(&me(), true).unwrap().append(0, stored).unwrap();
    let store = EncryptedStore::new(Box::new(elsewhere), Arc::new(user_keys(keys, masters, 77))).unwrap();
    let mut ledger = store.open(&me(), false).unwrap();
    ledger.read(1..=u64::MAX >> 1, &mut |_| true).is_ok()
}

/// Events, each as the first of a ledger of its own.
fn singly(events: &[SealedEvent]) -> impl Iterator<Item = Vec<SealedEvent>> {
    events.iter().map(|event| vec![SealedEvent { seq: 1, ..event.clone() }])
}

#[test]
fn no_file_of_the_server_ever_holds_a_word_and_what_is_left_of_the_erased_cannot_be_opened() {
    let canary = "turquoise-zebrafish-of-the-encrypted";
    // Without encryption the search finds it: in the tables and in the write-ahead log.
    let plain = "crimson-zebrafish-in-the-clear";
    let in_the_clear = database();
    fill(open(&in_the_clear).open(&me(), true).unwrap().as_mut(), plain);
    let found = files_with(&[&in_the_clear], plain);
    assert!(found.iter().any(|path| path.components().any(|part| part.as_os_str() == "pg_wal")), "{found:?}");
    assert!(found.iter().any(|path| path.components().any(|part| part.as_os_str() == "base")), "{found:?}");

    let (ledgers, keys) = (database(), bare_database());
    let store = encrypted(&ledgers, &keys, 1);
    let mut ledger = store.open(&me(), true).unwrap();
    let mut sample = fill(ledger.as_mut(), canary);
    assert_eq!(files_with(&[&ledgers, &keys], canary), Vec::<PathBuf>::new());
    let raw = || everything(open(&ledgers).open(&me(), false).unwrap().as_mut());
    let old = raw();
    let key_before = keys_in(&keys).of_user(&me()).unwrap();
    assert!(opens(&old, Box::new(keys_in(&keys)), &[900]));

    // After the erasure of an item, nothing that was stored before can be opened with the keys that are left.
    ledger.erase(20, &[at(3)], &sample.erase(&[at(3)]).unwrap()).unwrap();
    let done = ledger.finish_erasures().unwrap().unwrap();
    assert_eq!((done.changes_resealed, done.keys_destroyed), (19, 1));
    let key_after = keys_in(&keys).of_user(&me()).unwrap();
    assert_eq!(key_after.len(), 1);
    for event in singly(&old) {
        assert!(!opens(&event, copy_of(&key_after), &[900]));
    }
    let left = everything(ledger.as_mut());
    assert_eq!(left.len(), 21);
    assert!(left.iter().all(|event| (event.seq == 3) == event.changes[0].bytes.is_none()));
    assert_eq!(files_with(&[&ledgers, &keys], canary), Vec::<PathBuf>::new());

    // The destroyed key may still be in the files of the database of the keys. Changing the master key ends that.
    let taken_from_a_page = || copy_of(&key_before);
    assert!(opens(&old, taken_from_a_page(), &[900]));
    assert_eq!(rewrap(&user_keys(Box::new(keys_in(&keys)), &[901, 900], 5)).unwrap().keys, 1);
    assert!(!opens(&old, taken_from_a_page(), &[901]));
    assert!(opens(
        &raw()[3..4].iter().map(|e| SealedEvent { seq: 1, ..e.clone() }).collect::<Vec<_>>(),
        Box::new(keys_in(&keys)),
        &[901]
    ));

    // After the deletion of the user, nothing can be opened.
    let last = raw();
    let keys_now = user_keys(Box::new(keys_in(&keys)), &[901], 6);
    EncryptedStore::new(Box::new(open(&ledgers)), Arc::new(keys_now)).unwrap().remove(&me(), None).unwrap();
    assert_eq!(keys_in(&keys).of_user(&me()).unwrap(), []);
    for event in singly(&old).chain(singly(&last)).filter(|event| event[0].changes[0].bytes.is_some()) {
        assert!(!opens(&event, copy_of(&[]), &[901]));
    }
    assert_eq!(files_with(&[&ledgers, &keys], canary), Vec::<PathBuf>::new());
}

#[test]
fn a_server_follows_a_key_that_another_server_changed() {
    let (ledgers, keys) = (database(), bare_database());
    let (one, two) = (encrypted(&ledgers, &keys, 1), encrypted(&ledgers, &keys, 2));
    let mut sample = Sample::new(&me(), 8);
    let mut open_here = one.open(&me(), true).unwrap();
    for n in 0..3 {
        open_here.append(n, &[sample.say("something").unwrap()]).unwrap();
    }
    let late = sample.clone().say("late").unwrap();
    let mut there = two.open(&me(), false).unwrap();
    there.erase(3, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    there.finish_erasures().unwrap().unwrap();
    assert!(matches!(open_here.append(3, &[late]), Err(StoreError::Conflict { .. })));
    let next = sample.say("next").unwrap();
    open_here.append(4, std::slice::from_ref(&next)).unwrap();
    assert_eq!(everything(there.as_mut())[4], next);
    assert_eq!(everything(open_here.as_mut()), everything(there.as_mut()));
    assert_eq!(keys_in(&keys).of_user(&me()).unwrap().len(), 1);
}
