//! Golden ledgers: events as lines of text, and the memory they fold to, as JSON.

use quipu_core::Memory;
use quipu_core::history::History;
use quipu_core::id::UserId;
use quipu_core::ledger::{self, FormatError, SealedEvent, Verifier};
use serde_json::{Value, json};

/// Formats events as text, one on each line.
///
/// # Errors
/// See [`FormatError`].
pub fn to_lines(events: &[SealedEvent]) -> Result<String, FormatError> {
    events.iter().try_fold(String::new(), |text, event| Ok(text + &ledger::write_line(event)? + "\n"))
}

/// Parses the format of [`to_lines`].
///
/// # Errors
/// See [`FormatError`].
pub fn from_lines(text: &str) -> Result<Vec<SealedEvent>, FormatError> {
    text.lines().map(ledger::read_line).collect()
}

/// The verification result of a ledger and the memory its events fold to.
///
/// # Errors
/// See [`FormatError`].
pub fn fold(user: &UserId, events: &[SealedEvent]) -> Result<Value, FormatError> {
    let mut verifier = Verifier::new(user.clone(), &[]);
    let mut history = History::default();
    let mut opened = Vec::with_capacity(events.len());
    for event in events {
        verifier.check(event);
        let event = ledger::open(event)?;
        history.note(&event);
        opened.push(event);
    }
    let mut memory = Memory::new(user.clone(), history.skipped_at(events.last().map_or(0, |event| event.seq)));
    opened.into_iter().for_each(|event| memory.apply(event));
    let items: Vec<Value> = memory.sources().iter().map(|held| item(&memory, held)).collect();
    let mut folded = json!({
        "verification": verifier.finish(),
        "version": memory.seq(),
        "head": memory.head().to_hex().to_string(),
        "core": memory.core_with_meta(),
        "items": items,
        "orphans": memory.orphans(),
        "skipped": memory.skipped(),
        "sessions": memory.sessions().iter().map(|session| json!([session.id, session.sources])).collect::<Vec<_>>(),
    });
    // Golden files from before derived items were introduced lack this part.
    if !memory.items().is_empty() {
        folded["drawn"] =
            serde_json::to_value(memory.items()).map_err(|error| FormatError::Malformed(error.to_string()))?;
    }
    Ok(folded)
}

fn item(memory: &Memory, held: &quipu_core::memory::HeldSource) -> Value {
    let source = &held.source;
    json!({
        "id": source.id,
        "event": [held.seq, held.change],
        "trust": held.trust,
        "session": source.session,
        "topic": source.topic,
        "role": source.role,
        "author": source.author,
        "said_at": source.said_at,
        "text": source.text,
        "artifacts": source.artifacts,
        "native_id": source.native_id,
        "content_hash": source.content_hash().to_hex().to_string(),
        "marks": memory.marks(source.id),
    })
}
