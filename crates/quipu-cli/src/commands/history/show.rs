//! Shows one event with its header and changes.

use clap::Args;
use quipu_core::event::{Change, Event};
use quipu_engine::Result;
use serde_json::{Value, json};

use crate::commands::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The position or id of the event
    pub(crate) event: String,
}

pub(super) fn show(context: &CommandContext<'_>, event: &str) -> Result<()> {
    let event = quipu_engine::show(&context.engine, &context.user, event.parse()?)?;
    context.printer.report(&event_value(&event), |value| format!("{value:#}\n"))
}

fn event_value(event: &Event) -> Value {
    let header = &event.header;
    json!({
        "seq": header.seq,
        "id": header.id.to_string(),
        "user_id": header.user.as_str(),
        "recorded_at": header.recorded_at.to_string(),
        "actor": header.actor,
        "source": {
            "kind": header.origin.kind,
            "ref": header.origin.reference,
            "session_id": header.origin.session,
            "author": header.origin.author,
        },
        "trust": header.trust,
        "confidence": header.confidence,
        "rationale": header.rationale,
        "caused_by": header.caused_by.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "idempotency_key": header.idempotency.as_ref().map(|used| used.key.as_str()),
        "prev": header.prev.to_hex().to_string(),
        "hash": event.hash.to_hex().to_string(),
        "changes": event.changes.iter().map(change_value).collect::<Vec<_>>(),
    })
}

fn change_value(change: &Option<Change>) -> Value {
    let Some(change) = change else { return json!({"type": "erased_payload"}) };
    let mut value = match change {
        Change::SourceRecorded(source) => json!({
            "id": source.id, "session_id": source.session.as_deref(), "topic": source.topic.as_deref(),
            "role": source.role, "author": source.author.as_deref(),
            "said_at": source.said_at.map(|time| time.to_string()), "text": source.text,
            "artifacts": source.artifacts, "native_id": source.native_id,
        }),
        Change::CorePatched(patch) => json!({"patch": patch}),
        Change::Drawn(drawn) => return serde_json::to_value(drawn).unwrap_or_default(),
        Change::ItemMarked(mark) => json!({"item": mark.item, "pinned": mark.pinned, "rating": mark.rating}),
        Change::Reverted { events } => json!({"events": events}),
        Change::Erased { targets, reason } => json!({"targets": targets, "reason": reason}),
        Change::Forked { from, at, head } => {
            json!({"from": from.as_str(), "at": at, "head": head.to_hex().to_string()})
        }
    };
    value["type"] = change.as_str().into();
    value
}
