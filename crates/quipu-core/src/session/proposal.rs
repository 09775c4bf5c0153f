//! Proposals of a summariser: candidates only, in the format in which a language model answers.

use serde::{Deserialize, Serialize};

use crate::id::ItemId;
use crate::item::{Truth, TruthKind};

/// A proposed summary of one exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryProposal {
    /// Summary of the user's messages, in at most [`crate::limit::USER_SUMMARY_WORDS_MAX`] words.
    #[serde(default)]
    pub user_summary: String,
    /// Summary of the decisions and results, in at most [`crate::limit::ASSISTANT_SUMMARY_WORDS_MAX`] words.
    #[serde(default)]
    pub assistant_summary: String,
    /// Changes of the base truth.
    #[serde(default)]
    pub base_truth_diff: TruthDiff,
}

/// Proposed changes of the base truth, made in the order remove, update, add.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TruthDiff {
    /// New entries.
    #[serde(default)]
    pub add: Vec<ProposedEntry>,
    /// Full texts of entries that replace known ones.
    #[serde(default)]
    pub update: Vec<ProposedEntry>,
    /// Entries to remove, or parts of them.
    #[serde(default)]
    pub remove: Vec<String>,
}

impl TruthDiff {
    /// True if nothing is proposed.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.update.is_empty() && self.remove.is_empty()
    }
}

/// A proposed entry: a text, optionally with its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProposedEntry {
    /// The rules determine the kind.
    Text(String),
    /// The kind is given.
    Entry {
        /// The kind.
        kind: TruthKind,
        /// The text.
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

    /// The given kind, or the one determined by the rules.
    pub fn kind(&self) -> TruthKind {
        match self {
            Self::Text(text) => super::RuleBook::english().kind_of(text),
            Self::Entry { kind, .. } => *kind,
        }
    }
}

/// An entry as shown to a summariser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownEntry {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: TruthKind,
    /// Its text.
    pub text: String,
}

impl From<&Truth> for KnownEntry {
    fn from(truth: &Truth) -> Self {
        Self { id: truth.id, kind: truth.kind, text: truth.text.clone() }
    }
}

/// A proposal to merge entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeProposed {
    /// The entries.
    pub from: Vec<ItemId>,
    /// The merged text.
    pub text: String,
}
