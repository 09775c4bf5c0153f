//! The stored and hashed bytes of events.

use crate::event::Hash;
use crate::id::{EventId, Seq};

/// Random bytes that prevent guessing a short text from its digest; destroyed with the text.
pub type Salt = [u8; 32];

/// An event exactly as stored. It is never serialised again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEvent {
    /// Position, repeated from the header as a key of the store.
    pub seq: Seq,
    /// Id, repeated from the header.
    pub id: EventId,
    /// Version of the stored format of the header and the changes.
    pub format: u16,
    /// When it was recorded, in microseconds since 1970, repeated from the header.
    pub recorded_at_micros: i64,
    /// True if replay must know the event before it starts (reverts, erasures, forks), repeated from the changes.
    pub control: bool,
    /// The idempotency key and the hash of the request, repeated from the header.
    pub idempotency: Option<(String, Hash)>,
    /// Canonical bytes of the header.
    pub header: Vec<u8>,
    /// Domain-separated hash of the header.
    pub hash: Hash,
    /// The changes, in order.
    pub changes: Vec<SealedChange>,
}

/// A change exactly as stored; bytes and salt are missing after an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedChange {
    /// Canonical bytes.
    pub bytes: Option<Vec<u8>>,
    /// Salt of its digest.
    pub salt: Option<Salt>,
}
