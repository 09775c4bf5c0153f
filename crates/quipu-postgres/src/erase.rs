//! Targets of an erasure.

use quipu_core::event::ChangeRef;
use quipu_engine::ports::StoreError;
use tokio_postgres::types::Type;

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
