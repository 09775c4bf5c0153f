//! Commits drafts: decides on the current memory, seals, appends durably, and folds the events in. The only way into a
//! ledger.

use std::cell::OnceCell;
use std::time::Duration;

use quipu_core::event::{Change, Draft, Hash, Idempotency};
use quipu_core::guard;
use quipu_core::id::{EventId, ItemId, Seq, UserId};
use quipu_core::ledger::{self, Position, SealedEvent};
use quipu_core::limit;
use quipu_core::recall::{self, DerivedIndex};
use quipu_core::reconcile::Understanding;
use quipu_core::session::Summarized;
use quipu_core::{Memory, Refusal};
use serde::Serialize;
use serde_json::Value;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::index;
use crate::memory::precondition;
use crate::memory::{MemoryRef, OpenMemory, SharedMemory, State, Writer, fold};
use crate::ports::{StoreError, UserLedger};

/// Most times an append is repeated after other processes appended first.
pub(crate) const APPEND_RETRIES_MAX: u32 = 24;
/// Longest pause before an append is repeated, in milliseconds.
const PAUSE_MS_MAX: u64 = 64;

/// Approximate ratio of an event's size in memory to its stored size.
const GROWN_BY: usize = 4;

/// Proof that an event is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// Id of the event.
    pub event_id: EventId,
    /// Position of the event.
    pub seq: Seq,
    /// Version of the memory that contains the event and what followed from it.
    pub version: Seq,
    /// Hash of the event; pin it to detect tampering later.
    #[cfg_attr(feature = "schema", schemars(with = "quipu_core::schema::HexHash"))]
    pub hash: String,
    /// Items it recorded.
    pub items: Vec<ItemId>,
    /// True if the same request was recorded before and nothing was appended now.
    pub replayed: bool,
    /// Kinds of secrets that were redacted before storing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<String>,
    /// What was extracted from it, if an extractor ran.
    #[serde(skip_serializing_if = "Understanding::is_empty")]
    pub understood: Understanding,
    /// Exchanges of its session that were summarised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summarized: Vec<Summarized>,
    /// Why recall does not see all of it yet, if a step after the append failed.
    pub lag: Option<String>,
}

impl Receipt {
    fn of(event: &SealedEvent, replayed: bool) -> Result<Self> {
        let opened = ledger::open(event)?;
        let items = opened.changes.iter().flatten().filter_map(|change| match change {
            Change::SourceRecorded(source) => Some(source.id),
            Change::Drawn(drawn) => drawn.makes(),
            _ => None,
        });
        Ok(Self {
            event_id: event.id,
            seq: event.seq,
            version: event.seq,
            hash: event.hash.to_hex().to_string(),
            items: items.collect(),
            replayed,
            redacted: Vec::new(),
            understood: Understanding::default(),
            summarized: Vec::new(),
            lag: None,
        })
    }

    /// Completes the receipt with the present version, when everything that follows from its event is recorded. An earlier
    /// `lag` is kept.
    pub(crate) fn finish(&mut self, open: &OpenMemory, lag: Option<String>) {
        self.version = open.read().memory.seq();
        self.lag = self.lag.take().or(lag);
    }
}

