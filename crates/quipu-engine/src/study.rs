//! Study: what was said is read once more by a second reader, a language model, when somebody has time to wait for it.
//!
//! A predicate over state, not a queue: beside the ledger stands a position up to which the second reader has come. The words
//! were durable and read by rules long before; whatever fails here leaves both as they are. Without a position nothing that
//! was said before the second reader was there is read by it, unless [`StudyOptions::from_the_start`] asks for that: it costs.

use quipu_core::Memory;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::writing::Understanding;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::lock::before_slow_call;
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::cursor::{Cursor, Position};
use crate::memory::lease::{self, Lease};
use crate::ports::{ExtractError, Extractor, Projection};
use crate::tend::GoOn;
use crate::understand::{self, Cause, Found, Page};
use crate::unread;

/// Name of the position among a ledger's projections.
const STUDIED: &str = "studied";
/// The lease under which a second reader reads.
const EXTRACT: &str = "extract";

/// How far the second reader has come in one user's memory.
pub(crate) type Studied = Cursor<ModelCursor>;

/// How far a second reader has come.
#[derive(Clone, Copy, Default)]
pub(crate) struct ModelCursor {
    /// Everything recorded up to here was studied or need not be; none where no second reader has ever been.
    position: Option<Seq>,
    /// Of the event after it, so many sources were studied too: an import has many in one, and a budget may end among them.
    within: u64,
    /// Sources that could not be read, however often one tried.
    given_up: u64,
}

impl Position for ModelCursor {
    const NAME: &'static str = STUDIED;

    fn load(saved: Option<Projection>, _: Seq) -> Self {
        let figure = |place: usize| {
            let bytes = saved.as_ref()?.bytes.get(8 * place..8 * (place + 1))?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let (given_up, within) = (figure(0).unwrap_or(0), figure(1).unwrap_or(0));
        Self { position: saved.map(|saved| saved.seq), within, given_up }
    }

    fn stored(&self, _: Seq) -> Option<Projection> {
        let bytes = [self.given_up, self.within].map(u64::to_le_bytes).concat();
        self.position.map(|seq| Projection { seq, tag: "1".to_owned(), bytes })
    }
}

impl Cursor<ModelCursor> {
    /// Sources it has not come to.
    pub(crate) fn waiting(&self, memory: &Memory) -> usize {
        let Some(position) = self.get().position else { return 0 };
        let first = memory.sources().partition_point(|held| held.seq <= position);
        memory.sources().iter().skip(first).filter(|held| understand::is_read(held)).count()
    }

    pub(crate) fn given_up(&self) -> u64 {
        self.get().given_up
    }
}

/// To be called before something is recorded that will be read: from here on the second reader reads, if there is one.
pub(crate) fn begin(engine: &Engine, open: &OpenMemory) -> Result<()> {
    let standing = *open.studied.get();
    if engine.aids.reader.is_none() || standing.position.is_some() {
        return Ok(());
    }
    let head = open.read().memory.seq();
    open.studied.save(open, ModelCursor { position: Some(head), within: 0, ..standing })
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
    study_while(engine, user, options, &mut || Ok(true))
}

/// The same as long as `go_on` says so, which is asked before each source.
pub(crate) fn study_while(
    engine: &Engine,
    user: &UserId,
    options: &StudyOptions,
    go_on: GoOn<'_>,
) -> Result<StudyReport> {
    let Some(reader) = engine.aids.reader.clone() else {
        return Err(Error::Invalid(
            "no second reader is configured: see [models.extractor] in the settings".to_owned(),
        ));
    };
    let open = engine.open(user)?;
    let mut report = StudyReport { reader: reader.id().to_owned(), ..StudyReport::default() };
    {
        let _order = open.turns.extract.lock();
        match lease::take(engine, &open, EXTRACT)? {
            Some(lease) => read_all(engine, &open, &lease, reader.as_ref(), options, go_on, &mut report)?,
            None => report.fault = Some(lease::HELD_ELSEWHERE.to_owned()),
        }
    }
    report.waiting = open.studied.waiting(&open.read().memory);
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(report)
}

fn read_all(
    engine: &Engine,
    open: &OpenMemory,
    lease: &Lease<'_>,
    reader: &dyn Extractor,
    options: &StudyOptions,
    go_on: GoOn<'_>,
    report: &mut StudyReport,
) -> Result<()> {
    {
        // Another process may have gone on since.
        let mut writer = open.writer()?;
        let head = writer.ledger.head()?.seq;
        open.studied.refresh(writer.ledger.as_mut(), head)?;
    }
    begin(engine, open)?;
    let mut standing = *open.studied.get();
    let from = if options.from_the_start { 0 } else { standing.position.unwrap_or(0) };
    let to = open.unread.read_up_to(open.read().memory.seq());
    if to <= from {
        return Ok(());
    }
    let taken_back = understand::sources_taken_back(open)?;
    let due = unread::to_be_read(open, from, to)?;
    let mut number = 0;
    for (place, (source, seq, cause)) in due.iter().enumerate() {
        number = if place > 0 && due[place - 1].1 == *seq { number + 1 } else { 0 };
        let before = *seq - 1;
        if taken_back.contains(source) || (standing.position == Some(before) && number < standing.within) {
            continue;
        }
        if report.sources >= options.sources_max as u64 || !go_on()? {
            return Ok(());
        }
        if !lease.prolong(engine)? {
            report.fault = Some(lease::HELD_ELSEWHERE.to_owned());
            return Ok(());
        }
        match read_one(engine, open, reader, *source, cause) {
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
            standing = ModelCursor { position: Some(before), within: number + 1, ..standing };
            open.studied.save(open, standing)?;
        }
    }
    if standing.position.is_none_or(|position| position < to) {
        standing = ModelCursor { position: Some(to), within: 0, ..standing };
    }
    open.studied.save(open, standing)
}

/// Why a source was not studied.
enum Missed {
    Reader(ExtractError),
    Engine(Error),
}

fn read_one(
    engine: &Engine,
    open: &OpenMemory,
    reader: &dyn Extractor,
    source: ItemId,
    cause: &Cause,
) -> std::result::Result<Understanding, Missed> {
    let (user, page) = {
        let state = open.read();
        let Some(held) = state.memory.get(source) else { return Ok(Understanding::default()) };
        (state.memory.user().clone(), Page::of(&state.memory, held))
    };
    before_slow_call("the second reader");
    let found = reader.read_for(&user, &page.reading()).map_err(Missed::Reader)?;
    let by = Found { reader: reader.id(), source, done: &|_| false };
    understand::record(engine, open, &by, found, cause).map_err(Missed::Engine)
}
