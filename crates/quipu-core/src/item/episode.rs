//! An episode: a small story, told by a stretch of turns.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// How a stretch sounds on the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sentiment {
    /// Glad.
    Positive,
    /// Neither.
    Neutral,
    /// Sad, angry, afraid.
    Negative,
}

/// Feeling in two numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Affect {
    /// From −1 (bad) to 1 (good).
    pub valence: f64,
    /// From 0 (calm) to 1 (excited).
    pub arousal: f64,
}

/// A stretch of one session with a summary. The sentences themselves stay in the sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Its name.
    pub id: ItemId,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its sources, in order; never empty.
    pub sources: Vec<ItemId>,
    /// Positions of the first and last source within the session, from 0.
    pub turn_range: (u32, u32),
    /// A few words.
    pub title: String,
    /// A few sentences.
    pub summary: String,
    /// The sentences the summary was drawn from, verbatim.
    pub raw_excerpt: String,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// Who spoke, by name or role.
    pub participants: Vec<String>,
    /// What it is about, most telling first.
    pub topics: Vec<String>,
    /// How it sounds.
    pub sentiment: Sentiment,
    /// How it feels.
    pub affect: Affect,
    /// From 1 to 10.
    pub importance: u8,
    /// Places of the core document it influenced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_paths: Vec<String>,
    /// Facts read in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<ItemId>,
    /// The broad field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Free words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}
