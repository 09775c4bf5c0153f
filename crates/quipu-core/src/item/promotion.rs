//! Category promotion: a pattern of the core document becomes a category.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The support of a pattern: number of instances, days and episodes, and the period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PromotionSupport"))]
pub struct Support {
    /// Number of instances written or said.
    pub instances: u32,
    /// Number of days with an instance.
    pub days: u32,
    /// The first instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<Timestamp>,
    /// The last instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
    /// Number of episodes about it.
    #[serde(default)]
    pub links: u32,
}

/// The promotion of a pattern to a category. The patches of the same event move its members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Promotion {
    /// The pattern: a term or key of `uncategorized`, or the name of a dynamic category.
    pub candidate: String,
    /// The category; an existing one is extended.
    pub name: String,
    /// The description of the category.
    pub description: String,
    /// The reason.
    pub rationale: String,
    /// The support.
    pub support: Support,
    /// Proposed fields by member, only while the review waits. Members without one follow the rules.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}
