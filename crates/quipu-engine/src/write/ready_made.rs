//! Records ready-made items of other programs, through the same gate as extracted ones.

use std::ops::Range;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Idempotency, Origin, SourceKind};
use quipu_core::extract::{
    Extraction, FactCandidate, NoteCandidate, ReadyMadeDetails, Stance, TaskCandidate, TaskKind, TaskNews,
    TenetCandidate, USER,
};
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_core::item::{NoteOrigin, TaskStatus};
use quipu_core::limit;
use quipu_core::predicate::normal;
use quipu_core::reconcile::{Rejection, Understanding};
use quipu_core::source::{READY_MADE, Role, Source};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::{self, When};
use crate::memory::MemoryRef;
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::{Receipt, commit};
use crate::process::understand::{self, Cause, SourceReading};
use crate::write::ready_made::items::scrubbed;
use crate::write::replayed_answer::{self, Effects};

mod items;

pub use crate::write::replayed_answer::WaitingItem;
pub use items::{AttemptIn, FactIn, NoteIn, TaskIn, TenetIn, WriteRequest};

/// Result of a write.
#[derive(Debug, Clone, Serialize)]
pub struct WriteReport {
    /// Items that count: made now, or known before and confirmed again.
    pub accepted: Vec<ItemId>,
    /// Items that do not count until a review is decided.
    pub waiting: Vec<WaitingItem>,
    /// What was rejected, and why.
    pub rejected: Vec<Rejection>,
    /// The source with the written items, word for word; it is the evidence of all of them.
    pub source: ItemId,
    /// Position of the event that recorded it.
    pub seq: Seq,
    /// Version of the memory that contains everything that was recorded.
    pub version: Seq,
    /// What was recorded, in detail; for a repeated request, as far as the ledger shows.
    pub understood: Understanding,
    /// Kinds of secrets that were removed before anything was stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// Paths of unknown fields: `facts[0].version`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// True if the same request was recorded before and nothing was appended now.
    pub replayed: bool,
}

/// Records ready-made items.
///
/// The items are also recorded as a source, which is their evidence. `kind` identifies the writer: only the user's own
/// kinds may record identity, preferences and tenets without a review.
///
/// # Errors
/// `Invalid`: nothing to write, more than `limit::WRITE_ITEMS_MAX` items, or an empty value. `Refused`: the idempotency
/// key was used for another request, or for one of which something was erased since. Otherwise as for every append.
pub fn write<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    request: &WriteRequest,
    kind: SourceKind,
) -> Result<WriteReport> {
    let memory = memory.into();
    let WriteRequest { facts, notes, tasks, tenets, .. } = request;
    let many = facts.len() + notes.len() + tasks.len() + tenets.len();
    if many == 0 || many > limit::WRITE_ITEMS_MAX {
        let bound = limit::WRITE_ITEMS_MAX;
        return Err(Error::Invalid(format!("a write has 1 to {bound} items, this has {many}")));
    }
    let idempotency = sent(request, kind)?;
    let (request, redacted) = &scrubbed(request);
    let (source, found) = laid_out(engine, request, kind, engine.now())?;
    let draft = Draft {
        origin: Origin { reference: Some("write".to_owned()), ..Origin::of(kind) },
        ..Draft::new(actor(kind), kind, vec![Change::SourceRecorded(source.clone())])
    };
    let open = commit::open_or_create(engine, memory, &mut |_| Ok(draft.clone()))?;
    let receipt = commit::commit_one(engine, &open, idempotency.as_ref(), &mut |_| Ok(draft.clone()))?;
    if receipt.replayed {
        return again(engine, &open, &receipt, (request, redacted), kind);
    }
    let understood = read(engine, &open, &receipt, (source.id, found), &|_| false)?;
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    let effects = replayed_answer::effects(&open, &receipt)?;
    Ok(report(&receipt, (source.id, understood), (request, redacted), &effects, &open.read().memory))
}

