//! The changes that create and modify derived items.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::standing::{Demotion, ItemHits};
use super::{
    Attempt, Episode, Evidence, Fact, FactStatus, Note, Promotion, Review, ReviewDecision, ReviewKind, Task,
    TaskStatus, Tenet, TenetStatus, Truth, TurnSummary,
};
use crate::core_document::{Container, FieldChange, Patch};
use crate::event::Trust;
use crate::id::ItemId;

/// One statement about items, in the past tense.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DerivedChange {
    /// A fact was asserted. If it is active and its slot holds one value, it ends the fact that was active.
    FactAsserted {
        /// The fact.
        fact: Box<Fact>,
        /// Other facts that it ends because they conflict with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ends: Vec<ItemId>,
        /// True if the ended facts were never true; otherwise they were true until now.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        corrects: bool,
    },
    /// A fact was said again.
    FactSeen {
        /// The fact.
        fact: ItemId,
        /// The evidence.
        evidence: Evidence,
        /// The time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
    /// A fact changed.
    FactChanged(FactChange),
    /// The end of a fact was wrong: it is active again.
    FactRestored {
        /// The fact.
        fact: ItemId,
    },
    /// The user rejected a value.
    ValueRejected(RejectedValue),
    /// The gate refused candidates.
    CandidatesRefused {
        /// The candidates and reasons; never the values.
        refused: Vec<Refused>,
    },
    /// An episode was recorded. Ignored if a turn of it belongs to an episode already.
    EpisodeRecorded(Box<Episode>),
    /// A task, goal or problem was opened.
    TaskOpened(Box<Task>),
    /// A task changed.
    TaskChanged(TaskChange),
    /// A note was recorded.
    NoteRecorded(Box<Note>),
    /// A note was seconded.
    NoteSeconded {
        /// The note.
        note: ItemId,
        /// The evidence, if it was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<Evidence>,
    },
    /// A tenet was proposed or confirmed.
    TenetRecorded(Box<Tenet>),
    /// A tenet was decided on or reworded.
    TenetChanged(TenetChange),
    /// A review was opened.
    ReviewOpened(Box<Review>),
    /// A review was decided.
    ReviewDecided {
        /// The review.
        review: ItemId,
        /// The decision.
        decision: ReviewDecision,
    },
    /// The user retracted an item; it stays in the history.
    ItemRetracted {
        /// The item.
        item: ItemId,
        /// The reason.
        reason: String,
    },
    /// Duplicate items were merged.
    ItemsMerged {
        /// The items that became part of the other.
        from: Vec<ItemId>,
        /// The surviving item.
        into: ItemId,
    },
    /// An exchange was summarised. Ignored if a source of it is summarised already.
    TurnSummarized(Box<TurnSummary>),
    /// An entry was added to the base truth of a session, from a summary or by hand.
    BaseTruthAdded(Box<Truth>),
    /// An entry was removed from the base truth. A hard exception is removed by hand only.
    BaseTruthRemoved {
        /// The entry.
        truth: ItemId,
        /// The first source of the exchange that removed it; none for a removal by hand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<ItemId>,
    },
    /// Entries were merged into one that rests on them. Ignored unless all are in force and none is a hard exception.
    BaseTruthMerged(Box<Truth>),
    /// A snapshot of the base truth was recorded.
    BaseTruthKept {
        /// The session.
        session: String,
        /// The newest summarised turn.
        turn: u32,
    },
    /// A session ended; it may continue later.
    SessionEnded {
        /// The session.
        session: String,
    },
    /// A pattern of the core document became a category. The patches of the same event move its members.
    #[serde(rename = "SCHEMA_PROMOTION")]
    SchemaPromoted(Box<Promotion>),
    /// Items were shown. Counted outside the ledger and recorded in batches; missing items are skipped.
    HitsCounted {
        /// The items and counts.
        hits: Vec<ItemHits>,
    },
    /// A fact became part of the profile because it was said on enough days.
    FactPromoted {
        /// The fact.
        fact: ItemId,
        /// The number of days.
        days: u32,
    },
    /// Fields of the core document derived from facts changed. Each change creates the parents it needs and applies
    /// regardless of the previous value.
    CoreFieldsChanged {
        /// The changes, in order.
        changes: Vec<FieldChange>,
    },
    /// A person edited the core document. Missing containers are created before the patch is applied.
    CoreEdited {
        /// Objects and lists that the patch adds to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<Container>,
        /// A guarded patch (RFC 6902).
        patch: Patch,
    },
    /// Items left the active index. Missing items are skipped.
    ItemsDemoted {
        /// The items.
        items: Vec<ItemId>,
        /// The reason.
        because: Demotion,
    },
}

