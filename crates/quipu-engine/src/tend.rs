//! Tend: everything that is due, one step after the other.
//!
//! What is due is a predicate over state ("there are words nobody read", "these say the same"), not a queue: a step that was
//! cut short is simply still due. A step that fails says so, stays due, and keeps no other from being taken.

use quipu_core::growth::TakenBack;
use quipu_core::id::UserId;
use quipu_core::limit;
use serde::Serialize;

use crate::compact;
use crate::engine::Engine;
use crate::episodes;
use crate::error::Result;
use crate::evolve::{self, EvolveOptions};
use crate::grow::{self, GrowOptions};
use crate::hits;
use crate::memory::{OpenMemory, checkpoint};
use crate::reflect;
use crate::sessions;
use crate::study::{self, StudyOptions};
use crate::summarize::{self, SummarizeOptions};
use crate::unread;

/// What may be due, in the order in which it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TendStep {
    /// Rules read what was recorded and not read.
    Read,
    /// The second reader reads what it has not read.
    Study,
    /// Exchanges of sessions are told.
    Summarize,
    /// Sessions that are over are told as episodes.
    Episodes,
    /// What was shown is written down.
    Hits,
    /// What recurs in the core document is proposed as a category.
    Evolve,
    /// Notes are taken, and lines of the self-model proposed.
    Reflect,
    /// Duplicates become one, patterns part of the profile, and what is cold leaves the active index.
    Compact,
}

