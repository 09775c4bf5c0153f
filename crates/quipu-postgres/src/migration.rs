//! Creates and upgrades the schema.

use quipu_engine::ports::StoreError;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::fault::Failure;

/// Migration steps, one for each version. Append only; never edit a released step.
const STEPS: [&str; 2] =
    [include_str!("sql/migrations/0001_ledger.sql"), include_str!("sql/migrations/0002_servers.sql")];
/// The version of the schema that this program reads and writes.
const VERSION: i32 = STEPS.len() as i32;

/// Brings the schema to the current version. Of several processes one does it, and the others wait.
///
/// # Errors
/// `Corrupt` if the schema is newer, or another program's.
pub(crate) async fn climb(client: &Client, at: &str) -> Result<(), Failure> {
    if version(client, at).await? == Some(VERSION) {
        return Ok(());
    }
    let run = async |sql: &'static str| client.batch_execute(sql).await.map_err(Failure::of_statement);
    run(include_str!("sql/transaction/begin_write.sql")).await?;
    let climbed = climb_locked(client, at).await;
    // After an error this rolls back.
    let ended = run(include_str!("sql/transaction/commit.sql")).await;
    climbed.and(ended)
}

async fn climb_locked(client: &Client, at: &str) -> Result<(), Failure> {
    client.query_typed(include_str!("sql/schema/lock.sql"), &[]).await.map_err(Failure::of_statement)?;
    // Read again: another process may have been faster.
    let from = version(client, at).await?;
    if from.is_none() {
        client.batch_execute(include_str!("sql/schema/create.sql")).await.map_err(Failure::of_statement)?;
    }
    let done = usize::try_from(from.unwrap_or(0)).unwrap_or(0);
    for (step, number) in STEPS.iter().zip(1_i32..).skip(done) {
        client.batch_execute(step).await.map_err(Failure::of_statement)?;
        let put = client.query_typed(include_str!("sql/schema/put_version.sql"), &[(&number, Type::INT4)]).await;
        put.map_err(Failure::of_statement)?;
    }
    Ok(())
}

/// Checks that the schema has the current version.
///
/// # Errors
/// `Corrupt` if it has another one, or none.
pub(crate) async fn check(client: &Client, at: &str) -> Result<(), Failure> {
    match version(client, at).await? {
        Some(VERSION) => Ok(()),
        found => Err(Failure::Ours(StoreError::Corrupt(format!(
            "{at} has version {} of Quipu's schema, not {VERSION}. Nothing was changed. Open the store again",
            found.unwrap_or(0)
        )))),
    }
}

/// The version of the schema: `None` if there is none, 0 if it is empty.
async fn version(client: &Client, at: &str) -> Result<Option<i32>, Failure> {
    let ask = async |sql: &'static str| {
        let rows = client.query_typed(sql, &[]).await.map_err(Failure::of_statement)?;
        Ok::<Option<i32>, Failure>(rows.first().and_then(|row| row.try_get(0).ok()))
    };
    match ask(include_str!("sql/schema/state.sql")).await? {
        None => return Ok(None),
        Some(0) => return Ok(Some(0)),
        Some(1) => {}
        Some(_) => {
            return Err(Failure::Ours(StoreError::Corrupt(format!(
                "the schema quipu in {at} belongs to another program. Nothing was changed. Name another database in the URL"
            ))));
        }
    }
    let version = ask(include_str!("sql/schema/version.sql")).await?.unwrap_or(0);
    if version > VERSION {
        return Err(Failure::Ours(StoreError::Corrupt(format!(
            "{at} was written by a newer Quipu (version {version} of its schema; this program knows {VERSION}). Nothing was \
             changed. Upgrade Quipu to open it"
        ))));
    }
    Ok(Some(version))
}
