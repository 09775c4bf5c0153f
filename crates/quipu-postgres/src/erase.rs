//! Targets of an erasure, and the sealing again of what remains.

use quipu_core::event::ChangeRef;
use quipu_engine::ports::{ResealedChange, StoreError};
use tokio_postgres::types::Type;

use crate::connection::Access;
use crate::fault::malformed;
use crate::handle::PostgresLedger;
use crate::rows::{column, position, stored};

/// Targets as the arrays of positions and indexes that `erase.sql` takes.
pub(crate) fn target_columns(targets: &[ChangeRef]) -> (Vec<i64>, Vec<i32>) {
    let index = |target: &ChangeRef| i32::try_from(target.index).unwrap_or(i32::MAX);
    targets.iter().map(|target| (stored(target.seq), index(target))).unzip()
}

/// The error for an erasure of which a target is missing.
pub(crate) fn missing(ledger: &PostgresLedger, targets: &[ChangeRef]) -> StoreError {
    let (seqs, indexes) = target_columns(targets);
    let values = [(&seqs as _, Type::INT8_ARRAY), (&indexes as _, Type::INT4_ARRAY)];
    let found = ledger.rows(include_str!("sql/missing_targets.sql"), values).and_then(|rows| {
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some((position(row, 0)?, column::<i32>(row, 1)?)))
    });
    match found {
        Ok(Some((seq, index))) => {
            let target = ChangeRef { seq, index: u32::try_from(index).unwrap_or(0) };
            StoreError::NotFound(format!("there is no change {target} to erase. Nothing was changed"))
        }
        Ok(None) => malformed("a head"),
        Err(error) => error,
    }
}

/// See [`UserLedger::reseal`](quipu_engine::ports::UserLedger::reseal). A repetition after a lost answer finds the new salts
/// and changes nothing.
pub(crate) fn reseal(
    ledger: &PostgresLedger,
    name: &str,
    holder: u64,
    changes: &[ResealedChange],
) -> Result<(), StoreError> {
    let holder = holder.cast_signed();
    let seqs: Vec<i64> = changes.iter().map(|change| stored(change.target.seq)).collect();
    let indexes: Vec<i32> =
        changes.iter().map(|change| i32::try_from(change.target.index).unwrap_or(i32::MAX)).collect();
    let from: Vec<&[u8]> = changes.iter().map(|change| change.from.as_slice()).collect();
    let bytes: Vec<Option<&[u8]>> = changes.iter().map(|change| change.to.bytes.as_deref()).collect();
    let salts: Vec<Option<&[u8]>> =
        changes.iter().map(|change| change.to.salt.as_ref().map(|salt| salt.as_slice())).collect();
    let held = [(&name as _, Type::TEXT), (&holder as _, Type::INT8)];
    let values = held.clone().into_iter().chain([
        (&seqs as _, Type::INT8_ARRAY),
        (&indexes as _, Type::INT4_ARRAY),
        (&from as _, Type::BYTEA_ARRAY),
        (&bytes as _, Type::BYTEA_ARRAY),
        (&salts as _, Type::BYTEA_ARRAY),
    ]);
    let steps =
        [ledger.step(include_str!("sql/lock_lease.sql"), held), ledger.step(include_str!("sql/reseal.sql"), values)];
    let answers = ledger.repeat(Access::Write, "seal again in", &steps)?;
    if answers.first().is_some_and(|rows| !rows.is_empty()) {
        return Ok(());
    }
    ledger.live_head()?;
    Err(StoreError::Unavailable(format!("another process has the lease {name}. Nothing was changed")))
}
