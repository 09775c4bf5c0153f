//! Extraction: turns sources into facts, tasks and changes of the core document.
//!
//! The source is durable before. Each extraction has its own events, so that it can be reverted without the source and
//! repeated.

use std::collections::BTreeSet;
use std::ops::Range;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Idempotency, Origin, Trust};
use quipu_core::extract::{Extraction, FactCandidate, REMARK, Reading, USER};
use quipu_core::guard::Echo;
use quipu_core::id::{EventId, ItemId, ItemKind, Seq, UserId};
use quipu_core::ledger;
use quipu_core::memory::HeldSource;
use quipu_core::predicate::normal;
use quipu_core::reconcile::{self, OutcomeKind, ReconcileInput, Understanding};
use quipu_core::source::Role;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::lock::before_slow_call;
use crate::memory::commit;
use crate::memory::{OpenMemory, State};
use crate::ports::Extractor;
use crate::write::novelty::{self, Values};

/// Candidates decided on in one event; their changes stay far below the limit of an event.
pub(crate) const CANDIDATES_PER_EVENT: usize = 40;
/// Prefix of the rationale of an extraction.
pub(crate) const READ_BY: &str = "read by ";
/// Maximum length, in bytes, of the end of the previous message that an extractor is shown.
const BEFORE_BYTES_MAX: usize = 400;
/// Shorter sentences are too common to count as an echo of recalled text.
const ECHO_WORDS_MIN: usize = 6;

/// The origin of an extraction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cause {
    /// The event that recorded the source, if it was just recorded.
    pub(crate) event: Option<EventId>,
    /// The reference of the import; reverting the import reverts the extraction too.
    pub(crate) reference: Option<String>,
}

/// Extracts from a source and records the results. Does nothing without an extractor, or if the source is not a
/// person's.
pub(crate) fn understand(engine: &Engine, open: &OpenMemory, source: ItemId, cause: &Cause) -> Result<Understanding> {
    let nothing = Understanding::default();
    let Some(extractor) = &engine.extractor else { return Ok(nothing) };
    let page = {
        let state = open.read();
        match state.memory.get(source) {
            Some(held) if is_read(held) && !state.memory.items().is_hidden(source) => {
                Page::of(engine, &state.memory, held)
            }
            _ => return Ok(nothing),
        }
    };
    before_slow_call("the extractor");
    let found = page.read(extractor.as_ref())?;
    record(engine, open, &SourceReading { reader: extractor.id(), source, done: &|_| false }, found, cause)
}

/// Returns true for sources of a person; false for those of others and for ready-made items.
pub(crate) fn is_read(held: &HeldSource) -> bool {
    let source = &held.source;
    source.role == Role::User && source.is_item() && !source.is_ready_made()
}

/// What was extracted from a source, and by which reader.
pub(crate) struct SourceReading<'a> {
    pub(crate) reader: &'a str,
    pub(crate) source: ItemId,
    /// Returns true for portions that were recorded before.
    pub(crate) done: &'a dyn Fn(&Extraction) -> bool,
}

/// Decides on the candidates of a source and records the results, in portions of one event each.
pub(crate) fn record(
    engine: &Engine,
    open: &OpenMemory,
    found: &SourceReading<'_>,
    candidates: Extraction,
    cause: &Cause,
) -> Result<Understanding> {
    let mut all = Understanding::default();
    for (number, part) in parts(candidates).into_iter().enumerate().filter(|(_, part)| !(found.done)(part)) {
        let mut report = Understanding::default();
        let work_out = |state: &State, report: &mut Understanding| {
            let (draft, understood) = plan(engine, open, &state.memory, found, cause, &part);
            *report = understood;
            draft.into_iter().collect()
        };
        let claimed = part.claims.iter().map(|claim| &claim.candidate);
        let candidates: Vec<FactCandidate> = part.facts.iter().chain(claimed).cloned().collect();
        novelty::prepare(engine, open, &candidates);
        let request = reading_key(found, cause, number);
        let receipts = commit::commit(engine, open, request.as_ref(), &mut |state| Ok(work_out(state, &mut report)));
        let receipts = match receipts {
            // Another process has read this source and the result was erased since; the erasure takes care of reading
            // again.
            Err(Error::Refused(_)) if is_recorded(open, request.as_ref())? => continue,
            outcome => outcome?,
        };
        if receipts.iter().any(|receipt| receipt.replayed) {
            // Another process has read this source.
            continue;
        }
        all.extend(report);
    }
    Ok(all)
}

/// Decides on one portion in a memory: the event to record, if any, and a report.
pub(crate) fn plan(
    engine: &Engine,
    open: &OpenMemory,
    memory: &Memory,
    found: &SourceReading<'_>,
    cause: &Cause,
    part: &Extraction,
) -> (Option<Draft>, Understanding) {
    let Some(held) = memory.get(found.source) else { return Default::default() };
    let (changes, understood) = decide(engine, (&open.echo(), &open.values), memory, held, part);
    ((!changes.is_empty()).then(|| draft(found.reader, held, cause, changes)), understood)
}

