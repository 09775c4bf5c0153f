//! Rows of an entry's summary: facts, episodes, tasks and reviews as they were when the entry was closed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Memory;
use crate::extract::TaskKind;
use crate::id::ItemId;
use crate::item::{
    Episode, Fact, FactStatus, FactType, Note, Review, ReviewKind, Task, TaskStatus, Tenet, TenetKind, TenetStatus,
    TimeSpan,
};

/// A fact, as `subject relation object`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactRow {
    /// Its id.
    pub id: ItemId,
    /// The entity it is about.
    pub subject: String,
    /// The predicate.
    pub relation: String,
    /// The value.
    pub object: String,
    /// The claim as a sentence.
    pub text: String,
    /// Its type.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// How long it is expected to hold.
    pub time_span: TimeSpan,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Score set by the user, 0 to 10. Overrides the computed worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_fact_score: Option<u8>,
    /// Intrinsic importance, 0 to 1.
    pub importance: f64,
    /// True if the user pinned it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Its status.
    pub status: FactStatus,
    /// Start of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When it was last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
    /// How often it was said.
    pub seen_count: u32,
    /// The sources; empty if it was entered by hand.
    pub source_ids: Vec<ItemId>,
    /// The entry that first recorded it. Set by the topic memory, not by the entry itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<String>,
    /// Start of that entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_ts: Option<Timestamp>,
}

impl FactRow {
    /// The row of a fact in a memory.
    pub(super) fn of(memory: &Memory, fact: &Fact) -> Self {
        let mut source_ids: Vec<ItemId> = fact.evidence.iter().map(|at| at.source).collect();
        source_ids.dedup();
        let hidden = memory.items().is_hidden(fact.id) && fact.status == FactStatus::Active;
        Self {
            id: fact.id,
            subject: fact.subject.clone(),
            relation: fact.predicate.clone(),
            object: fact.object.clone(),
            text: fact.text.clone(),
            fact_type: fact.fact_type,
            time_span: fact.time_span,
            confidence: fact.confidence_base,
            user_fact_score: fact.user_fact_score,
            importance: fact.intrinsic_importance,
            pinned: memory.marks(fact.id).pinned,
            status: if hidden { FactStatus::Retracted } else { fact.status },
            valid_from: fact.valid_from,
            valid_to: fact.valid_to,
            last_seen: fact.last_seen,
            seen_count: fact.seen_count,
            source_ids,
            entry_id: None,
            entry_ts: None,
        }
    }

    /// The row marked as retracted, for a fact whose event was reverted.
    pub(super) fn gone(mut self) -> Self {
        self.status = FactStatus::Retracted;
        self
    }
}

/// An episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EpisodeRow {
    /// Its id.
    pub id: ItemId,
    /// A few words.
    pub title: String,
    /// A few sentences.
    pub summary: String,
    /// Start of the episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// From 1 to 10.
    pub importance: u8,
    /// True if it was retracted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

impl EpisodeRow {
    pub(super) fn of(memory: &Memory, episode: &Episode) -> Self {
        Self {
            id: episode.id,
            title: episode.title.clone(),
            summary: episode.summary.clone(),
            start: episode.start,
            importance: episode.importance,
            gone: memory.items().is_hidden(episode.id),
        }
    }
}

/// A task, a goal or a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskRow {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: TaskKind,
    /// A few words.
    pub title: String,
    /// Its status.
    pub status: TaskStatus,
    /// From 1 to 10.
    pub priority: u8,
    /// Due date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Number of attempts.
    pub attempts: usize,
}

impl TaskRow {
    pub(super) fn of(memory: &Memory, task: &Task) -> Self {
        let status = if memory.items().is_hidden(task.id) { TaskStatus::Dropped } else { task.status };
        Self {
            id: task.id,
            kind: task.kind,
            title: task.title.clone(),
            status,
            priority: task.priority,
            due: task.due,
            attempts: task.attempts.len(),
        }
    }

    /// True if it is active or stalled.
    pub fn is_open(&self) -> bool {
        self.status.is_open()
    }
}

/// A note about the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteRow {
    /// Its id.
    pub id: ItemId,
    /// The insight.
    pub text: String,
    /// Number of others who agreed.
    pub votes: u32,
    /// True if somebody besides its author agreed.
    pub agreed: bool,
    /// True if the user pinned it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Free tags: `strategy`, `pitfall`, `insight`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// True if it was retracted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

impl NoteRow {
    pub(super) fn of(memory: &Memory, note: &Note) -> Self {
        Self {
            id: note.id,
            text: note.text.clone(),
            votes: note.votes,
            agreed: note.is_agreed(),
            pinned: memory.marks(note.id).pinned,
            tags: note.tags.clone(),
            gone: memory.items().is_hidden(note.id),
        }
    }
}

/// A tenet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TenetRow {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: TenetKind,
    /// Its text.
    pub text: String,
    /// Its status.
    pub status: TenetStatus,
    /// True if the user pinned it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

impl TenetRow {
    pub(super) fn of(memory: &Memory, tenet: &Tenet) -> Self {
        let status = if memory.items().is_hidden(tenet.id) { TenetStatus::Outdated } else { tenet.status };
        let (id, text, pinned) = (tenet.id, tenet.text.clone(), memory.marks(tenet.id).pinned);
        Self { id, kind: tenet.kind, text, status, pinned }
    }

    /// The row marked as outdated, for a tenet whose event was reverted.
    pub(super) fn gone(mut self) -> Self {
        self.status = TenetStatus::Outdated;
        self
    }
}

impl TaskRow {
    /// True for an open task. A problem counts only if it has an attempt or a due date.
    pub fn is_to_do(&self) -> bool {
        self.is_open() && (self.kind != TaskKind::Problem || self.attempts > 0 || self.due.is_some())
    }
}

/// A review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionRow {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: ReviewKind,
    /// The item it is about.
    pub about: ItemId,
    /// The question put to the user.
    pub question: String,
    /// True until it is decided.
    pub waits: bool,
}

impl QuestionRow {
    pub(super) fn of(memory: &Memory, review: &Review) -> Self {
        Self {
            id: review.id,
            kind: review.kind,
            about: review.about,
            question: review.question.clone(),
            waits: memory.items().waits(review),
        }
    }
}
