//! Sealed events for tests of stores and verifiers, without an engine.

use jiff::Timestamp;
use quipu_core::event::{Actor, Change, ChangeRef, Draft, Hash, Idempotency, NO_HASH, SourceKind};
use quipu_core::id::{EventId, ItemId, ItemKind, Seq, UserId};
use quipu_core::ledger::{FormatError, Position, SealedEvent, seal};
use quipu_core::source::{Role, Source};

use crate::dice::Rng;

/// Seals events into one user's ledger. The same seed and the same calls give the same bytes.
#[derive(Debug, Clone)]
pub struct Sample {
    user: UserId,
    seq: Seq,
    prev: Hash,
    micros: i64,
    dice: Rng,
}

/// Time between two events.
const STEP_MICROS: i64 = 1_000_000;

impl Sample {
    /// Starts an empty ledger.
    pub fn new(user: &UserId, seed: u64) -> Self {
        Self { user: user.clone(), seq: 0, prev: NO_HASH, micros: 1_700_000_000_000_000, dice: Rng::new(seed) }
    }

    /// The position of the newest event.
    pub fn head(&self) -> Seq {
        self.seq
    }

    /// The recording time of the newest event.
    ///
    /// # Errors
    /// None for the times that a sample uses.
    pub fn recorded_at(&self) -> Result<Timestamp, jiff::Error> {
        Timestamp::from_microsecond(self.micros)
    }

    /// A source with a unique id.
    pub fn source(&mut self, text: &str) -> Source {
        Source {
            id: ItemId { kind: ItemKind::Turn, bits: self.dice.roll() },
            session: Some("a session".into()),
            topic: None,
            role: Role::User,
            author: None,
            said_at: Timestamp::from_microsecond(self.micros).ok(),
            text: text.into(),
            artifacts: Vec::new(),
            native_id: None,
        }
    }

    /// An event that records a text.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub fn say(&mut self, text: &str) -> Result<SealedEvent, FormatError> {
        let source = self.source(text);
        self.seal(&Draft::new(Actor::User, SourceKind::UserSaid, vec![Change::SourceRecorded(source)]))
    }

    /// An event that records a text, with an idempotency key.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub fn say_once(&mut self, text: &str, key: &str) -> Result<SealedEvent, FormatError> {
        let source = self.source(text);
        let mut draft = Draft::new(Actor::User, SourceKind::UserSaid, vec![Change::SourceRecorded(source)]);
        draft.idempotency = Some(Idempotency { key: key.to_owned(), request: blake3::hash(text.as_bytes()) });
        self.seal(&draft)
    }

    /// An event that records an erasure.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub fn erase(&mut self, targets: &[ChangeRef]) -> Result<SealedEvent, FormatError> {
        let change = Change::Erased { targets: targets.to_vec(), reason: "asked to".to_owned() };
        self.seal(&Draft::new(Actor::User, SourceKind::UserEdited, vec![change]))
    }

    /// Seals any draft.
    ///
    /// # Errors
    /// See [`FormatError`].
    pub fn seal(&mut self, draft: &Draft) -> Result<SealedEvent, FormatError> {
        self.micros += STEP_MICROS;
        self.seq += 1;
        let salts: Vec<[u8; 32]> = draft.changes.iter().map(|_| self.salt()).collect();
        let position = Position {
            user: self.user.clone(),
            seq: self.seq,
            id: EventId::from_u64_pair(self.dice.roll(), self.dice.roll()),
            recorded_at: self.recorded_at().map_err(|error| FormatError::Malformed(error.to_string()))?,
            prev: self.prev,
        };
        let (event, _) = seal(draft, position, &salts)?;
        self.prev = event.hash;
        Ok(event)
    }

    fn salt(&mut self) -> [u8; 32] {
        let mut salt = [0u8; 32];
        salt.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.dice.roll().to_le_bytes()));
        salt
    }
}
