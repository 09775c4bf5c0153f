//! The items of a write as they are sent.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::calendar::TimeExpression;
use quipu_core::extract::TaskKind;
use quipu_core::guard;
use quipu_core::id::ItemId;
use quipu_core::item::{Link, NoteOrigin, TaskStatus, TenetKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Items made elsewhere.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteRequest {
    /// A repeated request with the same key has no second effect and gets the first answer.
    #[serde(skip_serializing)]
    pub idempotency_key: Option<String>,
    /// Facts.
    pub facts: Vec<FactIn>,
    /// Notes.
    #[serde(alias = "reflective")]
    pub notes: Vec<NoteIn>,
    /// Tasks, goals and problems.
    pub tasks: Vec<TaskIn>,
    /// Tenets.
    #[serde(alias = "schema")]
    pub tenets: Vec<TenetIn>,
}

/// A fact with the fields `subject`, `predicate` and `object`, or `s`, `p` and `o`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FactIn {
    /// Whom it is about. Defaults to the user.
    #[serde(alias = "s")]
    pub subject: Option<String>,
    /// The predicate.
    #[serde(alias = "p", alias = "relation")]
    pub predicate: String,
    /// The value.
    #[serde(alias = "o")]
    pub object: String,
    /// The fact as a sentence, kept word for word as its evidence. The fact itself is worded from its predicate.
    pub text: Option<String>,
    /// Start of validity: a time or a date.
    #[serde(alias = "time", default)]
    pub valid_from: Option<TimeExpression>,
    /// End of validity.
    pub valid_to: Option<TimeExpression>,
    /// Confidence, 0 to 1.
    #[serde(alias = "confidence")]
    pub confidence_base: Option<f64>,
    /// Qualifiers.
    #[serde(default)]
    pub qualifiers: BTreeMap<String, String>,
    /// Broad domain. Defaults to that of the predicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Topic within the domain.
    pub topic: Option<String>,
    /// Free tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Links to existing items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Unknown fields.
    #[serde(flatten, skip_serializing)]
    pub rest: Map<String, Value>,
}

/// A note.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NoteIn {
    /// The text.
    pub text: String,
    /// `model_reflection`, `human_feedback` or `rule`. The default depends on the writer.
    pub origin: Option<NoteOrigin>,
    /// Confidence, 0 to 1.
    #[serde(alias = "confidence")]
    pub confidence_base: Option<f64>,
    /// Free tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Unknown fields.
    #[serde(flatten, skip_serializing)]
    pub rest: Map<String, Value>,
}

/// A task, goal or problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskIn {
    /// Short title. If empty, `description` is used.
    #[serde(default)]
    pub title: String,
    /// Details.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its kind. Defaults to a task.
    pub kind: Option<TaskKind>,
    /// Its status.
    pub status: Option<TaskStatus>,
    /// Priority, 1 to 10. Defaults to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Due time: a time or a date.
    pub due: Option<TimeExpression>,
    /// When it was first mentioned. Defaults to now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<TimeExpression>,
    /// Attempts.
    #[serde(default)]
    pub attempts: Vec<AttemptIn>,
    /// Free tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Links to existing items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Unknown fields.
    #[serde(flatten, skip_serializing)]
    pub rest: Map<String, Value>,
}

/// An attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AttemptIn {
    /// Time of the attempt: a time or a date. Defaults to now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<TimeExpression>,
    /// What was tried.
    pub approach: String,
    /// The outcome.
    #[serde(default)]
    pub outcome: String,
    /// Whether it helped.
    pub successful: Option<bool>,
    /// Unknown fields.
    #[serde(flatten, skip_serializing)]
    pub rest: Map<String, Value>,
}

/// A tenet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TenetIn {
    /// Its kind.
    pub kind: TenetKind,
    /// The text.
    pub text: String,
    /// Items it is based on.
    #[serde(default)]
    pub evidence: Vec<ItemId>,
    /// Broad domain.
    pub domain: Option<String>,
    /// Topic within the domain.
    pub topic: Option<String>,
    /// Unknown fields.
    #[serde(flatten, skip_serializing)]
    pub rest: Map<String, Value>,
}

impl WriteRequest {
    /// Paths of all unknown fields: `tasks[0].attempts[1].mood`.
    pub(super) fn ignored(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut note =
            |at: String, rest: &Map<String, Value>| all.extend(rest.keys().map(|name| format!("{at}.{name}")));
        self.facts.iter().enumerate().for_each(|(at, fact)| note(format!("facts[{at}]"), &fact.rest));
        self.notes.iter().enumerate().for_each(|(at, one)| note(format!("notes[{at}]"), &one.rest));
        for (at, task) in self.tasks.iter().enumerate() {
            note(format!("tasks[{at}]"), &task.rest);
            let attempts = task.attempts.iter().enumerate();
            attempts.for_each(|(tried, attempt)| note(format!("tasks[{at}].attempts[{tried}]"), &attempt.rest));
        }
        self.tenets.iter().enumerate().for_each(|(at, one)| note(format!("tenets[{at}]"), &one.rest));
        all
    }
}

/// The request without secrets, and the kinds of those removed. Must be applied before the items are laid out as a source.
pub(super) fn scrubbed(request: &WriteRequest) -> (WriteRequest, Vec<String>) {
    let mut clean = request.clone();
    let mut kinds = BTreeSet::new();
    let mut texts: Vec<&mut String> = Vec::new();
    for fact in &mut clean.facts {
        texts.extend([&mut fact.object, &mut fact.predicate]);
        texts.extend(fact.subject.iter_mut().chain(&mut fact.text).chain(&mut fact.topic));
        texts.extend(fact.qualifiers.values_mut().chain(&mut fact.tags).chain(&mut fact.domain));
    }
    for note in &mut clean.notes {
        texts.push(&mut note.text);
        texts.extend(&mut note.tags);
    }
    for task in &mut clean.tasks {
        texts.extend([&mut task.title, &mut task.description]);
        texts.extend(&mut task.tags);
        texts.extend(task.attempts.iter_mut().flat_map(|attempt| [&mut attempt.approach, &mut attempt.outcome]));
    }
    for tenet in &mut clean.tenets {
        texts.push(&mut tenet.text);
        texts.extend(tenet.domain.iter_mut().chain(&mut tenet.topic));
    }
    for text in texts {
        let redacted = guard::redact(text);
        if !redacted.found.is_empty() {
            kinds.extend(redacted.found.iter().map(|found| found.kind.to_owned()));
            *text = redacted.text.into_owned();
        }
    }
    (clean, kinds.into_iter().collect())
}
