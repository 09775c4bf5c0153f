//! Translates errors of the server and the network into errors that say what the caller can do.

use std::error::Error as _;

use quipu_engine::ports::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// Why a transaction failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No connection could be opened, so nothing was sent.
    Unreachable {
        /// Whether it may succeed in a moment.
        is_passing: bool,
        /// What happened.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// The connection ended before the last answer. The server may have carried out the transaction, or may yet do so.
    Lost(String),
    /// The server refused a statement and rolled the transaction back.
    Refused(Error),
    /// An error of the store.
    Ours(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Ours(error)
    }
}

impl Failure {
    /// Classifies an error of a statement that was sent.
    pub(crate) fn of_statement(error: Error) -> Self {
        match error.as_db_error() {
            Some(refused) if !ends_connection(refused.code()) => Self::Refused(error),
            _ => Self::Lost(words(&error)),
        }
    }

    /// Classifies an error of opening a connection.
    pub(crate) fn of_connecting(at: &str, error: &Error) -> Self {
        let advice = match error.as_db_error() {
            None => "Check that the server runs and accepts connections there, and that sslmode in the URL suits it",
            Some(refused) => match refused.code().code() {
                "28P01" => "Check the user and the password in the URL",
                code if code.starts_with("28") => "Check the user in the URL, and pg_hba.conf on the server",
                "3D000" => "Create the database, or name another one in the URL",
                "53300" => "Raise max_connections of the server, or put a pool such as PgBouncer in front of it",
                "57P03" => "The server is starting or stopping. Try again in a moment",
                _ => "Check the URL and the log of the server",
            },
        };
        let what = error.as_db_error().map_or_else(|| words(error), |refused| refused.message().to_owned());
        let code = error.code().map(SqlState::code).unwrap_or_default();
        let is_passing = !code.starts_with("28") && code != "3D000";
        Self::Unreachable { is_passing, reason: format!("cannot connect to {at}: {what}"), advice }
    }

    /// The failure of the last attempt, after an earlier one whose outcome is unknown if `was_lost` is set.
    pub(crate) fn after(self, was_lost: bool) -> Self {
        match self {
            Self::Unreachable { reason, .. } if was_lost => Self::Lost(reason),
            failure => failure,
        }
    }

    /// Whether the outcome is unknown.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_))
    }

    /// Whether no connection could be opened at the moment.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { is_passing: true, .. })
    }

    /// Whether the server gave way to another transaction.
    pub(crate) fn is_outpaced(&self) -> bool {
        let gave_way = [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE];
        self.refusal().is_some_and(|refused| gave_way.contains(refused.code()))
    }

    /// The violated uniqueness constraint: the partition, and the name of the constraint.
    pub(crate) fn taken(&self) -> Option<(&str, &str)> {
        let refused = self.refusal().filter(|refused| *refused.code() == SqlState::UNIQUE_VIOLATION)?;
        Some((refused.table().unwrap_or_default(), refused.constraint().unwrap_or_default()))
    }

    fn refusal(&self) -> Option<&DbError> {
        match self {
            Self::Refused(error) => error.as_db_error(),
            _ => None,
        }
    }

    /// The error for the caller, of `doing` something ("append to") with the ledger of `whose` at the database `at`.
    pub(crate) fn tell(self, at: &str, doing: &str, whose: &str) -> StoreError {
        match self {
            Self::Ours(error) => error,
            Self::Unreachable { reason, advice, .. } => {
                StoreError::Unavailable(format!("{reason}. Nothing was changed. {advice}"))
            }
            Self::Lost(reason) => StoreError::Unavailable(format!(
                "could not {doing} {whose} in {at}: the connection was lost and could not be opened again ({reason}). The \
                 server may have done it all the same: look at the head before repeating it. Check the server and the network"
            )),
            Self::Refused(error) => match error.as_db_error() {
                Some(refused) => refusal(refused, &format!("could not {doing} {whose} in {at}")),
                None => StoreError::Unavailable(format!("could not {doing} {whose} in {at}: {}", words(&error))),
            },
        }
    }
}

/// Whether the server, or a pool in front of it, ends the connection with this error.
fn ends_connection(code: &SqlState) -> bool {
    code.code().starts_with("08") || code.code().starts_with("57P") || code.code() == "25P03"
}

/// An error with its causes.
fn words(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

/// The error for a refused statement.
fn refusal(refused: &DbError, failed: &str) -> StoreError {
    let message = refused.message();
    let code = refused.code().code();
    let unavailable = |why: &str| StoreError::Unavailable(format!("{failed}: {why}"));
    match code {
        "53100" => unavailable(
            "the disk of the server is full. Nothing that was acknowledged is lost and reading still works. Free space \
             there, then try again",
        ),
        "25006" => unavailable(
            "the server is read-only (a standby, or default_transaction_read_only is on). Nothing was changed. Name the \
             primary server in the URL",
        ),
        "57014" => unavailable(&format!(
            "the server stopped the statement ({message}). Nothing was changed. The server is overloaded, or another \
             transaction holds the ledger for too long. Try again",
        )),
        "55P03" | "40P01" | "40001" => {
            unavailable(&format!("another transaction was in the way ({message}). Nothing was changed. Try again"))
        }
        "53200" => unavailable(&format!(
            "the server is out of memory ({message}). Nothing was changed. If it names max_locks_per_transaction, raise \
             that setting",
        )),
        "42501" => unavailable(&format!(
            "the server does not permit it ({message}). Nothing was changed. Connect as the role that owns the schema \
             quipu; the first connection to an empty database needs the right to create a schema",
        )),
        "58030" | "58P01" | "58P02" => unavailable(&format!(
            "the server reports an error of its disk ({message}). What was acknowledged before stays. Check the server",
        )),
        "54000" | "54001" | "54023" => {
            unavailable(&format!("a value is too large for the server ({message}). Nothing was changed. Split it"))
        }
        _ if code.starts_with("53") => {
            unavailable(&format!("the server lacks resources ({message}). Nothing was changed. Try again"))
        }
        _ if code.starts_with("XX") => StoreError::Corrupt(format!(
            "{failed}: the database is damaged ({message}). Nothing was changed. Check the server's disk, and restore a \
             backup",
        )),
        _ => StoreError::Corrupt(format!(
            "{failed}: {message} (code {code}). Its tables are not those Quipu made, or hold a value that was never written \
             this way. Nothing was changed. Run a check; if it confirms the damage, restore a backup",
        )),
    }
}

/// Why an open ledger cannot be written any more.
pub(crate) fn removed() -> StoreError {
    StoreError::Removed(
        "the ledger was removed or replaced while it was open. Nothing was written. Open it again".to_owned(),
    )
}

/// A stored value that no statement of this crate wrote.
pub(crate) fn malformed(what: &str) -> StoreError {
    StoreError::Corrupt(format!(
        "the database holds {what} that was never written this way. Nothing was changed. Run a check; if it confirms the \
         damage, restore a backup"
    ))
}
