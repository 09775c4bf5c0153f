//! What is in the files of a folder.

use std::path::Path;

use quipu_encryption::EncryptedStore;
use quipu_engine::erase::{EraseTarget, delete_user, erase};
use quipu_engine::ports::UserKeyStore;
use quipu_engine::{Engine, RecallOptions, RememberOptions, Utterance, recall, remember};
use quipu_sqlite::{SqliteStore, SqliteUserKeys, StoreOptions};
use quipu_testkit::engine;

use crate::{contains, me, user_keys};

/// Every file below a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

fn place_of(folder: &Path, text: &str) -> Option<String> {
    files(folder).into_iter().find(|(_, bytes)| contains(bytes, text)).map(|(name, _)| name)
}

struct World {
    data: tempfile::TempDir,
    keys: tempfile::TempDir,
}

impl World {
    fn engine(&self, seed: u64) -> Engine {
        let options = StoreOptions { ballast_bytes: 1 << 16, ..StoreOptions::default() };
        let inner = SqliteStore::open(self.data.path(), options).unwrap();
        let keys = user_keys(Box::new(self.key_file()), seed);
        engine(Box::new(EncryptedStore::new(Box::new(inner), keys).unwrap()))
    }

    fn key_file(&self) -> SqliteUserKeys {
        SqliteUserKeys::open(&self.keys.path().join("user-keys.db")).unwrap()
    }

    fn is_clear(&self, when: &str) {
        for text in ["canary", "Canary", "zebrafish"] {
            let found = place_of(self.data.path(), text);
            assert_eq!(found, None, "{when}: {text} is in a file");
        }
    }
}

#[test]
fn no_file_holds_a_word_of_the_memory_and_destroyed_keys_are_in_none() {
    let world = World { data: tempfile::tempdir().unwrap(), keys: tempfile::tempdir().unwrap() };
    let engine = world.engine(1);
    let say = |text: &str| remember(&engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap();
    let first = say("My canary is named Zebrafish zebrafish.");
    say("My sister Ana lives in Porto with a canary.");
    let found = recall(&engine, &me(), &RecallOptions::of("Where does Ana live?")).unwrap();
    assert!(found.hits[0].text.contains("Porto"));
    quipu_engine::backup::backup(&engine, &[me()], &world.data.path().join("backup")).unwrap();
    world.is_clear("after a checkpoint and a backup");
    let old = world.key_file().of_user(&me()).unwrap();
    let target = EraseTarget::Event(first.seq);
    let receipt = erase(&engine, &me(), &[target], "asked", &mut |_| {}).unwrap();
    let keys = receipt.keys.unwrap();
    assert!(keys.rotation.keys_destroyed == 1 && keys.rotation.changes_resealed > 0, "{keys:?}");
    assert!(keys.unreadable.contains("no backup of the key file"), "{keys:?}");
    assert_eq!(receipt.lag, None);
    world.is_clear("after an erasure");
    let left = world.key_file().of_user(&me()).unwrap();
    assert_eq!(left.len(), 1);
    let is_stored = |wrapped: &[u8]| {
        files(world.keys.path()).iter().any(|(_, bytes)| bytes.windows(24).any(|part| part == &wrapped[24..48]))
    };
    assert!(!is_stored(&old[0].wrapped) && is_stored(&left[0].wrapped));
    // The backup from before is what an erasure cannot reach: it is unreadable now.
    let backup = world.data.path().join("backup");
    let told = quipu_engine::backup::restore(&engine, &backup, None, true).unwrap_err().to_string();
    assert!(told.contains("destroyed"), "{told}");
    let found = recall(&engine, &me(), &RecallOptions::of("Where does Ana live?")).unwrap();
    assert!(found.hits[0].text.contains("Porto"));
    let receipt = delete_user(&engine, &me()).unwrap();
    assert!(receipt.cleaned.contains(&"user keys"));
    assert!(receipt.unreadable.unwrap().contains("final when no backup of the key file"));
    assert!(!is_stored(&left[0].wrapped));
    world.is_clear("after a deletion");
}
