//! Stores the users' keys in a database file of its own, which can be on another disk than the ledgers and be backed up
//! differently.
//!
//! A destroyed key is overwritten where it is, and the write-ahead log is emptied. If that fails because another process
//! reads at the moment, the mark `scrub` stays, and the next opening or destruction repeats it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quipu_core::id::{EventId, UserId};
use quipu_engine::ports::{StoreError, UserKeyId, UserKeyState, UserKeyStore, WrappedKey};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::connection::{self, Access, check_sqlite_version, connect, meta, settle};
use crate::data_folder::disk;
use crate::data_folder::fault::{self, Failure};

/// SQLite's application id, "QIPK", which differs from that of ledgers.
const APPLICATION_ID: i64 = 0x5149_504B;
/// Migration steps, one for each version. Append only; never edit a released step.
const STEPS: [&str; 1] = [include_str!("../sql/user_keys/0001_user_keys.sql")];

/// Users' keys in a file.
#[derive(Debug)]
pub struct SqliteUserKeys {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteUserKeys {
    /// Opens a key file, and creates it with its folder if it is missing.
    ///
    /// # Errors
    /// `Unavailable` if it is not writable; `Corrupt` if it is not a key file, or is from a newer Quipu.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        check_sqlite_version()?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        disk::create_folder(folder).map_err(|error| fault::of_disk(folder, "create", &error))?;
        match disk::create_file(path) {
            Ok(file) => drop(file),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fault::of_disk(path, "create", &error)),
        }
        let mut connection = connect(path, Access::Write)?;
        connection::climb_file(&mut connection, path, APPLICATION_ID, &STEPS)?;
        settle(&connection, path, None)?;
        disk::sync_folder(folder).map_err(|error| fault::of_disk(folder, "create a file in", &error))?;
        let keys = Self { path: path.to_owned(), connection: Mutex::new(connection) };
        // If another process keeps the log from being emptied, the next destruction tries again.
        let _ = keys.scrub_if_pending();
        Ok(keys)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic rolls the transaction back, which leaves the connection valid.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let done = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok::<T, Failure>(done)
        })();
        done.map_err(|failure| failure.tell(&self.path, doing))
    }

    /// Empties the write-ahead log if a destroyed key may be in it.
    fn scrub_if_pending(&self) -> Result<(), StoreError> {
        let connection = self.connection();
        let fail = |error: rusqlite::Error| fault::of_sqlite(&self.path, "clean", &error);
        let pending = connection.query_row(include_str!("../sql/meta.sql"), [meta::SCRUB], |_| Ok(()));
        if pending.optional().map_err(fail)?.is_none() {
            return Ok(());
        }
        if !connection::empty_log(&connection).map_err(fail)? {
            return Err(StoreError::Unavailable(format!(
                "the key is destroyed, but another process is reading and {} may still hold it. It is cleaned when the key file is \
                 opened next or the next key is destroyed",
                disk::beside(&self.path, "-wal").display()
            )));
        }
        connection.execute(include_str!("../sql/drop_meta.sql"), [meta::SCRUB]).map_err(fail)?;
        Ok(())
    }

    /// Parses a row.
    fn key(&self, user: &UserId, row: &Row<'_>) -> rusqlite::Result<Result<WrappedKey, StoreError>> {
        let wrong =
            || StoreError::Corrupt(format!("{} holds a key of {user} that cannot be read", self.path.display()));
        let state: String = row.get(1)?;
        let (Some(state), Ok(made_at)) = (UserKeyState::named(&state), Timestamp::from_microsecond(row.get(3)?)) else {
            return Ok(Err(wrong()));
        };
        let events: String = row.get(2)?;
        let events = events.as_bytes().chunks(32).map(|event| EventId::try_parse_ascii(event).ok());
        let Some(retired_by) = events.collect::<Option<Vec<EventId>>>() else { return Ok(Err(wrong())) };
        Ok(Ok(WrappedKey {
            user: user.clone(),
            id: row.get(0)?,
            state,
            retired_by,
            made_at,
            master: row.get(4)?,
            wrapped: row.get(5)?,
        }))
    }
}

