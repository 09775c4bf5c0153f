//! A tenet: a value, preference, policy or goal the user lives by.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// What a tenet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenetKind {
    /// What matters.
    Value,
    /// What is liked better.
    Preference,
    /// What is always or never done.
    Policy,
    /// What is aimed at.
    Goal,
}

/// Whether a tenet counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TenetStatus {
    /// Waits for the user.
    Proposed,
    /// The user stands by it.
    Confirmed,
    /// Kept for history.
    Outdated,
}

/// One line of the self-model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tenet {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    pub kind: TenetKind,
    /// The line itself.
    pub text: String,
    /// Whether it counts.
    pub status: TenetStatus,
    /// Facts, episodes and sources it was drawn from.
    pub evidence: Vec<ItemId>,
    /// The broad field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The narrow one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// How often it was reworded or decided on.
    pub version: u32,
}
