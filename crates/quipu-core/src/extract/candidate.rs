//! What an extractor read in one source. It becomes changes only through the gate.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::window::{ModelClaim, ModelTask, RefusedOperation};
use crate::id::ItemId;
use crate::item::{Link, NoteOrigin, TenetKind};

/// Who "I" is in a source whose author has no name.
pub const USER: &str = "user";

/// The relation of sentences that are kept in the user's own words: what was said on a day, not what holds. They are listed, and
/// not searched: the turn they stand in is.
pub const REMARK: &str = "remark";

/// The text to read, and what must be known to read it.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The words.
    pub text: &'a str,
    /// Who "I" is: [`USER`] or a name.
    pub speaker: &'a str,
    /// Who "you" is, if known: the other person of a dialogue. The assistant is nobody.
    pub addressee: Option<&'a str>,
    /// When it was said; dates in the text resolve against this and against nothing else.
    pub said_at: Option<Timestamp>,
    /// People and pets that are known by name: a casual text may leave their capitals out.
    pub known: &'a [String],
}

/// Everything read in one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Extraction {
    /// Claims.
    pub facts: Vec<FactCandidate>,
    /// Tasks, goals and problems opened, tried at, finished or dropped.
    pub tasks: Vec<TaskCandidate>,
    /// News about something known, which only the memory can tell: "the flight is cancelled", "it's the 19th now".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<UpdateCandidate>,
    /// Insights about what works for this person.
    pub notes: Vec<NoteCandidate>,
    /// Lines of the self-model.
    pub tenets: Vec<TenetCandidate>,
    /// What a language model claims, each with the sentence that says it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ModelClaim>,
    /// What a language model says of tasks, goals and problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_claims: Vec<ModelTask>,
    /// What rules have read in this source, and a language model says is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misread: Vec<ItemId>,
    /// What a language model wanted, and was not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedOperation>,
    /// What is said of a ready-made item besides, by the start of its place in the source.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub besides: BTreeMap<usize, ReadyMadeDetails>,
    /// Sentences that look like claims and were left alone, and why (a question, a hypothesis, a quotation, a joke …).
    pub passed_over: Vec<PassedOver>,
}

/// What whoever writes an item ready-made says of it besides what it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ReadyMadeDetails {
    /// The broad field; without it that of the relation.
    pub domain: Option<String>,
    /// Free words.
    pub tags: Vec<String>,
    /// Connections with items that are there.
    pub links: Vec<Link>,
    /// Of a task: more than its title.
    pub description: String,
    /// Of a task: from 1 to 10.
    pub priority: Option<u8>,
    /// Of a task: whether it waits.
    pub is_stalled: Option<bool>,
    /// When a task was first spoken of; when an attempt was made.
    pub at: Option<Timestamp>,
}

/// A claim: subject, predicate, object, and when it held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactCandidate {
    /// [`USER`] or a name.
    pub subject: String,
    /// A predicate of the registry, or another word in snake case.
    pub predicate: String,
    /// As said, without articles and closing punctuation. Empty only with [`Stance::Ended`]: whatever held, ended.
    pub object: String,
    /// Where it stands in the source, in bytes: the clause that carries it.
    pub span: Range<usize>,
    /// How the claim is made.
    pub stance: Stance,
    /// Since when it holds, as far as said.
    pub valid_from: Option<Timestamp>,
    /// Until when it held, as far as said.
    pub valid_to: Option<Timestamp>,
    /// How sure the reader is, 0 to 1.
    pub confidence: f64,
    /// What was said besides: `frequency`, `since`, `relation`, `species`, `of`, `kind`, `dosage`, `purpose`.
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
    /// It does not hold, and nothing is said of a change: "I don't live in Lyon", "I'm not allergic to nuts".
    Denied,
    /// It holds and what was recorded is wrong: "Actually I live in Porto, not in Lyon", "I meant Tuesday".
    Corrects {
        /// The wrong value, if it was named.
        not: Option<String>,
    },
}

/// News about something that is named as known: by its head noun, by a pronoun, or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpdateCandidate {
    /// The words that name it: "flight", "cargo bike"; empty for what was spoken of last.
    pub what: String,
    /// What is told of it.
    pub news: UpdateNews,
    /// Where it stands in the source, in bytes.
    pub span: Range<usize>,
    /// The day it is put to, or the day it ended on.
    pub day: Option<Timestamp>,
    /// How sure the reader is, 0 to 1.
    pub confidence: f64,
}

/// What is told of something known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum UpdateNews {
    /// It is over, gone, given up.
    Over,
    /// What was to happen is put to another day.
    Moved,
    /// A part of it was wrong, or is another now.
    Instead {
        /// The words that are no longer right.
        not: String,
        /// What stands for them.
        is: String,
        /// It was never right.
        corrects: bool,
    },
    /// A value was measured again; of what is not said: "78.9kg!!" after a weight.
    Reading {
        /// The value as said.
        value: String,
    },
}

/// A task, goal or problem, or news of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskCandidate {
    /// What it is.
    pub kind: TaskKind,
    /// In a few words, as said: "post-dinner glucose spikes", "run a half marathon".
    pub title: String,
    /// Where it stands in the source, in bytes.
    pub span: Range<usize>,
    /// What is told of it.
    pub news: TaskNews,
    /// By when, as far as said.
    pub due: Option<Timestamp>,
    /// How sure the reader is, 0 to 1.
    pub confidence: f64,
}

/// What a task item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// Something to do.
    Task,
    /// Something to reach.
    Goal,
    /// Something to get rid of, with attempts.
    Problem,
}

/// What is told of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskNews {
    /// It exists: "I have to renew my passport", "I keep waking at four".
    Opened,
    /// It is done: "I finally renewed my passport".
    Done,
    /// It was given up: "I gave up on the marathon".
    Dropped,
    /// Something was tried against it.
    Tried {
        /// What: "walking after dinner".
        approach: String,
        /// What came of it, as said; empty if not said.
        outcome: String,
        /// Whether it helped, if said.
        successful: Option<bool>,
    },
}

/// An insight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoteCandidate {
    /// The insight.
    pub text: String,
    /// Where it stands in the source, in bytes.
    pub span: Range<usize>,
    /// Who came to it.
    pub origin: NoteOrigin,
    /// How sure, 0 to 1.
    pub confidence: f64,
    /// Free words.
    pub tags: Vec<String>,
}

/// A value, preference, policy or goal the user may live by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenetCandidate {
    /// What it is.
    pub kind: TenetKind,
    /// The line itself.
    pub text: String,
    /// What it rests on besides the source: facts, episodes.
    pub evidence: Vec<ItemId>,
    /// The broad field.
    pub domain: Option<String>,
    /// The narrow one.
    pub topic: Option<String>,
    /// Where it stands in the source, in bytes.
    pub span: Range<usize>,
}

/// A sentence that was left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// Why: `question`, `hypothetical`, `quoted`, `joke`, `reported`, `hedged`.
    pub reason: String,
}
