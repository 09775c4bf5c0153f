//! Report on writing files.

use std::path::PathBuf;

use quipu_core::id::ItemId;
use serde::Serialize;

/// A page that was edited by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditedPage {
    /// The page.
    pub page: String,
    /// Path of the copy of the edited page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// Reviews opened for the edits: id and text.
    pub proposed: Vec<(ItemId, String)>,
}

/// What was done in a folder, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VaultReport {
    /// Path of the folder.
    pub folder: PathBuf,
    /// The version the folder is up to date with.
    pub version: u64,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Number of files that were already correct.
    pub unchanged: u64,
    /// True if everything was rewritten.
    pub anew: bool,
    /// Pages that were edited by hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditedPage>,
}

impl VaultReport {
    /// Returns true if no file had to be written or removed.
    pub fn is_level(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty()
    }
}
