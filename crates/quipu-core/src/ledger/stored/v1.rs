//! Stored format 1: compact JSON, field order as declared, absent when empty. Never edited; see `docs/format.md`.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::FormatError;
use crate::core_document::Patch;
use crate::event::{Actor, Change, ChangeRef, Hash, Header, Idempotency, ItemMark, Origin, SourceKind, Trust};
use crate::id::{EventId, ItemId, Seq, UserId};
use crate::source::{Artifact, Role, Source};

#[derive(Serialize, Deserialize)]
struct HeaderV1 {
    v: u16,
    user_id: UserId,
    seq: Seq,
    id: EventId,
    recorded_at: Timestamp,
    actor: Actor,
    source: OriginV1,
    trust: Trust,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    caused_by: Vec<EventId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_hash: Option<String>,
    prev: String,
    digests: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct OriginV1 {
    kind: SourceKind,
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChangeV1<'a> {
    SourceRecorded(SourceV1<'a>),
    CorePatched {
        patch: Cow<'a, Patch>,
    },
    ItemMarked {
        item: ItemId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rating: Option<i8>,
    },
    Reverted {
        events: Cow<'a, [Seq]>,
    },
    Erased {
        targets: Cow<'a, [ChangeRef]>,
        reason: Cow<'a, str>,
    },
    Forked {
        from: UserId,
        at: Seq,
        head: String,
    },
}

#[derive(Serialize, Deserialize)]
struct SourceV1<'a> {
    id: ItemId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topic: Option<Cow<'a, str>>,
    role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_at: Option<Timestamp>,
    text: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "no_artifacts")]
    artifacts: Cow<'a, [Artifact]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    native_id: Option<Cow<'a, str>>,
}

// The signature is required by serde's `skip_serializing_if`.
#[expect(clippy::ptr_arg, reason = "the signature is serde's")]
fn no_artifacts(artifacts: &Cow<'_, [Artifact]>) -> bool {
    artifacts.is_empty()
}

fn malformed(error: impl std::fmt::Display) -> FormatError {
    FormatError::Malformed(error.to_string())
}

fn hash(hex: &str) -> Result<Hash, FormatError> {
    Hash::from_hex(hex).map_err(|_| FormatError::Malformed(format!("{hex:?} is not a hash")))
}

pub(super) fn write_header(header: &Header) -> Result<Vec<u8>, FormatError> {
    let stored = HeaderV1 {
        v: 1,
        user_id: header.user.clone(),
        seq: header.seq,
        id: header.id,
        recorded_at: header.recorded_at,
        actor: header.actor,
        source: OriginV1 {
            kind: header.origin.kind,
            reference: header.origin.reference.clone(),
            session_id: header.origin.session.clone(),
            author: header.origin.author.clone(),
        },
        trust: header.trust,
        confidence: header.confidence,
        rationale: header.rationale.clone(),
        caused_by: header.caused_by.clone(),
        idempotency_key: header.idempotency.as_ref().map(|used| used.key.clone()),
        request_hash: header.idempotency.as_ref().map(|used| used.request.to_hex().to_string()),
        prev: header.prev.to_hex().to_string(),
        digests: header.digests.iter().map(|digest| digest.to_hex().to_string()).collect(),
    };
    serde_json::to_vec(&stored).map_err(malformed)
}