/// The idempotency key of a request, with a hash that distinguishes different requests with the same key.
pub(crate) fn idempotency(key: Option<&str>, request: &[&[u8]]) -> Option<Idempotency> {
    let key = key?.to_owned();
    let mut hasher = blake3::Hasher::new_derive_key("quipu request v1");
    for part in request {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Some(Idempotency { key, request: hasher.finalize() })
}

/// Appends the drafts that `decide` makes from the current memory; decides again after a concurrent append.
///
/// Returns once the events are durable and visible to readers. All drafts become durable together or not at all.
pub(crate) fn commit(
    engine: &Engine,
    open: &OpenMemory,
    request: Option<&Idempotency>,
    decide: &mut dyn FnMut(&State) -> Result<Vec<Draft>>,
) -> Result<Vec<Receipt>> {
    commit_planned(engine, open, request, &mut |_| {
        let mut drafts = decide(&open.read())?;
        if let Some(first) = drafts.first_mut() {
            first.idempotency = request.cloned();
        }
        drafts.iter_mut().try_for_each(scrub)?;
        let state = open.read();
        drafts.iter().try_for_each(|draft| check(&state.memory, draft))?;
        seal_all(engine, &state, &drafts)
    })
}

/// As [`commit`], for events that are sealed already because they depend on each other. `plan` receives the ledger and
/// seals with [`seal_next`].
pub(crate) fn commit_planned(
    engine: &Engine,
    open: &OpenMemory,
    request: Option<&Idempotency>,
    plan: &mut dyn FnMut(&mut dyn UserLedger) -> Result<Vec<SealedEvent>>,
) -> Result<Vec<Receipt>> {
    let mut writer = open.writer()?;
    for attempt in 0..=APPEND_RETRIES_MAX {
        // A repeated request is not checked again, because it may no longer apply to the memory.
        if let Some(receipt) = answered_before(&mut writer, request)? {
            open.catch_up(engine, &mut writer)?;
            return Ok(vec![receipt]);
        }
        precondition::check(open.expected(), open.read().memory.seq())?;
        let sealed = plan(writer.ledger.as_mut())?;
        if sealed.is_empty() {
            return Ok(Vec::new());
        }
        match writer.ledger.append(sealed.first().map_or(0, |event| event.seq - 1), &sealed) {
            Ok(()) => {
                open.note_appended(sealed.last().map_or(0, |event| event.seq));
                open.met();
                show(engine, open, &mut writer, &sealed)?;
                return sealed.iter().map(|event| Receipt::of(event, false)).collect();
            }
            Err(StoreError::Conflict { .. }) => {
                pause(engine, attempt);
                open.catch_up(engine, &mut writer)?;
            }
            Err(other) => return Err(other.into()),
        }
    }
    Err(Error::Conflict("other writers were faster again and again; try again".to_owned()))
}

/// Waits a random part of a time that doubles with each attempt, so that processes which append to one ledger do not
/// meet again and again.
pub(crate) fn pause(engine: &Engine, attempt: u32) {
    let most_micros = 1_000 * (1u64 << attempt.min(16)).min(PAUSE_MS_MAX);
    let mut random = [0u8; 8];
    engine.entropy.fill(&mut random);
    std::thread::sleep(Duration::from_micros(u64::from_le_bytes(random) % most_micros));
}

/// Makes appended events visible to readers.
fn show(engine: &Engine, open: &SharedMemory, writer: &mut Writer, sealed: &[SealedEvent]) -> Result<()> {
    if fold_in(engine, open, writer, sealed).is_ok() {
        return Ok(());
    }
    reload_durable(engine, open, writer).map_err(|fault| recorded_unseen(sealed, &fault))
}

/// Reads the memory again after an append. Retries a bounded number of times; if all fail, the next operation reads the
/// ledger.
pub(crate) fn reload_durable(engine: &Engine, open: &SharedMemory, writer: &mut Writer) -> Result<()> {
    let mut outcome = reload(engine, open, writer);
    for _ in 0..limit::RELOAD_RETRIES_MAX {
        if outcome.is_ok() {
            return outcome;
        }
        outcome = reload(engine, open, writer);
    }
    outcome.inspect_err(|_| open.not_shown())
}

/// The events are durable but not visible yet, so the error must not suggest that nothing was recorded.
fn recorded_unseen(sealed: &[SealedEvent], fault: &Error) -> Error {
    let seq = sealed.last().map_or(0, |event| event.seq);
    let text = format!(
        "it is recorded as event {seq}, but the memory cannot be read again now: {fault}. Do not send it \
                        again; the next command tries to read it"
    );
    match fault {
        Error::Corrupt(_) => Error::Corrupt(text),
        _ => Error::Unavailable(text),
    }
}

/// Opens a user's memory for writing. If there is none, the command is first checked against an empty one, so that a
/// refused command creates no memory.
pub(crate) fn open_or_create(
    engine: &Engine,
    of: MemoryRef<'_>,
    decide: &mut dyn FnMut(&State) -> Result<Draft>,
) -> Result<OpenMemory> {
    let open = engine.open(of)?;
    if !open.is_absent() {
        return Ok(open);
    }
    {
        let empty = open.read();
        precondition::check(of.version, 0)?;
        check(&empty.memory, &decide(&empty)?)?;
    }
    engine.open_or_create(of)
}

/// The memory that [`on_open`] used.
#[derive(Default)]
pub(crate) struct UsedMemory {
    known: OnceCell<OpenMemory>,
    asked: OnceCell<OpenMemory>,
}

/// Runs `append` on a user's memory: on the open one without asking the store first whether it is current, or else as
/// after [`open_or_create`]. What is appended must not depend on the memory, unless the append decides it.
pub(crate) fn on_open<'u, T>(
    engine: &Engine,
    of: MemoryRef<'_>,
    used: &'u UsedMemory,
    decide: &mut dyn FnMut(&State) -> Result<Draft>,
    append: &mut dyn FnMut(&'u OpenMemory) -> Result<T>,
) -> Result<(&'u OpenMemory, T)> {
    if let Some(open) = engine.open_already(of) {
        let open = used.known.get_or_init(|| open);
        match append(open) {
            // Another process has deleted the user, and perhaps created it again.
            Err(Error::NotFound(_)) => {}
            outcome => return outcome.map(|done| (open, done)),
        }
    }
    let open = open_or_create(engine, of, decide)?;
    let open = used.asked.get_or_init(|| open);
    append(open).map(|done| (open, done))
}

/// The receipts of the `count` events of one request, given the first.
pub(crate) fn of_request(open: &OpenMemory, first: Receipt, count: usize) -> Result<Vec<Receipt>> {
    let mut writer = open.writer()?;
    let rest = (first.seq + 1..).take(count.saturating_sub(1));
    let rest: Result<Vec<Receipt>> =
        rest.map(|seq| Receipt::of(&fold::sealed_at(writer.ledger.as_mut(), seq)?, true)).collect();
    Ok(std::iter::once(first).chain(rest?).collect())
}

/// Appends one event.
pub(crate) fn commit_one(
    engine: &Engine,
    open: &OpenMemory,
    request: Option<&Idempotency>,
    decide: &mut dyn FnMut(&State) -> Result<Draft>,
) -> Result<Receipt> {
    let mut receipts = commit(engine, open, request, &mut |state| Ok(vec![decide(state)?]))?;
    receipts.pop().ok_or_else(|| Error::Bug("a commit returned no receipt".to_owned()))
}

/// The position of the event that was recorded for an idempotency key, whether it still counts or not. `None` if the
/// user has no memory.
///
/// # Errors
/// `Unavailable` and `Corrupt` from the store.
pub fn recorded_at(engine: &Engine, user: &UserId, key: &str) -> Result<Option<Seq>> {
    Ok(engine.open(user)?.writer()?.ledger.key_use(key)?.map(|used| used.seq))
}

fn answered_before(writer: &mut Writer, request: Option<&Idempotency>) -> Result<Option<Receipt>> {
    let Some(used) = request else { return Ok(None) };
    let Some(earlier) = writer.ledger.key_use(&used.key)? else { return Ok(None) };
    let event = fold::sealed_at(writer.ledger.as_mut(), earlier.seq)?;
    let refused = |why| {
        let (key, seq) = (&used.key, earlier.seq);
        Err(Error::Refused(format!("the idempotency key {key:?} was used {why} event {seq}; choose a new key")))
    };
    match ledger::answers(&event, &used.request) {
        Some(true) => Receipt::of(&event, true).map(Some),
        Some(false) => refused("for another request at"),
        // The content is unknown, and a late retry must not record it again.
        None => refused("for a request that was erased since, at"),
    }
}

/// All checks before an event may be appended.
fn check(memory: &Memory, draft: &Draft) -> Result<()> {
    ledger::check_draft(draft)?;
    for change in &draft.changes {
        if let Change::SourceRecorded(source) = change {
            source.check()?;
        }
    }
    memory.check(draft.changes.iter()).map_err(|refusal| match refusal {
        Refusal::Refused(text) => Error::Refused(text),
        other => other.into(),
    })
}

fn seal_all(engine: &Engine, state: &State, drafts: &[Draft]) -> Result<Vec<SealedEvent>> {
    seal_after(engine, state.memory.user(), (state.memory.seq(), state.memory.head()), drafts)
}

/// Seals one draft as the event after position `after` of a ledger that is being built.
pub(crate) fn seal_at(engine: &Engine, user: &UserId, after: Seq, head: Hash, draft: &Draft) -> Result<SealedEvent> {
    ledger::check_draft(draft)?;
    let mut sealed = seal_after(engine, user, (after, head), std::slice::from_ref(draft))?;
    sealed.pop().ok_or_else(|| Error::Bug("sealing one draft gave no event".to_owned()))
}

/// The receipt of an existing event.
pub(crate) fn receipt_at(open: &OpenMemory, seq: Seq) -> Result<Receipt> {
    Receipt::of(&fold::sealed_at(open.writer()?.ledger.as_mut(), seq)?, false)
}

fn seal_after(
    engine: &Engine,
    user: &UserId,
    (after, head): (Seq, Hash),
    drafts: &[Draft],
) -> Result<Vec<SealedEvent>> {
    let mut prev: Hash = head;
    let first = after + 1;
    let mut sealed = Vec::with_capacity(drafts.len());
    let recorded_at = quipu_core::calendar::to_micros(engine.clock.now());
    for (seq, draft) in (first..).zip(drafts) {
        let mut salts = vec![[0u8; 32]; draft.changes.len()];
        salts.iter_mut().for_each(|salt| engine.entropy.fill(salt));
        let position = Position { user: user.clone(), seq, id: engine.new_event_id(), recorded_at, prev };
        let (event, _) = ledger::seal(draft, position, &salts)?;
        prev = event.hash;
        sealed.push(event);
    }
    Ok(sealed)
}

/// Folds appended events into the state that readers see.
pub(crate) fn fold_in(engine: &Engine, open: &SharedMemory, writer: &mut Writer, sealed: &[SealedEvent]) -> Result<()> {
    if sealed.iter().any(|event| event.control) {
        return reload(engine, open, writer);
    }
    let mut state = open.write();
    let known = state.memory.sources().len();
    let mut touched = Vec::new();
    for event in sealed {
        // Folds the stored bytes, never the draft, so that replaying gives the same result.
        let event = ledger::open(event)?;
        touched.extend(event.changes.iter().flatten().flat_map(recall::touched));
        state.memory.apply(event);
    }
    let State { memory, index, derived, .. } = &mut *state;
    index::add_new(index, memory, known);
    derived.refresh(memory.items(), touched);
    // Text is held in the memory, the index and derived items; the next checkpoint counts exactly.
    let added: usize = sealed
        .iter()
        .flat_map(|event| &event.changes)
        .map(|change| change.bytes.as_ref().map_or(0, Vec::len) * GROWN_BY)
        .sum();
    open.grown(memory.seq(), added);
    Ok(())
}

/// Reads the memory again from disk, reusing the vectors of unchanged text.
pub(crate) fn reload(engine: &Engine, open: &SharedMemory, writer: &mut Writer) -> Result<()> {
    let head = writer.ledger.head()?.seq;
    let history = fold::read_history(writer.ledger.as_mut(), head)?;
    let memory = fold::fold_to(writer.ledger.as_mut(), open.user(), &history, head)?;
    let index = index::rebuilt(engine, &memory, &open.read().index);
    open.publish(State { derived: DerivedIndex::of(memory.items()), memory, history, index });
    writer.snapshot_seq = writer.ledger.snapshots()?.last().copied().unwrap_or(0);
    open.sessions.forget();
    Ok(())
}

/// Redacts secrets in a draft, whatever its origin. Sources are redacted earlier, because spans refer to their bytes.
fn scrub(draft: &mut Draft) -> Result<()> {
    let bug =
        |error: serde_json::Error| Error::Bug(format!("a change cannot be read back without its secrets: {error}"));
    if let Some(rationale) = draft.rationale.as_mut().filter(|text| !guard::redact(text).found.is_empty()) {
        *rationale = guard::redact(rationale).text.into_owned();
    }
    for change in &mut draft.changes {
        match change {
            Change::CorePatched(patch) => {
                let clean = scrubbed(serde_json::to_value(&*patch).map_err(bug)?);
                if let Some(clean) = clean {
                    *patch = serde_json::from_value(clean).map_err(bug)?;
                }
            }
            Change::Drawn(drawn) => {
                let clean = scrubbed(serde_json::to_value(&*drawn).map_err(bug)?);
                if let Some(clean) = clean {
                    *drawn = serde_json::from_value(clean).map_err(bug)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The value without secrets; `None` if it contains none.
fn scrubbed(mut value: Value) -> Option<Value> {
    fn walk(value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let redacted = guard::redact(text);
                let found = !redacted.found.is_empty();
                if found {
                    *text = redacted.text.into_owned();
                }
                found
            }
            Value::Array(list) => list.iter_mut().fold(false, |found, element| walk(element) | found),
            Value::Object(members) => members.values_mut().fold(false, |found, member| walk(member) | found),
            _ => false,
        }
    }
    walk(&mut value).then_some(value)
}

/// Checks a draft and seals it as the next event, for a store call that appends it together with another change.
pub(crate) fn seal_checked(engine: &Engine, open: &OpenMemory, draft: &Draft) -> Result<SealedEvent> {
    let state = open.read();
    precondition::check(open.expected(), state.memory.seq())?;
    check(&state.memory, draft)?;
    let mut sealed = seal_all(engine, &state, std::slice::from_ref(draft))?;
    sealed.pop().ok_or_else(|| Error::Bug("sealing one draft gave no event".to_owned()))
}

/// Checks a draft against the memory `judged`, seals it as the event after `ahead`, and applies it to `ahead`. `ahead`
/// is the memory including events that are appended in the same step; it is also checked against if `judged` is `None`.
pub(crate) fn seal_next(
    engine: &Engine,
    judged: Option<&Memory>,
    ahead: &mut Memory,
    mut draft: Draft,
) -> Result<SealedEvent> {
    scrub(&mut draft)?;
    check(judged.unwrap_or(ahead), &draft)?;
    let sealed = seal_at(engine, &ahead.user().clone(), ahead.seq(), ahead.head(), &draft)?;
    ahead.apply(ledger::open(&sealed)?);
    Ok(sealed)
}
