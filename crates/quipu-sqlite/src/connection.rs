//! Opens and configures database connections, and identifies Quipu ledgers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::ports::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};

use crate::data_folder::disk;

use crate::data_folder::fault;

use crate::migration;

/// SQLite's application id of ledgers, "QIPU", which Quipu and other programs (`file`, database browsers) identify
/// them by.
pub(crate) const APPLICATION_ID: i64 = 0x5149_5055;
/// Earlier versions can corrupt a database if a checkpoint coincides with a write (the WAL-reset bug).
pub(crate) const SQLITE_VERSION_MIN: i32 = 3_051_003;
/// Busy timeout of a statement.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// Number of attempts to empty the log, each with a timeout for readers; in total they last as long as the busy
/// timeout.
const EMPTYING_TRIES: u32 = 50;
const EMPTYING_WAIT: Duration = Duration::from_millis(100);
/// Capacity of the cache of prepared statements of a connection; larger than the number of statements.
const STATEMENTS_KEPT: usize = 64;

/// Settings of every writing connection, which are read back for verification.
const SETTINGS: [(&str, i64); 9] = [
    ("synchronous", 2), // FULL: a commit is durable when it returns
    ("foreign_keys", 1),
    ("trusted_schema", 0),
    ("cell_size_check", 1),
    ("mmap_size", 0), // I/O errors must be errors, not signals
    ("secure_delete", 1),
    ("journal_size_limit", 64 << 20),
    ("fullfsync", 1), // this and the next: macOS only, harmless elsewhere
    ("checkpoint_fullfsync", 1),
];

/// Access of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Writes to an existing file.
    Write,
    /// Reads while others may write. SQLite creates and removes its files beside the database as for a writer.
    Share,
    /// Reads while others may write, in a folder where no files can be created.
    Watch,
    /// Reads a database that no connection writes to.
    Read,
}

/// Fails for SQLite versions with a known bug that loses data.
pub(crate) fn check_sqlite_version() -> Result<(), StoreError> {
    if rusqlite::version_number() >= SQLITE_VERSION_MIN {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!(
        "SQLite {} may damage a ledger under load; Quipu needs 3.51.3 or later. Build Quipu with its bundled SQLite",
        rusqlite::version()
    )))
}

/// Opens an existing database file without changing or identifying it.
pub(crate) fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    disk::note("connect", path);
    let uri = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let opened = match access {
        Access::Write | Access::Share => {
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        }
        Access::Watch => Connection::open_with_flags(uri_of(path, "mode=ro"), uri),
        Access::Read if is_one_file(path) => Connection::open_with_flags(uri_of(path, "immutable=1"), uri),
        Access::Read => Connection::open_with_flags(uri_of(path, "mode=ro"), uri),
    };
    opened
        .and_then(|connection| {
            harden(&connection)?;
            if access != Access::Write {
                connection.execute_batch("PRAGMA query_only = 1")?;
            }
            Ok(connection)
        })
        .map_err(|error| fault::of_sqlite(path, "open", &error))
}

/// A cleanly closed database is a single file and is read as immutable: reading a WAL database in the usual way
/// creates files beside it, which a read-only folder does not permit. If there are files beside it, they are taken
/// into account.
fn is_one_file(path: &Path) -> bool {
    let bytes_of = |end| fs::metadata(disk::beside(path, end)).ok().map(|found| found.len());
    bytes_of("-journal").is_none()
        && match bytes_of("-wal") {
            None => true,
            Some(bytes) => bytes == 0 && bytes_of("-shm").is_none(),
        }
}

fn uri_of(path: &Path, parameter: &str) -> String {
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push('?');
    uri.push_str(parameter);
    uri
}

fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, fault::VALUE_BYTES_MAX)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.execute_batch("PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY")
}

/// Empties the write-ahead log. Returns false if readers prevented it for the length of the busy timeout.
///
/// Retries, since SQLite waits for readers but not for another connection that is writing the log back. SQLite's
/// result decides, because other connections may append to the file at any time.
pub(crate) fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(EMPTYING_WAIT)?;
    let mut outcome = Ok(false);
    for _ in 0..EMPTYING_TRIES {
        outcome = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            let (is_busy, frames): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(is_busy == 0 && frames <= 0)
        });
        match &outcome {
            Ok(false) => std::thread::sleep(Duration::from_millis(2)),
            _ => break,
        }
    }
    connection.busy_timeout(BUSY_WAIT)?;
    outcome
}

/// The user of the ledger in an open database.
///
/// # Errors
/// `Corrupt` if it is not a ledger, or the ledger of a newer Quipu. Nothing is changed.
pub(crate) fn identify(connection: &Connection, path: &Path) -> Result<UserId, StoreError> {
    let read = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let fail = |error: rusqlite::Error| fault::of_sqlite(path, "open", &error);
    let at = path.display();
    if read("application_id").map_err(fail)? != APPLICATION_ID {
        return Err(StoreError::Corrupt(format!(
            "{at} is not a Quipu ledger: it is a database of another program. Nothing was changed. Move it away"
        )));
    }
    let version = read("user_version").map_err(fail)?;
    if version > migration::VERSION {
        return Err(StoreError::Corrupt(format!(
            "{at} was written by a newer Quipu (format {version}, this one knows up to {}). Nothing was changed. Upgrade \
             Quipu to open it",
            migration::VERSION
        )));
    }
    whole(connection, path)?;
    let user = connection.query_row(include_str!("sql/meta.sql"), [meta::USER], |row| row.get::<_, String>(0));
    user.optional().map_err(fail)?.and_then(|user| UserId::parse(&user).ok()).ok_or_else(|| {
        StoreError::Corrupt(format!("{at} does not say whose ledger it is. Nothing was changed. Restore a backup"))
    })
}

