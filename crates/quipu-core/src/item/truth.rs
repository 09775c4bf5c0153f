//! An entry of a session's base truth: what holds for as long as the conversation goes on.

use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::event::Trust;
use crate::id::ItemId;

/// What an entry of the base truth is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TruthKind {
    /// A hard exception: something that must never happen. Always in the context; only the user sets or removes one.
    Exception,
    /// A limit or rule.
    Constraint,
    /// What is aimed at.
    Goal,
    /// What was decided.
    Decision,
    /// What is liked better.
    Preference,
    /// What holds.
    Fact,
    /// What is to be done.
    Task,
    /// What is not settled.
    Question,
}

impl TruthKind {
    /// Every kind, in the order in which a context tells them.
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

    /// The kind as one word.
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

    /// True for what binds whoever answers: only the user's own words may say so.
    pub fn binds(self) -> bool {
        matches!(self, Self::Exception | Self::Constraint)
    }
}

/// One entry of the base truth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// Its name.
    pub id: ItemId,
    /// The conversation.
    pub session: String,
    /// What it is.
    pub kind: TruthKind,
    /// The entry itself.
    pub text: String,
    /// Where it stands; empty only for what was entered by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The first source of the exchange it was summarised from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ItemId>,
    /// Entries whose words it carries: it goes with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<ItemId>,
    /// The entry whose place it takes. It stands also without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ItemId>,
    /// How far it may reach: no further than its sources.
    pub trust: Trust,
}

impl Truth {
    /// True for what no summary and no consolidation may touch.
    pub fn is_hard(&self) -> bool {
        self.kind == TruthKind::Exception
    }
}
