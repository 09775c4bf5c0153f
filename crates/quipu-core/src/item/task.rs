//! Tasks, goals, and problems with their attempts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Evidence, Link};
use crate::event::Trust;
use crate::extract::TaskKind;
use crate::id::ItemId;

/// Status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Being worked on.
    Active,
    /// On hold.
    Stalled,
    /// Completed, reached or solved.
    Done,
    /// Abandoned.
    Dropped,
}

impl TaskStatus {
    /// True if it is neither completed nor abandoned.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Active | Self::Stalled)
    }
}

/// An attempt to solve a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attempt {
    /// The date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Timestamp>,
    /// What was tried.
    pub approach: String,
    /// The outcome, as said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// Whether it helped, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<bool>,
    /// The evidence.
    pub evidence: Vec<Evidence>,
}

/// One task, goal or problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Task {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: TaskKind,
    /// A few words.
    pub title: String,
    /// Details, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The status.
    pub status: TaskStatus,
    /// From 1 to 10.
    pub priority: u8,
    /// The due date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// The attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// When it was first mentioned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// The evidence; never empty.
    pub evidence: Vec<Evidence>,
    /// Its trust.
    pub trust: Trust,
    /// Free tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Links to other items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

impl Task {
    /// True for a goal that is active or stalled.
    pub fn is_open_goal(&self) -> bool {
        self.kind == TaskKind::Goal && self.status.is_open()
    }
}
