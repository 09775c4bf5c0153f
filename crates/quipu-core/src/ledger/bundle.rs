//! A bundle: a whole ledger as text that can be handed on. One line says whose it is, where it ends and who vouches for
//! that; the others are the ledger's own lines.

use serde::{Deserialize, Serialize};

use super::exchange::{read_line, write_line};
use super::sealed::SealedEvent;
use super::stored::FormatError;
use crate::event::Hash;
use crate::id::{Seq, UserId};

/// The layout of the first line.
const BUNDLE: u16 = 1;

/// What a bundle says of itself, and what is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// Whose ledger.
    pub user_id: UserId,
    /// The newest event.
    pub head_seq: Seq,
    /// Its hash, in hexadecimal: it stands for everything before it.
    pub head_hash: String,
}

/// A seal and who vouches for it, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// What is vouched for.
    #[serde(flatten)]
    pub seal: Seal,
    /// Who vouches.
    pub public_key: String,
    /// Over [`Seal::signed_bytes`].
    pub signature: String,
}

#[derive(Serialize, Deserialize)]
struct FirstLine {
    quipu_bundle: u16,
    #[serde(flatten)]
    signed: Signed,
}

impl Seal {
    /// What is signed: a hash, in a domain of its own, of the user, the position and the hash.
    ///
    /// # Errors
    /// `Malformed` if the hash is none.
    pub fn signed_bytes(&self) -> Result<[u8; 32], FormatError> {
        let hash = Hash::from_hex(&self.head_hash).map_err(|error| FormatError::Malformed(error.to_string()))?;
        let user = self.user_id.as_str().as_bytes();
        let mut hasher = blake3::Hasher::new_derive_key("quipu bundle v1");
        hasher.update(&(user.len() as u64).to_le_bytes()).update(user);
        hasher.update(&self.head_seq.to_le_bytes()).update(hash.as_bytes());
        Ok(*hasher.finalize().as_bytes())
    }
}

/// True if a text begins like a bundle.
pub fn is_bundle(text: &str) -> bool {
    text.starts_with("{\"quipu_bundle\":")
}

/// Writes a bundle, a line an event.
///
/// # Errors
/// `Malformed` if stored bytes are not text, as every format so far is.
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

/// Reads a bundle. Neither the signature nor the hashes are checked here.
///
/// # Errors
/// `Malformed` with the line at fault.
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
