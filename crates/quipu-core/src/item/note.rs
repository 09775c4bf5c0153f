//! A note: an insight about what works for this person.

use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::event::Trust;
use crate::id::ItemId;

/// Who wrote a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteOrigin {
    /// A model, looking back.
    ModelReflection,
    /// A person.
    HumanFeedback,
    /// A rule.
    Rule,
}

/// One insight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Its name.
    pub id: ItemId,
    /// The insight.
    pub text: String,
    /// Who wrote it.
    pub origin: NoteOrigin,
    /// How sure, 0 to 1.
    pub confidence_base: f64,
    /// How many others said the same.
    #[serde(default)]
    pub votes: u32,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// How far it may reach.
    pub trust: Trust,
    /// Free words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Note {
    /// True if more than its author stands behind it: only then is it used strongly.
    pub fn is_agreed(&self) -> bool {
        self.votes > 0 || self.origin == NoteOrigin::HumanFeedback
    }
}
