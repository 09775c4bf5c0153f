//! What a summariser returns, whoever it is: candidates only. The shape is the one a language model answers in.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;
use crate::item::{Truth, TruthKind};

/// A proposed telling of one exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryProposal {
    /// What the user wanted, in at most [`crate::limit::USER_SUMMARY_WORDS_MAX`] words.
    #[serde(default)]
    pub user_summary: String,
    /// What was decided or produced, in at most [`crate::limit::ASSISTANT_SUMMARY_WORDS_MAX`] words.
    #[serde(default)]
    pub assistant_summary: String,
    /// Changes of the base truth.
    #[serde(default)]
    pub base_truth_diff: TruthDiff,
}

/// Proposed changes of the base truth. They are made in the order remove, update, add.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TruthDiff {
    /// Entries that are new.
    #[serde(default)]
    pub add: Vec<ProposedEntry>,
    /// Entries in full that take the place of known ones.
    #[serde(default)]
    pub update: Vec<ProposedEntry>,
    /// Entries that hold no longer, or parts of them.
    #[serde(default)]
    pub remove: Vec<String>,
}

impl TruthDiff {
    /// True if nothing is proposed.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.update.is_empty() && self.remove.is_empty()
    }
}

/// A proposed entry: a text, or a text with its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProposedEntry {
    /// The rules say what it is.
    Text(String),
    /// It says so itself.
    Entry {
        /// What it is.
        kind: TruthKind,
        /// The entry.
        text: String,
    },
}

impl ProposedEntry {
    /// The entry's text.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Entry { text, .. } => text,
        }
    }

    /// What it is.
    pub fn kind(&self) -> TruthKind {
        match self {
            Self::Text(text) => super::RuleBook::english().kind_of(text),
            Self::Entry { kind, .. } => *kind,
        }
    }
}

/// An entry as a summariser is shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownEntry {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    pub kind: TruthKind,
    /// What it says.
    pub text: String,
}

impl From<&Truth> for KnownEntry {
    fn from(truth: &Truth) -> Self {
        Self { id: truth.id, kind: truth.kind, text: truth.text.clone() }
    }
}

/// A proposal to make several entries one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeProposed {
    /// Which.
    pub from: Vec<ItemId>,
    /// What says it all.
    pub text: String,
}
