//! Seals drafts into bytes and reads sealed events back.

use jiff::Timestamp;

use super::sealed::{Salt, SealedChange, SealedEvent};
use super::stored::{self, FORMAT, FormatError};
use crate::event::{Change, Draft, Event, Hash, Header, Idempotency};
use crate::id::{EventId, Seq, UserId};
use crate::item::DerivedChange;
use crate::limit;
use crate::refusal::Refusal;

/// The place of an event in a ledger.
#[derive(Debug, Clone)]
pub struct Position {
    /// The user of the ledger.
    pub user: UserId,
    /// Its position.
    pub seq: Seq,
    /// The event's id.
    pub id: EventId,
    /// When it is recorded.
    pub recorded_at: Timestamp,
    /// Hash of the previous event.
    pub prev: Hash,
}

/// Digest of a change: BLAKE3 keyed with the change's salt, so that a short text cannot be guessed from it.
pub(super) fn digest(salt: &Salt, bytes: &[u8]) -> Hash {
    blake3::keyed_hash(salt, bytes)
}

/// Hash of a header, domain-separated.
pub(super) fn header_hash(bytes: &[u8]) -> Hash {
    blake3::Hasher::new_derive_key("quipu ledger event v1").update(bytes).finalize()
}

/// The stored hash of a request: keyed with the salt of the event's first change, so that short texts cannot be
/// guessed, and not verifiable at all once that change is erased.
fn request_hash(salt: &Salt, request: &Hash) -> Hash {
    blake3::keyed_hash(salt, request.as_bytes())
}

/// True if an event answered this request; `None` if that cannot be decided, because its first change was erased or it
/// has no idempotency key.
pub fn answers(sealed: &SealedEvent, request: &Hash) -> Option<bool> {
    let salt = sealed.changes.first()?.salt.as_ref()?;
    let (_, stored) = sealed.idempotency.as_ref()?;
    Some(request_hash(salt, request) == *stored)
}

/// Checks the parts of a draft that do not depend on the memory: limits, number of changes, confidence.
///
/// # Errors
/// `Invalid` with the reason.
pub fn check_draft(draft: &Draft) -> Result<(), Refusal> {
    if draft.changes.is_empty() || draft.changes.len() > limit::CHANGES_PER_EVENT_MAX {
        let (bound, found) = (limit::CHANGES_PER_EVENT_MAX, draft.changes.len());
        return Err(Refusal::invalid(format!("an event has 1 to {bound} changes, this has {found}")));
    }
    if draft.caused_by.len() > limit::CAUSES_MAX {
        return Err(Refusal::invalid(format!("an event names at most {} causes", limit::CAUSES_MAX)));
    }
    if draft.confidence.is_some_and(|sure| !(0.0..=1.0).contains(&sure)) {
        return Err(Refusal::invalid("confidence is a number from 0 to 1"));
    }
    draft.changes.iter().try_for_each(check_drawn)?;
    let notes = [
        ("the rationale", &draft.rationale),
        ("the origin's reference", &draft.origin.reference),
        ("the origin's session", &draft.origin.session),
        ("the origin's author", &draft.origin.author),
    ];
    for (what, note) in notes {
        check_note(what, note.as_deref())?;
    }
    check_note("the idempotency key", draft.idempotency.as_ref().map(|used| used.key.as_str()))
}

/// Checks the limits of derived items: a few sentences, not a document.
fn check_drawn(change: &Change) -> Result<(), Refusal> {
    let Change::Drawn(drawn) = change else { return Ok(()) };
    // Patches have larger limits of their own, which the check of the core document has applied.
    if matches!(drawn, DerivedChange::CoreEdited { .. }) {
        return Ok(());
    }
    let text = serde_json::to_string(drawn).map_err(|error| Refusal::invalid(error.to_string()))?;
    if text.len() > limit::ITEM_BYTES_MAX {
        let bound = limit::ITEM_BYTES_MAX;
        return Err(Refusal::invalid(format!(
            "a {} has {} bytes, at most {bound} are kept",
            drawn.as_str(),
            text.len()
        )));
    }
    if text.contains("\\u0000") {
        return Err(Refusal::invalid(format!("a {} contains the character U+0000", drawn.as_str())));
    }
    if let DerivedChange::FactAsserted { fact, .. } = drawn
        && !(0.0..=1.0).contains(&fact.confidence_base)
    {
        return Err(Refusal::invalid("confidence is a number from 0 to 1"));
    }
    Ok(())
}

