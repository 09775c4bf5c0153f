//! Creates and upgrades the schema.

use quipu_engine::ports::StoreError;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::fault::Failure;

/// Migration steps, one for each version. Append only; never edit a released step.
const STEPS: [&str; 2] =
    [include_str!("sql/migrations/0001_ledger.sql"), include_str!("sql/migrations/0002_servers.sql")];

/// A schema of Quipu in a database.
#[derive(Debug)]
pub(crate) struct Schema {
    name: &'static str,
    /// Migration steps, one for each version.
    steps: &'static [&'static str],
    create: &'static str,
    state: &'static str,
    version: &'static str,
    put_version: &'static str,
}

/// The schema of the ledgers.
pub(crate) const LEDGERS: Schema = Schema {
    name: "quipu",
    steps: &STEPS,
    create: include_str!("sql/schema/create.sql"),
    state: include_str!("sql/schema/state.sql"),
    version: include_str!("sql/schema/version.sql"),
    put_version: include_str!("sql/schema/put_version.sql"),
};

/// The schema of the users' keys.
pub(crate) const USER_KEYS: Schema = Schema {
    name: "quipu_keys",
    steps: &[include_str!("sql/schema/user_keys/0001_user_keys.sql")],
    create: include_str!("sql/schema/user_keys/create.sql"),
    state: include_str!("sql/schema/user_keys/state.sql"),
    version: include_str!("sql/schema/user_keys/version.sql"),
    put_version: include_str!("sql/schema/user_keys/put_version.sql"),
};

impl Schema {
    /// The version that this program reads and writes.
    fn newest(&self) -> i32 {
        self.steps.len() as i32
    }
}

/// Brings the schema to the current version. Of several processes one does it, and the others wait.
///
/// # Errors
/// `Corrupt` if the schema is newer, or another program's.
pub(crate) async fn climb(client: &Client, at: &str, schema: &Schema) -> Result<(), Failure> {
    if version(client, at, schema).await? == Some(schema.newest()) {
        return Ok(());
    }
    let run = async |sql: &'static str| client.batch_execute(sql).await.map_err(Failure::of_statement);
    run(include_str!("sql/transaction/begin_write.sql")).await?;
    let climbed = climb_locked(client, at, schema).await;
    // After an error this rolls back.
    let ended = run(include_str!("sql/transaction/commit.sql")).await;
    climbed.and(ended)
}

async fn climb_locked(client: &Client, at: &str, schema: &Schema) -> Result<(), Failure> {
    client.query_typed(include_str!("sql/schema/lock.sql"), &[]).await.map_err(Failure::of_statement)?;
    // Read again: another process may have been faster.
    let from = version(client, at, schema).await?;
    if from.is_none() {
        client.batch_execute(schema.create).await.map_err(Failure::of_statement)?;
    }
    let done = usize::try_from(from.unwrap_or(0)).unwrap_or(0);
    for (step, number) in schema.steps.iter().zip(1_i32..).skip(done) {
        client.batch_execute(step).await.map_err(Failure::of_statement)?;
        let put = client.query_typed(schema.put_version, &[(&number, Type::INT4)]).await;
        put.map_err(Failure::of_statement)?;
    }
    Ok(())
}

/// Checks that the schema has the current version.
///
/// # Errors
/// `Corrupt` if it has another one, or none.
pub(crate) async fn check(client: &Client, at: &str, schema: &Schema) -> Result<(), Failure> {
    match version(client, at, schema).await? {
        Some(found) if found == schema.newest() => Ok(()),
        found => Err(Failure::Ours(StoreError::Corrupt(format!(
            "{at} has version {} of Quipu's schema, not {}. Nothing was changed. Open the store again",
            found.unwrap_or(0),
            schema.newest()
        )))),
    }
}

/// The version of the schema: `None` if there is none, 0 if it is empty.
async fn version(client: &Client, at: &str, schema: &Schema) -> Result<Option<i32>, Failure> {
    let ask = async |sql: &'static str| {
        let rows = client.query_typed(sql, &[]).await.map_err(Failure::of_statement)?;
        Ok::<Option<i32>, Failure>(rows.first().and_then(|row| row.try_get(0).ok()))
    };
    match ask(schema.state).await? {
        None => return Ok(None),
        Some(0) => return Ok(Some(0)),
        Some(1) => {}
        Some(_) => {
            return Err(Failure::Ours(StoreError::Corrupt(format!(
                "the schema {} in {at} belongs to another program. Nothing was changed. Name another database in the URL",
                schema.name
            ))));
        }
    }
    let version = ask(schema.version).await?.unwrap_or(0);
    if version > schema.newest() {
        return Err(Failure::Ours(StoreError::Corrupt(format!(
            "{at} was written by a newer Quipu (version {version} of its schema; this program knows {}). Nothing was \
             changed. Upgrade Quipu to open it",
            schema.newest()
        ))));
    }
    Ok(Some(version))
}
