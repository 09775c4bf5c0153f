//! A task, a goal, or a problem with what was tried against it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Evidence, Link};
use crate::event::Trust;
use crate::extract::TaskKind;
use crate::id::ItemId;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Being worked on.
    Active,
    /// Waiting.
    Stalled,
    /// Reached, or solved.
    Done,
    /// Given up.
    Dropped,
}

/// Something that was tried against a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Timestamp>,
    /// What.
    pub approach: String,
    /// What came of it, as said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// Whether it helped, if said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successful: Option<bool>,
    /// Where it was said.
    pub evidence: Vec<Evidence>,
}

/// One task, goal or problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    pub kind: TaskKind,
    /// A few words.
    pub title: String,
    /// More, if more was said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// From 1 to 10.
    pub priority: u8,
    /// By when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// What was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// When it was first spoken of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Where it was said; never empty.
    pub evidence: Vec<Evidence>,
    /// How far it may reach.
    pub trust: Trust,
    /// Free words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

impl Task {
    /// True for a goal that is still pursued.
    pub fn is_open_goal(&self) -> bool {
        self.kind == TaskKind::Goal && matches!(self.status, TaskStatus::Active | TaskStatus::Stalled)
    }
}