/// A change of a fact. `None` leaves a member unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactChange {
    /// The fact.
    pub fact: ItemId,
    /// The new status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<FactStatus>,
    /// Start of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// Confidence, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_base: Option<f64>,
    /// Score set by the user, 0 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_fact_score: Option<u8>,
    /// The new trust, once the user confirmed the fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

impl FactChange {
    /// A change without effect.
    pub fn of(fact: ItemId) -> Self {
        let (status, valid_from, valid_to) = (None, None, None);
        let (confidence_base, user_fact_score) = (None, None);
        Self { fact, status, valid_from, valid_to, confidence_base, user_fact_score, trust: None, evidence: None }
    }
}

/// A rejected value: it is not extracted from old sources again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RejectedValue {
    /// The subject.
    pub subject: String,
    /// The predicate.
    pub predicate: String,
    /// The value in its [normal](crate::predicate::normal) form.
    pub value: String,
}

impl RejectedValue {
    /// The lookup key.
    pub(crate) fn key(&self) -> String {
        format!("{}|{}|{}", self.subject, self.predicate, self.value)
    }
}

/// A refused candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Its evidence.
    pub evidence: Evidence,
    /// The predicate, or the kind of item.
    pub predicate: String,
    /// The reason.
    pub reason: String,
}

/// A change of a task. `None` leaves a member unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskChange {
    /// The task.
    pub task: ItemId,
    /// The new status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// The due date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Priority, 1 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// A further attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// The evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// A change of a tenet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenetChange {
    /// The tenet.
    pub tenet: ItemId,
    /// The new status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TenetStatus>,
    /// The new text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl DerivedChange {
    /// The change's name in the ledger.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::FactAsserted { .. } => "fact_asserted",
            Self::FactSeen { .. } => "fact_seen",
            Self::FactChanged(_) => "fact_changed",
            Self::FactRestored { .. } => "fact_restored",
            Self::ValueRejected(_) => "value_rejected",
            Self::CandidatesRefused { .. } => "candidates_refused",
            Self::EpisodeRecorded(_) => "episode_recorded",
            Self::TaskOpened(_) => "task_opened",
            Self::TaskChanged(_) => "task_changed",
            Self::NoteRecorded(_) => "note_recorded",
            Self::NoteSeconded { .. } => "note_seconded",
            Self::TenetRecorded(_) => "tenet_recorded",
            Self::TenetChanged(_) => "tenet_changed",
            Self::ReviewOpened(_) => "review_opened",
            Self::ReviewDecided { .. } => "review_decided",
            Self::ItemRetracted { .. } => "item_retracted",
            Self::ItemsMerged { .. } => "items_merged",
            Self::TurnSummarized(_) => "turn_summarized",
            Self::BaseTruthAdded(_) => "base_truth_added",
            Self::BaseTruthRemoved { .. } => "base_truth_removed",
            Self::BaseTruthMerged(_) => "base_truth_merged",
            Self::BaseTruthKept { .. } => "base_truth_kept",
            Self::SessionEnded { .. } => "session_ended",
            Self::SchemaPromoted(_) => "SCHEMA_PROMOTION",
            Self::HitsCounted { .. } => "hits_counted",
            Self::FactPromoted { .. } => "fact_promoted",
            Self::ItemsDemoted { .. } => "items_demoted",
            Self::CoreFieldsChanged { .. } => "core_fields_changed",
            Self::CoreEdited { .. } => "core_edited",
        }
    }

    /// The item it creates, if any.
    pub fn makes(&self) -> Option<ItemId> {
        match self {
            Self::FactAsserted { fact, .. } => Some(fact.id),
            Self::EpisodeRecorded(episode) => Some(episode.id),
            Self::TaskOpened(task) => Some(task.id),
            Self::NoteRecorded(note) => Some(note.id),
            Self::TenetRecorded(tenet) => Some(tenet.id),
            Self::ReviewOpened(review) => Some(review.id),
            Self::BaseTruthAdded(truth) | Self::BaseTruthMerged(truth) => Some(truth.id),
            _ => None,
        }
    }

    /// The items that must exist for it to apply.
    pub fn needs(&self) -> Vec<ItemId> {
        let sources = |evidence: &[Evidence]| evidence.iter().map(|at| at.source).collect::<Vec<_>>();
        let and = |item: ItemId, evidence: &Option<Evidence>| {
            std::iter::once(item).chain(evidence.map(|at| at.source)).collect::<Vec<_>>()
        };
        match self {
            Self::FactAsserted { fact, .. } => sources(&fact.evidence),
            Self::FactSeen { fact, evidence, .. } => vec![*fact, evidence.source],
            Self::FactChanged(change) => and(change.fact, &change.evidence),
            Self::ValueRejected(_) => Vec::new(),
            Self::CandidatesRefused { refused } => refused.iter().map(|one| one.evidence.source).collect(),
            Self::EpisodeRecorded(episode) => episode.sources.clone(),
            Self::TaskOpened(task) => sources(&task.evidence),
            Self::TaskChanged(change) => {
                let mut needs = and(change.task, &change.evidence);
                needs.extend(change.attempt.iter().flat_map(|attempt| sources(&attempt.evidence)));
                needs
            }
            Self::NoteRecorded(note) => sources(&note.evidence),
            Self::NoteSeconded { note, evidence } => and(*note, evidence),
            Self::TenetRecorded(tenet) => tenet.evidence.clone(),
            Self::TenetChanged(change) => vec![change.tenet],
            // A schema promotion and a new statement are about nothing that exists yet.
            Self::ReviewOpened(review) if review.kind == ReviewKind::SchemaPromotion => Vec::new(),
            Self::ReviewOpened(review) => {
                let about = std::iter::once(review.about).chain(review.against);
                about.filter(|item| *item != review.id).collect()
            }
            Self::ReviewDecided { review, .. } => vec![*review],
            Self::ItemRetracted { item, .. } => vec![*item],
            Self::ItemsMerged { from, into } => from.iter().copied().chain([*into]).collect(),
            Self::TurnSummarized(told) => told.sources.clone(),
            Self::BaseTruthAdded(truth) | Self::BaseTruthMerged(truth) => {
                let mut needs = sources(&truth.evidence);
                needs.extend(truth.exchange);
                needs.extend(&truth.rests_on);
                needs
            }
            // An entry that a summary removes may be gone already; one that a person removes must exist.
            Self::BaseTruthRemoved { truth, exchange } => vec![exchange.unwrap_or(*truth)],
            Self::BaseTruthKept { .. } | Self::SessionEnded { .. } => Vec::new(),
            Self::FactPromoted { fact, .. } | Self::FactRestored { fact } => vec![*fact],
            // One missing item does not make the change an orphan.
            Self::HitsCounted { .. } | Self::ItemsDemoted { .. } | Self::SchemaPromoted(_) => Vec::new(),
            Self::CoreFieldsChanged { .. } | Self::CoreEdited { .. } => Vec::new(),
        }
    }

    /// The evidence it rests on.
    pub fn places(&self) -> Vec<Evidence> {
        match self {
            Self::FactAsserted { fact, .. } => fact.evidence.clone(),
            Self::FactSeen { evidence, .. } => vec![*evidence],
            Self::FactChanged(change) => change.evidence.into_iter().collect(),
            Self::CandidatesRefused { refused } => refused.iter().map(|one| one.evidence).collect(),
            Self::TaskOpened(task) => task.evidence.clone(),
            Self::TaskChanged(change) => {
                let attempt = change.attempt.iter().flat_map(|attempt| attempt.evidence.iter().copied());
                change.evidence.into_iter().chain(attempt).collect()
            }
            Self::NoteRecorded(note) => note.evidence.clone(),
            Self::NoteSeconded { evidence, .. } => evidence.iter().copied().collect(),
            Self::BaseTruthAdded(truth) | Self::BaseTruthMerged(truth) => truth.evidence.clone(),
            _ => Vec::new(),
        }
    }

    /// True if it belongs in the history of this item.
    pub fn is_about(&self, item: ItemId) -> bool {
        let displaced = matches!(self, Self::FactAsserted { ends, .. } if ends.contains(&item));
        let left = match self {
            Self::BaseTruthAdded(truth) => truth.replaces == Some(item),
            Self::BaseTruthRemoved { truth, .. } => *truth == item,
            Self::ItemsDemoted { items, .. } => items.contains(&item),
            _ => false,
        };
        displaced || left || self.makes() == Some(item) || self.needs().contains(&item)
    }
}
