//! Stores the users' keys in a schema of their own, which can be in another database than the ledgers.

use jiff::Timestamp;
use quipu_core::id::{EventId, UserId};
use quipu_engine::ports::{StoreError, UserKeyId, UserKeyState, UserKeyStore, WrappedKey};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::connection::{Access, Attempts, Database, PostgresOptions, Step, Value, WHOLE_STORE};
use crate::fault::malformed;
use crate::migration;
use crate::rows::column;

/// Users' keys in a database.
#[derive(Debug)]
pub struct PostgresUserKeys {
    database: Database,
}

impl PostgresUserKeys {
    /// Opens the keys in the database of a URL, and creates the schema `quipu_keys` in it if it is missing.
    ///
    /// # Errors
    /// As [`PostgresStore::open`](crate::PostgresStore::open).
    pub fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        Ok(Self { database: Database::open(url, options, &migration::USER_KEYS)? })
    }

    fn write<'a>(
        &self,
        user: &'a &'a str,
        doing: &str,
        sql: &'static str,
        values: impl IntoIterator<Item = Value<'a>>,
    ) -> Result<Vec<Row>, StoreError> {
        let values: Vec<Value<'_>> = [(user as _, Type::TEXT)].into_iter().chain(values).collect();
        let answers = self.database.repeat(Access::Write, user, doing, &[Step::new(sql, values)])?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }
}

impl UserKeyStore for PostgresUserKeys {
    fn put(&self, key: &WrappedKey, retired_by: Option<EventId>) -> Result<(), StoreError> {
        let (user, id, master) = (key.user.as_str(), key.id.as_slice(), key.master.as_slice());
        let (state, made_at) = (key.state.as_str(), key.made_at.as_microsecond());
        let mut steps = Vec::new();
        if let Some(event) = &retired_by {
            let values = [(&user as _, Type::TEXT), (event as _, Type::UUID)];
            steps.push(Step::new(include_str!("../sql/user_keys/retire.sql"), values));
        }
        steps.push(Step::new(
            include_str!("../sql/user_keys/put.sql"),
            [
                (&user as _, Type::TEXT),
                (&id as _, Type::BYTEA),
                (&state as _, Type::TEXT),
                (&key.retired_by as _, Type::UUID_ARRAY),
                (&made_at as _, Type::INT8),
                (&master as _, Type::BYTEA),
                (&key.wrapped as _, Type::BYTEA),
            ],
        ));
        let mut attempts = Attempts::default();
        loop {
            let failure = match self.database.transact(Access::Write, user, &steps) {
                Ok(_) => return Ok(()),
                Err(failure) => failure,
            };
            if failure.taken().is_some() {
                // The answer of an earlier attempt may have been lost.
                let is_same = |held: &WrappedKey| held.id == key.id && held.wrapped == key.wrapped;
                if attempts.was_lost() && self.of_user(&key.user)?.iter().any(is_same) {
                    return Ok(());
                }
                return Err(StoreError::Exists(format!("user {user} has a key with this id already")));
            }
            match attempts.after(&failure) {
                Some(pause) => self.database.pause(pause),
                None => {
                    let failure = failure.after(attempts.was_lost());
                    return Err(failure.tell(self.database.at(), "keep a key in", "the key store"));
                }
            }
        }
    }

    fn of_user(&self, user: &UserId) -> Result<Vec<WrappedKey>, StoreError> {
        let name = user.as_str();
        let step = Step::new(include_str!("../sql/user_keys/of_user.sql"), [(&name as _, Type::TEXT)]);
        let answers = self.database.repeat(Access::Read, name, "read the keys of", &[step])?;
        answers.iter().flatten().map(|row| key(user, row)).collect()
    }

    fn users(&self, state: Option<UserKeyState>) -> Result<Vec<UserId>, StoreError> {
        let state = state.map(UserKeyState::as_str);
        let step = Step::new(include_str!("../sql/user_keys/users.sql"), [(&state as _, Type::TEXT)]);
        let answers = self.database.repeat(Access::Read, WHOLE_STORE, "list the users of", &[step])?;
        let user = |row: &Row| UserId::parse(column(row, 0)?).map_err(|_| malformed("a user id"));
        answers.iter().flatten().map(user).collect()
    }

    fn mark(&self, user: &UserId, ids: &[UserKeyId], state: UserKeyState) -> Result<(), StoreError> {
        let (ids, state): (Vec<&[u8]>, _) = (ids.iter().map(<[u8; 8]>::as_slice).collect(), state.as_str());
        let values = [(&ids as _, Type::BYTEA_ARRAY), (&state as _, Type::TEXT)];
        self.write(&user.as_str(), "change the keys of", include_str!("../sql/user_keys/mark.sql"), values).map(drop)
    }

    fn rewrap(&self, from: &WrappedKey, master: [u8; 8], wrapped: &[u8]) -> Result<bool, StoreError> {
        let (id, master) = (from.id.as_slice(), master.as_slice());
        let values = [
            (&id as _, Type::BYTEA),
            (&master as _, Type::BYTEA),
            (&wrapped as _, Type::BYTEA),
            (&from.wrapped as _, Type::BYTEA),
        ];
        let sql = include_str!("../sql/user_keys/rewrap.sql");
        Ok(!self.write(&from.user.as_str(), "change a key of", sql, values)?.is_empty())
    }

    fn destroy(&self, user: &UserId, ids: &[UserKeyId]) -> Result<(), StoreError> {
        let ids: Vec<&[u8]> = ids.iter().map(<[u8; 8]>::as_slice).collect();
        let values = [(&ids as _, Type::BYTEA_ARRAY)];
        self.write(&user.as_str(), "destroy a key of", include_str!("../sql/user_keys/destroy.sql"), values).map(drop)
    }

    fn place(&self) -> String {
        format!("the schema quipu_keys of {}", self.database.at())
    }

    fn final_when(&self) -> &'static str {
        "when the database of the keys has recycled the old rows and its write-ahead log, and no backup of it from before is \
         left; or at once when the master key is changed and the previous one is destroyed"
    }
}

/// Parses a row.
fn key(user: &UserId, row: &Row) -> Result<WrappedKey, StoreError> {
    let wrong = || malformed("a user's key");
    Ok(WrappedKey {
        user: user.clone(),
        id: column::<&[u8]>(row, 0)?.try_into().map_err(|_| wrong())?,
        state: UserKeyState::named(column(row, 1)?).ok_or_else(wrong)?,
        retired_by: column(row, 2)?,
        made_at: Timestamp::from_microsecond(column(row, 3)?).map_err(|_| wrong())?,
        master: column::<&[u8]>(row, 4)?.try_into().map_err(|_| wrong())?,
        wrapped: column(row, 5)?,
    })
}
