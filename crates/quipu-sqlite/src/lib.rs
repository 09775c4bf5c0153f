//! Ledgers on the local disk: one folder, one SQLite database a user.
//!
//! [`SqliteStore`] implements the port [`LedgerStore`](quipu_engine::ports::LedgerStore). A commit is on the disk when
//! it returns; any number of processes of one machine have a folder open; what is erased is in no file of the folder afterwards, copies set
//! aside by a restore included.
//!
//! What it is *not*: it does not verify hashes or understand events (`quipu-core` does), it does not search, and it does
//! not run on network file systems. What was erased may still be on the medium itself, in blocks the file system has
//! freed, and in backups made before: those are files of their own.
//!
//! ```
//! use quipu_core::id::UserId;
//! use quipu_engine::ports::LedgerStore;
//! use quipu_sqlite::{Options, SqliteStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # let folder = place.path().join("memory");
//! let me = UserId::parse("me")?;
//! let store = SqliteStore::open(&folder, Options::default())?;
//! let mut ledger = store.open(&me, true)?;
//! assert_eq!(ledger.head()?.seq, 0);
//! assert_eq!(store.users()?, [me]);
//!
//! let backup = ledger.backup(&folder.join("me.backup"))?;
//! assert_eq!(backup.head, ledger.head()?);
//! # Ok(())
//! # }
//! ```

mod key_store;
mod ledger_store;
mod user_ledger;

mod derived;
mod erase;
mod lease;
mod mark;
mod rows;
mod watch;

mod connection;
mod copies;
mod copy;
mod folder;
mod migration;
mod open;
mod steps;

mod ballast;
mod checks;
mod disk;
mod examine;
mod fault;
mod lock;
mod stripe;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;

pub use key_store::SqliteKeys;
pub use ledger_store::{SqliteStore, StoreOptions};
