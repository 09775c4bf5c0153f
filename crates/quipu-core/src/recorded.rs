//! Shared helpers for tests of memories.

use jiff::Timestamp;

use crate::event::{Actor, Change, Event, Header, Origin, SourceKind};
use crate::memory::Memory;

/// The next event of a memory, with changes that apply to it. Its hash is arbitrary.
pub(crate) fn next_event(
    memory: &Memory,
    recorded_at: Timestamp,
    actor: Actor,
    kind: SourceKind,
    changes: Vec<Change>,
) -> Event {
    memory.check(changes.iter()).unwrap();
    let seq = memory.seq() + 1;
    let header = Header {
        user: memory.user().clone(),
        seq,
        id: uuid::Uuid::from_u128(u128::from(seq)),
        recorded_at,
        actor,
        origin: Origin::of(kind),
        trust: kind.trust(),
        confidence: None,
        rationale: None,
        caused_by: Vec::new(),
        idempotency: None,
        prev: memory.head(),
        digests: Vec::new(),
    };
    Event { header, hash: blake3::hash(&seq.to_le_bytes()), changes: changes.into_iter().map(Some).collect() }
}
