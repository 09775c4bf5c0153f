//! Bare transactions on a PostgreSQL database, to compare appends with: the least that a compare-and-set with a row of the same
//! bytes costs.

use std::str::FromStr;

use quipu_engine::{Error, Result};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Config, NoTls, Statement};

/// A connection with prepared statements on tables of its own, which are dropped at the end.
pub(super) struct BareDatabase {
    runtime: Runtime,
    client: Client,
    ask: Statement,
    append: Statement,
    head: i64,
}

const TABLES: &str = include_str!("sql/bare_tables.sql");
const DROP: &str = include_str!("sql/drop_bare_tables.sql");
const ASK: &str = "SELECT 1";
const APPEND: &str = include_str!("sql/bare_append.sql");

impl BareDatabase {
    /// Connects, without TLS, and creates the tables.
    pub(super) fn open(address: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Error::Unavailable(format!("no thread for a connection: {error}")))?;
        let config = Config::from_str(address).map_err(|error| Error::Invalid(format!("--store: {error}")))?;
        let (client, connection) = runtime.block_on(config.connect(NoTls)).map_err(|error| {
            Error::Unavailable(format!(
                "the connection for bare transactions, which has no TLS, failed: {error}. Use a database on this machine"
            ))
        })?;
        runtime.spawn(connection);
        runtime.block_on(client.batch_execute(TABLES)).map_err(failed)?;
        let ask = runtime.block_on(client.prepare(ASK)).map_err(failed)?;
        let append = runtime.block_on(client.prepare(APPEND)).map_err(failed)?;
        Ok(Self { runtime, client, ask, append, head: 0 })
    }

    /// The least that any question costs.
    pub(super) fn ask(&self) -> Result<()> {
        self.runtime.block_on(self.client.query(&self.ask, &[])).map(drop).map_err(failed)
    }

    /// Moves the head by one and inserts a row, durably, in one round trip.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let moved = self.runtime.block_on(self.client.query(&self.append, &[&self.head, &bytes])).map_err(failed)?;
        if moved.len() != 1 {
            return Err(Error::Bug("the bare transaction did not move its head".to_owned()));
        }
        self.head += 1;
        Ok(())
    }

    /// One number of the server.
    pub(super) fn number(&self, sql: &str) -> Result<i64> {
        let row = self.runtime.block_on(self.client.query_one(sql, &[])).map_err(failed)?;
        row.try_get(0).map_err(failed)
    }
}

impl Drop for BareDatabase {
    fn drop(&mut self) {
        // What could not be dropped is dropped by the next run.
        let _ = self.runtime.block_on(self.client.batch_execute(DROP));
    }
}

fn failed(error: tokio_postgres::Error) -> Error {
    let told = error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string);
    Error::Unavailable(format!("a bare transaction failed: {told}"))
}
