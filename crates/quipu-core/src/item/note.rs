//! Notes: insights about what works for this person.

use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::event::Trust;
use crate::id::ItemId;

/// Author of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteOrigin {
    /// A model during reflection.
    ModelReflection,
    /// A person.
    HumanFeedback,
    /// A rule.
    Rule,
}

/// One insight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// Its id.
    pub id: ItemId,
    /// The insight.
    pub text: String,
    /// The author.
    pub origin: NoteOrigin,
    /// Confidence, 0 to 1.
    pub confidence_base: f64,
    /// Number of others who agreed.
    #[serde(default)]
    pub votes: u32,
    /// The evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Its trust.
    pub trust: Trust,
    /// Free tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Note {
    /// True if somebody besides its author agreed, or a person wrote it; only then is it used strongly.
    pub fn is_agreed(&self) -> bool {
        self.votes > 0 || self.origin == NoteOrigin::HumanFeedback
    }
}
