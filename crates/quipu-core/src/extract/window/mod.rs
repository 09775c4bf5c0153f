//! A window of a conversation, as shown to a language model, and the operations of its reply.
//!
//! The model proposes. [`check()`] decides, in any language, which proposals are grounded in the text. Those become
//! candidates of the quoted sources and follow the same path as candidates of the rules.

mod check;
mod grounding;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Extraction, FactCandidate, SpokenDate, TaskCandidate};
use crate::id::ItemId;
use crate::item::FactType;

pub use check::check;

/// The input of the model: messages and relevant known items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// Messages in chronological order. Those that are not new provide context.
    pub messages: Vec<WindowView>,
    /// Items that the messages may change, and items rules have read in the new messages.
    pub known: Vec<KnownItem>,
}

/// A message of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowView {
    /// Its name in this window: `m1`.
    pub mark: String,
    /// Id of the source.
    pub source: ItemId,
    /// Its text; possibly truncated for old messages and those of the assistant.
    pub text: String,
    /// The speaker.
    pub speaker: Speaker,
    /// What the speaker's clock showed, as if it were UTC, if known: see
    /// [`Source::local_time`](crate::source::Source::local_time).
    pub said_at: Option<Timestamp>,
    /// True if it is to be read now.
    pub is_new: bool,
    /// The dates its text names, as far as they can be resolved. Not shown to the model, but used to check its dates.
    pub dates: Vec<SpokenDate>,
}

/// The speaker of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaker {
    /// The user who owns the memory.
    User,
    /// The assistant, whose statements are never attributed to the user.
    Assistant,
    /// Another person, by name.
    Person(String),
}

/// An item shown to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownItem {
    /// Its name in this window: `f1`, `t1`.
    pub mark: String,
    /// Id of the item.
    pub id: ItemId,
    /// Its text.
    pub text: String,
    /// Subject, predicate and value of a fact. `None` for tasks.
    pub claim: Option<[String; 3]>,
    /// The mark of the message, if only rules have read it there; the model judges whether they were right.
    pub read_in: Option<String>,
}

/// A model's reply about a window.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ModelReply {
    /// The operations, in order.
    #[serde(default)]
    pub operations: Vec<Operation>,
    /// Verdicts on the items the rules have read.
    #[serde(default)]
    pub readings: Vec<RuleVerdict>,
}

/// A model's verdict on an item that rules have read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleVerdict {
    /// The item's mark.
    pub id: String,
    /// True if the message supports it.
    pub right: bool,
}

/// An operation proposed by a model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Operation {
    /// The type of operation.
    pub op: Op,
    /// The mark of the affected item; empty for a new one.
    pub id: String,
    /// The kind of item.
    pub kind: Kind,
    /// The subject: `user`, a name, or a role such as `sister`.
    pub about: String,
    /// The predicate, in snake case.
    pub relation: String,
    /// The value, in the words of the message.
    pub value: String,
    /// The whole claim as one self-contained sentence.
    pub sentence: String,
    /// Start of validity, or time of the event: `2026`, `2026-03` or `2026-03-14`; empty if not stated.
    pub from: String,
    /// End of validity; empty if not stated.
    pub to: String,
    /// Outcome of an attempt.
    pub outcome: String,
    /// The mark of the message that states it.
    pub message: String,
    /// The words of the message that state it.
    pub quote: String,
}

/// The type of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// A new item.
    #[default]
    Add,
    /// A known item has a new value from now on.
    Update,
    /// A known item no longer holds.
    End,
    /// A known item was never true.
    Correct,
    /// A known item was stated again.
    Confirm,
    /// An attempt at a problem or a goal.
    Tried,
    /// A task is done, a goal reached, a problem solved.
    Done,
    /// A task was abandoned.
    Dropped,
}

/// The kind of item an operation proposes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A fact about a person, a possession or an activity.
    #[default]
    Fact,
    /// Something that happened on a day.
    Event,
    /// A like or a wish.
    Preference,
    /// A future event: an appointment, a trip, a deadline.
    Plan,
    /// A rule for the assistant's behaviour, or a permanent limit.
    Rule,
    /// A measured value.
    Metric,
    /// Something to do.
    Task,
    /// Something to reach.
    Goal,
    /// Something to get rid of.
    Problem,
}

impl Kind {
    fn fact_type(self) -> Option<FactType> {
        match self {
            Self::Event => Some(FactType::Event),
            Self::Preference => Some(FactType::Preference),
            Self::Plan => Some(FactType::Commitment),
            Self::Rule => Some(FactType::Constraint),
            Self::Fact | Self::Metric | Self::Task | Self::Goal | Self::Problem => None,
        }
    }
}

/// A model's claim that is grounded in the quoted words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelClaim {
    /// The claim.
    pub candidate: FactCandidate,
    /// The claim as a sentence.
    pub sentence: String,
    /// The type, if the kind is more specific than the predicate.
    pub fact_type: Option<FactType>,
    /// True for a measurement, of which the newest holds.
    pub is_metric: bool,
    /// The fact it updates, ends, corrects or confirms.
    pub target: Option<ItemId>,
    /// Why it needs a review first.
    pub doubt: Option<String>,
}

/// A model's task, or an update of one, that is grounded in the quoted words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelTask {
    /// The task.
    pub candidate: TaskCandidate,
    /// The task it updates.
    pub target: Option<ItemId>,
}

/// A rejected operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedOperation {
    /// Its text.
    pub said: String,
    /// The relation, or the kind.
    pub relation: String,
    /// Byte range of its quote; empty if it was not found.
    pub span: Range<usize>,
    /// The reason.
    pub reason: String,
}

/// The accepted part of a reply, by source.
pub type CheckedReply = BTreeMap<ItemId, Extraction>;
