//! Maintenance: runs every due step, one after the other. A lease limits it to one process per user.
//!
//! What is due is computed from the state (unread sources, duplicates) instead of a queue, so an interrupted step is
//! still due. A failing step is reported, stays due, and does not prevent the others.

use jiff::{SignedDuration, Timestamp};
use quipu_core::growth::TakenBack;
use quipu_core::id::{Seq, UserId};
use quipu_core::limit;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::files::{self, VaultOptions};
use crate::growth::compact;
use crate::growth::consolidate::{self, ConsolidateOptions};
use crate::growth::evolve::{self, EvolveOptions};
use crate::growth::reflect;
use crate::memory::cursor::{Cursor, Position};
use crate::memory::lease::{self, Lease};
use crate::memory::{OpenMemory, checkpoint};
use crate::ports::Projection;
use crate::process::extract_with_model::{self, ExtractWithModelOptions};
use crate::process::unread;
use crate::read::hits;
use crate::sessions::episodes;
use crate::sessions::summarize::{self, SummarizeOptions};

/// Name of the maintenance lease.
const MAINTAIN: &str = "maintain";
/// Interval at which a run extends its lease; well below the duration of a lease.
const PROLONG_AFTER: SignedDuration = SignedDuration::from_secs(10);
/// Least age of the recorded time of the last run before a run without work records it again.
const NOTED_EVERY: SignedDuration = SignedDuration::from_mins(10);
/// Messages read by rules between two checks of whether to stop.
const READ_AT_ONCE: usize = 8;
/// Why a run did nothing.
const RUNNING: &str = "maintenance of this memory is already running in this process";

/// Steps of maintenance, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintenanceStep {
    /// Rules read unread sources.
    Read,
    /// A language model reads what it has not read.
    Study,
    /// Exchanges of sessions are summarised.
    Summarize,
    /// Finished sessions are recorded as episodes.
    Episodes,
    /// Hits are recorded.
    Hits,
    /// Patterns of the core document are proposed as categories.
    Evolve,
    /// Notes are recorded, and tenets proposed.
    Reflect,
    /// Duplicates are merged, repeated claims promoted to the profile, and unused items removed from the active index.
    Compact,
    /// Plain files, if kept, are brought up to date with the ledger.
    Files,
}

