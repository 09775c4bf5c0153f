//! Stores ledgers on the local disk: one folder, with one SQLite database for each user.
//!
//! [`SqliteStore`] implements the port [`LedgerStore`](quipu_engine::ports::LedgerStore). A commit is durable when it
//! returns, and any number of processes of a machine can have a folder open. Erased content remains in no file of the
//! folder, including copies that a restore set aside.
//!
//! The store does not verify hashes, interpret events (`quipu-core` does) or search, and it does not support network
//! file systems. Erased content may remain in freed blocks of the disk, and in backups made earlier, which are
//! separate files.
//!
//! ```
//! use quipu_core::id::UserId;
//! use quipu_engine::ports::LedgerStore;
//! use quipu_sqlite::{SqliteStore, StoreOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # let folder = place.path().join("memory");
//! let me = UserId::parse("me")?;
//! let store = SqliteStore::open(&folder, StoreOptions::default())?;
//! let mut ledger = store.open(&me, true)?;
//! assert_eq!(ledger.head()?.seq, 0);
//! assert_eq!(store.users()?, [me]);
//!
//! let backup = ledger.backup(&folder.join("me.backup"))?;
//! assert_eq!(backup.head, ledger.head()?);
//! # Ok(())
//! # }
//! ```

pub(crate) mod data_folder;
mod key_store;
mod ledger_store;
mod user_keys;
mod user_ledger;

mod derived;
mod erase;
mod lease;
mod rows;
mod watch;

mod connection;
mod copies;
mod copy;
mod folder;
mod mark;
mod migration;
mod open;
mod steps;

mod checks;
mod examine;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;

pub use copy::{TakeEvent, read_backup, write_backup};
pub use key_store::SqliteKeys;
pub use ledger_store::{SqliteStore, StoreOptions};
pub use user_keys::SqliteUserKeys;
