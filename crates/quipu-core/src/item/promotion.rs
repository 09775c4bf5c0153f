//! A pattern of the core document that becomes a category of its own.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What speaks for a category: how often, on how many days, since when and until when, and how linked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// How often something of it was written down or said.
    pub instances: u32,
    /// On how many days.
    pub days: u32,
    /// The first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<Timestamp>,
    /// The last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
    /// Episodes that tell of it.
    #[serde(default)]
    pub links: u32,
}

/// The promotion of a pattern to a category. What moves where stands in the patches beside it, in the same event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// The pattern: a term or key of `uncategorized`, or the name of a dynamic category.
    pub candidate: String,
    /// The category it becomes; one that was promoted before takes in what came since.
    pub name: String,
    /// What the category is about.
    pub description: String,
    /// Why.
    pub rationale: String,
    /// What speaks for it.
    pub support: Support,
    /// Fields somebody proposed, by the member that would go there; only while it waits to be decided. What has none goes where
    /// the rules say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}