/// The answer to a repeated request. Completes an interrupted write; nothing is decided again.
fn again(
    engine: &Engine,
    open: &OpenMemory,
    receipt: &Receipt,
    (request, redacted): (&WriteRequest, &[String]),
    kind: SourceKind,
) -> Result<WriteReport> {
    let known = replayed_answer::effects(open, receipt)?;
    let then = versions::memory_at(open, When::Seq(receipt.seq))?;
    let held = then.sources().last().filter(|held| held.seq == receipt.seq);
    let missing = || Error::Bug(format!("event {} recorded no source", receipt.seq));
    let (source, said_at) = held.and_then(|held| Some((held.source.id, held.source.said_at?))).ok_or_else(missing)?;
    let found = laid_out(engine, request, kind, said_at)?.1;
    read(engine, open, receipt, (source, found), &|part| known.has_any_of(part))?;
    checkpoint::after_append(engine, open, false, &mut |_| {});
    let effects = replayed_answer::effects(open, receipt)?;
    let then = versions::memory_at(open, When::Seq(effects.version))?;
    let understood = effects.understanding(&then);
    Ok(WriteReport { replayed: true, ..report(receipt, (source, understood), (request, redacted), &effects, &then) })
}

fn report(
    receipt: &Receipt,
    (source, understood): (ItemId, Understanding),
    (request, redacted): (&WriteRequest, &[String]),
    effects: &Effects,
    memory: &Memory,
) -> WriteReport {
    WriteReport {
        accepted: effects.accepted(memory),
        waiting: effects.waiting(memory),
        rejected: effects.rejected(memory),
        source,
        seq: receipt.seq,
        version: effects.version,
        understood,
        redacted: redacted.to_vec(),
        ignored: request.ignored(),
        replayed: false,
    }
}

fn read(
    engine: &Engine,
    open: &OpenMemory,
    receipt: &Receipt,
    (source, candidates): (ItemId, Extraction),
    done: &dyn Fn(&Extraction) -> bool,
) -> Result<Understanding> {
    let cause = Cause { event: Some(receipt.event_id), reference: None };
    understand::record(engine, open, &SourceReading { reader: "write", source, done }, candidates, &cause)
}

/// The request as sent, hashed to distinguish it from others with the same key.
fn sent(request: &WriteRequest, kind: SourceKind) -> Result<Option<Idempotency>> {
    let bug = |error: serde_json::Error| Error::Bug(format!("a request cannot be written down: {error}"));
    let body = serde_json::to_vec(&(kind, request)).map_err(bug)?;
    Ok(commit::idempotency(request.idempotency_key.as_deref(), &[b"write", &body]))
}

/// The confidence to record. That of others than the user is limited to their default.
fn confidence(given: Option<f64>, default: f64, own: bool) -> Result<f64> {
    let sure = given.unwrap_or(default);
    if !(0.0..=1.0).contains(&sure) {
        return Err(Error::Invalid("confidence is a number from 0 to 1".to_owned()));
    }
    Ok(if own { sure } else { sure.min(default) })
}

fn actor(kind: SourceKind) -> Actor {
    match kind {
        SourceKind::UserSaid | SourceKind::UserEdited => Actor::User,
        _ => Actor::Agent,
    }
}

/// Lays the items out as lines of a source, with a candidate for each line.
fn laid_out(engine: &Engine, request: &WriteRequest, kind: SourceKind, now: Timestamp) -> Result<(Source, Extraction)> {
    let mut page = Page::default();
    let mut found = Extraction::default();
    let own = matches!(kind, SourceKind::UserSaid | SourceKind::UserEdited);
    let usual = if own { 0.95 } else { 0.85 };
    for fact in &request.facts {
        let subject = fact.subject.clone().unwrap_or_else(|| USER.to_owned());
        let subject = if normal(&subject) == USER { USER.to_owned() } else { subject };
        filled("a fact's predicate", &fact.predicate)?;
        filled("a fact's object", &fact.object)?;
        let mut qualifiers = fact.qualifiers.clone();
        qualifiers.extend(fact.topic.clone().map(|topic| ("topic".to_owned(), topic)));
        let said = engine.predicates.say(&subject, &fact.predicate, &fact.object, &qualifiers);
        let line = match &fact.text {
            Some(text) if normal(text).contains(&normal(&fact.object)) => text.clone(),
            Some(text) => format!("{text} ({said})"),
            None => said,
        };
        let (valid_from, valid_to) = (engine.time_of(fact.valid_from)?, engine.time_of(fact.valid_to)?);
        let over = valid_to.is_some_and(|to| to <= now);
        let span = page.line(&line);
        let (domain, tags, links) = (fact.domain.clone(), fact.tags.clone(), fact.links.clone());
        besides(&mut found, &span, ReadyMadeDetails { domain, tags, links, ..ReadyMadeDetails::default() });
        found.facts.push(FactCandidate {
            subject,
            predicate: fact.predicate.clone(),
            object: fact.object.trim().to_owned(),
            span,
            stance: if over { Stance::Held } else { Stance::Holds },
            valid_from,
            valid_to,
            confidence: confidence(fact.confidence_base, usual, own)?,
            qualifiers,
        });
    }
    for note in &request.notes {
        filled("a note", &note.text)?;
        let origin = if own { NoteOrigin::HumanFeedback } else { NoteOrigin::ModelReflection };
        found.notes.push(NoteCandidate {
            text: note.text.clone(),
            span: page.line(&note.text),
            origin: note.origin.filter(|_| own).unwrap_or(origin),
            confidence: confidence(note.confidence_base, usual, own)?,
            tags: note.tags.clone(),
        });
    }
    for task in &request.tasks {
        tasks_of(engine, task, &mut page, usual, &mut found)?;
    }
    for tenet in &request.tenets {
        filled("a tenet", &tenet.text)?;
        found.tenets.push(TenetCandidate {
            kind: tenet.kind,
            text: tenet.text.clone(),
            evidence: tenet.evidence.clone(),
            domain: tenet.domain.clone(),
            topic: tenet.topic.clone(),
            span: page.line(&tenet.text),
        });
    }
    let role = match kind {
        SourceKind::UserSaid | SourceKind::UserEdited => Role::User,
        SourceKind::AssistantSaid | SourceKind::Inferred => Role::Assistant,
        _ => Role::Tool,
    };
    let source = Source {
        id: engine.new_item_id(ItemKind::Entry),
        session: None,
        topic: None,
        role,
        author: None,
        said_at: Some(now),
        text: page.0.trim_end().into(),
        artifacts: Vec::new(),
        native_id: Some(READY_MADE.into()),
    };
    Ok((source, found))
}

