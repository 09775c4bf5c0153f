//! A window of a conversation, as a language model is shown it, and the operations it answers with.
//!
//! The model proposes; [`check`] decides, in any language, what of it stands in the words. What passes becomes candidates
//! of the sources quoted, and takes the same way into memory as what rules read.

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

/// What a model is shown at a time: the talk, and what is known already that bears on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// Messages in order of time. Those that are not new are there to understand the new ones.
    pub messages: Vec<WindowView>,
    /// Items that the messages may change, and what rules have read in the new messages.
    pub known: Vec<KnownItem>,
}

/// A message of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowView {
    /// Its name in this window: `m1`.
    pub mark: String,
    /// The source.
    pub source: ItemId,
    /// Its words, of old messages and of the assistant's perhaps only the beginning.
    pub text: String,
    /// Who speaks.
    pub speaker: Speaker,
    /// When it was said, if known.
    pub said_at: Option<Timestamp>,
    /// True if it is to be read now.
    pub is_new: bool,
    /// The dates its words name, where something can count them. The model is not shown them: its dates are held against them.
    pub dates: Vec<SpokenDate>,
}

/// Who speaks in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaker {
    /// The user whose memory it is.
    User,
    /// The assistant: nothing it says is taken for the user's word.
    Assistant,
    /// Somebody else, by name.
    Person(String),
}

/// An item a model is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownItem {
    /// Its name in this window: `f1`, `t1`.
    pub mark: String,
    /// The item.
    pub id: ItemId,
    /// What it says.
    pub text: String,
    /// What a fact claims: subject, relation, value. None of tasks.
    pub claim: Option<[String; 3]>,
    /// The mark of the message, if only rules have read it there: the model says whether they were right.
    pub read_in: Option<String>,
}

/// What a model answers about a window.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ModelReply {
    /// What to do, in order.
    #[serde(default)]
    pub operations: Vec<Operation>,
    /// Whether what rules have read is right, for each such item.
    #[serde(default)]
    pub readings: Vec<RuleVerdict>,
}

/// A model's judgement of what rules have read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleVerdict {
    /// The item's mark.
    pub id: String,
    /// Whether the message says so.
    pub right: bool,
}

/// What a model wants to do.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Operation {
    /// What.
    pub op: Op,
    /// The mark of the item it is about; empty for something new.
    pub id: String,
    /// Of which kind.
    pub kind: Kind,
    /// Whom it is about: `user`, a name, or a role such as `sister`.
    pub about: String,
    /// The relation, in snake case.
    pub relation: String,
    /// The value, in the words of the message.
    pub value: String,
    /// The whole as one sentence that can be understood alone.
    pub sentence: String,
    /// Since when it holds, or when it happens: `2026`, `2026-03` or `2026-03-14`; empty if not said.
    pub from: String,
    /// Until when it held; empty if not said.
    pub to: String,
    /// What came of an attempt.
    pub outcome: String,
    /// The mark of the message that says so.
    pub message: String,
    /// The words of the message that say so.
    pub quote: String,
}

/// What an operation does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Something new.
    #[default]
    Add,
    /// What is known has another value from now on.
    Update,
    /// What is known holds no longer.
    End,
    /// What is known was never so.
    Correct,
    /// What is known was said again.
    Confirm,
    /// Something was tried against a problem, or towards a goal.
    Tried,
    /// A task is done, a goal reached, a problem solved.
    Done,
    /// A task was given up.
    Dropped,
}

/// Of which kind something is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Who somebody is, has or does.
    #[default]
    Fact,
    /// Something that happened on a day.
    Event,
    /// What somebody likes or wants.
    Preference,
    /// What is to happen: an appointment, a trip, a deadline.
    Plan,
    /// How the assistant is to behave, and limits that always hold.
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

/// A model's claim that stands in the words it quotes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelClaim {
    /// The claim.
    pub candidate: FactCandidate,
    /// The claim as a sentence.
    pub sentence: String,
    /// The type, where the kind says more than the relation.
    pub fact_type: Option<FactType>,
    /// It is a reading of something that is measured: the newest one holds.
    pub is_metric: bool,
    /// The fact it updates, ends, corrects or confirms.
    pub target: Option<ItemId>,
    /// Why a person is to look at it first.
    pub doubt: Option<String>,
}

/// A model's task, or news of one, that stands in the words it quotes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelTask {
    /// The task.
    pub candidate: TaskCandidate,
    /// The task it is news of.
    pub target: Option<ItemId>,
}

/// An operation that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedOperation {
    /// What it said.
    pub said: String,
    /// The relation, or the kind.
    pub relation: String,
    /// Where it would stand; empty if nowhere.
    pub span: Range<usize>,
    /// Why it was not taken.
    pub reason: String,
}

/// What of an answer is taken, by source.
pub type CheckedReply = BTreeMap<ItemId, Extraction>;
