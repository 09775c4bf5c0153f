//! Leases: exclusive rights of one process until a given time, each a row of `meta`.

use quipu_engine::ports::{LeaseRequest, StoreError};
use rusqlite::{OptionalExtension, Transaction};

use crate::connection::meta;
use crate::data_folder::fault::Failure;

/// Takes or extends a lease, unless another holder has it.
pub(crate) fn take(transaction: &Transaction<'_>, request: &LeaseRequest<'_>) -> Result<bool, Failure> {
    let now = request.now.as_microsecond();
    if held(transaction, request.name)?.is_some_and(|(holder, until)| holder != request.holder && until > now) {
        return Ok(false);
    }
    let value = format!("{} {}", request.holder, request.until.as_microsecond());
    transaction.prepare_cached(include_str!("sql/put_meta.sql"))?.execute([key(request.name), value])?;
    Ok(true)
}

/// Releases a lease if `holder` has it.
pub(crate) fn release(transaction: &Transaction<'_>, name: &str, holder: u64) -> Result<(), Failure> {
    if held(transaction, name)?.is_some_and(|(by, _)| by == holder) {
        transaction.prepare_cached(include_str!("sql/drop_meta.sql"))?.execute([key(name)])?;
    }
    Ok(())
}

/// Fails unless `holder` has the lease, whether or not it has ended.
pub(crate) fn check(transaction: &Transaction<'_>, name: &str, holder: u64) -> Result<(), Failure> {
    if held(transaction, name)?.is_some_and(|(by, _)| by == holder) {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!("another process has the lease {name}. Nothing was changed")).into())
}

/// Holder and end of a lease. An unreadable value counts as free.
fn held(transaction: &Transaction<'_>, name: &str) -> Result<Option<(u64, i64)>, Failure> {
    let mut query = transaction.prepare_cached(include_str!("sql/meta.sql"))?;
    let value = query.query_row([key(name)], |row| row.get::<_, String>(0)).optional()?;
    Ok(value.and_then(|value| {
        let (holder, until) = value.split_once(' ')?;
        Some((holder.parse().ok()?, until.parse().ok()?))
    }))
}

fn key(name: &str) -> String {
    format!("{}{name}", meta::LEASE)
}
