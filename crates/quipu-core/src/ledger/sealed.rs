//! The bytes of an event as they are stored and hashed.

use crate::event::Hash;
use crate::id::{EventId, Seq};

/// Random bytes that keep the digest of a short text from being guessed; destroyed with the text.
pub type Salt = [u8; 32];

/// An event exactly as a store keeps it. Nothing in here is ever re-serialised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEvent {
    /// Position, repeated from the header so that a store can find it.
    pub seq: Seq,
    /// Name, repeated from the header.
    pub id: EventId,
    /// Version of the stored format of the header and the changes.
    pub format: u16,
    /// When it was recorded, in microseconds since 1970, repeated from the header.
    pub recorded_at_micros: i64,
    /// True when replay must know of the event before it starts (reverts, erasures, forks), repeated from the changes.
    pub control: bool,
    /// The caller's key and the hash of the request, repeated from the header.
    pub idempotency: Option<(String, Hash)>,
    /// Canonical bytes of the header.
    pub header: Vec<u8>,
    /// Hash of the header under its domain.
    pub hash: Hash,
    /// The changes, in order.
    pub changes: Vec<SealedChange>,
}

/// A change exactly as a store keeps it; bytes and salt are gone once it was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedChange {
    /// Canonical bytes.
    pub bytes: Option<Vec<u8>>,
    /// What its digest was salted with.
    pub salt: Option<Salt>,
}