fn check_note(what: &str, note: Option<&str>) -> Result<(), Refusal> {
    match note {
        Some(text) if text.len() > limit::NOTE_BYTES_MAX => {
            Err(Refusal::invalid(format!("{what} has {} bytes, at most {}", text.len(), limit::NOTE_BYTES_MAX)))
        }
        Some(text) if text.contains('\0') => Err(Refusal::invalid(format!("{what} contains U+0000"))),
        _ => Ok(()),
    }
}

/// Seals a draft at its position. Needs one unguessable salt per change.
///
/// # Errors
/// `Malformed` if a value cannot be serialised, or the numbers of salts and changes differ.
pub fn seal(draft: &Draft, position: Position, salts: &[Salt]) -> Result<(SealedEvent, Header), FormatError> {
    if salts.len() != draft.changes.len() {
        return Err(FormatError::Malformed("every change needs one salt".to_owned()));
    }
    let mut changes = Vec::with_capacity(salts.len());
    let mut digests = Vec::with_capacity(salts.len());
    for (change, salt) in draft.changes.iter().zip(salts) {
        let bytes = stored::write_change(change)?;
        digests.push(digest(salt, &bytes));
        changes.push(SealedChange { bytes: Some(bytes), salt: Some(*salt) });
    }
    let idempotency = draft
        .idempotency
        .as_ref()
        .zip(salts.first())
        .map(|(used, salt)| Idempotency { key: used.key.clone(), request: request_hash(salt, &used.request) });
    let header = Header {
        user: position.user,
        seq: position.seq,
        id: position.id,
        recorded_at: position.recorded_at,
        actor: draft.actor,
        origin: draft.origin.clone(),
        trust: draft.origin.kind.trust(),
        confidence: draft.confidence,
        rationale: draft.rationale.clone(),
        caused_by: draft.caused_by.clone(),
        idempotency,
        prev: position.prev,
        digests,
    };
    let bytes = stored::write_header(&header)?;
    let sealed = SealedEvent {
        seq: header.seq,
        id: header.id,
        format: FORMAT,
        recorded_at_micros: header.recorded_at.as_microsecond(),
        control: draft.changes.iter().any(Change::is_control),
        idempotency: header.idempotency.as_ref().map(|used| (used.key.clone(), used.request)),
        hash: header_hash(&bytes),
        header: bytes,
        changes,
    };
    Ok((sealed, header))
}

/// Reads the header of a sealed event.
///
/// # Errors
/// See [`FormatError`].
pub fn open_header(sealed: &SealedEvent) -> Result<Header, FormatError> {
    stored::read_header(sealed.format, &sealed.header)
}

/// Reads one change; `None` if its payload was erased.
///
/// # Errors
/// See [`FormatError`].
pub fn open_change(sealed: &SealedEvent, index: usize) -> Result<Option<Change>, FormatError> {
    match sealed.changes.get(index).and_then(|change| change.bytes.as_ref()) {
        Some(bytes) => stored::read_change(sealed.format, bytes).map(Some),
        None => Ok(None),
    }
}

/// Reads a whole event.
///
/// # Errors
/// See [`FormatError`]; an event is never read partly.
pub fn open(sealed: &SealedEvent) -> Result<Event, FormatError> {
    let changes = (0..sealed.changes.len()).map(|index| open_change(sealed, index)).collect::<Result<_, _>>()?;
    Ok(Event { header: open_header(sealed)?, hash: sealed.hash, changes })
}
