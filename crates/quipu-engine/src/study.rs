//! Study: what was said is read once more by a second reader, a language model, when somebody has time to wait for it.
//!
//! A predicate over state, not a queue: beside the ledger stands a position up to which the second reader has come. The words
//! were durable and read by rules long before; whatever fails here leaves both as they are. Without a position nothing that
//! was said before the second reader was there is read by it, unless [`StudyOptions::from_the_start`] asks for that: it costs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quipu_core::Memory;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::writing::Understanding;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::keeper::Keeper;
use crate::ports::{Checkpoint, ExtractError, Extractor, Projection, UserLedger};
use crate::understand::{self, Cause, Found, Page};
use crate::unread;
use crate::upkeep;

/// Name of the position among a ledger's projections.
const STUDIED: &str = "studied";

/// How far the second reader has come in one user's memory.
pub(crate) struct Studied {
    standing: Mutex<Standing>,
    /// Whose turn it is to go on.
    turn: Mutex<()>,
}

#[derive(Clone, Copy)]
struct Standing {
    /// Everything recorded up to here was studied or need not be; none where no second reader has ever been.
    position: Option<Seq>,
    /// Of the event after it, so many sources were studied too: an import has many in one, and a budget may end among them.
    within: u64,
    /// Sources that could not be read, however often one tried.
    given_up: u64,
}