/// The idempotency key of a portion of a first reading, so that several processes record it once. An import that was taken
/// back and repeated records the same source in another event, and is read again. `None` for a repeated reading.
fn reading_key(found: &SourceReading<'_>, cause: &Cause, part: usize) -> Option<Idempotency> {
    let event = cause.event?;
    let key = format!("{READ_BY}{}: {} {part} of {event}", found.reader, found.source);
    commit::idempotency(Some(&key), &[key.as_bytes()])
}

fn is_recorded(open: &OpenMemory, request: Option<&Idempotency>) -> Result<bool> {
    let Some(request) = request else { return Ok(false) };
    Ok(open.writer()?.ledger.key_use(&request.key)?.is_some())
}

/// What an extractor finds in a source.
pub(crate) fn read(
    engine: &Engine,
    extractor: &dyn Extractor,
    memory: &Memory,
    held: &HeldSource,
) -> Result<Extraction> {
    Page::of(engine, memory, held).read(extractor)
}

/// Copy of a source with its context, so that the memory need not be locked while it is read.
pub(crate) struct Page {
    text: String,
    speaker: String,
    addressee: Option<String>,
    before: Option<String>,
    /// What the speaker's clock showed.
    said_at: Option<Timestamp>,
    known: Vec<String>,
    /// True for a turn of the user; false for entries, documents and pages.
    is_own_turn: bool,
}

impl Page {
    pub(crate) fn of(engine: &Engine, memory: &Memory, held: &HeldSource) -> Self {
        Self {
            text: own_words(&held.source.text),
            speaker: speaker(memory, held).to_owned(),
            addressee: addressee(memory, held),
            before: before(memory, held),
            said_at: held.source.local_time(),
            known: known(engine, memory),
            is_own_turn: held.source.kind() == ItemKind::Turn && held.trust == Trust::User,
        }
    }

    /// Runs the extractor. Remarks are dropped unless the source is a turn of the user, who did not say the text of a
    /// document.
    pub(crate) fn read(&self, extractor: &dyn Extractor) -> Result<Extraction> {
        let mut found = extractor.read(&self.reading()).map_err(|error| Error::Unavailable(error.to_string()))?;
        found.facts.retain(|fact| self.is_own_turn || fact.predicate != REMARK);
        Ok(found)
    }

    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading {
            text: &self.text,
            speaker: &self.speaker,
            addressee: self.addressee.as_deref(),
            before: self.before.as_deref(),
            is_turn: self.is_own_turn,
            said_at: self.said_at,
            known: &self.known,
        }
    }
}

/// Names of people and pets to whom the user has a known relation.
fn known(engine: &Engine, memory: &Memory) -> Vec<String> {
    let predicates = &engine.predicates;
    let relations = predicates.names().filter(|relation| !predicates.get(relation).roles.is_empty());
    let mut known = Vec::new();
    for relation in relations {
        let slot = format!("{USER}|{relation}|");
        for fact in memory.items().in_slot(&slot) {
            let is_named = fact.object.starts_with(char::is_uppercase);
            known.extend(fact.object.split(' ').filter(|name| is_named && name.len() > 2).map(str::to_owned));
        }
    }
    known.truncate(quipu_core::limit::NAMES_KNOWN_MAX);
    known
}

/// Splits the candidates of a source into portions of one event each.
pub(crate) fn parts(mut found: Extraction) -> Vec<Extraction> {
    let mut all = Vec::new();
    loop {
        let part = Extraction {
            facts: first(&mut found.facts),
            tasks: first(&mut found.tasks),
            notes: first(&mut found.notes),
            updates: first(&mut found.updates),
            tenets: first(&mut found.tenets),
            claims: first(&mut found.claims),
            task_claims: first(&mut found.task_claims),
            misread: first(&mut found.misread),
            refused: first(&mut found.refused),
            ..Extraction::default()
        };
        if part == Extraction::default() {
            return all;
        }
        all.push(Extraction { besides: found.besides.clone(), ..part });
    }
}

fn first<T>(all: &mut Vec<T>) -> Vec<T> {
    let rest = all.split_off(all.len().min(CANDIDATES_PER_EVENT));
    std::mem::replace(all, rest)
}

