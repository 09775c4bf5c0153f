//! Bundles: a whole ledger in one signed file, exported and imported byte for byte.

use quipu_core::event::Hash;
use quipu_core::id::UserId;
use quipu_core::ledger::{self, Pin, Seal, SealedEvent, Signed, Verification};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::{RestoreOptions, RestoredFolder, receive};
use crate::history::verify;
use crate::memory::Watch;
use crate::ports::Signer;

/// Result of verifying a bundle.
#[derive(Debug, Clone, Serialize)]
pub struct BundleVerdict {
    /// Result for the hash chain; the sealed head is one of the pins.
    #[serde(flatten)]
    pub ledger: Verification,
    /// The signing key, in hexadecimal.
    pub public_key: String,
    /// True if the signature is valid for that key.
    pub signature_holds: bool,
    /// True if that key is the expected one; `None` if any key is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_key: Option<bool>,
}

impl BundleVerdict {
    /// Returns true if the ledger is complete and intact, and signed with the expected key.
    pub fn is_intact(&self) -> bool {
        self.ledger.is_intact() && self.signature_holds && self.expected_key != Some(false)
    }

    /// Why the bundle is not intact; `None` if it is.
    pub fn fault(&self) -> Option<String> {
        if self.is_intact() {
            return None;
        }
        let damage = self.ledger.damage.first().map(|damage| format!("event {}: {}", damage.seq, damage.reason));
        let why = match (self.signature_holds, self.expected_key) {
            (false, _) => "the signature does not hold".to_owned(),
            (_, Some(false)) => format!("it is signed by {}, not by the key that was expected", self.public_key),
            _ => damage.unwrap_or_else(|| "its events do not end where its seal says".to_owned()),
        };
        Some(why)
    }
}

/// Exports a user's whole ledger as a signed bundle.
///
/// # Errors
/// `NotFound` if there is no such user; `Corrupt` if the ledger is damaged, which must not be signed.
pub fn bundle(engine: &Engine, user: &UserId, signer: &dyn Signer) -> Result<String> {
    let open = engine.open(user)?;
    let events = verify::at_one_moment(open.writer()?.ledger.as_mut(), &mut |ledger, head| {
        let mut events: Vec<SealedEvent> = Vec::new();
        ledger.read(1..=head, &mut |event| {
            events.push(event);
            true
        })?;
        Ok(events)
    })?;
    let verdict = verify::verify_events(user, events.iter(), &[]);
    if let Some(damage) = verdict.damage.first() {
        let (seq, reason) = (damage.seq, &damage.reason);
        return Err(Error::Corrupt(format!(
            "the ledger is damaged and not exported: event {seq}: {reason}. `quipu verify -u {user}` lists all"
        )));
    }
    let seal = Seal { user_id: user.clone(), head_seq: verdict.head_seq, head_hash: verdict.head_hash };
    let signature = signer.sign(&seal.signed_bytes()?)?;
    let signed = Signed { seal, public_key: hex(&signer.public_key()?), signature: hex(&signature) };
    Ok(ledger::write_bundle(&signed, &events)?)
}

/// Verifies a bundle: every event and digest, its end, and the signature.
///
/// # Errors
/// `Invalid` if it is not a bundle.
pub fn verify_bundle(text: &str, key: Option<&str>, signer: &dyn Signer, pins: &[Pin]) -> Result<BundleVerdict> {
    opened(text, key, signer, pins).map(|(verdict, _)| verdict)
}

fn opened(
    text: &str,
    key: Option<&str>,
    signer: &dyn Signer,
    pins: &[Pin],
) -> Result<(BundleVerdict, Vec<SealedEvent>)> {
    let wrong = |error: ledger::FormatError| Error::Invalid(format!("not a bundle: {error}"));
    let (signed, events) = ledger::read_bundle(text).map_err(wrong)?;
    let hash = Hash::from_hex(&signed.seal.head_hash)
        .map_err(|error| Error::Invalid(format!("not a bundle: the head's hash: {error}")))?;
    let mut pins = pins.to_vec();
    // A pin alone would allow events after the sealed head.
    pins.push(Pin { seq: signed.seal.head_seq, hash });
    let mut verdict = verify::verify_events(&signed.seal.user_id, events.iter(), &pins);
    if verdict.head_seq != signed.seal.head_seq {
        let reason = format!("the seal is over events 1 to {}", signed.seal.head_seq);
        verdict.damage.push(ledger::Damage { seq: verdict.head_seq, change: None, reason });
    }
    let bytes = signed.seal.signed_bytes().map_err(wrong)?;
    let signature_holds = match (unhex(&signed.public_key), unhex(&signed.signature)) {
        (Some(key), Some(signature)) => signer.vouches(&key, &bytes, &signature),
        _ => false,
    };
    let expected_key = key.map(|key| key.trim().eq_ignore_ascii_case(&signed.public_key));
    Ok((BundleVerdict { ledger: verdict, public_key: signed.public_key, signature_holds, expected_key }, events))
}

/// Imports a bundle as a new user's ledger, byte for byte, after verifying it.
///
/// # Errors
/// `Corrupt` if the verification fails; `Refused` if the user has a memory here.
pub fn import_bundle(
    engine: &Engine,
    text: &str,
    key: Option<&str>,
    signer: &dyn Signer,
    dry_run: bool,
    watch: Watch<'_>,
) -> Result<(RestoredFolder, BundleVerdict)> {
    let (verdict, events) = opened(text, key, signer, &[])?;
    if let Some(why) = verdict.fault() {
        return Err(Error::Corrupt(format!("the bundle is not taken up: {why}")));
    }
    let user = verdict.ledger.user_id.clone();
    receive(engine, &user, &events, RestoreOptions { dry_run, replace: false }, watch)
        .map(|restored| (restored, verdict))
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok()
}
