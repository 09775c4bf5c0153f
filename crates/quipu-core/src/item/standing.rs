//! How an item stands with whoever asks: how often it was shown, and why it left the active index.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// How often an item was shown since the last time this was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemHits {
    /// Which.
    pub item: ItemId,
    /// How often; never 0.
    pub count: u64,
    /// When last.
    pub last_at: Timestamp,
}

/// How often an item was shown, as far as it was written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hits {
    /// How often.
    pub hits: u64,
    /// When last.
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
    /// Old words that an episode tells.
    Cold,
    /// A statement of little weight that nobody came back to, and that an episode tells.
    Idle,
    /// An old value of a relation that has had many.
    History,
}

impl Demotion {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Idle => "idle",
            Self::History => "history",
        }
    }
}
