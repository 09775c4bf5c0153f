//! Lines of an entry's summary: how a fact, an episode, a task or a question stood when the entry was closed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Memory;
use crate::extract::TaskKind;
use crate::id::ItemId;
use crate::item::{
    Episode, Fact, FactStatus, FactType, Note, Review, ReviewKind, Task, TaskStatus, Tenet, TenetKind, TenetStatus,
    TimeSpan,
};

/// A fact, with the names seed and readers know: `subject relation object`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactRow {
    /// Its name.
    pub id: ItemId,
    /// Whom it is about.
    pub subject: String,
    /// The relation.
    pub relation: String,
    /// The value.
    pub object: String,
    /// The claim as a sentence.
    pub text: String,
    /// What it is about.
    #[serde(rename = "type")]
    pub fact_type: FactType,
    /// How long it is expected to hold.
    pub time_span: TimeSpan,
    /// How sure, 0 to 1.
    pub confidence: f64,
    /// What the user gave it, 0 to 10: goes over everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_fact_score: Option<u8>,
    /// How much it matters in itself, 0 to 1.
    pub importance: f64,
    /// Kept in view by the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Whether it counts.
    pub status: FactStatus,
    /// Since when it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When it was last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
    /// How often it was said.
    pub seen_count: u32,
    /// Where it was said; empty if it was entered by hand.
    pub source_ids: Vec<ItemId>,
    /// The entry that told it first; said by the topic memory, not by the entry itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<String>,
    /// When that entry began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_ts: Option<Timestamp>,
}

impl FactRow {
    /// How a fact stands in a memory.
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

    /// The same, taken back: the event that told it does not count any more.
    pub(super) fn gone(mut self) -> Self {
        self.status = FactStatus::Retracted;
        self
    }
}

/// A story.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRow {
    /// Its name.
    pub id: ItemId,
    /// A few words.
    pub title: String,
    /// A few sentences.
    pub summary: String,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// From 1 to 10.
    pub importance: u8,
    /// True if it does not count any more.
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
pub struct TaskRow {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    pub kind: TaskKind,
    /// A few words.
    pub title: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// From 1 to 10.
    pub priority: u8,
    /// By when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// What was tried so far.
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

    /// True if something is still to be done about it.
    pub fn is_open(&self) -> bool {
        matches!(self.status, TaskStatus::Active | TaskStatus::Stalled)
    }
}

/// What was learned about the person: what worked, what did not, what comes up again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoteRow {
    /// Its name.
    pub id: ItemId,
    /// The insight.
    pub text: String,
    /// How many others said the same.
    pub votes: u32,
    /// True if more than its author stands behind it.
    pub agreed: bool,
    /// Kept in view by the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Free words: `strategy`, `pitfall`, `insight`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// True if it does not count any more.
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

/// A line of the self-model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TenetRow {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    pub kind: TenetKind,
    /// The line.
    pub text: String,
    /// Whether it counts.
    pub status: TenetStatus,
    /// Kept in view by the user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

impl TenetRow {
    pub(super) fn of(memory: &Memory, tenet: &Tenet) -> Self {
        let status = if memory.items().is_hidden(tenet.id) { TenetStatus::Outdated } else { tenet.status };
        let (id, text, pinned) = (tenet.id, tenet.text.clone(), memory.marks(tenet.id).pinned);
        Self { id, kind: tenet.kind, text, status, pinned }
    }

    /// The same, taken back: the event that told it does not count any more.
    pub(super) fn gone(mut self) -> Self {
        self.status = TenetStatus::Outdated;
        self
    }
}

impl TaskRow {
    /// True for what is to be done. A problem nobody has tried anything against is a thing that was said.
    pub fn is_to_do(&self) -> bool {
        self.is_open() && (self.kind != TaskKind::Problem || self.attempts > 0 || self.due.is_some())
    }
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionRow {
    /// Its name.
    pub id: ItemId,
    /// Why it waits.
    pub kind: ReviewKind,
    /// What it is about.
    pub about: ItemId,
    /// What is asked.
    pub question: String,
    /// True as long as nobody has decided.
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
