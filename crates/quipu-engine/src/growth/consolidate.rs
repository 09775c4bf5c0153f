//! Consolidation: appends the decisions of compaction, evolution and reflection as events with a common reference.

use quipu_core::Memory;
use quipu_core::event::{Actor, Draft, Origin, SourceKind};
use quipu_core::growth::{self, GrowthContext, GrowthProposal, GrowthSubject, Name, TakenBack};
use quipu_core::id::{ItemId, Seq};
use quipu_core::reconcile::Rejection;
use quipu_core::{ledger, limit};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::memory::commit;
use crate::memory::{OpenMemory, fold};

/// Limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct ConsolidateOptions {
    /// Reports what would be done, without appending.
    pub dry_run: bool,
    /// Most events per run; the rest is left for the next run.
    pub events_max: usize,
}

impl Default for ConsolidateOptions {
    fn default() -> Self {
        Self { dry_run: false, events_max: limit::GROWTH_EVENTS_MAX }
    }
}

/// One thing that was done, or would be.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConsolidationEvent {
    /// The kind of decision.
    pub what: GrowthSubject,
    /// The items concerned. In a merge the remaining item comes first.
    pub items: Vec<ItemId>,
    /// Their content in one line.
    pub text: String,
    /// The reason.
    pub because: String,
    /// The event; `None` in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_seq: Option<Seq>,
}

/// Result of a run.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConsolidateReport {
    /// The version the decisions are based on.
    pub version: Seq,
    /// Reference shared by all events of the run; `quipu revert --source` reverts them together. `None` without events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// True if nothing was appended.
    pub dry_run: bool,
    /// What was done, in order.
    pub done: Vec<ConsolidationEvent>,
    /// Number of known decisions left for the next run.
    pub left: usize,
    /// Proposals of a model that were rejected, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Rejection>,
    /// Why the model did not answer, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A source of decisions. Each decides on the memory as the one before left it.
pub(crate) type Decide = fn(&GrowthContext<'_>, Name<'_>) -> Vec<GrowthProposal>;

/// The decisions that a run would make now, without those that were reverted before.
pub(crate) fn proposals(
    engine: &Engine,
    memory: &Memory,
    decides: &[Decide],
    taken_back: &TakenBack,
) -> Vec<GrowthProposal> {
    let desk = GrowthContext { base: engine.desk(memory), knobs: &engine.growth, taken_back };
    let decided = decides.iter().flat_map(|decide| decide(&desk, &mut |kind| engine.new_item_id(kind)));
    desk.fresh(decided.collect())
}

/// Growth events that a person reverted. Deciding the same again would undo the revert.
pub(crate) fn taken_back(open: &OpenMemory) -> Result<TakenBack> {
    let mut found = TakenBack::default();
    let skipped: Vec<Seq> = {
        let state = open.read();
        let head = state.memory.seq();
        state.memory.skipped().iter().copied().filter(|&seq| seq <= head).collect()
    };
    let mut writer = open.writer()?;
    for seq in skipped {
        let sealed = fold::sealed_at(writer.ledger.as_mut(), seq)?;
        let reference = ledger::open_header(&sealed)?.origin.reference;
        if reference.is_some_and(|name| NAMES.iter().any(|own| name.starts_with(own))) {
            let event = ledger::open(&sealed)?;
            event.changes.iter().flatten().for_each(|change| found.note(change));
        }
    }
    Ok(found)
}

/// Prefixes of the references of growth events.
const NAMES: [&str; 3] = ["compact:", "evolve:", "reflect:"];

/// Decides and appends until nothing is left or the budget is spent. Each event is decided on the memory it is appended
/// to.
pub(crate) fn grow(
    engine: &Engine,
    open: &OpenMemory,
    name: &str,
    decides: &[Decide],
    options: &ConsolidateOptions,
) -> Result<ConsolidateReport> {
    grow_for(engine, open, (name, usize::MAX), decides, options)
}

/// As [`grow`], but calls each of `decides` once.
pub(crate) fn grow_once(
    engine: &Engine,
    open: &OpenMemory,
    name: &str,
    decides: &[Decide],
    options: &ConsolidateOptions,
) -> Result<ConsolidateReport> {
    grow_for(engine, open, (name, 1), decides, options)
}

fn grow_for(
    engine: &Engine,
    open: &OpenMemory,
    (name, rounds): (&str, usize),
    decides: &[Decide],
    options: &ConsolidateOptions,
) -> Result<ConsolidateReport> {
    let taken_back = taken_back(open)?;
    let version = open.read().memory.seq();
    let mut report = ConsolidateReport { version, dry_run: options.dry_run, ..ConsolidateReport::default() };
    if options.dry_run {
        let found = proposals(engine, &open.read().memory, decides, &taken_back);
        report.left = found.len().saturating_sub(options.events_max);
        report.done = found.into_iter().take(options.events_max).map(|one| grown(one, None)).collect();
        return Ok(report);
    }
    let reference = format!("{name}:{version}");
    for decide in decides {
        for _ in 0..rounds {
            if report.done.len() >= options.events_max {
                break;
            }
            let room = options.events_max - report.done.len();
            let mut taken: Vec<GrowthProposal> = Vec::new();
            let receipts = commit::commit(engine, open, None, &mut |state| {
                taken = growth::together(proposals(engine, &state.memory, &[*decide], &taken_back));
                taken.truncate(room);
                Ok(taken.iter().map(|one| draft(one, &reference)).collect())
            })?;
            if receipts.is_empty() {
                break;
            }
            let done = taken.into_iter().zip(receipts).map(|(one, receipt)| grown(one, Some(receipt.seq)));
            report.done.extend(done);
        }
    }
    report.left = proposals(engine, &open.read().memory, decides, &taken_back).len();
    report.reference = (!report.done.is_empty()).then_some(reference);
    Ok(report)
}

pub(crate) fn draft(one: &GrowthProposal, reference: &str) -> Draft {
    let origin = Origin { reference: Some(reference.to_owned()), ..Origin::of(SourceKind::Inferred) };
    Draft {
        origin,
        rationale: Some(format!("{}: {}", one.what.as_str(), one.because)),
        ..Draft::new(Actor::System, SourceKind::Inferred, one.changes.clone())
    }
}

pub(crate) fn grown(one: GrowthProposal, event_seq: Option<Seq>) -> ConsolidationEvent {
    let GrowthProposal { what, items, text, because, .. } = one;
    ConsolidationEvent { what, items, text, because, event_seq }
}
