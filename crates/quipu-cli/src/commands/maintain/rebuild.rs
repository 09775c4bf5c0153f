//! Writes a snapshot, and rebuilds everything but the ledger.

use quipu_engine::Result;
use serde_json::json;

use crate::commands::CommandContext;

pub(super) fn snapshot(context: &CommandContext<'_>) -> Result<()> {
    let seq = quipu_engine::snapshot(&context.engine, &context.user)?;
    context.printer.report(&json!({"seq": seq}), |_| format!("Snapshot at version {seq}\n"))
}

pub(super) fn rebuild(context: &CommandContext<'_>) -> Result<()> {
    let bar = context.printer.progress();
    let rebuilt = quipu_engine::rebuild(&context.engine, &context.user, &mut |progress| bar.show(progress))?;
    drop(bar);
    context.printer.report(&rebuilt, |rebuilt| {
        format!(
            "{} events replayed, {} items, {} passages embedded again; the memory has the same bytes as before ({}…)\n",
            rebuilt.events,
            rebuilt.items,
            rebuilt.passages_embedded,
            &rebuilt.memory_hash[..16]
        )
    })
}
