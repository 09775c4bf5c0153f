//! Checks of the server: its settings, and the rights of the role.

use quipu_engine::ports::StoreError;

use crate::connection::{Database, WHOLE_STORE, whose};
use crate::rows::column;

/// One line per check, `Err` for a problem.
pub(crate) fn store(database: &Database) -> Vec<Result<String, String>> {
    let at = database.at();
    let asked = database.ask(include_str!("sql/schema/server.sql"));
    let rows = asked.map_err(|failure| failure.tell(at, "examine", &whose(WHOLE_STORE)));
    let lines = rows.and_then(|rows| rows.first().map_or(Ok(Vec::new()), |row| lines(at, row)));
    lines.unwrap_or_else(|error| vec![Err(error.to_string())])
}

fn lines(at: &str, row: &tokio_postgres::Row) -> Result<Vec<Result<String, String>>, StoreError> {
    let version: String = column(row, 0)?;
    let (has_fsync, has_full_pages): (bool, bool) = (column(row, 1)?, column(row, 2)?);
    let commit: String = column(row, 3)?;
    let is_read_only: bool = column(row, 4)?;
    let is_unbound: Option<bool> = column(row, 5)?;
    let bytes: i64 = column(row, 6)?;
    let check = |is_good: bool, good: &str, bad: &str| if is_good { Ok(good.to_owned()) } else { Err(bad.to_owned()) };
    Ok(vec![
        Ok(format!("{at}: PostgreSQL {version}, {} MiB", bytes >> 20)),
        check(
            has_fsync && has_full_pages,
            "the server writes commits to its disk",
            "the server has fsync or full_page_writes off: a power cut may lose or damage everything. Turn both on",
        ),
        check(
            commit != "off",
            &format!("the server acknowledges commits when they are durable (synchronous_commit = {commit})"),
            "the server has synchronous_commit off. Quipu turns it on for its own transactions",
        ),
        check(!is_read_only, "the server takes writes", "the server is read-only: name the primary server in the URL"),
        check(
            is_unbound == Some(false),
            "the role is bound by row-level security",
            "the role is a superuser or may bypass row-level security, which is then no second lock between users. Use a \
             role without these rights",
        ),
    ])
}
