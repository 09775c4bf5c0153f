//! Usage of items: how often they were shown, and why they left the active index.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// How often an item was shown since the last recorded count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemHits {
    /// The item.
    pub item: ItemId,
    /// Number of hits; never 0.
    pub count: u64,
    /// Time of the last hit.
    pub last_at: Timestamp,
}

/// The recorded hits of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hits {
    /// Number of hits.
    pub hits: u64,
    /// Time of the last hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_hit_at: Option<Timestamp>,
}

impl Hits {
    /// True if it was never shown.
    pub fn is_none(&self) -> bool {
        self.hits == 0
    }
}

/// Why an item left the active index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Demotion {
    /// An old source covered by an episode.
    Cold,
    /// A fact of low priority that was not used lately and is covered by an episode.
    Idle,
    /// An old value of a slot with many superseded values.
    History,
}

impl Demotion {
    /// The reason as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Idle => "idle",
            Self::History => "history",
        }
    }
}
