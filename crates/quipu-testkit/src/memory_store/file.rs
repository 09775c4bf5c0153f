//! Backup files of the store in memory: the user on the first line, then one event on each line.

use std::fs;
use std::path::Path;

use quipu_core::event::Hash;
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::ledger::{SealedChange, SealedEvent};
use quipu_engine::ports::StoreError;
use serde_json::{from_str, to_string};

/// An event as a line of JSON: a payload may be any bytes.
type Line = (Seq, [u8; 16], u16, i64, bool, Option<(String, [u8; 32])>, Vec<u8>, [u8; 32], Vec<Change>);
/// Bytes and salt.
type Change = (Option<Vec<u8>>, Option<[u8; 32]>);

pub(super) fn write(user: &UserId, events: &[SealedEvent], to: &Path) -> Result<(), StoreError> {
    let mut text = format!("{user}\n");
    for event in events {
        let key = event.idempotency.as_ref().map(|(key, request)| (key.clone(), *request.as_bytes()));
        let changes = event.changes.iter().map(|change| (change.bytes.clone(), change.salt)).collect();
        let line: Line = (
            event.seq,
            *event.id.as_bytes(),
            event.format,
            event.recorded_at_micros,
            event.control,
            key,
            event.header.clone(),
            *event.hash.as_bytes(),
            changes,
        );
        text.push_str(&to_string(&line).map_err(|error| StoreError::Corrupt(error.to_string()))?);
        text.push('\n');
    }
    fs::write(to, text).map_err(|error| StoreError::Unavailable(format!("{}: {error}", to.display())))
}

pub(super) fn read(user: &UserId, from: &Path) -> Result<Vec<SealedEvent>, StoreError> {
    let corrupt = |reason: String| StoreError::Corrupt(format!("{}: {reason}", from.display()));
    let bytes = fs::read(from).map_err(|error| StoreError::NotFound(format!("{}: {error}", from.display())))?;
    let text = String::from_utf8(bytes).map_err(|error| corrupt(error.to_string()))?;
    let mut lines = text.lines();
    match lines.next() {
        Some(owner) if owner == user.as_str() => {}
        owner => return Err(corrupt(format!("this is the ledger of {owner:?}, not of {user}"))),
    }
    lines.map(|line| Ok(event(from_str(line).map_err(|error| corrupt(error.to_string()))?))).collect()
}

fn event((seq, id, format, recorded_at_micros, control, key, header, hash, changes): Line) -> SealedEvent {
    SealedEvent {
        seq,
        id: EventId::from_bytes(id),
        format,
        recorded_at_micros,
        control,
        idempotency: key.map(|(key, request)| (key, Hash::from_bytes(request))),
        header,
        hash: Hash::from_bytes(hash),
        changes: changes.into_iter().map(|(bytes, salt)| SealedChange { bytes, salt }).collect(),
    }
}