impl MaintenanceStep {
    /// Every step, in order.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Study,
        Self::Summarize,
        Self::Episodes,
        Self::Hits,
        Self::Evolve,
        Self::Reflect,
        Self::Compact,
        Self::Files,
    ];

    /// The name of the step.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Study => "study",
            Self::Summarize => "summarize",
            Self::Episodes => "episodes",
            Self::Hits => "hits",
            Self::Evolve => "evolve",
            Self::Reflect => "reflect",
            Self::Compact => "compact",
            Self::Files => "files",
        }
    }

    /// A count with its noun: `1 message to read`, `3 messages to read`.
    pub fn counted(self, count: usize) -> String {
        let (one, many) = match self {
            Self::Read | Self::Study => ("message to read", "messages to read"),
            Self::Summarize => ("exchange to summarise", "exchanges to summarise"),
            Self::Episodes => ("session to record as episodes", "sessions to record as episodes"),
            Self::Hits => ("item with unrecorded hits", "items with unrecorded hits"),
            Self::Evolve => ("category to propose", "categories to propose"),
            Self::Reflect => ("note or proposal", "notes and proposals"),
            Self::Compact => ("change to compact", "changes to compact"),
            Self::Files => ("folder of plain files behind", "folders of plain files behind"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct MaintainOptions {
    /// Reports what is due, without doing it.
    pub dry_run: bool,
    /// Only these steps; all if empty.
    pub steps: Vec<MaintenanceStep>,
    /// Most events of evolution, reflection and compaction.
    pub events_max: usize,
    /// Most sources for the language model. Other model calls are limited by the budget of their endpoint.
    pub sources_max: usize,
    /// Most messages read by rules, and most exchanges summarised. Default: all.
    pub items_max: usize,
}

impl Default for MaintainOptions {
    fn default() -> Self {
        Self {
            dry_run: false,
            steps: Vec::new(),
            events_max: limit::GROWTH_EVENTS_MAX,
            sources_max: usize::MAX,
            items_max: usize::MAX,
        }
    }
}

/// A step with the amount of work due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Due {
    /// The step.
    pub step: MaintenanceStep,
    /// The amount, in units of the step.
    pub count: usize,
}

/// Result of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// The step.
    pub step: MaintenanceStep,
    /// The amount of work that was due.
    pub due: usize,
    /// The amount of work still due, or due again.
    pub left: usize,
    /// Reference shared by its events, if any: `quipu revert --source` reverts them together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Why it did not finish, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Result of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MaintenanceReport {
    /// True if nothing was appended.
    pub dry_run: bool,
    /// Every step that was due, in order.
    pub steps: Vec<StepReport>,
    /// True if the caller stopped the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// Why the run ended early or did nothing, if another process is doing the same work. The rest stays due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Lists what is due, without doing it. Steps without work are left out.
///
/// # Errors
/// `NotFound` if there is no such user; any error of the store.
pub fn due(engine: &Engine, user: &UserId) -> Result<Vec<Due>> {
    let open = engine.open(user)?;
    let taken_back = consolidate::taken_back(&open)?;
    let one = |step| Ok(Due { step, count: count(engine, &open, step, &taken_back)? });
    let all = MaintenanceStep::ALL.into_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().filter(|due| due.count > 0).collect())
}

/// Time of the last maintenance of a user's memory by any process, if any.
///
/// # Errors
/// Any error of the store.
pub fn maintained_at(engine: &Engine, user: &UserId) -> Result<Option<Timestamp>> {
    last_maintained(&engine.open(user)?)
}

/// As [`maintained_at`], for an open memory.
pub(crate) fn last_maintained(open: &OpenMemory) -> Result<Option<Timestamp>> {
    let mut writer = open.writer()?;
    let head = writer.ledger.head()?.seq;
    open.maintained.refresh(writer.ledger.as_mut(), head)?;
    let noted = open.maintained.get().0;
    Ok(noted)
}

/// Time of the last maintenance, as a cursor that every process sees.
pub(crate) type Maintained = Cursor<MaintainedAt>;

/// Time of the last maintenance.
#[derive(Clone, Copy, Default)]
pub(crate) struct MaintainedAt(Option<Timestamp>);

impl Position for MaintainedAt {
    const NAME: &'static str = "maintained";

    fn load(saved: Option<Projection>, _: Seq) -> Self {
        let micros = saved.and_then(|saved| Some(i64::from_le_bytes(saved.bytes.try_into().ok()?)));
        Self(micros.and_then(|micros| Timestamp::from_microsecond(micros).ok()))
    }

    fn stored(&self, level: Seq) -> Option<Projection> {
        let at = self.0?.as_microsecond();
        Some(Projection { seq: level, tag: "1".to_owned(), bytes: at.to_le_bytes().to_vec() })
    }
}

/// Records the time of a finished run. If this fails, the next run records it.
fn note_maintained(engine: &Engine, open: &OpenMemory, is_done: bool) {
    let now = engine.now();
    let noted = open.maintained.get().0;
    // Without work, the time is recorded only at intervals.
    let is_recent = |at: Timestamp| now.duration_since(at).abs() < NOTED_EVERY;
    if is_done || !noted.is_some_and(is_recent) {
        let _ = open.maintained.save(open, MaintainedAt(Some(now)));
    }
}

fn count(engine: &Engine, open: &OpenMemory, step: MaintenanceStep, taken_back: &TakenBack) -> Result<usize> {
    // These read the ledger or files, so the memory must not be locked.
    match step {
        MaintenanceStep::Read => return engine.extractor.as_ref().map_or(Ok(0), |_| unread::waiting(open)),
        MaintenanceStep::Summarize => return engine.summarizer.as_ref().map_or(Ok(0), |_| summarize::waiting(open)),
        MaintenanceStep::Files => return files::lags(engine, open).map(usize::from),
        _ => {}
    }
    let state = open.read();
    let memory = &state.memory;
    let grows = |decides| consolidate::proposals(engine, memory, decides, taken_back).len();
    Ok(match step {
        MaintenanceStep::Read | MaintenanceStep::Summarize | MaintenanceStep::Files => 0,
        MaintenanceStep::Study => engine.optional.reader.as_ref().map_or(0, |_| open.studied.waiting(memory)),
        MaintenanceStep::Episodes => episodes::waiting(memory, engine.now()),
        MaintenanceStep::Hits => open.shown_items.waiting(),
        MaintenanceStep::Evolve => evolve::due(engine, memory, taken_back),
        MaintenanceStep::Reflect => grows(&reflect::DECIDES) + usize::from(reflect::is_due(engine, open, memory)),
        MaintenanceStep::Compact => grows(&compact::DECIDES),
    })
}

/// Does what is due.
///
/// May be called at any time: if nothing is due, it appends nothing and calls no model. Of concurrent calls for the
/// same user, in any process, one does the work; the others report why they did nothing.
///
/// # Errors
/// `NotFound` if there is no such user. A failing step is not an error: it is reported and stays due.
pub fn maintain(engine: &Engine, user: &UserId, options: &MaintainOptions) -> Result<MaintenanceReport> {
    maintain_while(engine, user, options, &mut || true)
}

/// Does what is due while `go_on` returns true.
///
/// `go_on` is called before each step, and within a step before each message, exchange and session. Stopping waits for
/// at most one of these, which may be one model call.
///
/// # Errors
/// As [`maintain`].
pub fn maintain_while(
    engine: &Engine,
    user: &UserId,
    options: &MaintainOptions,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<MaintenanceReport> {
    let open = engine.open(user)?;
    let taken_back = consolidate::taken_back(&open)?;
    let mut report = MaintenanceReport { dry_run: options.dry_run, ..MaintenanceReport::default() };
    for step in MaintenanceStep::ALL.into_iter().filter(|step| options.steps.is_empty() || options.steps.contains(step))
    {
        let due = count(engine, &open, step, &taken_back)?;
        if due > 0 {
            report.steps.push(StepReport { step, due, left: due, reference: None, fault: None });
        }
    }
    if options.dry_run || report.steps.is_empty() {
        if !options.dry_run && !open.is_absent() {
            note_maintained(engine, &open, false);
        }
        return Ok(report);
    }
    let Some(_alone) = open.turns.maintain.try_lock() else {
        report.fault = Some(RUNNING.to_owned());
        return Ok(report);
    };
    let Some(lease) = lease::take(engine, &open, MAINTAIN)? else {
        report.fault = Some(lease::HELD_ELSEWHERE.to_owned());
        return Ok(report);
    };
    // The previous holder may have appended.
    let level = engine.open(user)?;
    let mut run = Run {
        engine,
        open: &level,
        options,
        lease: &lease,
        prolonged: engine.now(),
        go_on,
        events_left: options.events_max,
        end: None,
    };
    report.steps = run.all(&taken_back)?;
    match run.end {
        Some(End::Stopped) => report.stopped = true,
        Some(End::Lost) => report.fault = Some(lease::HELD_ELSEWHERE.to_owned()),
        None => note_maintained(engine, &open, true),
    }
    Ok(report)
}

/// Why a run ended early.
enum End {
    /// The caller stopped it.
    Stopped,
    /// The lease expired, and another process has taken it.
    Lost,
}

/// A run that holds the lease.
struct Run<'a> {
    engine: &'a Engine,
    open: &'a OpenMemory,
    options: &'a MaintainOptions,
    lease: &'a Lease<'a>,
    prolonged: Timestamp,
    go_on: &'a mut dyn FnMut() -> bool,
    /// Remaining budget of events for evolution, reflection and compaction.
    events_left: usize,
    end: Option<End>,
}

impl Run<'_> {
    /// Runs the due steps in order. What is due is computed before each step, since a step may make later ones due.
    fn all(&mut self, taken_back: &TakenBack) -> Result<Vec<StepReport>> {
        let (wanted, mut reports) = (&self.options.steps, Vec::new());
        for step in MaintenanceStep::ALL.into_iter().filter(|step| wanted.is_empty() || wanted.contains(step)) {
            let due = count(self.engine, self.open, step, taken_back)?;
            if due == 0 {
                continue;
            }
            let mut one = StepReport { step, due, left: due, reference: None, fault: None };
            if self.goes_on()? {
                match self.take(step) {
                    Ok((reference, fault)) => (one.reference, one.fault) = (reference, fault),
                    Err(error) => one.fault = Some(error.to_string()),
                }
                one.left = count(self.engine, self.open, step, taken_back)?;
            }
            reports.push(one);
        }
        Ok(reports)
    }

    /// Returns true if the run should continue. Extends the lease if necessary.
    fn goes_on(&mut self) -> Result<bool> {
        if self.end.is_some() {
            return Ok(false);
        }
        if !(self.go_on)() {
            self.end = Some(End::Stopped);
            return Ok(false);
        }
        let now = self.engine.now();
        if now.duration_since(self.prolonged) >= PROLONG_AFTER {
            if !self.lease.prolong()? {
                self.end = Some(End::Lost);
                return Ok(false);
            }
            self.prolonged = now;
        }
        Ok(true)
    }

    /// Runs one step. Returns the reference of its events, and why it did not finish.
    fn take(&mut self, step: MaintenanceStep) -> Result<(Option<String>, Option<String>)> {
        let (engine, user) = (self.engine, self.open.user());
        let limited = ConsolidateOptions { dry_run: false, events_max: self.events_left };
        let fault = match step {
            MaintenanceStep::Read => {
                self.read()?;
                None
            }
            MaintenanceStep::Study => {
                let of = ExtractWithModelOptions {
                    sources_max: self.options.sources_max,
                    ..ExtractWithModelOptions::default()
                };
                extract_with_model::extract_while(engine, user, &of, &mut || self.goes_on())?.fault
            }
            MaintenanceStep::Summarize => {
                let mut left = self.options.items_max;
                let mut go_on = || {
                    let goes_on = left > 0 && self.goes_on()?;
                    left = left.saturating_sub(1);
                    Ok(goes_on)
                };
                summarize::summarize_while(engine, user, &SummarizeOptions::default(), &mut go_on)?.fault
            }
            MaintenanceStep::Episodes => {
                episodes::tell_episodes_while(engine, user, &mut || self.goes_on())?;
                None
            }
            MaintenanceStep::Hits => {
                hits::flush_hits(engine, user)?;
                None
            }
            MaintenanceStep::Evolve => {
                let within = EvolveOptions { events_max: self.events_left, ..EvolveOptions::default() };
                let done = evolve::evolve(engine, user, &within)?;
                self.appended(done.patterns.iter().filter(|one| one.event_seq.is_some()).count());
                None
            }
            MaintenanceStep::Reflect => {
                let done = reflect::reflect(engine, user, &limited)?;
                self.appended(done.done.len());
                return Ok((done.reference, done.fault));
            }
            MaintenanceStep::Compact => {
                let done = compact::compact(engine, user, &limited)?.grown;
                self.appended(done.done.len());
                return Ok((done.reference, None));
            }
            MaintenanceStep::Files => {
                files::level(engine, user, VaultOptions::default())?;
                None
            }
        };
        Ok((None, fault))
    }

    fn appended(&mut self, events: usize) {
        self.events_left = self.events_left.saturating_sub(events);
    }

    fn read(&mut self) -> Result<()> {
        let mut left = self.options.items_max;
        while left > 0 && self.goes_on()? {
            let most = left.min(READ_AT_ONCE);
            let read = unread::catch_up(self.engine, self.open, most, &mut |_, _| {})?;
            if read < most {
                break;
            }
            left = left.saturating_sub(read);
        }
        checkpoint::after_append(self.engine, self.open, false, &mut |_| {});
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_something_is_said_in_the_singular() {
        for step in MaintenanceStep::ALL {
            let (one, two) = (step.counted(1), step.counted(2));
            assert!(one.starts_with("1 ") && two.starts_with("2 "), "{one}, {two}");
            assert_ne!(one.trim_start_matches("1 "), two.trim_start_matches("2 "));
        }
        assert_eq!(MaintenanceStep::Read.counted(1), "1 message to read");
    }
}
