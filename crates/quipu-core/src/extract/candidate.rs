//! The candidates an extractor reads in one source. They become changes only through the gate.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::window::{ModelClaim, ModelTask, RefusedOperation};
use crate::id::ItemId;
use crate::item::{Link, NoteOrigin, TenetKind};

/// Name of the first person in a source whose author is not named.
pub const USER: &str = "user";

/// Predicate of a remark: a statement stored in the user's own words, which records what was said on a day and claims
/// nothing about today. Remarks are listed but not searched; their turns are.
pub const REMARK: &str = "remark";
/// The predicate of a standing instruction for the assistant: "no emojis".
pub const CONSTRAINT: &str = "constraint";

/// A text and the context needed to read it.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The text.
    pub text: &'a str,
    /// The first person: [`USER`] or a name.
    pub speaker: &'a str,
    /// The second person, if known: the other person of a dialogue. `None` for the assistant.
    pub addressee: Option<&'a str>,
    /// The end of the assistant's message directly before this one in its session, at most 400 bytes. `None` if there is
    /// none, or if it is hidden.
    pub before: Option<&'a str>,
    /// True for a message of a conversation; false for an entry, a document or a page, of which there are no remarks.
    pub is_turn: bool,
    /// Time of the message. Dates in the text are resolved against it alone.
    pub said_at: Option<Timestamp>,
    /// Names of known people and pets, which casual text may write without capitals.
    pub known: &'a [String],
}

impl<'a> Reading<'a> {
    /// A message of the user, with nothing known besides.
    #[must_use]
    pub fn of_user(text: &'a str, said_at: Option<Timestamp>) -> Self {
        Self { text, speaker: USER, addressee: None, before: None, is_turn: true, said_at, known: &[] }
    }
}

/// Everything read in one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Extraction {
    /// Claims.
    pub facts: Vec<FactCandidate>,
    /// Tasks, goals and problems that were opened, attempted, finished or dropped.
    pub tasks: Vec<TaskCandidate>,
    /// Updates of known items that only the memory can resolve: "the flight is cancelled", "it's the 19th now".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<UpdateCandidate>,
    /// Insights about what works for this person.
    pub notes: Vec<NoteCandidate>,
    /// Tenets of the self-model.
    pub tenets: Vec<TenetCandidate>,
    /// Claims of a language model, each as a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ModelClaim>,
    /// Tasks, goals and problems found by a language model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_claims: Vec<ModelTask>,
    /// Facts that rules have read in this source, and that a language model or newer rules do not read there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misread: Vec<ItemId>,
    /// Operations of a language model that were rejected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedOperation>,
    /// Details of ready-made items, by the start of their span in the source.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub besides: BTreeMap<usize, ReadyMadeDetails>,
    /// Sentences that look like claims but were skipped, with the reason (a question, a hypothesis, a quotation, a joke
    /// …).
    pub passed_over: Vec<PassedOver>,
}

/// Optional details supplied with a ready-made item.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ReadyMadeDetails {
    /// The domain. Defaults to that of the relation.
    pub domain: Option<String>,
    /// Free-form tags.
    pub tags: Vec<String>,
    /// Links to existing items.
    pub links: Vec<Link>,
    /// Description of a task, beyond its title.
    pub description: String,
    /// Priority of a task, 1 to 10.
    pub priority: Option<u8>,
    /// True for a task that is the same as a known one only if it has the same title and no other due day. Otherwise a
    /// similar title is enough, and another day is news of the known task.
    pub is_named_exactly: bool,
    /// Whether a task is stalled.
    pub is_stalled: Option<bool>,
    /// Time at which a task was first mentioned or an attempt was made.
    pub at: Option<Timestamp>,
}

/// A claim: subject, predicate, object, and its validity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactCandidate {
    /// [`USER`] or a name.
    pub subject: String,
    /// A predicate of the registry, or another word in snake case.
    pub predicate: String,
    /// As stated, without articles and closing punctuation. Empty only with [`Stance::Ended`]: any value that held has
    /// ended.
    pub object: String,
    /// Byte range in the source of the clause that states it.
    pub span: Range<usize>,
    /// How the claim is made.
    pub stance: Stance,
    /// Start of validity, if stated.
    pub valid_from: Option<Timestamp>,
    /// End of validity, if stated.
    pub valid_to: Option<Timestamp>,
    /// Confidence of the extractor, 0 to 1.
    pub confidence: f64,
    /// Additional details: `frequency`, `since`, `relation`, `species`, `of`, `kind`, `dosage`, `purpose`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub qualifiers: BTreeMap<String, String>,
}

