//! Remember: records messages, then makes them searchable.

use jiff::Timestamp;
use quipu_core::calendar::TimeExpression;
use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::guard;
use quipu_core::id::{ItemId, ItemKind};
use quipu_core::limit;
use quipu_core::reconcile::Understanding;
use quipu_core::source::{Artifact, Role, Source};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::MemoryRef;
use crate::memory::OpenMemory;
use crate::memory::Receipt;
use crate::memory::checkpoint;
use crate::memory::commit::{self, UsedMemory};
use crate::memory::entry_point::EntryPoint;
use crate::process::understand::{self, Cause};
use crate::process::unread::{self, Running};
use crate::sessions::episodes;
use crate::sessions::summarize;

/// Name of a source that was recorded without extraction.
const WORDS: &str = "words";

/// A new message.
#[derive(Debug, Clone)]
pub struct Utterance {
    /// The text.
    pub text: String,
    /// Role of the author.
    pub role: Role,
    /// Name of the author.
    pub author: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// Its topic.
    pub topic: Option<String>,
    /// Time of the message. Defaults to now.
    pub said_at: Option<Timestamp>,
    /// Its attachments.
    pub artifacts: Vec<Artifact>,
}

impl Utterance {
    /// A message of the user with default values.
    pub fn of_user(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            role: Role::User,
            author: None,
            session: None,
            topic: None,
            said_at: None,
            artifacts: Vec::new(),
        }
    }
}

impl Utterance {
    /// The message as said at a time as typed, by the engine's clock unless it names a UTC offset. The offset is kept:
    /// by it the days are counted that the text names.
    ///
    /// # Errors
    /// As [`Engine::moment_of`].
    pub fn at(mut self, engine: &Engine, typed: Option<TimeExpression>) -> Result<Self> {
        self.said_at = engine.moment_of(typed)?;
        self.artifacts.extend(typed.and_then(|typed| typed.utc_offset()).map(Artifact::of_utc_offset));
        Ok(self)
    }
}

impl From<&str> for Utterance {
    /// As [`Utterance::of_user`].
    fn from(text: &str) -> Self {
        Self::of_user(text)
    }
}

impl From<String> for Utterance {
    /// As [`Utterance::of_user`].
    fn from(text: String) -> Self {
        Self::of_user(text)
    }
}

/// Options of recording.
#[derive(Debug, Clone, Default)]
pub struct RememberOptions {
    /// A repeated message with the same key has no second effect.
    pub idempotency_key: Option<String>,
    /// The reason to record.
    pub rationale: Option<String>,
    /// Returns once the event is durable. Recall may lag until the next command, which also extracts.
    pub durable_only: bool,
    /// Records the message without extraction.
    pub words_only: bool,
    /// The compatibility interface and key it was received through; `None` for Quipu's own interfaces.
    pub entry: Option<EntryPoint>,
}

/// Records a message.
///
/// Returns once the event is durable and, unless `durable_only` is set, recall finds it.
///
/// # Errors
/// - `Invalid`: the text is empty, longer than `limit::SOURCE_BYTES_MAX` or contains U+0000.
/// - `Refused`: the idempotency key was used for another request.
/// - `Conflict`: another writer appended first and the retry budget is spent; call again.
/// - `Unavailable`: the disk is full or the folder is locked or read-only.
pub fn remember<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    said: &Utterance,
    options: &RememberOptions,
) -> Result<Receipt> {
    let memory = memory.into();
    let (draft, redacted) = draft(engine, said, ItemKind::Turn, options);
    let (request, used) = (draft.idempotency.clone(), UsedMemory::default());
    let recorded = commit::on_open(engine, memory, &used, &mut |_| Ok(draft.clone()), &mut |open| {
        let running = unread::begin(engine, open)?;
        Ok((running, commit::commit_one(engine, open, request.as_ref(), &mut |_| Ok(draft.clone()))?))
    });
    let (open, (running, mut receipt)) = recorded.map_err(deleted_meanwhile)?;
    receipt.redacted = redacted;
    if !options.durable_only {
        // The message is durable; extraction is repeated later.
        if !options.words_only
            && let Err(error) = read_all(engine, open, running, said.role, &mut receipt)
        {
            receipt.lag = Some(format!("it is recorded, but nothing was extracted from it yet: {error}"));
        }
        if engine.extractor.is_some()
            && let Err(error) = episodes::after_turn(engine, open)
        {
            receipt.lag = Some(format!("it is recorded, but its episode was not: {error}"));
        }
        if let Some(session) = &said.session {
            tell(engine, open, session, &mut receipt);
        }
        let lag = checkpoint::after_append(engine, open, false, &mut |_| {});
        receipt.finish(open, lag);
    }
    Ok(receipt)
}

