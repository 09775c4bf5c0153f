//! Extraction with a language model: reads sources in windows, in the background.
//!
//! A cursor beside the ledger stores up to where the model has read. The sources are durable and were read by rules
//! before; a failure here affects neither. Without a cursor, sources from before the model was configured are not read
//! unless [`ExtractWithModelOptions::from_the_start`] is set, because reading costs money.

use std::sync::Arc;

use quipu_core::Memory;
use quipu_core::extract::window::check;
use quipu_core::extract::{Extraction, REMARK};
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::item::Fact;
use quipu_core::reconcile::Understanding;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::lock::before_slow_call;
use crate::memory::GoOn;
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::cursor::{Cursor, Position};
use crate::memory::lease::{self, Lease};
use crate::ports::{ExtractError, Projection, WindowReader};
use crate::process::understand::{self, SourceReading};
use crate::process::unread::{self, Due};
use crate::sessions::window;

/// Name of the position among a ledger's projections.
const STUDIED: &str = "studied";
/// Name of the lease under which a model reads.
const EXTRACT: &str = "extract";

/// Up to where the model has read one user's memory.
pub(crate) type ModelCursorState = Cursor<ModelCursor>;

/// Up to where a model has read.
#[derive(Clone, Copy, Default)]
pub(crate) struct ModelCursor {
    /// Every event up to this one has been read or need not be; `None` before the first use of a model.
    position: Option<Seq>,
    /// Number of sources read of the next event. An import has many sources in one event, and a budget may end among
    /// them.
    within: u64,
    /// Sources that could not be read after all retries.
    given_up: u64,
    /// End of a repeated reading from the start; 0 if there is none. An interrupted run continues there.
    again_to: Seq,
    /// How often reading was begun here by a process that ended before it was over.
    begun: u64,
    /// Number of next sources that are read one by one, because a process ended while it read a window of them.
    alone: u64,
}

impl Position for ModelCursor {
    const NAME: &'static str = STUDIED;

    fn load(saved: Option<Projection>, _: Seq) -> Self {
        let figure = |place: usize| {
            let bytes = saved.as_ref()?.bytes.get(8 * place..8 * (place + 1))?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let [given_up, within, again_to, begun, alone] = [0, 1, 2, 3, 4].map(|place| figure(place).unwrap_or(0));
        Self { position: saved.map(|saved| saved.seq), within, given_up, again_to, begun, alone }
    }

    fn stored(&self, _: Seq) -> Option<Projection> {
        let figures = [self.given_up, self.within, self.again_to, self.begun, self.alone];
        let bytes = figures.map(u64::to_le_bytes).concat();
        self.position.map(|seq| Projection { seq, tag: "1".to_owned(), bytes })
    }
}

impl Cursor<ModelCursor> {
    /// Number of sources the model has not read.
    pub(crate) fn waiting(&self, memory: &Memory) -> usize {
        let Some(position) = self.get().position else { return 0 };
        let first = memory.sources().partition_point(|held| held.seq <= position);
        memory.sources().iter().skip(first).filter(|held| understand::is_read(held)).count()
    }