fn filled(what: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() { Err(Error::Invalid(format!("{what} is empty"))) } else { Ok(()) }
}

/// Stores details of the item at a span.
fn besides(found: &mut Extraction, span: &Range<usize>, said: ReadyMadeDetails) {
    if said != ReadyMadeDetails::default() {
        found.besides.insert(span.start, said);
    }
}

fn tasks_of(engine: &Engine, task: &TaskIn, page: &mut Page, confidence: f64, found: &mut Extraction) -> Result<()> {
    let (title, description) = match task.title.trim() {
        "" => (task.description.trim(), ""),
        title => (title, task.description.trim()),
    };
    filled("a task's title", title)?;
    if !task.priority.is_none_or(|priority| (1..=10).contains(&priority)) {
        return Err(Error::Invalid("a task's priority is a number from 1 to 10".to_owned()));
    }
    let (due, at) = (engine.time_of(task.due)?, engine.time_of(task.created_at)?);
    let kind = task.kind.unwrap_or(if task.attempts.is_empty() { TaskKind::Task } else { TaskKind::Problem });
    let span = page.line(title);
    let said = ReadyMadeDetails {
        description: description.to_owned(),
        priority: task.priority,
        is_named_exactly: true,
        is_stalled: match task.status {
            Some(TaskStatus::Stalled) => Some(true),
            Some(TaskStatus::Active) => Some(false),
            _ => None,
        },
        at,
        tags: task.tags.clone(),
        links: task.links.clone(),
        domain: None,
    };
    besides(found, &span, said);
    let tell = |news: TaskNews, span: Range<usize>| TaskCandidate {
        kind,
        title: title.to_owned(),
        span,
        news,
        due,
        confidence,
    };
    // One that is done or dropped is opened only if it is not known.
    if !matches!(task.status, Some(TaskStatus::Done | TaskStatus::Dropped)) || !task.attempts.is_empty() {
        found.tasks.push(tell(TaskNews::Opened, span.clone()));
    }
    for attempt in &task.attempts {
        let AttemptIn { date, approach, outcome, successful, .. } = attempt.clone();
        let span = page.line(&format!("tried: {approach}; {outcome}"));
        let details =
            ReadyMadeDetails { at: engine.time_of(date)?, is_named_exactly: true, ..ReadyMadeDetails::default() };
        besides(found, &span, details);
        found.tasks.push(tell(TaskNews::Tried { approach, outcome, successful }, span));
    }
    match task.status {
        Some(TaskStatus::Done) => found.tasks.push(tell(TaskNews::Done, span)),
        Some(TaskStatus::Dropped) => found.tasks.push(tell(TaskNews::Dropped, span)),
        _ => {}
    }
    Ok(())
}

/// Lines of a source that is being built.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, text: &str) -> Range<usize> {
        let start = self.0.len();
        self.0.push_str(text.trim());
        let end = self.0.len();
        self.0.push('\n');
        start..end
    }
}
