//! The handle on one user's ledger: which rows are its own, and how statements reach them.

use std::sync::Arc;

use quipu_core::event::Hash;
use quipu_core::id::UserId;
use quipu_engine::ports::{Head, StoreError};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::connection::{Access, Answers, Database, Step, Value, whose};
use crate::fault::{Failure, malformed, removed};

/// The `state` of a ledger that was set aside.
pub(crate) const ASIDE: i32 = 2;

/// The open ledger of one user. It has no connection of its own: each call takes one for its transaction.
#[derive(Debug, Clone)]
pub(crate) struct PostgresLedger {
    pub(crate) database: Arc<Database>,
    pub(crate) user: UserId,
    /// The user as a value of statements.
    name: String,
    /// Tells this ledger from an earlier or later one of the user. Every statement asks for it.
    pub(crate) fence: Uuid,
}

impl PostgresLedger {
    pub(crate) fn new(database: &Arc<Database>, user: &UserId, fence: Uuid) -> Self {
        Self { database: Arc::clone(database), user: user.clone(), name: user.to_string(), fence }
    }

    /// The first two values of every statement.
    pub(crate) fn key(&self) -> [Value<'_>; 2] {
        [(&self.name, Type::TEXT), (&self.fence, Type::UUID)]
    }

    /// A statement of this ledger, with further values.
    pub(crate) fn step<'a>(&'a self, sql: &'static str, values: impl IntoIterator<Item = Value<'a>>) -> Step<'a> {
        Step::new(sql, self.key().into_iter().chain(values).collect::<Vec<_>>())
    }

    /// Runs a transaction that may be repeated.
    pub(crate) fn repeat(&self, access: Access, doing: &str, steps: &[Step<'_>]) -> Result<Answers, StoreError> {
        self.database.repeat(access, self.user.as_str(), doing, steps)
    }

    /// The rows of one statement that reads.
    pub(crate) fn rows<'a>(
        &'a self,
        sql: &'static str,
        values: impl IntoIterator<Item = Value<'a>>,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(self.repeat(Access::Read, "read", &[self.step(sql, values)])?.pop().unwrap_or_default())
    }

    pub(crate) fn tell(&self, doing: &str, failure: Failure) -> StoreError {
        failure.tell(self.database.at(), doing, &whose(self.user.as_str()))
    }

    /// The head, unless the ledger was removed or set aside.
    pub(crate) fn live_head(&self) -> Result<Head, StoreError> {
        match self.stored_head()? {
            Some(head) if !head.is_aside => Ok(head.head),
            _ => Err(removed()),
        }
    }

    /// The head, if the ledger is there.
    pub(crate) fn stored_head(&self) -> Result<Option<StoredHead>, StoreError> {
        read_head(&self.database, Access::Read, "read", &self.name, &self.fence)
    }
}

/// The head of a ledger that may be set aside.
pub(crate) struct StoredHead {
    pub(crate) head: Head,
    pub(crate) is_aside: bool,
}

/// Reads the head of a ledger in one message; `None` if there is no such ledger.
pub(crate) fn read_head(
    database: &Database,
    access: Access,
    doing: &str,
    user: &str,
    fence: &Uuid,
) -> Result<Option<StoredHead>, StoreError> {
    let fence = fence.to_string();
    let statement = (include_str!("sql/head.sql"), [user, &fence]);
    let Some(row) = database.row(access, user, doing, (statement.0, &statement.1))? else { return Ok(None) };
    let text = |column: usize| row.try_get(column).ok().flatten().unwrap_or_default();
    let seq = text(0).parse().map_err(|_| malformed("a position"))?;
    let hash = Hash::from_hex(text(1)).map_err(|_| malformed("a hash"))?;
    let state: i32 = text(2).parse().map_err(|_| malformed("a state"))?;
    Ok(Some(StoredHead { head: Head { seq, hash }, is_aside: state == ASIDE }))
}
