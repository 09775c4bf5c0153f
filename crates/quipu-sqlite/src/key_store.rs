//! Stores keys in a database of the folder, separate from the users' databases.
//!
//! It does not need the folder lock: keys can be created and revoked while a server runs, and other processes see a
//! commit at their next read.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::ports::{KeyStore, Scope, StoreError, StoredKey};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::connection::{Access, check_sqlite_version, climb_file, connect, settle};
use crate::data_folder::disk;
use crate::data_folder::fault;

/// SQLite's application id, "QIPR", which differs from that of ledgers.
const APPLICATION_ID: i64 = 0x5149_5052;
/// Migration steps, one for each version. Append only; never edit a released step.
const STEPS: [&str; 1] = [include_str!("sql/registry/0001_keys.sql")];
const FILE: &str = "registry.db";

/// The keys of a data folder.
#[derive(Debug)]
pub struct SqliteKeys {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteKeys {
    /// Opens the keys of a data folder. Creates the folder and an empty file if they are missing.
    ///
    /// # Errors
    /// `Unavailable` if the folder is not writable; `Corrupt` if the file is not Quipu's or is from a newer Quipu.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        check_sqlite_version()?;
        let path = folder.join(FILE);
        disk::create_folder_durably(folder).map_err(|error| fault::of_disk(folder, "create", &error))?;
        match disk::create_file(&path) {
            Ok(file) => drop(file),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fault::of_disk(&path, "create", &error)),
        }
        let mut connection = connect(&path, Access::Write)?;
        climb_file(&mut connection, &path, APPLICATION_ID, &STEPS)?;
        settle(&connection, &path, None)?;
        disk::sync_folder(folder).map_err(|error| fault::of_disk(folder, "create a file in", &error))?;
        Ok(Self { path, connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // Every use is a single statement, so a panic leaves the connection valid.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, doing: &str, error: &rusqlite::Error) -> StoreError {
        fault::of_sqlite(&self.path, doing, error)
    }
}

impl KeyStore for SqliteKeys {
    fn put(&self, key: &StoredKey) -> Result<(), StoreError> {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        let put = self.connection().execute(
            include_str!("sql/registry/put_key.sql"),
            params![
                key.id,
                key.name,
                key.digest.as_slice(),
                scopes.join(" "),
                key.user.as_ref().map(UserId::as_str),
                key.created_at.as_microsecond(),
                key.revoked_at.map(Timestamp::as_microsecond),
            ],
        );
        match put {
            Ok(_) => Ok(()),
            Err(rusqlite::Error::SqliteFailure(error, _)) if error.code == rusqlite::ErrorCode::ConstraintViolation => {
                Err(StoreError::Exists(format!("there is a key {} already", key.id)))
            }
            Err(error) => Err(self.fault("keep a key in", &error)),
        }
    }

    fn find(&self, id: &str) -> Result<Option<StoredKey>, StoreError> {
        let connection = self.connection();
        let found = connection
            .prepare_cached(include_str!("sql/registry/key.sql"))
            .and_then(|mut statement| statement.query_row([id], columns).optional())
            .map_err(|error| self.fault("read a key of", &error))?;
        found.map(|columns| self.key(columns)).transpose()
    }

    fn all(&self) -> Result<Vec<StoredKey>, StoreError> {
        let connection = self.connection();
        let fail = |error: rusqlite::Error| self.fault("read the keys of", &error);
        let mut statement = connection.prepare_cached(include_str!("sql/registry/keys.sql")).map_err(fail)?;
        let rows = statement.query_map([], columns).map_err(fail)?.collect::<rusqlite::Result<Vec<_>>>();
        rows.map_err(fail)?.into_iter().map(|columns| self.key(columns)).collect()
    }

    fn revoke(&self, id: &str, at: Timestamp) -> Result<StoredKey, StoreError> {
        let revoke = include_str!("sql/registry/revoke_key.sql");
        let changed = self.connection().execute(revoke, params![id, at.as_microsecond()]);
        changed.map_err(|error| self.fault("take back a key of", &error))?;
        self.find(id)?.ok_or_else(|| StoreError::NotFound(format!("there is no key {id}")))
    }
}

/// The unvalidated columns of a row.
struct Columns {
    id: String,
    name: String,
    digest: Vec<u8>,
    scopes: String,
    user: Option<String>,
    created_at: i64,
    revoked_at: Option<i64>,
}

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok(Columns {
        id: row.get(0)?,
        name: row.get(1)?,
        digest: row.get(2)?,
        scopes: row.get(3)?,
        user: row.get(4)?,
        created_at: row.get(5)?,
        revoked_at: row.get(6)?,
    })
}

impl SqliteKeys {
    /// Parses a row. An unreadable row is an error, since a key that lost its user would give access to all users.
    fn key(&self, columns: Columns) -> Result<StoredKey, StoreError> {
        let wrong =
            || StoreError::Corrupt(format!("{} holds a key {:?} that cannot be read", self.path.display(), columns.id));
        let time = |micros: i64| Timestamp::from_microsecond(micros).map_err(|_| wrong());
        let user = columns.user.as_deref().map(UserId::parse).transpose().map_err(|_| wrong())?;
        let scopes: Option<Vec<Scope>> = columns.scopes.split_whitespace().map(Scope::named).collect();
        Ok(StoredKey {
            digest: columns.digest.as_slice().try_into().map_err(|_| wrong())?,
            scopes: scopes.ok_or_else(wrong)?,
            user,
            created_at: time(columns.created_at)?,
            revoked_at: columns.revoked_at.map(time).transpose()?,
            id: columns.id.clone(),
            name: columns.name.clone(),
        })
    }
}
