//! Migration: turns a flat summary into structured memory.
//!
//! Extracts facts, maps them to the core document by patches, opens reviews for uncertain ones, keeps every sentence as
//! an episode linked to the fields it influenced, and reports what was not understood.

use std::collections::BTreeSet;
use std::ops::Range;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::episode::{self, EpisodeTurn};
use quipu_core::event::{Actor, Change, Draft, Event, Header, Origin, SourceKind};
use quipu_core::guard::Echo;
use quipu_core::id::{EventId, ItemId, ItemKind, UserId};
use quipu_core::item::{DerivedChange, Episode};
use quipu_core::limit;
use quipu_core::reconcile::Understanding;
use quipu_core::source::{Role, Source};
use serde::Serialize;
use serde_json::Value;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::{self, When};
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::{Receipt, commit};
use crate::process::understand::{self, Cause};
use crate::process::unread;
use crate::write::novelty::{self, Values};
use crate::write::remember::redact;
use crate::write::replayed_answer;

/// Result of a migration.
#[derive(Debug, Clone, Serialize)]
pub struct Migration {
    /// True if nothing was recorded (dry run).
    pub dry_run: bool,
    /// True if the same request was recorded before and nothing was appended now.
    pub replayed: bool,
    /// The source with the text, word for word.
    pub source: ItemId,
    /// What was recorded from it.
    pub understood: Understanding,
    /// The core document after the migration.
    pub core: Value,
    /// The sentences, each kept as an episode, with the fields of the core document it influenced.
    pub episodes: Vec<(String, Vec<String>)>,
    /// Sentences from which nothing was extracted.
    pub not_understood: Vec<String>,
}

/// Options of a migration.
#[derive(Debug, Clone, Default)]
pub struct MigrateOptions {
    /// Time of the text, if known.
    pub said_at: Option<Timestamp>,
    /// Reports the result without recording it.
    pub dry_run: bool,
    /// A repeated text with the same key has no second effect and gets the first answer.
    pub idempotency_key: Option<String>,
}

/// Turns a flat summary, as a statement of the user, into structured memory.
///
/// # Errors
/// `Invalid` for an empty or too long text; `Refused` without an extractor, or if the idempotency key was used for
/// another request or for one of which something was erased since; otherwise as for every append.
pub fn migrate(engine: &Engine, user: &UserId, text: &str, options: &MigrateOptions) -> Result<Migration> {
    let Some(extractor) = engine.extractor.as_deref() else {
        return Err(Error::Refused("nothing reads facts here: no extractor is configured".to_owned()));
    };
    let mut source = Source {
        id: engine.new_item_id(ItemKind::Entry),
        session: None,
        topic: None,
        role: Role::User,
        author: None,
        said_at: options.said_at.map(quipu_core::calendar::to_micros),
        text: text.trim().into(),
        artifacts: Vec::new(),
        native_id: None,
    };
    // The request is hashed as sent, before secrets are redacted.
    let request = source.content_hash();
    let idempotency = commit::idempotency(options.idempotency_key.as_deref(), &[b"migrate", request.as_bytes()]);
    redact(&mut source);
    let draft = Draft {
        origin: Origin { reference: Some("migrate".to_owned()), ..Origin::of(SourceKind::UserSaid) },
        ..Draft::new(Actor::User, SourceKind::UserSaid, vec![Change::SourceRecorded(source.clone())])
    };
    if options.dry_run {
        source.check()?;
        let mut memory = match engine.open(user) {
            Ok(open) => open.read().memory.clone(),
            Err(Error::NotFound(_)) => Memory::new(user.clone(), BTreeSet::new()),
            Err(other) => return Err(other),
        };
        return tried(engine, extractor, &mut memory, &draft, &source);
    }
    let open = commit::open_or_create(engine, user.into(), &mut |_| Ok(draft.clone()))?;
    let running = unread::begin(engine, &open)?;
    let receipt = commit::commit_one(engine, &open, idempotency.as_ref(), &mut |_| Ok(draft.clone()))?;
    if receipt.replayed {
        running.finish(false)?;
        return again(engine, &open, &receipt);
    }
    let cause = Cause { event: Some(receipt.event_id), reference: Some("migrate".to_owned()) };
    let understood = understand::understand(engine, &open, source.id, &cause)?;
    running.finish(understood.is_empty())?;
    let episodes = backfill(engine, &open, &source, receipt.event_id)?;
    checkpoint::after_append(engine, &open, true, &mut |_| {});
    let state = open.read();
    Ok(report(state.memory.core(), source.id, understood, &episodes))
}