    pub(crate) fn given_up(&self) -> u64 {
        self.get().given_up
    }
}

/// Must be called before recording a source, so that the model reads from there on, if one is configured.
pub(crate) fn begin(engine: &Engine, open: &OpenMemory) -> Result<()> {
    if engine.optional.reader.is_none() || open.studied.get().position.is_some() {
        return Ok(());
    }
    let standing = {
        // Another process may have begun since this memory was opened.
        let mut writer = open.writer()?;
        let head = writer.ledger.head()?.seq;
        open.studied.refresh(writer.ledger.as_mut(), head)?;
        *open.studied.get()
    };
    if standing.position.is_some() {
        return Ok(());
    }
    let head = open.read().memory.seq();
    open.studied.save(open, ModelCursor { position: Some(head), within: 0, ..standing })
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct ExtractWithModelOptions {
    /// Most sources to read. Default: all.
    pub sources_max: usize,
    /// Reads all sources, including those from before the model was configured. An interrupted run continues in any
    /// case.
    pub from_the_start: bool,
}

impl Default for ExtractWithModelOptions {
    fn default() -> Self {
        Self { sources_max: usize::MAX, from_the_start: false }
    }
}

/// Result of a run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ModelReading {
    /// Id of the reader.
    pub reader: String,
    /// Sources read.
    pub sources: u64,
    /// What was recorded from them.
    pub understood: Understanding,
    /// Sources the model cannot read, with the reason. What the rules extracted from them stays.
    pub given_up: Vec<(ItemId, String)>,
    /// Sources that are still unread.
    pub waiting: usize,
    /// Why it stopped early, if it did. A later run continues.
    pub fault: Option<String>,
}

/// Reads with the model what it has not read, oldest first. Facts that are known already change nothing.
///
/// The memory is not locked while the model works; its proposals are decided on with the memory as it is afterwards.
///
/// # Errors
/// `Invalid` if the engine has no such reader; `NotFound` if there is no such user; otherwise as for every append. A
/// failing model is not an error but part of the report, and its earlier results are kept.
pub fn extract_with_model(engine: &Engine, user: &UserId, options: &ExtractWithModelOptions) -> Result<ModelReading> {
    extract_while(engine, user, options, &mut || Ok(true))
}

/// As [`extract_with_model`], while `go_on` returns true; it is called before each window.
pub(crate) fn extract_while(
    engine: &Engine,
    user: &UserId,
    options: &ExtractWithModelOptions,
    go_on: GoOn<'_>,
) -> Result<ModelReading> {
    let reader = reader(engine)?;
    let open = engine.open(user)?;
    let mut report = ModelReading { reader: reader.id().to_owned(), ..ModelReading::default() };
    {
        let _order = open.turns.extract.lock();
        match lease::take(engine, &open, EXTRACT)? {
            Some(lease) => {
                Run { engine, open: &open, lease: &lease, reader: reader.as_ref() }.all(options, go_on, &mut report)?;
            }
            None => report.fault = Some(lease::HELD_ELSEWHERE.to_owned()),
        }
    }
    report.waiting = open.studied.waiting(&open.read().memory);
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(report)
}

/// Estimated cost of reading with a model.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReadingCost {
    /// Id of the reader.
    pub reader: String,
    /// Number of sources.
    pub sources: u64,
    /// Number of requests.
    pub requests: u64,
    /// Input tokens, counted by the engine's first tokenizer, or estimated at four bytes per token without one. Facts
    /// recorded meanwhile may change the number slightly.
    pub prompt_tokens: u64,
    /// Expected output tokens: 115 per source, as measured (docs/benchmarks.md).
    pub answer_tokens: u64,
}

/// Output tokens per source.
const ANSWER_TOKENS: u64 = 115;

/// Estimates the cost of [`extract_with_model`] with these options, without calling the model.
///
/// # Errors
/// `Invalid` if the engine has no such reader; `NotFound` if there is no such user.
pub fn reading_cost(engine: &Engine, user: &UserId, options: &ExtractWithModelOptions) -> Result<ReadingCost> {
    let reader = reader(engine)?;
    let open = engine.open(user)?;
    let mut cost = ReadingCost { reader: reader.id().to_owned(), ..ReadingCost::default() };
    let standing = *open.studied.get();
    let (from, within) = match (options.from_the_start && standing.again_to == 0, standing.position) {
        (true, _) => (0, 0),
        (false, Some(position)) => (position, standing.within),
        (false, None) => return Ok(cost),
    };
    let to = open.unread.read_up_to(open.read().memory.seq());
    if to <= from {
        return Ok(cost);
    }
    let due = due(&open, from, to, ModelCursor { position: Some(from), within, ..standing })?;
    let sources: Vec<ItemId> = due.iter().take(options.sources_max).map(|(due, _)| due.0).collect();
    let mut rest = &sources[..];
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(window::length(&open.read().memory, rest));
        if let Some(shown) = window::without_search(&open, batch) {
            let prompt = reader.prompt(&shown);
            let tokens =
                engine.optional.tokenizers.first().map_or(prompt.len() / 4, |tokenizer| tokenizer.count(&prompt));
            cost.prompt_tokens += tokens as u64;
            cost.requests += 1;
            cost.sources += batch.len() as u64;
        }
        rest = after;
    }
    cost.answer_tokens = cost.sources * ANSWER_TOKENS;
    Ok(cost)
}

fn reader(engine: &Engine) -> Result<Arc<dyn WindowReader>> {
    engine.optional.reader.clone().ok_or_else(|| {
        let text = "no language model is configured for reading: see [models.extractor] in the settings";
        Error::Invalid(text.to_owned())
    })
}

/// A window that was not read within the time limit is divided by this. By 4, because every such request counts as a
/// failure of the endpoint, which is suspended after some in a row.
const SLOWER_BY: usize = 4;

/// A source is given up after this many processes ended while they read it alone.
const BEGUN_MAX: u64 = 5;

