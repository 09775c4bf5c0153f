//! The line of a session's turn log that tells one exchange.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// How deeply an exchange is summarised, by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// A summary only.
    Short,
    /// A summary and changes of the base truth.
    Medium,
    /// The same, and the reply stays in the raw window for longer.
    Long,
}

/// What a proposed change of the base truth wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffOp {
    /// To take an entry out.
    Remove,
    /// To put an entry in the place of another.
    Update,
    /// To put an entry in.
    Add,
    /// To tell the turn.
    Summary,
}

/// A proposed change that was not made as it was proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedEntry {
    /// What it wanted.
    pub op: DiffOp,
    /// Its text, if that stands in the exchange: what does not may come from elsewhere and is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why not.
    pub reason: String,
}

/// One exchange, told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSummary {
    /// The conversation.
    pub session: String,
    /// Its number in the conversation, from 1.
    pub turn: u32,
    /// The exchange: its sources in order, never empty.
    pub sources: Vec<ItemId>,
    /// How deeply it was summarised.
    pub depth: Depth,
    /// What the user wanted. Empty if the user said nothing, or if `raw`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_summary: String,
    /// What was answered. Empty if there was no reply, or if `raw`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub assistant_summary: String,
    /// True if the summariser failed for good: the words themselves stand for the summary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
    /// What was proposed and not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEntry>,
}