impl Studied {
    pub(crate) fn load(ledger: &mut dyn UserLedger, head: Seq) -> Result<Self> {
        let saved = ledger.projection(STUDIED)?.filter(|saved| saved.seq <= head);
        let figure = |place: usize| {
            let bytes = saved.as_ref()?.bytes.get(8 * place..8 * (place + 1))?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let (given_up, within) = (figure(0).unwrap_or(0), figure(1).unwrap_or(0));
        let standing = Standing { position: saved.map(|saved| saved.seq), within, given_up };
        Ok(Self { standing: Mutex::new(standing), turn: Mutex::default() })
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        // Every change of it is one assignment.
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The position as a checkpoint keeps it, if there is one.
    pub(crate) fn position(&self) -> Option<(&'static str, Projection)> {
        projection(*self.standing())
    }

    /// Sources it has not come to.
    pub(crate) fn waiting(&self, memory: &Memory) -> usize {
        let Some(position) = self.standing().position else { return 0 };
        let first = memory.sources().partition_point(|held| held.seq <= position);
        memory.sources().iter().skip(first).filter(|held| understand::is_read(held)).count()
    }

    pub(crate) fn given_up(&self) -> u64 {
        self.standing().given_up
    }
}

fn projection(standing: Standing) -> Option<(&'static str, Projection)> {
    let bytes = [standing.given_up, standing.within].map(u64::to_le_bytes).concat();
    standing.position.map(|seq| (STUDIED, Projection { seq, tag: "1".to_owned(), bytes }))
}

fn save(keeper: &Keeper, standing: Standing) -> Result<()> {
    let projections = projection(standing).into_iter().collect();
    keeper.writer().ledger.checkpoint(&Checkpoint { projections, level: u64::MAX, ..Checkpoint::default() })?;
    *keeper.studied.standing() = standing;
    Ok(())
}

/// To be called before something is recorded that will be read: from here on the second reader reads, if there is one.
pub(crate) fn begin(engine: &Engine, keeper: &Keeper) -> Result<()> {
    let standing = *keeper.studied.standing();
    if engine.aids.reader.is_none() || standing.position.is_some() {
        return Ok(());
    }
    let head = keeper.read().memory.seq();
    save(keeper, Standing { position: Some(head), within: 0, ..standing })
}

/// What to study.
#[derive(Debug, Clone)]
pub struct StudyOptions {
    /// At most so many sources now; default: all that wait.
    pub sources_max: usize,
    /// Everything that was ever said, and not only what was said since there is a second reader.
    pub from_the_start: bool,
}

impl Default for StudyOptions {
    fn default() -> Self {
        Self { sources_max: usize::MAX, from_the_start: false }
    }
}

/// What studying did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StudyReport {
    /// What reads.
    pub reader: String,
    /// Sources that were read.
    pub sources: u64,
    /// What came of them.
    pub understood: Understanding,
    /// Sources it cannot read, each with its reason: what the rules read in them stays.
    pub given_up: Vec<(ItemId, String)>,
    /// Sources that still wait.
    pub waiting: usize,
    /// Why it stopped before the end, if it did. It goes on another time.
    pub fault: Option<String>,
}

/// Lets the second reader read what it has not read, oldest first. What is known already changes nothing.
///
/// The memory stays free while the reader works; what it finds is decided on with what is known by then.
///
/// # Errors
/// `Invalid` if the engine has no second reader; `NotFound` without such a user; else as for every append. A reader that
/// does not answer is no error: the report says so, and what it did before is kept.
pub fn study(engine: &Engine, user: &UserId, options: &StudyOptions) -> Result<StudyReport> {
    let Some(reader) = engine.aids.reader.clone() else {
        return Err(Error::Invalid(
            "no second reader is configured: see [models.extractor] in the settings".to_owned(),
        ));
    };
    let keeper = engine.keeper(user, false)?;
    let mut report = StudyReport { reader: reader.id().to_owned(), ..StudyReport::default() };
    {
        let turn = keeper.studied.turn.lock();
        let _order = turn.unwrap_or_else(PoisonError::into_inner);
        go_on(engine, &keeper, reader.as_ref(), options, &mut report)?;
    }
    report.waiting = keeper.studied.waiting(&keeper.read().memory);
    upkeep::after_append(engine, &keeper, false, &mut |_| {});
    Ok(report)
}

fn go_on(
    engine: &Engine,
    keeper: &Keeper,
    reader: &dyn Extractor,
    options: &StudyOptions,
    report: &mut StudyReport,
) -> Result<()> {
    begin(engine, keeper)?;
    let mut standing = *keeper.studied.standing();
    let from = if options.from_the_start { 0 } else { standing.position.unwrap_or(0) };
    let to = keeper.unread.read_up_to(keeper.read().memory.seq());
    if to <= from {
        return Ok(());
    }
    let taken_back = understand::sources_taken_back(keeper)?;
    let due = unread::to_be_read(keeper, from, to)?;
    let mut number = 0;
    for (place, (source, seq, cause)) in due.iter().enumerate() {
        number = if place > 0 && due[place - 1].1 == *seq { number + 1 } else { 0 };
        let before = *seq - 1;
        if taken_back.contains(source) || (standing.position == Some(before) && number < standing.within) {
            continue;
        }
        if report.sources >= options.sources_max as u64 {
            return Ok(());
        }
        match read_one(engine, keeper, reader, *source, cause) {
            Ok(understood) => report.understood.extend(understood),
            Err(Missed::Engine(error)) => return Err(error),
            Err(Missed::Reader(ExtractError::Unavailable(fault))) => {
                report.fault = Some(fault);
                return Ok(());
            }
            Err(Missed::Reader(ExtractError::Run(fault))) => {
                standing.given_up += 1;
                report.given_up.push((*source, fault));
            }
        }
        report.sources += 1;
        if standing.position.is_none_or(|position| position <= before) {
            standing = Standing { position: Some(before), within: number + 1, ..standing };
            save(keeper, standing)?;
        }
    }
    if standing.position.is_none_or(|position| position < to) {
        standing = Standing { position: Some(to), within: 0, ..standing };
    }
    save(keeper, standing)
}

/// Why a source was not studied.
enum Missed {
    Reader(ExtractError),
    Engine(Error),
}

fn read_one(
    engine: &Engine,
    keeper: &Keeper,
    reader: &dyn Extractor,
    source: ItemId,
    cause: &Cause,
) -> std::result::Result<Understanding, Missed> {
    let (user, page) = {
        let state = keeper.read();
        let Some(held) = state.memory.get(source) else { return Ok(Understanding::default()) };
        (state.memory.user().clone(), Page::of(&state.memory, held))
    };
    // The model works while nobody holds the memory.
    let found = reader.read_for(&user, &page.reading()).map_err(Missed::Reader)?;
    let by = Found { reader: reader.id(), source, done: &|_| false };
    understand::record(engine, keeper, &by, found, cause).map_err(Missed::Engine)
}