pub(super) fn read_header(bytes: &[u8]) -> Result<Header, FormatError> {
    let stored: HeaderV1 = serde_json::from_slice(bytes).map_err(malformed)?;
    if stored.v != 1 {
        return Err(FormatError::Malformed(format!("the header says format {}, the ledger says 1", stored.v)));
    }
    let idempotency = match (stored.idempotency_key, stored.request_hash) {
        (Some(key), Some(request)) => Some(Idempotency { key, request: hash(&request)? }),
        (None, None) => None,
        _ => return Err(malformed("an idempotency key goes with a request hash")),
    };
    Ok(Header {
        user: stored.user_id,
        seq: stored.seq,
        id: stored.id,
        recorded_at: stored.recorded_at,
        actor: stored.actor,
        origin: Origin {
            kind: stored.source.kind,
            reference: stored.source.reference,
            session: stored.source.session_id,
            author: stored.source.author,
        },
        trust: stored.trust,
        confidence: stored.confidence,
        rationale: stored.rationale,
        caused_by: stored.caused_by,
        idempotency,
        prev: hash(&stored.prev)?,
        digests: stored.digests.iter().map(|digest| hash(digest)).collect::<Result<_, _>>()?,
    })
}

pub(super) fn write_change(change: &Change) -> Result<Vec<u8>, FormatError> {
    let stored = match change {
        Change::Drawn(drawn) => return serde_json::to_vec(drawn).map_err(malformed),
        Change::SourceRecorded(source) => ChangeV1::SourceRecorded(SourceV1 {
            id: source.id,
            session_id: source.session.as_deref().map(Cow::Borrowed),
            topic: source.topic.as_deref().map(Cow::Borrowed),
            role: source.role,
            author: source.author.as_deref().map(Cow::Borrowed),
            said_at: source.said_at,
            text: Cow::Borrowed(&source.text),
            artifacts: Cow::Borrowed(&source.artifacts),
            native_id: source.native_id.as_deref().map(Cow::Borrowed),
        }),
        Change::CorePatched(patch) => ChangeV1::CorePatched { patch: Cow::Borrowed(patch) },
        Change::ItemMarked(mark) => ChangeV1::ItemMarked { item: mark.item, pinned: mark.pinned, rating: mark.rating },
        Change::Reverted { events } => ChangeV1::Reverted { events: Cow::Borrowed(events) },
        Change::Erased { targets, reason } => {
            ChangeV1::Erased { targets: Cow::Borrowed(targets), reason: Cow::Borrowed(reason) }
        }
        Change::Forked { from, at, head } => {
            ChangeV1::Forked { from: from.clone(), at: *at, head: head.to_hex().to_string() }
        }
    };
    serde_json::to_vec(&stored).map_err(malformed)
}

/// The type names of [`ChangeV1`]; every other type name belongs to `DerivedChange`.
const WORDS: [&str; 6] = ["source_recorded", "core_patched", "item_marked", "reverted", "erased", "forked"];

/// The type name of a change, read without parsing it. It is always the first member.
fn word(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(b"{\"type\":\"")?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

pub(super) fn read_change(bytes: &[u8]) -> Result<Change, FormatError> {
    if word(bytes).is_some_and(|word| !WORDS.contains(&word)) {
        return serde_json::from_slice(bytes).map(Change::Drawn).map_err(malformed);
    }
    Ok(match serde_json::from_slice(bytes).map_err(malformed)? {
        ChangeV1::SourceRecorded(source) => Change::SourceRecorded(Source {
            id: source.id,
            session: source.session_id.map(Into::into),
            topic: source.topic.map(Into::into),
            role: source.role,
            author: source.author.map(Into::into),
            said_at: source.said_at,
            text: source.text.into_owned().into_boxed_str(),
            artifacts: source.artifacts.into_owned(),
            native_id: source.native_id.map(|id| id.into_owned().into_boxed_str()),
        }),
        ChangeV1::CorePatched { patch } => Change::CorePatched(patch.into_owned()),
        ChangeV1::ItemMarked { item, pinned, rating } => Change::ItemMarked(ItemMark { item, pinned, rating }),
        ChangeV1::Reverted { events } => Change::Reverted { events: events.into_owned() },
        ChangeV1::Erased { targets, reason } => {
            Change::Erased { targets: targets.into_owned(), reason: reason.into_owned() }
        }
        ChangeV1::Forked { from, at, head } => Change::Forked { from, at, head: hash(&head)? },
    })
}