/// SQLite detects missing pages, but not a truncated last page. While there is a log, the file may be shorter, since
/// the log has the rest.
fn whole(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let read = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let told = read("page_size").and_then(|bytes| Ok(bytes * read("page_count")?));
    let told = told.map_err(|error| fault::of_sqlite(path, "open", &error))?;
    // In this order, because a page committed in between is in the log, or in the file by the second look.
    let bytes_of = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    let logged = bytes_of(&disk::beside(path, "-wal"));
    let found = bytes_of(path);
    if logged > 0 || i64::try_from(found).is_ok_and(|found| found >= told) {
        return Ok(());
    }
    Err(StoreError::Corrupt(format!(
        "{} is cut short: it has {found} of {told} bytes. Nothing was changed. Restore a backup",
        path.display()
    )))
}

/// Migrates an empty or older file that is no ledger to the current version, in one transaction.
///
/// # Errors
/// `Corrupt` if the file has another application id, or is from a newer Quipu.
pub(crate) fn climb_file(
    connection: &mut Connection,
    path: &Path,
    application_id: i64,
    steps: &[&str],
) -> Result<(), StoreError> {
    let fail = |error: rusqlite::Error| fault::of_sqlite(path, "open", &error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    let read = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(fail);
    let version = usize::try_from(read("user_version")?).unwrap_or(usize::MAX);
    if version > 0 && read("application_id")? != application_id {
        return Err(StoreError::Corrupt(format!(
            "{} is a database of another program. Nothing was changed. Move it away",
            path.display()
        )));
    }
    if version > steps.len() {
        return Err(StoreError::Corrupt(format!(
            "{} was written by a newer Quipu. Nothing was changed. Upgrade Quipu to open it",
            path.display()
        )));
    }
    if version == steps.len() {
        return Ok(());
    }
    for step in &steps[version..] {
        transaction.execute_batch(step).map_err(fail)?;
    }
    transaction.pragma_update(None, "application_id", application_id).map_err(fail)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64).map_err(fail)?;
    transaction.commit().map_err(fail)
}

/// Keys in the table `meta`.
pub(crate) mod meta {
    /// The user of the ledger.
    pub(crate) const USER: &str = "user";
    /// The model of the stored single vectors.
    pub(crate) const VECTOR_TAG: &str = "vector_tag";
    /// Present while an erasure is committed but the write-ahead log may still contain the erased content.
    pub(crate) const SCRUB: &str = "scrub";
    /// Present once the ledger is abandoned, because it is removed or replaced.
    pub(crate) const GIVEN_UP: &str = "given_up";
    /// Prefix of the name of a lease. The value is its holder and its end.
    pub(crate) const LEASE: &str = "lease:";
}

/// Makes commits of this connection durable, and verifies the settings.
///
/// # Errors
/// `Unavailable` if SQLite did not apply a setting.
pub(crate) fn settle(connection: &Connection, path: &Path, pages_max: Option<u32>) -> Result<(), StoreError> {
    apply(connection, pages_max).map_err(|error| fault::of_sqlite(path, "open", &error))?;
    match read_back(connection).map_err(|error| fault::of_sqlite(path, "open", &error))? {
        (_, None) => Ok(()),
        (_, Some(wrong)) => Err(StoreError::Unavailable(format!(
            "cannot make writes to {} durable: {wrong}. Put the data folder on a local disk",
            path.display()
        ))),
    }
}

fn apply(connection: &Connection, pages_max: Option<u32>) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    for (name, value) in SETTINGS {
        connection.execute_batch(&format!("PRAGMA {name} = {value}"))?;
    }
    if let Some(pages) = pages_max {
        connection.execute_batch(&format!("PRAGMA max_page_count = {pages}"))?;
    }
    Ok(())
}

/// The settings that SQLite reports, and the first wrong one.
pub(crate) fn read_back(connection: &Connection) -> rusqlite::Result<(String, Option<String>)> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let mut wrong = (mode != "wal").then(|| format!("journal_mode is {mode}, not wal"));
    let mut all = format!("journal_mode={mode}");
    for (name, wanted) in SETTINGS {
        // If this build of SQLite lacks a setting, such as mmap_size, it reports nothing.
        let found = connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).optional()?.unwrap_or(0);
        let _ = write!(all, " {name}={found}");
        if found != wanted && wrong.is_none() {
            wrong = Some(format!("{name} is {found}, not {wanted}"));
        }
    }
    Ok((all, wrong))
}
