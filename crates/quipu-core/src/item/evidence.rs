//! Receipts: where a statement was read.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// A place in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// The source.
    pub source: ItemId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A sparse connection from one item to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What connects them: `impacts`, `about`, `same_as`.
    pub rel: String,
    /// The other item.
    pub to: ItemId,
}