/// Records several messages in one step, oldest first, all or nothing, under one idempotency key. `kind` is a turn of a
/// conversation or an entry of a journal.
///
/// Returns once they are durable. [`process`](crate::process()) does the rest.
///
/// # Errors
/// As [`remember`]; also `Invalid` for no messages, more than `limit::TURNS_PER_REQUEST_MAX`, or another kind.
pub fn remember_all<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    said: &[Utterance],
    kind: ItemKind,
    options: &RememberOptions,
) -> Result<Vec<Receipt>> {
    let memory = memory.into();
    if said.is_empty() || said.len() > limit::TURNS_PER_REQUEST_MAX {
        let (many, bound) = (said.len(), limit::TURNS_PER_REQUEST_MAX);
        return Err(Error::Invalid(format!("1 to {bound} turns are recorded at once, not {many}")));
    }
    if !matches!(kind, ItemKind::Turn | ItemKind::Entry) {
        return Err(Error::Invalid("a message is recorded as a turn or an entry".to_owned()));
    }
    let (drafts, redacted): (Vec<Draft>, Vec<Vec<String>>) =
        said.iter().map(|said| draft(engine, said, kind, options)).unzip();
    let Some(first) = drafts.first().cloned() else { return Ok(Vec::new()) };
    // The key covers all messages: another text or another order is another request.
    let requests: Vec<[u8; 32]> =
        drafts.iter().filter_map(|draft| Some(*draft.idempotency.as_ref()?.request.as_bytes())).collect();
    let parts: Vec<&[u8]> =
        std::iter::once(kind.as_str().as_bytes()).chain(requests.iter().map(<[u8; 32]>::as_slice)).collect();
    let request = commit::idempotency(options.idempotency_key.as_deref(), &parts);
    let bare: Vec<Draft> = drafts.into_iter().map(|draft| Draft { idempotency: None, ..draft }).collect();
    let used = UsedMemory::default();
    let recorded = commit::on_open(engine, memory, &used, &mut |_| Ok(first.clone()), &mut |open| {
        let running = unread::begin(engine, open)?;
        Ok((running, commit::commit(engine, open, request.as_ref(), &mut |_| Ok(bare.clone()))?))
    });
    let (open, (_running, mut receipts)) = recorded.map_err(deleted_meanwhile)?;
    if let Some(first) = receipts.pop_if(|receipt| receipt.replayed) {
        return commit::of_request(open, first, said.len());
    }
    for (receipt, redacted) in receipts.iter_mut().zip(redacted) {
        receipt.redacted = redacted;
    }
    Ok(receipts)
}

/// A memory that existed when it was opened was deleted meanwhile; a retry creates a new one.
fn deleted_meanwhile(error: Error) -> Error {
    match error {
        Error::NotFound(_) => {
            Error::Conflict("the memory was deleted while this was recorded, and nothing was; try again".to_owned())
        }
        other => other,
    }
}

