//! Ledger lines: one sealed event per line of text, for golden files, picks and transfers between stores.
//!
//! A line contains the header and the changes as JSON strings of their exact bytes, so reading it back gives the same
//! hashes.

use serde::{Deserialize, Serialize};

use super::seal::open_header;
use super::sealed::{SealedChange, SealedEvent};
use super::stored::FormatError;
use crate::event::Hash;

#[derive(Serialize, Deserialize)]
struct ExchangeLine {
    quipu_ledger: u16,
    header: String,
    hash: String,
    control: bool,
    changes: Vec<ChangeLine>,
}

#[derive(Serialize, Deserialize)]
struct ChangeLine {
    bytes: Option<String>,
    salt: Option<String>,
}

fn malformed(error: impl std::fmt::Display) -> FormatError {
    FormatError::Malformed(error.to_string())
}

fn text(bytes: &[u8]) -> Result<String, FormatError> {
    String::from_utf8(bytes.to_vec()).map_err(malformed)
}

/// Serialises an event as one line of JSON, without the line break.
///
/// # Errors
/// `Malformed` if the stored bytes are not text; all formats so far are text.
pub fn write_line(event: &SealedEvent) -> Result<String, FormatError> {
    let changes = event.changes.iter().map(|change| {
        Ok(ChangeLine {
            bytes: change.bytes.as_deref().map(text).transpose()?,
            salt: change.salt.map(|salt| Hash::from_bytes(salt).to_hex().to_string()),
        })
    });
    let line = ExchangeLine {
        quipu_ledger: event.format,
        header: text(&event.header)?,
        hash: event.hash.to_hex().to_string(),
        control: event.control,
        changes: changes.collect::<Result<_, FormatError>>()?,
    };
    serde_json::to_string(&line).map_err(malformed)
}

/// Parses a line. Does not verify the hashes; use a [`Verifier`](super::Verifier).
///
/// # Errors
/// See [`FormatError`].
pub fn read_line(line: &str) -> Result<SealedEvent, FormatError> {
    let line: ExchangeLine = serde_json::from_str(line).map_err(malformed)?;
    let hash = |hex: &str| Hash::from_hex(hex).map_err(malformed);
    let changes = line.changes.into_iter().map(|change| {
        Ok(SealedChange {
            bytes: change.bytes.map(String::into_bytes),
            salt: change.salt.as_deref().map(hash).transpose()?.map(Into::into),
        })
    });
    let mut event = SealedEvent {
        seq: 0,
        id: uuid::Uuid::nil(),
        format: line.quipu_ledger,
        recorded_at_micros: 0,
        control: line.control,
        idempotency: None,
        hash: hash(&line.hash)?,
        changes: changes.collect::<Result<_, FormatError>>()?,
        header: line.header.into_bytes(),
    };
    let header = open_header(&event)?;
    event.seq = header.seq;
    event.id = header.id;
    event.recorded_at_micros = header.recorded_at.as_microsecond();
    event.idempotency = header.idempotency.map(|used| (used.key, used.request));
    Ok(event)
}
