//! Tenets: a value, preference, policy or goal the user lives by.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// Kind of a tenet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TenetKind {
    /// What matters to the user.
    Value,
    /// What the user prefers.
    Preference,
    /// What the user always or never does.
    Policy,
    /// What the user pursues.
    Goal,
}

/// Status of a tenet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TenetStatus {
    /// Waits for the user's decision.
    Proposed,
    /// Confirmed by the user.
    Confirmed,
    /// In the history only.
    Outdated,
}

/// A tenet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tenet {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: TenetKind,
    /// The text.
    pub text: String,
    /// The status.
    pub status: TenetStatus,
    /// Facts, episodes and sources it rests on.
    pub evidence: Vec<ItemId>,
    /// The broad subject area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The narrow subject area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Number of times it was reworded or decided on.
    pub version: u32,
}