pub(crate) fn decide(
    engine: &Engine,
    (echo, values): (&Echo, &Values),
    memory: &Memory,
    held: &HeldSource,
    found: &Extraction,
) -> (Vec<Change>, Understanding) {
    let shown = |sentence: &str| sentence.split_whitespace().count() >= ECHO_WORDS_MIN && echo.covers(sentence);
    let text = &held.source.text;
    let case = ReconcileInput {
        memory,
        predicates: &engine.predicates,
        registry: &engine.registry,
        policy: &engine.policy,
        source: held.source.id,
        reading: Reading { speaker: speaker(memory, held), ..Reading::of_user(text, held.source.local_time()) },
        standing: OutcomeKind { kind: held.from, trust: held.trust },
        now: engine.now(),
        shown: &shown,
        nearest: &|candidate| novelty::nearest(engine, values, memory, candidate),
    };
    reconcile::decide(&case, found, &mut |kind| engine.new_item_id(kind))
}

fn draft(reader: &str, held: &HeldSource, cause: &Cause, changes: Vec<Change>) -> Draft {
    let source = &held.source;
    let text = |name: &Option<std::sync::Arc<str>>| name.as_deref().map(str::to_owned);
    let origin = Origin {
        kind: held.from,
        reference: cause.reference.clone().or_else(|| Some(source.id.to_string())),
        session: text(&source.session),
        author: text(&source.author),
    };
    let rationale = Some(format!("{READ_BY}{reader}"));
    let caused_by = cause.event.into_iter().collect();
    Draft { origin, rationale, caused_by, ..Draft::new(Actor::System, held.from, changes) }
}

/// The person "I" refers to: the user, unless the author has another name. The user's name is a known fact, or the
/// author of the user's first own turn.
pub(crate) fn speaker<'a>(memory: &'a Memory, held: &'a HeldSource) -> &'a str {
    let Some(author) = held.source.author.as_deref() else { return USER };
    if is_user(memory, author) { USER } else { author }
}

/// True if an author has the user's name.
pub(crate) fn is_user(memory: &Memory, author: &str) -> bool {
    let own = |name: &str| normal(name) == normal(author);
    let is_named = memory.items().in_slot("user|name|").any(|fact| fact.is_active() && own(&fact.object));
    is_named || is_name_of(memory.user(), author) || memory.signed().is_some_and(own)
}

/// True if an author has the name under which the user's memory is kept.
pub(crate) fn is_name_of(user: &UserId, author: &str) -> bool {
    [user.as_str(), USER].into_iter().any(|name| normal(name) == normal(author))
}

/// The person "you" refers to: the last other person who spoke in the session.
fn addressee(memory: &Memory, held: &HeldSource) -> Option<String> {
    let session = memory.session(held.source.session.as_deref()?)?;
    let own = memory.find(held.source.id)?;
    let before = session.sources.iter().rev().skip_while(|&&ordinal| ordinal >= own);
    let mut others = before.filter_map(|&ordinal| memory.sources().get(ordinal as usize));
    let other = others.find(|other| other.source.author != held.source.author)?;
    if other.source.role != Role::User { None } else { other.source.author.as_deref().map(str::to_owned) }
}

/// The end of the assistant's message directly before a turn, without packs. `None` if the previous message is not the
/// assistant's, is hidden, or there is no session.
fn before(memory: &Memory, held: &HeldSource) -> Option<String> {
    let session = memory.session(held.source.session.as_deref()?)?;
    let own = memory.find(held.source.id)?;
    let last = session.sources.iter().rev().find(|&&ordinal| ordinal < own)?;
    let said = memory.sources().get(*last as usize)?;
    if said.source.role != Role::Assistant || memory.items().is_hidden(said.source.id) {
        return None;
    }
    let text = own_words(&said.source.text);
    let from = text.len().saturating_sub(BEFORE_BYTES_MAX);
    Some(text[text.ceil_char_boundary(from)..].to_owned())
}

/// Replaces the content of packs by blanks, since recalled text is not new. Byte positions are preserved.
pub(crate) fn own_words(text: &str) -> String {
    let kept = quipu_core::guard::strip_packs(text);
    blank_outside(text, &kept)
}

fn blank_outside(text: &str, kept: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut from = 0;
    for range in kept.iter().cloned().chain(std::iter::once(text.len()..text.len())) {
        for byte in bytes.get_mut(from..range.start).unwrap_or_default() {
            *byte = b' ';
        }
        from = range.end;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Sources whose extraction a person has reverted; reading them again would undo that.
pub(crate) fn sources_taken_back(open: &OpenMemory) -> Result<BTreeSet<ItemId>> {
    let mut writer = open.writer()?;
    let state = open.read();
    let mut found = BTreeSet::new();
    let skipped: Vec<Seq> = state.memory.skipped().iter().copied().filter(|&seq| seq <= state.memory.seq()).collect();
    for seq in skipped {
        let event = ledger::open(&crate::memory::fold::sealed_at(writer.ledger.as_mut(), seq)?)?;
        for change in event.changes.iter().flatten() {
            if let Change::Drawn(drawn) = change {
                found.extend(drawn.needs());
            }
        }
    }
    Ok(found)
}
