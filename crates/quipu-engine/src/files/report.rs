//! What came of writing files.

use std::path::PathBuf;

use quipu_core::id::ItemId;
use serde::Serialize;

/// A page that was edited by hand, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditedPage {
    /// The page.
    pub page: String,
    /// Where the page as it was found is kept now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// What waits for a decision because of it.
    pub proposed: Vec<(ItemId, String)>,
}

/// What was done in a folder, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VaultReport {
    /// Where it is.
    pub folder: PathBuf,
    /// The version it is level with.
    pub version: u64,
    /// Files that were written, by path.
    pub written: Vec<String>,
    /// Files that were taken away.
    pub removed: Vec<String>,
    /// Files that are as they should be.
    pub unchanged: u64,
    /// True if everything was made anew.
    pub anew: bool,
    /// Pages that were edited by hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditedPage>,
}

impl VaultReport {
    /// True if nothing had to be done.
    pub fn is_level(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty()
    }
}
