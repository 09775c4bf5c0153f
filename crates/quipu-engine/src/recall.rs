//! Recall: from a question to the items that answer it, with their receipts. Appends nothing.

use std::ops::Range;
use std::time::Instant;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::Trust;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::limit;
use quipu_core::recall::{self as stages, Filter, Index, Plan, Query};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::upkeep;
use crate::versions::{self, When};

/// What to look for.
#[derive(Debug, Clone)]
pub struct RecallOptions {
    /// The question.
    pub query: String,
    /// How many items.
    pub k: usize,
    /// Only in this conversation.
    pub session: Option<String>,
    /// As of which version.
    pub at: When,
    /// Write down how each stage decided.
    pub explain: bool,
}

impl RecallOptions {
    /// The eight best items for a question, now.
    pub fn of(query: &str) -> Self {
        Self { query: query.to_owned(), k: 8, session: None, at: When::Now, explain: false }
    }
}

/// One item that answers.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The item.
    pub id: ItemId,
    /// From 0 to 1: the raw score as a share of the highest possible.
    pub score: f32,
    /// The sum of the contributions.
    pub raw_score: f32,
    /// What each feature adds.
    pub contributions: stages::Contributions,
    /// Who said it.
    pub speaker: String,
    /// When.
    pub said_at: Option<Timestamp>,
    /// The conversation or file.
    pub session_id: Option<String>,
    /// Its name where it was imported from.
    pub native_id: Option<String>,
    /// The part of the item that answers best.
    pub text: String,
    /// Where that part stands in the item's searchable text, in bytes.
    pub span: Range<usize>,
    /// How far it may reach.
    pub trust: Trust,
    /// The event that recorded it.
    pub event_seq: Seq,
}

/// An item that was scored and not returned.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    /// The item.
    pub id: ItemId,
    /// The start of its text.
    pub text: String,
    /// Its score.
    pub score: f32,
    /// What each feature adds.
    pub contributions: stages::Contributions,
    /// Why it was not returned.
    pub reason: stages::Reason,
}

/// How long the parts took, in microseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Timing {
    /// Embedding the question.
    pub embed_us: u64,
    /// Everything else.
    pub recall_us: u64,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct RecallReport {
    /// The question.
    pub query: String,
    /// The version that answered.
    pub version: Seq,
    /// Best first; equals in the order of their ids.
    pub hits: Vec<Answer>,
    /// How it was found, stage by stage, if asked for.
    pub trace: Option<stages::Trace>,
    /// The best of what was scored and not returned, if asked for.
    pub left_out: Vec<LeftOut>,
    /// What could not be used, and why the answers may be weaker.
    pub degraded: Option<String>,
    /// How long it took.
    pub timing: Timing,
}

/// Finds the items that answer a question.
///
/// Reads no disk page when the memory is open. Same memory, question and options: same answer.
///
/// # Errors
/// `Invalid`: the question is empty or longer than `limit::QUERY_BYTES_MAX`, or `k` is over `limit::RECALL_K_MAX`.
/// `NotFound`: no such user or version.
pub fn recall(engine: &Engine, user: &UserId, options: &RecallOptions) -> Result<RecallReport> {
    let report = on_version(engine, user, options.at, &mut |memory, index| recall_in(engine, memory, index, options))?;
    note_shown(engine, user, &report)?;
    Ok(report)
}

/// Keeps in mind what was recalled: when it comes back, it is not news, and others' words do not become the user's by being
/// passed on.
pub(crate) fn note_shown(engine: &Engine, user: &UserId, report: &RecallReport) -> Result<()> {
    let keeper = engine.keeper(user, false)?;
    report.hits.iter().for_each(|hit| keeper.note_shown(&hit.text));
    Ok(())
}

/// Runs something on the memory in use, or on one made for an earlier version.
pub(crate) fn on_version<T>(
    engine: &Engine,
    user: &UserId,
    at: When,
    work: &mut dyn FnMut(&Memory, &Index) -> Result<T>,
) -> Result<T> {
    let keeper = engine.keeper(user, false)?;
    if at == When::Now {
        let waiting = upkeep::waiting(&keeper.read().index);
        // A few vectors lost with a damaged or outdated index are made again; if that fails, the answer says so.
        if (1..=limit::EMBED_ON_READ_MAX).contains(&waiting) {
            let _ = upkeep::catch_up(engine, &keeper, &mut |_| {});
        }
        let state = keeper.read();
        return work(&state.memory, &state.index);
    }
    let view = versions::view(engine, &keeper, versions::memory_at(&keeper, at)?)?;
    work(&view.memory, &view.index)
}

#[expect(clippy::disallowed_methods, reason = "the report says how long it took; nothing is decided by it")]
fn started() -> Instant {
    Instant::now()
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn recall_in(
    engine: &Engine,
    memory: &Memory,
    index: &Index,
    options: &RecallOptions,
) -> Result<RecallReport> {
    let start = started();
    let filter =
        Filter { sessions: options.session.iter().map(|name| name.as_str().into()).collect(), kinds: Vec::new() };
    let query = Query { text: options.query.clone(), k: options.k, now: Some(engine.clock.now()), filter };
    let plan = Plan::new(index, query)?;
    let planned = micros(start);
    let start = started();
    let (vector, degraded) = match engine.embedder.embed(&[&plan.first_person_text]) {
        Ok(mut vectors) => (vectors.pop(), None),
        Err(error) => (None, Some(format!("{error}; only words, dates and speakers were used"))),
    };
    let embed_us = micros(start);
    let waiting = upkeep::waiting(index);
    let lacking =
        || format!("{waiting} passages have no vector yet and were found by words only; `quipu rebuild` makes them");
    let degraded = degraded.or_else(|| (waiting > 0).then(lacking));
    let start = started();
    let how = stages::Options { explain: options.explain, ..stages::Options::default() };
    let found = stages::recall(index, &plan, vector.as_deref(), &how);
    let hits = found.hits.iter().map(|hit| answer(memory, hit)).collect();
    let left_out =
        found.trace.detail.iter().flat_map(|detail| &detail.left_out).map(|out| left_out(memory, out)).collect();
    Ok(RecallReport {
        query: options.query.clone(),
        version: memory.seq(),
        hits,
        trace: options.explain.then_some(found.trace),
        left_out,
        degraded,
        timing: Timing { embed_us, recall_us: planned + micros(start) },
    })
}

fn answer(memory: &Memory, hit: &stages::Hit) -> Answer {
    let held = &memory.sources()[hit.ordinal as usize];
    let source = &held.source;
    let searchable = source.searchable();
    Answer {
        id: source.id,
        score: hit.relevance,
        raw_score: hit.score,
        contributions: hit.contributions,
        speaker: source.speaker().to_owned(),
        said_at: source.said_at,
        session_id: source.session.as_deref().map(str::to_owned),
        native_id: source.native_id.as_deref().map(str::to_owned),
        text: searchable.get(hit.span.clone()).unwrap_or(&searchable).to_owned(),
        span: hit.span.clone(),
        trust: held.trust,
        event_seq: held.seq,
    }
}

/// Longest piece of an item's text beside a score, in characters.
const EXCERPT_CHARS: usize = 120;

fn left_out(memory: &Memory, out: &stages::LeftOut) -> LeftOut {
    let source = &memory.sources()[out.ordinal as usize].source;
    LeftOut {
        id: source.id,
        text: source.text.chars().take(EXCERPT_CHARS).collect(),
        score: out.score,
        contributions: out.contributions,
        reason: out.reason,
    }
}
