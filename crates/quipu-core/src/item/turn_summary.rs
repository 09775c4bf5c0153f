//! Turn log lines: the summary of one exchange.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// How deeply an exchange is summarised, depending on its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SummaryDepth"))]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// A summary only.
    Short,
    /// A summary and changes to the base truth.
    Medium,
    /// Like `Medium`, and the reply stays longer in the raw window.
    Long,
}

/// Kind of a proposed change to the base truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiffOp {
    /// Removes an entry.
    Remove,
    /// Replaces an entry.
    Update,
    /// Adds an entry.
    Add,
    /// Summarises the turn.
    Summary,
}

/// A refused change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefusedEntry {
    /// Its kind.
    pub op: DiffOp,
    /// Its text, only if it occurs in the exchange: other text may have another origin and is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The reason.
    pub reason: String,
}

/// The summary of one exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSummary {
    /// The session.
    pub session: String,
    /// The number of the exchange in the session, from 1.
    pub turn: u32,
    /// The sources of the exchange in order; never empty.
    pub sources: Vec<ItemId>,
    /// How deeply it was summarised.
    pub depth: Depth,
    /// Summary of the user's messages. Empty if there are none, or if `raw`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_summary: String,
    /// Summary of the replies. Empty if there are none, or if `raw`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub assistant_summary: String,
    /// True if the summariser failed permanently: the exchange itself is used instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
    /// Proposed changes that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEntry>,
}
