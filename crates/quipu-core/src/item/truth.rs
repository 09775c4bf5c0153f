//! Base truth entries: what holds during a session.

use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::event::Trust;
use crate::id::ItemId;

/// Kind of a base truth entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TruthKind {
    /// A hard exception: something that must never happen. Always in the context; only the user sets or removes one.
    Exception,
    /// A limit or rule.
    Constraint,
    /// An aim.
    Goal,
    /// A decision made.
    Decision,
    /// A preference.
    Preference,
    /// A statement that holds.
    Fact,
    /// Something to do.
    Task,
    /// Something open.
    Question,
}

impl TruthKind {
    /// Every kind, in the order of a context.
    pub const ALL: [Self; 8] = [
        Self::Exception,
        Self::Constraint,
        Self::Goal,
        Self::Decision,
        Self::Preference,
        Self::Fact,
        Self::Task,
        Self::Question,
    ];

    /// The kind as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exception => "exception",
            Self::Constraint => "constraint",
            Self::Goal => "goal",
            Self::Decision => "decision",
            Self::Preference => "preference",
            Self::Fact => "fact",
            Self::Task => "task",
            Self::Question => "question",
        }
    }

    /// True for kinds that bind the assistant: only the user's own words may add them.
    pub fn binds(self) -> bool {
        matches!(self, Self::Exception | Self::Constraint)
    }
}

/// One entry of the base truth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Truth {
    /// Its id.
    pub id: ItemId,
    /// The session.
    pub session: String,
    /// Its kind.
    pub kind: TruthKind,
    /// The text.
    pub text: String,
    /// The evidence; empty only if it was entered by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The first source of the exchange it was summarised from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ItemId>,
    /// Entries whose text it contains; it is removed with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<ItemId>,
    /// The entry it replaces. It holds even if that entry is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ItemId>,
    /// Its trust, at most that of its sources.
    pub trust: Trust,
}

impl Truth {
    /// True for hard exceptions, which summaries and consolidation must not change.
    pub fn is_hard(&self) -> bool {
        self.kind == TruthKind::Exception
    }
}