impl TendStep {
    /// Every step, in order.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Study,
        Self::Summarize,
        Self::Episodes,
        Self::Hits,
        Self::Evolve,
        Self::Reflect,
        Self::Compact,
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Study => "study",
            Self::Summarize => "summarize",
            Self::Episodes => "episodes",
            Self::Hits => "hits",
            Self::Evolve => "evolve",
            Self::Reflect => "reflect",
            Self::Compact => "compact",
        }
    }

    /// So much of it, in words: `1 session to tell`, `3 sessions to tell`.
    pub fn counted(self, count: usize) -> String {
        let (one, many) = match self {
            Self::Read | Self::Study => ("message to read", "messages to read"),
            Self::Summarize => ("exchange to summarise", "exchanges to summarise"),
            Self::Episodes => ("session to tell", "sessions to tell"),
            Self::Hits => ("item shown, to be counted", "items shown, to be counted"),
            Self::Evolve => ("category to propose", "categories to propose"),
            Self::Reflect => ("note or proposal", "notes and proposals"),
            Self::Compact => ("change to compact", "changes to compact"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

/// What to do.
#[derive(Debug, Clone)]
pub struct TendOptions {
    /// Only say what is due.
    pub dry_run: bool,
    /// Only these steps; all if empty.
    pub steps: Vec<TendStep>,
    /// At most so many events of evolution, reflection and compaction.
    pub events_max: usize,
    /// At most so many sources for the second reader. What a model may cost besides is its endpoint's own budget.
    pub sources_max: usize,
}

impl Default for TendOptions {
    fn default() -> Self {
        let (dry_run, steps) = (false, Vec::new());
        Self { dry_run, steps, events_max: limit::GROWTH_EVENTS_MAX, sources_max: usize::MAX }
    }
}

/// A step and how much of it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Due {
    /// Which.
    pub step: TendStep,
    /// How much.
    pub count: usize,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// Which.
    pub step: TendStep,
    /// How much was due.
    pub due: usize,
    /// How much is due still, or again.
    pub left: usize,
    /// What its events share, if they share something: `quipu revert --source` takes them back together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Why it did not come to its end, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TendReport {
    /// True if nothing was appended.
    pub dry_run: bool,
    /// Every step with something to do, in order.
    pub steps: Vec<StepReport>,
}

/// What is due, without doing it. Steps with nothing to do are left out.
///
/// # Errors
/// `NotFound` without such a user; what the store said.
pub fn due(engine: &Engine, user: &UserId) -> Result<Vec<Due>> {
    let open = engine.open(user)?;
    let taken_back = grow::taken_back(&open)?;
    let one = |step| Ok(Due { step, count: count(engine, &open, step, &taken_back)? });
    let all = TendStep::ALL.into_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().filter(|due| due.count > 0).collect())
}

fn count(engine: &Engine, open: &OpenMemory, step: TendStep, taken_back: &TakenBack) -> Result<usize> {
    if step == TendStep::Read {
        return engine.extractor.as_ref().map_or(Ok(0), |_| unread::waiting(open));
    }
    let state = open.read();
    let memory = &state.memory;
    let grows = |decides| grow::proposals(engine, memory, decides, taken_back).len();
    Ok(match step {
        // The ledger is asked, which nobody does who holds the memory.
        TendStep::Read => 0,
        TendStep::Study => engine.aids.reader.as_ref().map_or(0, |_| open.studied.waiting(memory)),
        TendStep::Summarize => engine.summarizer.as_ref().map_or(0, |_| sessions::unsummarized(memory)),
        TendStep::Episodes => episodes::waiting(memory, engine.now()),
        TendStep::Hits => open.shown_items.waiting(),
        TendStep::Evolve => evolve::due(engine, memory, taken_back),
        TendStep::Reflect => grows(&reflect::DECIDES) + usize::from(reflect::is_due(engine, open, memory)),
        TendStep::Compact => grows(&compact::DECIDES),
    })
}

/// Does what is due.
///
/// May be called at any time and as often as one likes: where nothing is due it appends nothing and asks nobody.
///
/// # Errors
/// `NotFound` without such a user. What goes wrong in a step is no error: the report says so, and the step stays due.
pub fn tend(engine: &Engine, user: &UserId, options: &TendOptions) -> Result<TendReport> {
    let open = engine.open(user)?;
    let taken_back = grow::taken_back(&open)?;
    let wanted = |step: &TendStep| options.steps.is_empty() || options.steps.contains(step);
    let mut report = TendReport { dry_run: options.dry_run, steps: Vec::new() };
    let mut budget = options.events_max;
    for step in TendStep::ALL.into_iter().filter(wanted) {
        let due = count(engine, &open, step, &taken_back)?;
        if due == 0 {
            continue;
        }
        let mut one = StepReport { step, due, left: due, reference: None, fault: None };
        if !options.dry_run {
            match take(engine, user, step, options, &mut budget) {
                Ok((reference, fault)) => (one.reference, one.fault) = (reference, fault),
                Err(error) => one.fault = Some(error.to_string()),
            }
            one.left = count(engine, &open, step, &taken_back)?;
        }
        report.steps.push(one);
    }
    Ok(report)
}

/// Takes one step: what its events share, and why it did not come to its end.
fn take(
    engine: &Engine,
    user: &UserId,
    step: TendStep,
    options: &TendOptions,
    budget: &mut usize,
) -> Result<(Option<String>, Option<String>)> {
    let limited = GrowOptions { dry_run: false, events_max: *budget };
    let fault = match step {
        TendStep::Read => {
            let open = engine.open(user)?;
            unread::catch_up(engine, &open, usize::MAX, &mut |_, _| {})?;
            checkpoint::after_append(engine, &open, false, &mut |_| {});
            None
        }
        TendStep::Study => {
            let of = StudyOptions { sources_max: options.sources_max, ..StudyOptions::default() };
            study::study(engine, user, &of)?.fault
        }
        TendStep::Summarize => summarize::summarize(engine, user, &SummarizeOptions::default())?.fault,
        TendStep::Episodes => {
            episodes::tell_episodes(engine, user)?;
            None
        }
        TendStep::Hits => {
            hits::flush_hits(engine, user)?;
            None
        }
        TendStep::Evolve => {
            let within = EvolveOptions { events_max: *budget, ..EvolveOptions::default() };
            let done = evolve::evolve(engine, user, &within)?;
            *budget = budget.saturating_sub(done.patterns.iter().filter(|one| one.event_seq.is_some()).count());
            None
        }
        TendStep::Reflect => {
            let done = reflect::reflect(engine, user, &limited)?;
            *budget = budget.saturating_sub(done.done.len());
            return Ok((done.reference, done.fault));
        }
        TendStep::Compact => {
            let done = compact::compact(engine, user, &limited)?.grown;
            *budget = budget.saturating_sub(done.done.len());
            return Ok((done.reference, None));
        }
    };
    Ok((None, fault))
}