impl UserKeyStore for SqliteUserKeys {
    fn put(&self, key: &WrappedKey, retired_by: Option<EventId>) -> Result<(), StoreError> {
        self.write("keep a key in", |transaction| {
            if let Some(event) = retired_by {
                transaction.execute(
                    include_str!("../sql/user_keys/retire.sql"),
                    params![key.user.as_str(), event.simple().to_string()],
                )?;
            }
            let place: i64 = transaction.query_row(
                include_str!("../sql/user_keys/put_secret.sql"),
                params![key.master, key.wrapped],
                |row| row.get(0),
            )?;
            let put = transaction.execute(
                include_str!("../sql/user_keys/put_key.sql"),
                params![
                    key.user.as_str(),
                    key.id,
                    key.state.as_str(),
                    key.retired_by.iter().map(|event| event.simple().to_string()).collect::<String>(),
                    key.made_at.as_microsecond(),
                    place
                ],
            );
            match put {
                Ok(_) => Ok(()),
                Err(rusqlite::Error::SqliteFailure(error, _))
                    if error.code == rusqlite::ErrorCode::ConstraintViolation =>
                {
                    Err(StoreError::Exists(format!("user {} has a key with this id already", key.user)).into())
                }
                Err(error) => Err(error.into()),
            }
        })
    }

    fn of_user(&self, user: &UserId) -> Result<Vec<WrappedKey>, StoreError> {
        let connection = self.connection();
        let fail = |error: rusqlite::Error| fault::of_sqlite(&self.path, "read the keys of", &error);
        let mut query = connection.prepare_cached(include_str!("../sql/user_keys/of_user.sql")).map_err(fail)?;
        let rows = query.query_map([user.as_str()], |row| self.key(user, row)).map_err(fail)?;
        rows.map(|row| row.map_err(fail)?).collect()
    }

    fn users(&self, state: Option<UserKeyState>) -> Result<Vec<UserId>, StoreError> {
        let connection = self.connection();
        let fail = |error: rusqlite::Error| fault::of_sqlite(&self.path, "list the users of", &error);
        let mut query = connection.prepare_cached(include_str!("../sql/user_keys/users.sql")).map_err(fail)?;
        let rows = query.query_map([state.map(UserKeyState::as_str)], |row| row.get::<_, String>(0)).map_err(fail)?;
        let user = |name: rusqlite::Result<String>| {
            let name = name.map_err(fail)?;
            UserId::parse(&name)
                .map_err(|_| StoreError::Corrupt(format!("{} holds a key of no user", self.path.display())))
        };
        rows.map(user).collect()
    }

    fn mark(&self, user: &UserId, ids: &[UserKeyId], state: UserKeyState) -> Result<(), StoreError> {
        self.write("change the keys of", |transaction| {
            for id in ids {
                let values = params![user.as_str(), id, state.as_str()];
                transaction.execute(include_str!("../sql/user_keys/mark.sql"), values)?;
            }
            Ok(())
        })
    }

    fn rewrap(&self, from: &WrappedKey, master: [u8; 8], wrapped: &[u8]) -> Result<bool, StoreError> {
        self.write("change a key of", |transaction| {
            let changed = transaction.execute(
                include_str!("../sql/user_keys/rewrap.sql"),
                params![from.user.as_str(), from.id, master, wrapped, from.wrapped],
            )?;
            transaction.execute(include_str!("../sql/put_meta.sql"), [meta::SCRUB, "pending"])?;
            Ok(changed > 0)
        })
    }

