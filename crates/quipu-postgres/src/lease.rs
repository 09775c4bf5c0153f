//! Leases: exclusive rights of one process for a given time, each a row. Time is the database's.

use quipu_engine::ports::{LeaseRequest, StoreError};
use tokio_postgres::types::Type;

use crate::connection::Access;
use crate::handle::PostgresLedger;

/// Takes or extends a lease, unless another holder has it.
pub(crate) fn take(ledger: &PostgresLedger, request: &LeaseRequest<'_>) -> Result<bool, StoreError> {
    let (name, holder) = (request.name, request.holder.cast_signed());
    let lasts = request.until.as_microsecond().saturating_sub(request.now.as_microsecond());
    let values = [(&name as _, Type::TEXT), (&holder as _, Type::INT8), (&lasts as _, Type::INT8)];
    let step = ledger.step(include_str!("sql/take_lease.sql"), values);
    let answers = ledger.repeat(Access::Write, "take a lease of", &[step])?;
    if answers.iter().flatten().next().is_some() {
        return Ok(true);
    }
    // Another holder has it, or the ledger is gone.
    ledger.live_head().map(|_| false)
}

/// Releases a lease if `holder` has it.
pub(crate) fn release(ledger: &PostgresLedger, name: &str, holder: u64) -> Result<(), StoreError> {
    let holder = holder.cast_signed();
    let step =
        ledger.step(include_str!("sql/release_lease.sql"), [(&name as _, Type::TEXT), (&holder as _, Type::INT8)]);
    ledger.repeat(Access::Write, "give back a lease of", &[step]).map(drop)
}
