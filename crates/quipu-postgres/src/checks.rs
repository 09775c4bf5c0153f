//! Read-only checks for damage.

use quipu_engine::ports::StoreError;
use tokio_postgres::types::Type;

use crate::derived;
use crate::handle::PostgresLedger;
use crate::rows::position;

/// Maximum number of reported faults of one kind.
const FAULTS_MAX: i64 = 100;

/// A statement that finds positions, and the line for each.
type Check = (&'static str, fn(u64) -> String);

/// Returns one line for each fault of a ledger. Damaged pages are the server's to find: a check of it needs an operator.
pub(crate) fn ledger(ledger: &PostgresLedger) -> Result<Vec<String>, StoreError> {
    let mut faults = Vec::new();
    let checks: [Check; 3] = [
        (include_str!("sql/check_positions.sql"), |seq| format!("events are missing before event {seq}")),
        (include_str!("sql/check_changes.sql"), |seq| format!("a change of event {seq} is missing")),
        (include_str!("sql/check_orphans.sql"), |seq| {
            format!("a change or a key belongs to event {seq}, which is missing")
        }),
    ];
    for (sql, line) in checks {
        for row in ledger.rows(sql, [(&FAULTS_MAX as _, Type::INT8)])? {
            faults.push(line(position(&row, 0)?));
        }
    }
    if !ledger.rows(include_str!("sql/check_head.sql"), [])?.is_empty() {
        faults.push("the head does not match the newest events".to_owned());
    }
    derived::damage(ledger, &mut faults)?;
    Ok(faults)
}
