//! The key file: its permissions, its content, and rejected files.

use std::fs;
use std::sync::Arc;

use quipu_engine::keys::Keys;
use quipu_engine::ports::{Clock, Entropy, Scope, StoreError};
use quipu_sqlite::{SqliteKeys, SqliteStore, StoreOptions};

/// A clock that does not advance, and entropy that counts up.
struct Machine;

impl Clock for Machine {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::UNIX_EPOCH
    }
}

impl Entropy for Machine {
    fn fill(&self, bytes: &mut [u8]) {
        (7u8..).zip(bytes).for_each(|(value, byte)| *byte = value);
    }
}

#[test]
fn keys_are_made_while_the_folder_is_held_and_no_file_holds_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let _held = SqliteStore::open(folder.path(), StoreOptions { ballast_bytes: 0, ..StoreOptions::default() }).unwrap();
    let store = Arc::new(SqliteKeys::open(folder.path()).unwrap());
    let keys = Keys::new(store, Arc::new(Machine), Arc::new(Machine));
    let made = keys.create("phone", &[Scope::Write, Scope::Read, Scope::Read], None).unwrap();
    assert_eq!(made.shown.scopes, [Scope::Read, Scope::Write]);
    let holder = keys.holder(&made.key).unwrap().unwrap();
    assert!(holder.may(Scope::Read) && !holder.may(Scope::Admin));
    let secret = made.key.rsplit('_').next().unwrap();
    let mut files = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("registry.db") {
            files += 1;
            let bytes = fs::read(&path).unwrap();
            assert!(!bytes.windows(secret.len()).any(|at| at == secret.as_bytes()), "{path:?}");
            #[cfg(unix)]
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o77, 0);
        }
    }
    assert!(files >= 1);
    assert!(!format!("{made:?}").contains(secret), "nor does a log line");
    let last = if made.key.ends_with('0') { "1" } else { "0" };
    let near = format!("{}{last}", &made.key[..made.key.len() - 1]);
    assert_eq!(keys.holder(&near).unwrap(), None);
    assert!(keys.has_any().unwrap());
    keys.revoke(&made.shown.id).unwrap();
    assert_eq!(keys.holder(&made.key).unwrap(), None);
    assert!(!keys.has_any().unwrap());
}

#[test]
fn a_foreign_a_newer_and_a_damaged_file_are_left_alone() {
    for (what, sql) in [
        ("foreign", "CREATE TABLE a (b); PRAGMA user_version = 1"),
        ("newer", "PRAGMA application_id = 0x51495052; PRAGMA user_version = 99"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("registry.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(matches!(SqliteKeys::open(folder.path()), Err(StoreError::Corrupt(_))), "{what}");
        assert_eq!(fs::read(&path).unwrap(), before, "{what}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("registry.db"), "no database at all, but long enough to be looked at".repeat(20))
        .unwrap();
    assert!(SqliteKeys::open(folder.path()).is_err());
    // A damaged row gives no access.
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteKeys::open(folder.path()).unwrap());
    let keys = Keys::new(store, Arc::new(Machine), Arc::new(Machine));
    let made = keys.create("a", &[Scope::Read], None).unwrap();
    let file = rusqlite::Connection::open(folder.path().join("registry.db")).unwrap();
    file.execute_batch("UPDATE key SET scopes = 'everything'").unwrap();
    assert!(keys.holder(&made.key).is_err());
}
