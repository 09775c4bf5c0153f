//! Pack ids. An id encodes the inputs of a pack, so that the pack can be built again, and a digest to compare it by.
//! Nothing is stored.

use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use quipu_core::id::{Seq, UserId};
use quipu_core::pack::Pack;
use quipu_core::recall::Intent;
use serde::{Deserialize, Serialize};

use crate::context::block::{self, ContextOptions};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::When;

const PREFIX: &str = "pack_";
const DIGEST_BYTES: usize = 8;

/// The inputs that determine a pack. The short serialized names are part of every id that was issued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PackInputs {
    #[serde(rename = "q")]
    pub(crate) query: String,
    #[serde(rename = "v")]
    pub(crate) version: Seq,
    #[serde(rename = "n")]
    pub(crate) now: Timestamp,
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<Intent>,
    #[serde(rename = "t")]
    pub(crate) max_tokens: usize,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(rename = "p")]
    pub(crate) profile: String,
    #[serde(rename = "k")]
    pub(crate) tokenizer: String,
    #[serde(rename = "f", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ids: bool,
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cite: bool,
}

#[derive(Serialize, Deserialize)]
struct Id {
    #[serde(flatten)]
    asked: PackInputs,
    #[serde(rename = "d")]
    digest: String,
}

/// Returns the id of the pack with this text.
pub(crate) fn id(asked: &PackInputs, text: &str) -> Result<String> {
    let id = Id { asked: asked.clone(), digest: digest(text) };
    let json = serde_json::to_vec(&id).map_err(|error| Error::Bug(format!("the id of a pack: {error}")))?;
    Ok(format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&json)))
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..2 * DIGEST_BYTES].to_owned()
}

/// A pack that was built again.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ReproducedPack"))]
pub struct Reproduced {
    /// True if it is identical, byte for byte.
    pub identical: bool,
    /// The pack as built now.
    #[serde(flatten)]
    pub pack: Pack,
}

/// Builds a pack again from its id, at the version it was first built from.
///
/// The result differs only if content was erased since, or if the weights of the profile or the embedding model
/// changed.
///
/// # Errors
/// `Invalid` if `id` is not the id of a pack; otherwise as [`context`](crate::context()).
pub fn reproduce(engine: &Engine, user: &UserId, id: &str) -> Result<Reproduced> {
    let wrong = || Error::Invalid("that is no pack's id: it begins with pack_ and is copied whole".to_owned());
    let coded = id.trim().strip_prefix(PREFIX).ok_or_else(wrong)?;
    let bytes = BASE64URL_NOPAD.decode(coded.as_bytes()).map_err(|_| wrong())?;
    let Id { asked, digest: before } = serde_json::from_slice(&bytes).map_err(|_| wrong())?;
    let options = ContextOptions {
        query: asked.query,
        max_tokens: asked.max_tokens,
        session: asked.session,
        at: When::Seq(asked.version),
        intent: asked.intent,
        now: Some(asked.now),
        profile: Some(asked.profile),
        tokenizer: Some(asked.tokenizer),
        ids: asked.ids,
        cite: asked.cite,
        deadline: None,
    };
    let pack = block::context(engine, user, &options)?;
    Ok(Reproduced { identical: digest(&pack.text) == before, pack })
}
