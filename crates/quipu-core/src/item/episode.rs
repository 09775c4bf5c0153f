//! Episodes: a stretch of turns with a title and a summary.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// Overall sentiment of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Sentiment {
    /// Glad.
    Positive,
    /// Neither.
    Neutral,
    /// Sad, angry, afraid.
    Negative,
}

/// Emotion in two dimensions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Affect {
    /// From −1 (bad) to 1 (good).
    pub valence: f64,
    /// From 0 (calm) to 1 (excited).
    pub arousal: f64,
}

/// A stretch of one session with a summary. The sentences themselves stay in the sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Episode {
    /// Its id.
    pub id: ItemId,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its sources, in order; never empty.
    pub sources: Vec<ItemId>,
    /// Indices of the first and last source within the session, from 0.
    pub turn_range: (u32, u32),
    /// A few words.
    pub title: String,
    /// A few sentences.
    pub summary: String,
    /// The sentences the summary was taken from, verbatim.
    pub raw_excerpt: String,
    /// Start of the episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// End of the episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// The speakers, by name or role.
    pub participants: Vec<String>,
    /// Its topics, most significant first.
    pub topics: Vec<String>,
    /// The sentiment.
    pub sentiment: Sentiment,
    /// The emotion.
    pub affect: Affect,
    /// From 1 to 10.
    pub importance: u8,
    /// Paths of the core document it influenced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_paths: Vec<String>,
    /// Facts extracted from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<ItemId>,
    /// The broad subject area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Free tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}
