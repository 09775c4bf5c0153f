//! Stores ledgers in a PostgreSQL database, which servers on many machines can share.
//!
//! [`PostgresStore`] implements the port [`LedgerStore`](quipu_engine::ports::LedgerStore), and [`PostgresKeys`] the port
//! [`KeyStore`](quipu_engine::ports::KeyStore). The rows of all users are in the same tables, whose keys start with the
//! user's id: every statement names it, and row-level security enforces it a second time. An append is one transaction
//! that is sent as a whole, and durable when it returns. If its answer is lost, the store looks for the events before it
//! sends them again. Nothing depends on a session, so a pool such as PgBouncer may give every transaction another one.
//!
//! An erasure removes content from every row in its transaction. PostgreSQL keeps old versions of rows in its pages until
//! a vacuum, and in its write-ahead log; they are not reached.
//!
//! The store does not verify hashes, interpret events (`quipu-core` does) or search. Plain files, signing keys and the
//! record of model usage stay in the data folder of each machine.
//!
//! ```no_run
//! use quipu_core::id::UserId;
//! use quipu_engine::ports::LedgerStore;
//! use quipu_postgres::{PostgresOptions, PostgresStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let me = UserId::parse("me")?;
//! let store = PostgresStore::open("postgres://quipu:secret@localhost/quipu", PostgresOptions::default())?;
//! let mut ledger = store.open(&me, true)?;
//! println!("{}", ledger.head()?.seq);
//! # Ok(())
//! # }
//! ```

mod key_store;
mod ledger_store;
mod user_keys;
mod user_ledger;

mod append;
mod derived;
mod erase;
mod lease;
mod rows;
mod watch;

mod address;
mod connection;
mod copy;
mod fault;
mod handle;
mod migration;
mod tls;
mod wait;

mod checks;
mod examine;

pub use address::{is_url, shown_url};
pub use connection::PostgresOptions;
pub use key_store::PostgresKeys;
pub use ledger_store::PostgresStore;
pub use user_keys::PostgresUserKeys;