/// How a claim is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// It holds: "I live in Porto".
    Holds,
    /// It holds from now, or from `valid_from`: "I moved to Porto last week", "I just started yoga".
    Changed,
    /// It held once and no longer does: "I used to live in Lyon", "I lived in Lyon from 2016 to 2020".
    Held,
    /// It stopped holding: "I no longer eat meat", "I quit my job".
    Ended,
    /// It does not hold, without mention of a change: "I don't live in Lyon", "I'm not allergic to nuts".
    Denied,
    /// It holds and corrects a recorded value: "Actually I live in Porto, not in Lyon", "I meant Tuesday".
    Corrects {
        /// The wrong value, if stated.
        not: Option<String>,
    },
}

/// An update of a known item, which is referred to by its head noun, by a pronoun, or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpdateCandidate {
    /// The words that refer to it: "flight", "cargo bike"; empty for the item mentioned last.
    pub what: String,
    /// The update.
    pub news: UpdateNews,
    /// Byte range in the source.
    pub span: Range<usize>,
    /// The day it is moved to, or the day it ended.
    pub day: Option<Timestamp>,
    /// Confidence of the extractor, 0 to 1.
    pub confidence: f64,
}

/// How a known item changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdateNews {
    /// It is over, gone or abandoned.
    Over,
    /// The assistant may do it again: standing instructions against it hold no longer.
    Allowed,
    /// A future event is moved to another day.
    Moved,
    /// What was to begin on a day ahead begins on another, without naming it: "they've put my start back to January".
    Begins,
    /// It holds on, although an end had been announced: "I'm staying at Boots after all".
    Kept,
    /// A part of it was wrong or has changed.
    Instead {
        /// The replaced words.
        not: String,
        /// The replacement.
        is: String,
        /// True if the replaced words were never right.
        corrects: bool,
    },
    /// A task is done, if there is one that it names: "bought the stamps", "passport renewed".
    Done {
        /// Words for what was done, any of which the task may use: "call", "phone". Empty if any task is meant.
        did: Vec<String>,
    },
    /// A new measurement, without naming what was measured: "78.9kg!!" after a weight.
    Reading {
        /// The value as stated.
        value: String,
    },
}

/// A task, goal or problem, or an update of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskCandidate {
    /// The kind of task item.
    pub kind: TaskKind,
    /// Short title, as stated: "post-dinner glucose spikes", "run a half marathon".
    pub title: String,
    /// Byte range in the source.
    pub span: Range<usize>,
    /// What happened to it.
    pub news: TaskNews,
    /// Due date, if stated.
    pub due: Option<Timestamp>,
    /// Confidence of the extractor, 0 to 1.
    pub confidence: f64,
}

/// The kind of a task item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// Something to do.
    Task,
    /// Something to reach.
    Goal,
    /// Something to get rid of, with attempts.
    Problem,
}

impl TaskKind {
    /// The kind as a lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Goal => "goal",
            Self::Problem => "problem",
        }
    }
}

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskNews {
    /// It exists: "I have to renew my passport", "I keep waking at four".
    Opened,
    /// It is done: "I finally renewed my passport".
    Done,
    /// It was abandoned: "I gave up on the marathon".
    Dropped,
    /// An attempt was made.
    Tried {
        /// The attempt: "walking after dinner".
        approach: String,
        /// The outcome, as stated; empty if not stated.
        outcome: String,
        /// Whether it helped, if stated.
        successful: Option<bool>,
    },
}

/// An insight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoteCandidate {
    /// The insight.
    pub text: String,
    /// Byte range in the source.
    pub span: Range<usize>,
    /// Who reached the insight.
    pub origin: NoteOrigin,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Free-form tags.
    pub tags: Vec<String>,
}

/// A candidate tenet: a value, preference, policy or goal the user may live by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenetCandidate {
    /// The kind of tenet.
    pub kind: TenetKind,
    /// The text of the tenet.
    pub text: String,
    /// Evidence besides the source: facts, episodes.
    pub evidence: Vec<ItemId>,
    /// The domain.
    pub domain: Option<String>,
    /// The topic within the domain.
    pub topic: Option<String>,
    /// Byte range in the source.
    pub span: Range<usize>,
}

/// A sentence that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Byte range in the source.
    pub span: Range<usize>,
    /// Reason: `question`, `hypothetical`, `quoted`, `joke`, `reported`, `hedged`.
    pub reason: String,
}
