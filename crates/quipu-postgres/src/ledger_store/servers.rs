//! The servers that share the database, and the leases they left behind.

use std::time::Duration;

use quipu_core::id::UserId;
use quipu_engine::ports::{AbandonedLease, RegisteredServer, ServerRecord, ServerRegistry, StoreError, StoreServer};
use tokio_postgres::types::Type;

use super::PostgresStore;
use crate::connection::{Access, Database, Step, WHOLE_STORE, whose};
use crate::fault::malformed;
use crate::rows::column;

impl ServerRegistry for PostgresStore {
    fn beat(&self, server: &ServerRecord) -> Result<(), StoreError> {
        let ServerRecord { id, name, version } = server;
        let values = [(id as _, Type::TEXT), (name as _, Type::TEXT), (version as _, Type::TEXT)];
        let steps = [
            Step::new(include_str!("../sql/servers/beat.sql"), values),
            Step::new(include_str!("../sql/servers/drop_silent.sql"), []),
        ];
        self.database.repeat(Access::Write, WHOLE_STORE, "register a server in", &steps).map(drop)
    }

    fn leave(&self, id: &str) -> Result<(), StoreError> {
        let step = Step::new(include_str!("../sql/servers/leave.sql"), [(&id as _, Type::TEXT)]);
        self.database.repeat(Access::Write, WHOLE_STORE, "remove a server from", &[step]).map(drop)
    }

    fn servers(&self) -> Result<Vec<RegisteredServer>, StoreError> {
        let step = Step::new(include_str!("../sql/servers/servers.sql"), []);
        let answers = self.database.repeat(Access::Read, WHOLE_STORE, "list the servers of", &[step])?;
        let server = |row| {
            let record = ServerRecord { id: column(row, 0)?, name: column(row, 1)?, version: column(row, 2)? };
            let silent = u64::try_from(column::<i64>(row, 3)?).map_err(|_| malformed("a time"))?;
            Ok(RegisteredServer { record, silent: Duration::from_millis(silent) })
        };
        answers.iter().flatten().map(server).collect()
    }

    fn abandoned(&self) -> Result<Vec<AbandonedLease>, StoreError> {
        let step = Step::new(include_str!("../sql/abandoned.sql"), []);
        let answers = self.database.repeat(Access::Read, WHOLE_STORE, "look for abandoned work in", &[step])?;
        let lease = |row| {
            let user = UserId::parse(column(row, 0)?).map_err(|_| malformed("a user id"))?;
            Ok(AbandonedLease { user, name: column(row, 1)? })
        };
        answers.iter().flatten().map(lease).collect()
    }

    fn forget(&self, lease: &AbandonedLease) -> Result<(), StoreError> {
        let user = lease.user.as_str();
        let step = Step::new(
            include_str!("../sql/forget_lease.sql"),
            [(&user as _, Type::TEXT), (&lease.name as _, Type::TEXT)],
        );
        self.database.repeat(Access::Write, user, "forget a lease of", &[step]).map(drop)
    }
}

/// Whether the database answers and takes writes.
pub(super) fn ready(database: &Database) -> Result<StoreServer, StoreError> {
    let asked = database.ask(include_str!("../sql/schema/ready.sql"));
    let rows = asked.map_err(|failure| failure.tell(database.at(), "reach", &whose(WHOLE_STORE)))?;
    let row = rows.first().ok_or_else(|| malformed("a version"))?;
    if column(row, 1)? {
        return Err(StoreError::Unavailable(format!(
            "{} is read-only: a replica, or a server whose disk is full. Name the primary server in the URL",
            database.at()
        )));
    }
    Ok(StoreServer { kind: "PostgreSQL", version: column(row, 0)? })
}

/// One line for each registered server.
pub(super) fn lines(store: &PostgresStore) -> Vec<Result<String, String>> {
    match store.servers() {
        Ok(servers) => servers.iter().map(line).collect(),
        Err(error) => vec![Err(error.to_string())],
    }
}

fn line(server: &RegisteredServer) -> Result<String, String> {
    let RegisteredServer { record: ServerRecord { name, version, .. }, silent } = server;
    let seconds = silent.as_secs();
    if server.is_live() {
        Ok(format!("server {name} (Quipu {version}) is alive, seen {seconds} s ago"))
    } else {
        Err(format!(
            "server {name} (Quipu {version}) was last seen {seconds} s ago and did not end in order. Another server takes over \
             its work; this line goes after a day"
        ))
    }
}
