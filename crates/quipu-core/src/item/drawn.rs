//! The changes that make and change items.

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
    /// A claim was taken up. If it is active and its slot holds one value, it ends the one that was active.
    FactAsserted {
        /// The claim.
        fact: Box<Fact>,
        /// Others that it ends: what cannot hold beside it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ends: Vec<ItemId>,
        /// True if what it ends was never true; otherwise it was true until now.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        corrects: bool,
    },
    /// A claim was heard again.
    FactSeen {
        /// Which.
        fact: ItemId,
        /// Where.
        evidence: Evidence,
        /// When.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
    /// A claim's state changed.
    FactChanged(FactChange),
    /// What had ended a fact was never so: it holds again.
    FactRestored {
        /// Which.
        fact: ItemId,
    },
    /// The user does not want a value again.
    ValueRejected(RejectedValue),
    /// Candidates did not pass the gate.
    CandidatesRefused {
        /// Which, and why; never the value itself.
        refused: Vec<Refused>,
    },
    /// A stretch of a session was summed up. Nothing, if a turn of it is told already: the first episode stays.
    EpisodeRecorded(Box<Episode>),
    /// A task, goal or problem came up.
    TaskOpened(Box<Task>),
    /// A task moved on.
    TaskChanged(TaskChange),
    /// An insight was noted.
    NoteRecorded(Box<Note>),
    /// An insight was agreed with.
    NoteSeconded {
        /// Which.
        note: ItemId,
        /// Where, if it was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<Evidence>,
    },
    /// A line of the self-model was proposed or confirmed.
    TenetRecorded(Box<Tenet>),
    /// A line of the self-model was decided on or reworded.
    TenetChanged(TenetChange),
    /// Something waits for a person.
    ReviewOpened(Box<Review>),
    /// A person decided.
    ReviewDecided {
        /// On what.
        review: ItemId,
        /// How.
        decision: ReviewDecision,
    },
    /// The user took an item back; it is kept for history.
    ItemRetracted {
        /// Which.
        item: ItemId,
        /// Why.
        reason: String,
    },
    /// Items were one and the same.
    ItemsMerged {
        /// These are now part of the other.
        from: Vec<ItemId>,
        /// The one that stays.
        into: ItemId,
    },
    /// An exchange of a session was told. Nothing, if a source of it is told already: the first telling stays.
    TurnSummarized(Box<TurnSummary>),
    /// The base truth of a session got an entry, from a summary or by hand.
    BaseTruthAdded(Box<Truth>),
    /// An entry left the base truth. A hard exception leaves by hand only.
    BaseTruthRemoved {
        /// Which.
        truth: ItemId,
        /// The exchange that says so, by its first source; none for a removal by hand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<ItemId>,
    },
    /// Entries became one; it rests on them. Nothing, unless all of them are in force and none is a hard exception.
    BaseTruthMerged(Box<Truth>),
    /// The base truth was kept as it was: a snapshot to look back at.
    BaseTruthKept {
        /// The conversation.
        session: String,
        /// The newest turn that was told.
        turn: u32,
    },
    /// A conversation is over, unless it goes on later.
    SessionEnded {
        /// Which.
        session: String,
    },
    /// A pattern of the core document became a category. The patches of the same event move what belongs there.
    #[serde(rename = "SCHEMA_PROMOTION")]
    SchemaPromoted(Box<Promotion>),
    /// Items were shown. Counted outside the ledger and written down now and then; what is gone is passed over.
    HitsCounted {
        /// Which, and how often.
        hits: Vec<ItemHits>,
    },
    /// A claim was said on so many days that it is of the profile now.
    FactPromoted {
        /// Which.
        fact: ItemId,
        /// The days.
        days: u32,
    },
    /// Fields of the core document that stand for facts changed. Each change makes the parents it needs, and applies
    /// whatever stood there.
    CoreFieldsChanged {
        /// In order.
        changes: Vec<FieldChange>,
    },
    /// A person edited the core document. Containers that are missing are made before the patch is applied.
    CoreEdited {
        /// Objects and lists that the patch adds to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        within: Vec<Container>,
        /// RFC 6902, guarded.
        patch: Patch,
    },
    /// Items left the active index; they are looked for where it has nothing good. What is gone is passed over.
    ItemsDemoted {
        /// Which.
        items: Vec<ItemId>,
        /// Why.
        because: Demotion,
    },
}

/// What changed about a fact. `None` leaves that aspect as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactChange {
    /// Which.
    pub fact: ItemId,
    /// Whether it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<FactStatus>,
    /// Since when it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// How sure, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_base: Option<f64>,
    /// What the user gives it, 0 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_fact_score: Option<u8>,
    /// How far it may reach, once the user stands by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Where it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

impl FactChange {
    /// A change of nothing yet.
    pub fn of(fact: ItemId) -> Self {
        let (status, valid_from, valid_to) = (None, None, None);
        let (confidence_base, user_fact_score) = (None, None);
        Self { fact, status, valid_from, valid_to, confidence_base, user_fact_score, trust: None, evidence: None }
    }
}

/// A value that stays out: what the user took back is not read out of old sources again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RejectedValue {
    /// Whom it was about.
    pub subject: String,
    /// The relation.
    pub predicate: String,
    /// The value in its [normal](crate::predicate::normal) form.
    pub value: String,
}

impl RejectedValue {
    /// The three in one.
    pub(crate) fn key(&self) -> String {
        format!("{}|{}|{}", self.subject, self.predicate, self.value)
    }
}

/// A candidate that did not pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Where it stands.
    pub evidence: Evidence,
    /// The relation, or the kind of item.
    pub predicate: String,
    /// Why.
    pub reason: String,
}

/// What changed about a task. `None` leaves that aspect as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskChange {
    /// Which.
    pub task: ItemId,
    /// Where it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// By when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// From 1 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Something more was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// Where it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// What changed about a tenet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenetChange {
    /// Which.
    pub tenet: ItemId,
    /// Whether it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TenetStatus>,
    /// The line in other words.
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

    /// The item it makes, if it makes one.
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

    /// The items that must be there for it to apply.
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
            // What is proposed of the schema, or as new words, is about nothing that is there yet.
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
            // What a summary takes out may be gone already; what a person takes out was there.
            Self::BaseTruthRemoved { truth, exchange } => vec![exchange.unwrap_or(*truth)],
            Self::BaseTruthKept { .. } | Self::SessionEnded { .. } => Vec::new(),
            Self::FactPromoted { fact, .. } | Self::FactRestored { fact } => vec![*fact],
            // One item that is gone does not take the others with it.
            Self::HitsCounted { .. } | Self::ItemsDemoted { .. } | Self::SchemaPromoted(_) => Vec::new(),
            Self::CoreFieldsChanged { .. } | Self::CoreEdited { .. } => Vec::new(),
        }
    }

    /// The places in sources it rests on.
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

    /// The items it is about, for a history of one of them.
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