/// What a run has learned about the speed of the model.
struct Pace {
    /// Most sources in a window.
    sources_max: usize,
    /// A single source that took too long, with the error. It is given up if the model answers the next request in
    /// time, else the model is unavailable.
    slow: Option<(ItemId, String)>,
}

struct Run<'a> {
    engine: &'a Engine,
    open: &'a OpenMemory,
    lease: &'a Lease<'a>,
    reader: &'a dyn WindowReader,
}

impl Run<'_> {
    fn all(&self, options: &ExtractWithModelOptions, go_on: GoOn<'_>, report: &mut ModelReading) -> Result<()> {
        let open = self.open;
        {
            // Another process may have continued since.
            let mut writer = open.writer()?;
            let head = writer.ledger.head()?.seq;
            open.studied.refresh(writer.ledger.as_mut(), head)?;
        }
        begin(self.engine, open)?;
        let mut standing = *open.studied.get();
        let to = open.unread.read_up_to(open.read().memory.seq());
        if options.from_the_start && standing.again_to == 0 {
            standing = ModelCursor { position: Some(0), within: 0, again_to: to, ..standing };
            open.studied.save_under(self.lease, open, standing)?;
        }
        let from = standing.position.unwrap_or(0);
        if to <= from {
            return Ok(());
        }
        let due = due(open, from, to, standing)?;
        let mut pace = Pace { sources_max: usize::MAX, slow: None };
        let (mut rest, mut unsaved) = (&due[..], 0);
        while !rest.is_empty() {
            let left =
                usize::try_from((options.sources_max as u64).saturating_sub(report.sources)).unwrap_or(usize::MAX);
            if left == 0 || !go_on()? {
                return Ok(());
            }
            let sources: Vec<ItemId> = rest.iter().take(left).map(|(due, _)| due.0).collect();
            let length = match standing.alone {
                0 => window::length(&open.read().memory, &sources).min(pace.sources_max),
                _ => 1,
            };
            let (batch, after) = rest.split_at(length);
            if !self.lease.prolong()? {
                report.fault = Some(lease::HELD_ELSEWHERE.to_owned());
                return Ok(());
            }
            if let Some(fault) = self.counted(batch, standing, &mut pace, report)? {
                report.fault = Some(fault);
                return Ok(());
            }
            unsaved += batch.len() as u64;
            rest = after;
            if pace.slow.is_some() {
                // Not past it before the model has answered again.
                continue;
            }
            report.sources += std::mem::take(&mut unsaved);
            if let Some(((_, seq, _), number)) = batch.last() {
                let before = *seq - 1;
                let given_up = report.given_up.len() as u64;
                if standing.position.is_none_or(|position| position <= before) {
                    let again_to = if before >= standing.again_to { 0 } else { standing.again_to };
                    let alone = standing.alone.saturating_sub(1);
                    standing = ModelCursor {
                        position: Some(before),
                        within: number + 1,
                        again_to,
                        begun: 0,
                        alone,
                        ..standing
                    };
                    let reached = ModelCursor { given_up: standing.given_up + given_up, ..standing };
                    open.studied.save_under(self.lease, open, reached)?;
                }
            }
        }
        if let Some((_, fault)) = pace.slow {
            report.fault = Some(fault);
            return Ok(());
        }
        standing.given_up += report.given_up.len() as u64;
        if standing.position.is_none_or(|position| position < to) {
            standing = ModelCursor { position: Some(to), within: 0, again_to: 0, ..standing };
        }
        open.studied.save_under(self.lease, open, standing)
    }

    /// Reads some sources. It is stored before that this was begun: a source whose reading ends the process would be
    /// read again by each next process. Returns the error if it should be retried later.
    fn counted(
        &self,
        batch: &[(Due, u64)],
        standing: ModelCursor,
        pace: &mut Pace,
        report: &mut ModelReading,
    ) -> Result<Option<String>> {
        if standing.begun >= BEGUN_MAX && standing.alone > 0 {
            let why = format!("{} processes ended while they read it", standing.begun);
            report.given_up.extend(batch.iter().map(|(due, _)| (due.0, why.clone())));
            return Ok(None);
        }
        let given_up = standing.given_up + report.given_up.len() as u64;
        let alone = if standing.alone > 0 { standing.alone } else { batch.len() as u64 };
        let begun = ModelCursor { begun: standing.begun + 1, alone, given_up, ..standing };
        self.open.studied.save_under(self.lease, self.open, begun)?;
        let read = self.window(batch, pace, report);
        if matches!(read, Ok(None)) {
            return read;
        }
        // This process goes on, so it does not count.
        let undone = self.open.studied.save_under(self.lease, self.open, ModelCursor { given_up, ..standing });
        read.and_then(|fault| undone.map(|()| fault))
    }

    /// Reads some sources in windows of `each`. Returns the error if it should be retried later.
    fn parts(
        &self,
        batch: &[(Due, u64)],
        each: usize,
        pace: &mut Pace,
        report: &mut ModelReading,
    ) -> Result<Option<String>> {
        for part in batch.chunks(each) {
            let fault = match part.len() > pace.sources_max {
                true => self.parts(part, pace.sources_max, pace, report)?,
                false => self.window(part, pace, report)?,
            };
            if fault.is_some() {
                return Ok(fault);
            }
        }
        Ok(None)
    }

    /// Reads some sources in one window, or in smaller ones if the model cannot read the whole. Returns the error if
    /// it should be retried later.
    fn window(&self, batch: &[(Due, u64)], pace: &mut Pace, report: &mut ModelReading) -> Result<Option<String>> {
        let sources: Vec<ItemId> = batch.iter().map(|(due, _)| due.0).collect();
        let Some(shown) = window::build(self.engine, self.open, &sources)? else { return Ok(None) };
        before_slow_call("the model that reads");
        match self.reader.read(self.open.user(), &shown) {
            Ok(answer) => {
                report.given_up.extend(pace.slow.take());
                let mut checked = check(&shown, &self.engine.predicates, &answer);
                // A model most of whose operations are refused has not read: what it leaves out, or calls misread, may be right.
                let told: usize = checked.values().map(|found| found.claims.len() + found.task_claims.len()).sum();
                let refused: usize = checked.values().map(|found| found.refused.len()).sum();
                let has_said = !answer.operations.is_empty() || !answer.readings.is_empty();
                let has_answered = has_said && refused <= told;
                for ((source, _, cause), _) in batch {
                    let mut found = checked.remove(source).unwrap_or_default();
                    if has_answered {
                        found.misread.extend(remarks_in(&self.open.read().memory, *source));
                    } else {
                        found.misread.clear();
                    }
                    if found == Extraction::default() {
                        continue;
                    }
                    let by = SourceReading { reader: self.reader.id(), source: *source, done: &|_| false };
                    report.understood.extend(understand::record(self.engine, self.open, &by, found, cause)?);
                }
                Ok(None)
            }
            Err(ExtractError::Unavailable(fault)) => Ok(Some(fault)),
            Err(ExtractError::TooSlow(_)) if batch.len() > 1 => {
                pace.sources_max = batch.len().div_ceil(SLOWER_BY);
                self.parts(batch, pace.sources_max, pace, report)
            }
            Err(ExtractError::Run(_)) if batch.len() > 1 => self.parts(batch, batch.len().div_ceil(2), pace, report),
            // Two in a row: the model does not answer at all.
            Err(ExtractError::TooSlow(fault)) if pace.slow.is_some() => Ok(Some(fault)),
            Err(ExtractError::TooSlow(fault)) => {
                pace.slow = sources.first().map(|source| (*source, fault));
                Ok(None)
            }
            Err(ExtractError::Run(fault)) => {
                report.given_up.extend(sources.into_iter().map(|source| (source, fault.clone())));
                Ok(None)
            }
        }
    }
}

/// Sources to read, each with the number of earlier sources in its event.
fn due(open: &OpenMemory, from: Seq, to: Seq, standing: ModelCursor) -> Result<Vec<(Due, u64)>> {
    let taken_back = understand::sources_taken_back(open)?;
    let mut all: Vec<(Due, u64)> = Vec::new();
    for due in unread::to_be_read(open, from, to)? {
        let number = all.last().filter(|(last, _)| last.1 == due.1).map_or(0, |(_, number)| number + 1);
        all.push((due, number));
    }
    all.retain(|((source, seq, _), number)| {
        let read = standing.position == Some(seq - 1) && *number < standing.within;
        !taken_back.contains(source) && !read
    });
    Ok(all)
}

/// Active remarks from a source. They are kept because no rule could read them, and are replaced by the model's
/// reading.
fn remarks_in(memory: &Memory, source: ItemId) -> Vec<ItemId> {
    let is_here = |fact: &&Fact| {
        fact.predicate == REMARK && fact.is_active() && fact.evidence.iter().any(|at| at.source == source)
    };
    memory.items().facts().filter(is_here).map(|fact| fact.id).collect()
}
