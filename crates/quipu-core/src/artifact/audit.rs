//! The audit log and the ledger lines of a folder: one line per event, in order of position.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Hash, Header};
use crate::id::{Seq, UserId};
use crate::limit;

/// `index/vault.json`: the state of the ledger that the folder reflects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditStatus {
    /// `vault.v1`.
    pub schema: String,
    /// The user whose memory it is.
    pub user: UserId,
    /// The newest event in the folder.
    pub head_seq: Seq,
    /// Its hash.
    pub head_hash: String,
    /// The first event of the day that is still open.
    pub open_from: Seq,
    /// Bytes of the newest file of the ledger's lines.
    pub lines_bytes: u64,
    /// Bytes of the audit log.
    pub audit_bytes: u64,
    /// The file versions it was written with. If they differ from the current ones, every file is checked again.
    #[serde(default)]
    pub versions: Vec<String>,
}

/// The file that holds an event's line.
pub fn segment_of(seq: Seq) -> String {
    let first = (seq.saturating_sub(1) / limit::VAULT_SEGMENT_EVENTS) * limit::VAULT_SEGMENT_EVENTS + 1;
    format!("index/ledger/{first:010}.jsonl")
}

/// The audit log line of an event. It repeats the header only, so an erasure does not change it.
pub fn audit_line(header: &Header, hash: &Hash) -> String {
    let word = |value: serde_json::Result<serde_json::Value>| {
        value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let at: Timestamp = header.recorded_at;
    format!(
        "{at} {} {} {} changes={} {}\n",
        header.seq,
        word(serde_json::to_value(header.actor)),
        word(serde_json::to_value(header.origin.kind)),
        header.digests.len(),
        hash.to_hex()
    )
}
