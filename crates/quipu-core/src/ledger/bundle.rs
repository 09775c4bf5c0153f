//! Bundles: a whole ledger as text for transfer. The first line names the user and the head, with a signature; the
//! others are the ledger lines.

use serde::{Deserialize, Serialize};

use super::exchange::{read_line, write_line};
use super::sealed::SealedEvent;
use super::stored::FormatError;
use crate::event::Hash;
use crate::id::{Seq, UserId};

/// Version of the first line.
const BUNDLE: u16 = 1;

/// The content of a bundle that is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// The user of the ledger.
    pub user_id: UserId,
    /// The newest event.
    pub head_seq: Seq,
    /// Its hash in hexadecimal, which covers all events before it.
    pub head_hash: String,
}

/// A seal with its signature, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The signed content.
    #[serde(flatten)]
    pub seal: Seal,
    /// The key of the signer.
    pub public_key: String,
    /// Signature of [`Seal::signed_bytes`].
    pub signature: String,
}

#[derive(Serialize, Deserialize)]
struct FirstLine {
    quipu_bundle: u16,
    #[serde(flatten)]
    signed: Signed,
}

impl Seal {
    /// The bytes to sign: a domain-separated hash of user, position and head hash.
    ///
    /// # Errors
    /// `Malformed` if the head hash is not a hash.
    pub fn signed_bytes(&self) -> Result<[u8; 32], FormatError> {
        let hash = Hash::from_hex(&self.head_hash).map_err(|error| FormatError::Malformed(error.to_string()))?;
        let user = self.user_id.as_str().as_bytes();
        let mut hasher = blake3::Hasher::new_derive_key("quipu bundle v1");
        hasher.update(&(user.len() as u64).to_le_bytes()).update(user);
        hasher.update(&self.head_seq.to_le_bytes()).update(hash.as_bytes());
        Ok(*hasher.finalize().as_bytes())
    }
}

/// True if a text starts like a bundle.
pub fn is_bundle(text: &str) -> bool {
    text.starts_with("{\"quipu_bundle\":")
}

/// Writes a bundle, one line per event.
///
/// # Errors
/// `Malformed` if stored bytes are not text; all formats so far are text.
pub fn write_bundle(signed: &Signed, events: &[SealedEvent]) -> Result<String, FormatError> {
    let malformed = |error: serde_json::Error| FormatError::Malformed(error.to_string());
    let first = FirstLine { quipu_bundle: BUNDLE, signed: signed.clone() };
    let mut text = serde_json::to_string(&first).map_err(malformed)?;
    text.push('\n');
    for event in events {
        text.push_str(&write_line(event)?);
        text.push('\n');
    }
    Ok(text)
}

/// Reads a bundle. Does not verify the signature or the hashes.
///
/// # Errors
/// `Malformed` with the line number.
pub fn read_bundle(text: &str) -> Result<(Signed, Vec<SealedEvent>), FormatError> {
    let at = |number: usize, why: &dyn std::fmt::Display| FormatError::Malformed(format!("line {number}: {why}"));
    let mut lines = text.lines();
    let first: FirstLine = serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| at(1, &error))?;
    if first.quipu_bundle != BUNDLE {
        return Err(at(1, &format!("bundle layout {} is not known here", first.quipu_bundle)));
    }
    let mut events = Vec::new();
    for (number, line) in lines.enumerate() {
        events.push(read_line(line).map_err(|error| at(number + 2, &error))?);
    }
    Ok((first.signed, events))
}
