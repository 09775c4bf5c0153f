//! Snapshots: a memory as bytes, so that opening it does not need to fold every event.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{HeldSource, Marks, Memory, Orphan};
use crate::event::Hash;
use crate::id::{ItemId, Seq, UserId};
use crate::limit;
use crate::refusal::Refusal;

/// The stored part of a memory; the rest is derived from it.
#[derive(Serialize, Deserialize)]
struct Image {
    user: UserId,
    seq: Seq,
    head: [u8; 32],
    skipped: Vec<Seq>,
    sources: Vec<HeldSource>,
    core: String,
    core_seq: Seq,
    #[serde(with = "crate::calendar::micros")]
    core_updated_at: Option<Timestamp>,
    marks: Vec<(ItemId, Marks)>,
    items: String,
    schema: String,
    orphans: Vec<Orphan>,
}

/// Identifies the layout of [`Memory::encode`]; a snapshot with another tag is discarded and rebuilt.
pub const SNAPSHOT_TAG: &[u8; 8] = b"qpsnap04";

/// Largest snapshot that is read.
pub const SNAPSHOT_BYTES_MAX: usize = limit::ACTIVE_BYTES_MAX;

impl Memory {
    /// Serialises the memory: equal memories give equal bytes.
    ///
    /// # Errors
    /// `Invalid` if a value cannot be serialised, which would be a bug.
    pub fn encode(&self) -> Result<Vec<u8>, Refusal> {
        #[derive(Serialize)]
        struct View<'a> {
            user: &'a UserId,
            seq: Seq,
            head: &'a [u8; 32],
            skipped: Vec<Seq>,
            sources: &'a [HeldSource],
            core: String,
            core_seq: Seq,
            #[serde(with = "crate::calendar::micros")]
            core_updated_at: Option<Timestamp>,
            marks: Vec<(ItemId, Marks)>,
            items: String,
            schema: String,
            orphans: &'a [Orphan],
        }
        let view = View {
            user: &self.user,
            seq: self.seq,
            head: self.head.as_bytes(),
            skipped: self.skipped.iter().copied().filter(|&seq| seq <= self.seq).collect(),
            sources: &self.sources,
            core: self.core.to_string(),
            core_seq: self.core_seq,
            core_updated_at: self.core_updated_at,
            marks: self.marks.iter().map(|(id, marks)| (*id, *marks)).collect(),
            items: json(&self.items)?,
            schema: json(&self.schema)?,
            orphans: &self.orphans,
        };
        let body = postcard::to_stdvec(&view).map_err(|error| Refusal::invalid(error.to_string()))?;
        let mut bytes = SNAPSHOT_TAG.to_vec();
        bytes.extend_from_slice(blake3::hash(&body).as_bytes());
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// `Invalid` if the bytes are not a snapshot of this format; rebuild the memory from the ledger then.
    pub fn decode(bytes: &[u8]) -> Result<Self, Refusal> {
        let body = bytes
            .strip_prefix(SNAPSHOT_TAG.as_slice())
            .ok_or_else(|| Refusal::invalid("not a snapshot of this format"))?;
        let (sum, body) =
            body.split_first_chunk::<32>().ok_or_else(|| Refusal::invalid("the snapshot is cut short"))?;
        if blake3::hash(body) != *sum {
            return Err(Refusal::invalid("the snapshot is damaged"));
        }
        let image: Image = postcard::from_bytes(body).map_err(|error| Refusal::invalid(error.to_string()))?;
        let mut memory = Self::new(image.user, image.skipped.into_iter().collect());
        memory.seq = image.seq;
        memory.head = Hash::from_bytes(image.head);
        memory.core = parsed(&image.core)?;
        memory.core_seq = image.core_seq;
        memory.core_updated_at = image.core_updated_at;
        memory.marks = image.marks.into_iter().collect();
        memory.items = parsed(&image.items)?;
        memory.schema = parsed(&image.schema)?;
        memory.items.restore();
        memory.orphans = image.orphans;
        memory.sources.reserve_exact(image.sources.len());
        memory.by_id.reserve(image.sources.len());
        image.sources.into_iter().for_each(|held| memory.hold(held));
        Ok(memory)
    }
}

fn json(part: &impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(part).map_err(|error| Refusal::invalid(error.to_string()))
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    serde_json::from_str(text).map_err(|error| Refusal::invalid(error.to_string()))
}