    fn destroy(&self, user: &UserId, ids: &[UserKeyId]) -> Result<(), StoreError> {
        self.write("destroy a key of", |transaction| {
            for id in ids {
                let values = params![user.as_str(), id];
                transaction.execute(include_str!("../sql/user_keys/overwrite.sql"), values)?;
                transaction.execute(include_str!("../sql/user_keys/drop_key.sql"), values)?;
            }
            transaction.execute(include_str!("../sql/put_meta.sql"), [meta::SCRUB, "pending"])?;
            Ok(())
        })?;
        self.scrub_if_pending()
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn final_when(&self) -> &'static str {
        "when no backup of the key file from before is left"
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn key(user: &str, number: u8) -> WrappedKey {
        // No part of one is a part of another.
        let mut wrapped = vec![0; 72];
        blake3::Hasher::new().update(&[number]).finalize_xof().fill(&mut wrapped);
        WrappedKey {
            user: UserId::parse(user).unwrap(),
            id: [number; 8],
            state: UserKeyState::Active,
            retired_by: Vec::new(),
            made_at: Timestamp::UNIX_EPOCH,
            master: [1; 8],
            wrapped,
        }
    }

    /// Every file of the store: the database and those beside it.
    fn bytes(path: &Path) -> Vec<u8> {
        let ends = ["", "-wal", "-shm", "-journal"];
        ends.iter().flat_map(|end| std::fs::read(disk::beside(path, end)).unwrap_or_default()).collect()
    }

    fn holds(path: &Path, key: &WrappedKey) -> bool {
        bytes(path).windows(16).any(|part| part == &key.wrapped[20..36])
    }

    #[test]
    fn a_destroyed_key_is_in_no_file_and_its_row_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys/user-keys.db");
        let (keys, other) = (SqliteUserKeys::open(&path).unwrap(), SqliteUserKeys::open(&path).unwrap());
        // More than one page, destroyed in another order, so that rows would move.
        let all: Vec<WrappedKey> = (1..=120).map(|number| key(&format!("user-{number}"), number)).collect();
        all.iter().for_each(|key| keys.put(key, None).unwrap());
        assert!(all.iter().all(|key| holds(&path, key)));
        for at in (0..120).step_by(2).chain((1..120).rev().step_by(3)) {
            let gone = &all[at];
            other.destroy(&gone.user, &[gone.id]).unwrap();
        }
        for (at, key) in all.iter().enumerate() {
            let is_kept = !keys.of_user(&key.user).unwrap().is_empty();
            assert_eq!(holds(&path, key), is_kept, "key {at}");
        }
        let before = std::fs::metadata(&path).unwrap().len();
        for number in 1..=70 {
            let again = key(&format!("again-{number}"), number);
            if keys.of_user(&again.user).unwrap().is_empty() {
                keys.put(&again, None).unwrap();
            }
        }
        drop((keys, other));
        assert!(std::fs::metadata(&path).unwrap().len() <= before + (3 << 12), "rows of destroyed keys are used again");
    }

    #[test]
    fn a_reader_that_keeps_the_log_is_reported_and_the_next_destruction_empties_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("user-keys.db");
        let keys = SqliteUserKeys::open(&path).unwrap();
        let (first, second) = (key("one", 1), key("two", 2));
        keys.put(&first, None).unwrap();
        keys.put(&second, None).unwrap();
        let reader = connect(&path, Access::Share).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM key", [], |_| Ok(())).unwrap();
        let told = keys.destroy(&first.user, &[first.id]).unwrap_err().to_string();
        assert!(told.contains("-wal") && keys.of_user(&first.user).unwrap().is_empty(), "{told}");
        assert!(holds(&path, &first));
        reader.execute_batch("COMMIT").unwrap();
        keys.destroy(&first.user, &[]).unwrap();
        assert!(!holds(&path, &first) && holds(&path, &second));
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        drop(crate::SqliteKeys::open(folder.path()).unwrap());
        let told = SqliteUserKeys::open(&folder.path().join("registry.db")).unwrap_err();
        assert!(matches!(&told, StoreError::Corrupt(text) if text.contains("another")), "{told}");
    }
}
