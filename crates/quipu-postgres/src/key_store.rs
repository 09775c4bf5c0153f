//! Stores access keys in a table of the database, separate from the users' rows.

use std::sync::Arc;

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::ports::{KeyStore, Scope, StoreError, StoredKey};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Access, Attempts, Database, PostgresOptions, Step, WHOLE_STORE, whose};
use crate::fault::{Failure, malformed};
use crate::migration;
use crate::rows::column;

/// The access keys of a database.
#[derive(Debug)]
pub struct PostgresKeys {
    database: Arc<Database>,
}

impl PostgresKeys {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self { database }
    }

    /// Opens the keys of the database of a URL.
    ///
    /// # Errors
    /// As [`PostgresStore::open`](crate::PostgresStore::open).
    pub fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        Ok(Self::new(Arc::new(Database::open(url, options, &migration::LEDGERS)?)))
    }

    fn rows(&self, access: Access, doing: &str, step: Step<'_>) -> Result<Vec<Row>, StoreError> {
        Ok(self.database.repeat(access, WHOLE_STORE, doing, &[step])?.pop().unwrap_or_default())
    }
}

impl KeyStore for PostgresKeys {
    fn put(&self, key: &StoredKey) -> Result<(), StoreError> {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        let (digest, scopes) = (key.digest.as_slice(), scopes.join(" "));
        let user = key.user.as_ref().map(UserId::as_str);
        let (created_at, revoked_at) = (key.created_at.as_microsecond(), key.revoked_at.map(Timestamp::as_microsecond));
        let step = Step::new(
            include_str!("sql/keys/put_key.sql"),
            [
                (&key.id as _, Type::TEXT),
                (&key.name as _, Type::TEXT),
                (&digest as _, Type::BYTEA),
                (&scopes as _, Type::TEXT),
                (&user as _, Type::TEXT),
                (&created_at as _, Type::INT8),
                (&revoked_at as _, Type::INT8),
            ],
        );
        let steps = [step];
        let mut attempts = Attempts::default();
        let tell = |failure: Failure, was_lost: bool| {
            failure.after(was_lost).tell(self.database.at(), "keep a key in", &whose(WHOLE_STORE))
        };
        loop {
            let failure = match self.database.transact(Access::Write, WHOLE_STORE, &steps) {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            if failure.taken().is_some() {
                // The answer of an earlier attempt may have been lost.
                if attempts.was_lost()
                    && self.find(&key.id).map_err(|error| tell(error.into(), true))?.as_ref() == Some(key)
                {
                    return Ok(());
                }
                return Err(StoreError::Exists(format!("there is a key {} already", key.id)));
            }
            match attempts.after(&failure) {
                Some(pause) => self.database.pause(pause),
                None => {
                    return Err(tell(failure, attempts.was_lost()));
                }
            }
        }
    }

    fn find(&self, id: &str) -> Result<Option<StoredKey>, StoreError> {
        let step = Step::new(include_str!("sql/keys/key.sql"), [(&id as _, Type::TEXT)]);
        self.rows(Access::Read, "read a key of", step)?.first().map(key).transpose()
    }

    fn all(&self) -> Result<Vec<StoredKey>, StoreError> {
        self.rows(Access::Read, "read the keys of", Step::new(include_str!("sql/keys/keys.sql"), []))?
            .iter()
            .map(key)
            .collect()
    }

    fn revoke(&self, id: &str, at: Timestamp) -> Result<StoredKey, StoreError> {
        let at = at.as_microsecond();
        let step = Step::new(include_str!("sql/keys/revoke_key.sql"), [(&id as _, Type::TEXT), (&at as _, Type::INT8)]);
        let rows = self.rows(Access::Write, "take back a key of", step)?;
        rows.first().map(key).transpose()?.ok_or_else(|| StoreError::NotFound(format!("there is no key {id}")))
    }
}

/// Parses a row. An unreadable row is an error, since a key that lost its user would give access to all users.
fn key(row: &Row) -> Result<StoredKey, StoreError> {
    let wrong = || malformed("an access key");
    let time = |micros: i64| Timestamp::from_microsecond(micros).map_err(|_| wrong());
    let user: Option<&str> = column(row, 4)?;
    let scopes: Option<Vec<Scope>> = column::<&str>(row, 3)?.split_whitespace().map(Scope::named).collect();
    Ok(StoredKey {
        id: column(row, 0)?,
        name: column(row, 1)?,
        digest: column::<&[u8]>(row, 2)?.try_into().map_err(|_| wrong())?,
        scopes: scopes.ok_or_else(wrong)?,
        user: user.map(UserId::parse).transpose().map_err(|_| wrong())?,
        created_at: time(column(row, 5)?)?,
        revoked_at: column::<Option<i64>>(row, 6)?.map(time).transpose()?,
    })
}