/// Summarises the closed exchanges of the session. What fails is still due.
fn tell(engine: &Engine, open: &OpenMemory, session: &str, receipt: &mut Receipt) {
    let fault = match summarize::after_turn(engine, open, session) {
        Ok(report) => {
            receipt.summarized = report.summarized;
            report.fault
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(fault) = fault {
        receipt.lag = Some(format!("it is recorded, but its session is not summarised yet: {fault}"));
    }
}

/// Extracts from the message, after sources left unread before it.
fn read_all(engine: &Engine, open: &OpenMemory, running: Running<'_>, role: Role, receipt: &mut Receipt) -> Result<()> {
    let own = receipt.items.clone();
    let mut understood = Understanding::default();
    if receipt.replayed {
        // Nothing was recorded now, so the message is read with what is owed.
        running.finish(false)?;
        unread::catch_up(engine, open, limit::UNREAD_PER_TURN_MAX, &mut |source, found| {
            if own.contains(&source) {
                understood.extend(found);
            }
        })?;
    } else {
        let cause = Cause { event: Some(receipt.event_id), reference: None };
        unread::catch_up(engine, open, limit::UNREAD_PER_TURN_MAX, &mut |_, _| {})?;
        for source in own {
            understood.extend(understand::understand(engine, open, source, &cause)?);
        }
        let traceless = role == Role::User && understood.is_empty();
        running.finish(traceless)?;
    }
    receipt.understood = understood;
    Ok(())
}

/// Drafts the event, and returns the kinds of the secrets redacted from it.
fn draft(engine: &Engine, said: &Utterance, kind: ItemKind, options: &RememberOptions) -> (Draft, Vec<String>) {
    let mut source = Source {
        id: ItemId { kind, bits: 0 },
        session: said.session.as_deref().map(Into::into),
        topic: said.topic.as_deref().map(Into::into),
        role: said.role,
        author: said.author.as_deref().map(Into::into),
        said_at: said.said_at.map(quipu_core::calendar::to_micros),
        text: said.text.as_str().into(),
        artifacts: said.artifacts.clone(),
        native_id: None,
    };
    // The request is hashed as sent, before a time or an id is added.
    let request = source.content_hash();
    let redacted = redact(&mut source);
    let said_at = source.said_at.unwrap_or_else(|| engine.now());
    source.said_at = Some(said_at);
    if source.utc_offset().is_none() && source.artifacts.len() < limit::ARTIFACTS_MAX {
        source.artifacts.extend(engine.clock.utc_offset(said_at).map(Artifact::of_utc_offset));
    }
    engine.name(&mut source);
    let (actor, kind) = match said.role {
        Role::User => (Actor::User, SourceKind::UserSaid),
        Role::Assistant => (Actor::Agent, SourceKind::AssistantSaid),
        Role::System => (Actor::System, SourceKind::Inferred),
        Role::Tool => (Actor::Agent, SourceKind::ToolOutput),
    };
    let entry = options.entry.as_ref().map(EntryPoint::reference);
    let draft = Draft {
        origin: Origin {
            kind,
            reference: entry.or_else(|| options.words_only.then(|| WORDS.to_owned())),
            session: said.session.clone(),
            author: said.author.clone(),
        },
        rationale: if options.words_only { Some(unread::WORDS_ONLY.to_owned()) } else { options.rationale.clone() },
        idempotency: commit::idempotency(options.idempotency_key.as_deref(), &[request.as_bytes()]),
        ..Draft::new(actor, kind, vec![Change::SourceRecorded(source)])
    };
    (draft, redacted)
}

/// Redacts the secrets in a source; returns their kinds.
pub(crate) fn redact(source: &mut Source) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    let mut clean = |text: &str| {
        let redacted = guard::redact(text);
        kinds.extend(redacted.found.iter().map(|found| found.kind.to_owned()));
        (!redacted.found.is_empty()).then(|| redacted.text.into_owned())
    };
    if let Some(text) = clean(&source.text) {
        source.text = text.into();
    }
    for artifact in &mut source.artifacts {
        if let Some(text) = clean(&artifact.text) {
            artifact.text = text;
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
