//! Translates errors of the server and the network into errors that say what the caller can do.

use std::error::Error as _;

use quipu_engine::ports::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

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
            Some(refused) if !ends_connection(refused) => Self::Refused(error),
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

    /// The failure of the last attempt, after an earlier one whose outcome is unknown if `was_lost` is set. Then the outcome
    /// of the whole is unknown as well, unless the store found it out.
    pub(crate) fn after(self, was_lost: bool) -> Self {
        if !was_lost {
            return self;
        }
        match self {
            Self::Ours(error @ (StoreError::Conflict { .. } | StoreError::Removed(_) | StoreError::Exists(_))) => {
                Self::Ours(error)
            }
            // Of an error's text, only what happened: what follows it is about this attempt alone.
            Self::Ours(error) => Self::Lost(error.to_string().replace(". Nothing was changed", "")),
            Self::Unreachable { reason, .. } | Self::Lost(reason) => Self::Lost(reason),
            Self::Refused(error) => {
                Self::Lost(error.as_db_error().map_or_else(|| words(&error), |refused| refused.message().to_owned()))
            }
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

    /// Whether the server does not have a prepared statement as it was, or cannot run it any more. Nothing was changed.
    pub(crate) fn is_about_prepared(&self) -> bool {
        self.refusal().is_some_and(|refused| PREPARED_CODES.contains(&refused.code().code()))
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
                "could not {doing} {whose} in {at}: the connection was lost, and no later attempt succeeded ({reason}). The \
                 server may have done it all the same: look at the head before repeating it. Check the server and the network"
            )),
            Self::Refused(error) => match error.as_db_error() {
                Some(refused) => refusal(refused, &format!("could not {doing} {whose} in {at}")),
                None => StoreError::Unavailable(format!("could not {doing} {whose} in {at}: {}", words(&error))),
            },
        }
    }
}

/// The codes of a prepared statement that is unknown, whose name is in use, or whose columns have changed.
const PREPARED_CODES: [&str; 3] = ["26000", "42P05", "0A000"];

/// Whether the server, or a pool in front of it, ends the connection with this error.
fn ends_connection(refused: &DbError) -> bool {
    let code = refused.code().code();
    let is_fatal = matches!(refused.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    is_fatal || code.starts_with("08") || code.starts_with("57P") || code == "25P03"
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
        "26000" | "42P05" => unavailable(&format!(
            "a prepared statement is not on the connection where it was prepared ({message}). Nothing was changed. A pool in \
             front of the server does not support prepared statements: remove prepared_statements=on from the URL",
        )),
        _ if code.starts_with("53") => {
            unavailable(&format!("the server lacks resources ({message}). Nothing was changed. Try again"))
        }
        "XX001" | "XX002" => StoreError::Corrupt(format!(
            "{failed}: the database is damaged ({message}). Nothing was changed. Check the server's disk, and restore a \
             backup",
        )),
        "42P01" | "3F000" | "23502" | "23505" | "23514" => StoreError::Corrupt(format!(
            "{failed}: {message} (code {code}). Its tables are not those Quipu made, or hold a value that was never written \
             this way. Nothing was changed. Run a check; if it confirms the damage, restore a backup",
        )),
        _ => unavailable(&format!(
            "the server refused it ({message}, code {code}). Nothing was changed. Look at the log of the server, then try \
             again",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_lost_answer_no_failure_says_that_nothing_was_changed() {
        let full =
            || StoreError::Unavailable("all 16 connections are in use. Nothing was changed. Try again".to_owned());
        let unreachable =
            || Failure::Unreachable { is_passing: true, reason: "no route".to_owned(), advice: "Check it" };
        for failure in [Failure::Ours(full()), unreachable(), Failure::Lost("closed".to_owned())] {
            let told = failure.after(true).tell("db", "append to", "the ledger of me").to_string();
            assert!(told.contains("look at the head") && !told.contains("Nothing was changed"), "{told}");
        }
        for failure in [Failure::Ours(full()), unreachable()] {
            let told = failure.after(false).tell("db", "append to", "the ledger of me").to_string();
            assert!(told.contains("Nothing was changed"), "{told}");
        }
        for known in
            [StoreError::Conflict { expected: 1, head: 2 }, removed(), StoreError::Exists("it is there".to_owned())]
        {
            let text = known.to_string();
            let told = Failure::Ours(known).after(true).tell("db", "append to", "the ledger of me");
            assert!(!matches!(told, StoreError::Unavailable(_)) && told.to_string() == text, "{told}");
        }
    }
}