/// The answer to a repeated request. Completes an interrupted migration.
fn again(engine: &Engine, open: &OpenMemory, receipt: &Receipt) -> Result<Migration> {
    unread::catch_up(engine, open, usize::MAX, &mut |_, _| {})?;
    let mut effects = replayed_answer::effects(open, receipt)?;
    let then = versions::memory_at(open, When::Seq(receipt.seq))?;
    let Some(held) = then.sources().last().filter(|held| held.seq == receipt.seq) else {
        return Err(Error::Bug(format!("event {} recorded no source", receipt.seq)));
    };
    // A complete migration has at least one episode; sentences of a reverted text are not recorded again.
    let is_there = open.read().memory.find(held.source.id).is_some();
    if effects.episodes().is_empty() && is_there {
        backfill(engine, open, &held.source, receipt.event_id)?;
        checkpoint::after_append(engine, open, true, &mut |_| {});
        effects = replayed_answer::effects(open, receipt)?;
    }
    let then = versions::memory_at(open, When::Seq(effects.version))?;
    let understood = effects.understanding(&then);
    Ok(Migration { replayed: true, ..report(then.core(), held.source.id, understood, &effects.episodes()) })
}

/// The result of a dry run, on a copy of the memory.
fn tried(
    engine: &Engine,
    extractor: &dyn crate::ports::Extractor,
    memory: &mut Memory,
    draft: &Draft,
    source: &Source,
) -> Result<Migration> {
    apply(engine, memory, draft.clone());
    let Some(held) = memory.get(source.id).cloned() else {
        return Err(Error::Bug("a source that was just taken in is not there".to_owned()));
    };
    let found = understand::read(engine, extractor, memory, &held)?;
    let values = Values::default();
    for candidate in &found.facts {
        novelty::nearest(engine, &values, memory, candidate);
    }
    values.embed_wanted(engine);
    let (changes, understood) = understand::decide(engine, (&Echo::default(), &values), memory, &held, &found);
    if !changes.is_empty() {
        apply(engine, memory, Draft { changes, ..draft.clone() });
    }
    let episodes = told(memory, source, &mut |kind| engine.new_item_id(kind))?;
    Ok(Migration { dry_run: true, ..report(memory.core(), source.id, understood, &episodes) })
}

/// Folds in an event that is not recorded.
fn apply(engine: &Engine, memory: &mut Memory, draft: Draft) {
    let header = Header {
        user: memory.user().clone(),
        seq: memory.seq() + 1,
        id: engine.new_event_id(),
        recorded_at: engine.now(),
        actor: draft.actor,
        trust: draft.origin.kind.trust(),
        origin: draft.origin,
        confidence: None,
        rationale: None,
        caused_by: Vec::new(),
        idempotency: None,
        prev: memory.head(),
        digests: Vec::new(),
    };
    let changes = draft.changes.into_iter().map(Some).collect();
    memory.apply(Event { header, hash: memory.head(), changes });
}

fn backfill(engine: &Engine, open: &OpenMemory, source: &Source, cause: EventId) -> Result<Vec<Episode>> {
    let mut episodes = Vec::new();
    commit::commit(engine, open, None, &mut |state| {
        episodes = told(&state.memory, source, &mut |kind| engine.new_item_id(kind))?;
        let change = |one: &Episode| Change::Drawn(DerivedChange::EpisodeRecorded(Box::new(one.clone())));
        let draft = |some: &[Episode]| Draft {
            origin: Origin { reference: Some("migrate".to_owned()), ..Origin::of(SourceKind::Inferred) },
            rationale: Some("sentences of the summary, kept".to_owned()),
            caused_by: vec![cause],
            ..Draft::new(Actor::System, SourceKind::Inferred, some.iter().map(change).collect())
        };
        Ok(episodes.chunks(limit::EPISODES_PER_EVENT).map(draft).collect())
    })?;
    Ok(episodes)
}

/// One episode per sentence, with the facts read from it.
fn told(memory: &Memory, source: &Source, name: &mut dyn FnMut(ItemKind) -> ItemId) -> Result<Vec<Episode>> {
    let sentences: Vec<Range<usize>> = episode::sentences(&source.text);
    let mut all = Vec::new();
    for span in sentences {
        let within = |start: u32| span.contains(&(start as usize));
        let facts: Vec<(ItemId, Option<String>)> = memory
            .items()
            .facts()
            .filter(|fact| fact.evidence.iter().any(|place| place.source == source.id && within(place.start)))
            .map(|fact| (fact.id, fact.core_path.clone().filter(|_| fact.is_active())))
            .collect();
        let turn = EpisodeTurn {
            id: source.id,
            text: source.text.get(span.clone()).unwrap_or_default().trim(),
            speaker: source.speaker(),
            role: source.role,
            said_at: source.said_at,
            vector: None,
        };
        all.push(episode::compose(name(ItemKind::Episode), None, &[turn], 0..1, &facts)?);
    }
    Ok(all)
}

fn report(core: &Value, source: ItemId, understood: Understanding, episodes: &[Episode]) -> Migration {
    let read = |one: &&Episode| one.facts.is_empty();
    let sentence = |one: &Episode| one.summary.clone();
    Migration {
        dry_run: false,
        replayed: false,
        source,
        understood,
        core: core.clone(),
        episodes: episodes.iter().map(|one| (sentence(one), one.related_paths.clone())).collect(),
        not_understood: episodes.iter().filter(read).map(sentence).collect(),
    }
}
