//! Evidence: where in the sources a statement was read.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;

/// A byte range in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// The relation: `impacts`, `about`, `same_as`.
    pub rel: String,
    /// The other item.
    pub to: ItemId,
}
