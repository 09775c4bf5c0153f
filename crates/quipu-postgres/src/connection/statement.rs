//! Statements, and the connections that run them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::pin::Pin;

use postgres_protocol::escape::escape_literal;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

use crate::fault::Failure;

/// A value for a statement, with its type on the server.
pub(crate) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// A statement with its values.
pub(crate) struct Step<'a> {
    pub(crate) sql: &'static str,
    pub(crate) values: Vec<Value<'a>>,
}

impl<'a> Step<'a> {
    pub(crate) fn new(sql: &'static str, values: impl Into<Vec<Value<'a>>>) -> Self {
        Self { sql, values: values.into() }
    }
}

/// The rows of each statement of a transaction.
pub(crate) type Answers = Vec<Vec<Row>>;

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    /// The statements prepared on it, if they are to be.
    pub(super) prepared: Option<RefCell<HashMap<&'static str, Statement>>>,
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Connection {
    /// Prepares the statements that are not prepared yet. Each is one round trip, so it happens before a transaction.
    pub(super) async fn prepare(&self, steps: &[Step<'_>]) -> Result<(), Failure> {
        let Some(prepared) = &self.prepared else { return Ok(()) };
        for step in steps {
            if !prepared.borrow().contains_key(step.sql) {
                let types: Vec<Type> = step.values.iter().map(|(_, kind)| kind.clone()).collect();
                let statement = self.client.prepare_typed(step.sql, &types).await.map_err(Failure::of_statement)?;
                prepared.borrow_mut().insert(step.sql, statement);
            }
        }
        Ok(())
    }

    fn prepared(&self, sql: &str) -> Option<Statement> {
        self.prepared.as_ref()?.borrow().get(sql).cloned()
    }
}

/// A statement in progress.
pub(super) type Sent<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + 'a>>;

/// A statement with values. Unless it is prepared it is unnamed, so a pool between here and the server need not know it.
pub(super) fn query<'a>(client: &'a Connection, step: &'a Step<'a>) -> Sent<'a> {
    match client.prepared(step.sql) {
        Some(statement) => Box::pin(async move {
            let values: Vec<&(dyn ToSql + Sync)> = step.values.iter().map(|(value, _)| *value).collect();
            client.query(&statement, &values).await
        }),
        None => Box::pin(async move { client.query_typed(step.sql, &step.values).await }),
    }
}

/// Statements that begin or end a transaction.
pub(super) fn control<'a>(client: &'a Client, sql: &'a str) -> Sent<'a> {
    Box::pin(async move { client.batch_execute(sql).await.map(|()| Vec::new()) })
}

/// A statement with its values in it. A value is the name of a user or of a ledger, or a number.
pub(super) fn filled_in(sql: &str, values: &[&str]) -> String {
    let mut parts = sql.trim_end().split('$');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // No statement has more than nine of them.
        let value = part
            .chars()
            .next()
            .and_then(|digit| digit.to_digit(10))
            .and_then(|digit| values.get((digit as usize).checked_sub(1)?));
        match value {
            Some(value) => {
                filled.push_str(&escape_literal(value));
                filled.push_str(&part[1..]);
            }
            None => {
                filled.push('$');
                filled.push_str(part);
            }
        }
    }
    filled
}
