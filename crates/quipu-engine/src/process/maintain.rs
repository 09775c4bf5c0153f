//! Maintenance: everything that is due, one step after the other. One process at a time does it for a user, under a lease.
//!
//! What is due is a predicate over state ("there are words nobody read", "these say the same"), not a queue: a step that was
//! cut short is simply still due. A step that fails says so, stays due, and keeps no other from being taken.

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

/// The lease under which everything that is due is done.
const MAINTAIN: &str = "maintain";
/// How long a run goes on before it prolongs its lease: well below the time that a lease lasts.
const PROLONG_AFTER: SignedDuration = SignedDuration::from_secs(20);
/// How old the note of the last run is at least before a run that found nothing to do writes another.
const NOTED_EVERY: SignedDuration = SignedDuration::from_mins(10);
/// Messages that rules read before a run looks whether it is to stop.
const READ_AT_ONCE: usize = 8;
/// Why a run did nothing.
const RUNNING: &str = "maintenance of this memory is already running in this process";

/// Asked before each piece of a step; the step ends early where it says no.
pub(crate) type GoOn<'a> = &'a mut dyn FnMut() -> Result<bool>;

/// What may be due, in the order in which it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintenanceStep {
    /// Rules read what was recorded and not read.
    Read,
    /// A language model reads what it has not read.
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
    /// Plain files are brought level with the ledger, where they are kept.
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

    /// Its name.
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
            Self::Files => ("folder of plain files behind", "folders of plain files behind"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

/// What to do.
#[derive(Debug, Clone)]
pub struct MaintainOptions {
    /// Only say what is due.
    pub dry_run: bool,
    /// Only these steps; all if empty.
    pub steps: Vec<MaintenanceStep>,
    /// At most so many events of evolution, reflection and compaction.
    pub events_max: usize,
    /// At most so many sources for the language model. What a model may cost besides is its endpoint's own budget.
    pub sources_max: usize,
    /// At most so many messages that rules read, and so many exchanges that are summarised. Default: all.
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

/// A step and how much of it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Due {
    /// Which.
    pub step: MaintenanceStep,
    /// How much.
    pub count: usize,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// Which.
    pub step: MaintenanceStep,
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
pub struct MaintenanceReport {
    /// True if nothing was appended.
    pub dry_run: bool,
    /// Every step with something to do, in order.
    pub steps: Vec<StepReport>,
    /// True if the caller stopped it before its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// Why the run ended early or did nothing: another process does the same. What is left stays due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What is due, without doing it. Steps with nothing to do are left out.
///
/// # Errors
/// `NotFound` without such a user; what the store said.
pub fn due(engine: &Engine, user: &UserId) -> Result<Vec<Due>> {
    let open = engine.open(user)?;
    let taken_back = consolidate::taken_back(&open)?;
    let one = |step| Ok(Due { step, count: count(engine, &open, step, &taken_back)? });
    let all = MaintenanceStep::ALL.into_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().filter(|due| due.count > 0).collect())
}

/// When what was due for a user was last done, by this process or another, if it ever was.
///
/// # Errors
/// What the store said.
pub fn maintained_at(engine: &Engine, user: &UserId) -> Result<Option<Timestamp>> {
    last_maintained(&engine.open(user)?)
}

/// The same of an open memory.
pub(crate) fn last_maintained(open: &OpenMemory) -> Result<Option<Timestamp>> {
    let mut writer = open.writer()?;
    let head = writer.ledger.head()?.seq;
    open.maintained.refresh(writer.ledger.as_mut(), head)?;
    let noted = open.maintained.get().0;
    Ok(noted)
}

/// When what is due of a memory was last done. It is a cursor, so every process sees it.
pub(crate) type Maintained = Cursor<MaintainedAt>;

/// When what is due of a memory was last done.
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

/// Notes that everything that is due was done. One that cannot be written now is written the next time.
fn note_maintained(engine: &Engine, open: &OpenMemory, is_done: bool) {
    let now = engine.now();
    let noted = open.maintained.get().0;
    // Whoever finds nothing to do writes as seldom as that is of use.
    let is_recent = |at: Timestamp| now.duration_since(at).abs() < NOTED_EVERY;
    if is_done || !noted.is_some_and(is_recent) {
        let _ = open.maintained.save(open, MaintainedAt(Some(now)));
    }
}

fn count(engine: &Engine, open: &OpenMemory, step: MaintenanceStep, taken_back: &TakenBack) -> Result<usize> {
    // These ask the ledger or the files, which nobody does who holds the memory.
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
/// May be called at any time and as often as one likes: where nothing is due it appends nothing and asks nobody. Of several
/// calls for the same user, in this process or others, one does the work; the others report why they did nothing.
///
/// # Errors
/// `NotFound` without such a user. What goes wrong in a step is no error: the report says so, and the step stays due.
pub fn maintain(engine: &Engine, user: &UserId, options: &MaintainOptions) -> Result<MaintenanceReport> {
    maintain_while(engine, user, options, &mut || true)
}

/// Does what is due as long as `go_on` says so.
///
/// It is asked before each step, and before each message, exchange and session within a step: whoever wants to stop waits for
/// one of these at most, which may be one question to a model.
///
/// # Errors
/// As [`tend`].
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
    // Whoever held it before may have appended.
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
    /// Its caller said so.
    Stopped,
    /// Its lease ended, and another process has it.
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
    /// Events that evolution, reflection and compaction may still append.
    events_left: usize,
    end: Option<End>,
}

impl Run<'_> {
    /// Takes every step that is due by its turn: one step may make another one due.
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

    /// True if the run is to go on. Prolongs the lease where that is due.
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
            if !self.lease.prolong(self.engine)? {
                self.end = Some(End::Lost);
                return Ok(false);
            }
            self.prolonged = now;
        }
        Ok(true)
    }

    /// Takes one step: what its events share, and why it did not come to its end.
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
