//! Summaries: turns closed exchanges of a session into lines of its turn log and changes of its base truth.
//!
//! What is due is computed from the state: an exchange is due if it is closed and has no summary. After a failure it is
//! still due, and summarised with the next turn of the session, oldest first. Only one command at a time summarises a
//! session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quipu_core::Memory;
use quipu_core::event::{Actor, Draft, Origin, SourceKind};
use quipu_core::id::{EventId, ItemId, Seq, UserId};
use quipu_core::limit;
use quipu_core::session::{self, Exchange, KnownEntry, SessionDecisionInput, Summarized, SummaryProposal};
use quipu_core::source::Role;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::lock::{Mutex, MutexGuard, Rank, before_slow_call};
use crate::memory::GoOn;
use crate::memory::OpenMemory;
use crate::memory::checkpoint;
use crate::memory::commit;
use crate::memory::lease;
use crate::memory::scan;
use crate::ports::summarizer::{SummarizeError, Summarizer, SummaryInput};
use crate::sessions::base_truth::{self, Consolidated};

/// Prefix of the rationale of a summary.
const SUMMARIZED_BY: &str = "summarised by ";
/// Beginning of the name of the lease under which a remote model summarises a session, whose id follows.
const SUMMARIZE: &str = "summarize:";
/// Number of idle session locks that are kept.
const IDLE_TURNS_KEPT: usize = 64;
/// Retries after a malformed answer.
const RETRIES: usize = 1;

/// Per-session state of an engine outside the memory.
pub(crate) struct SessionLocks {
    /// One lock per session, so that its exchanges are summarised in order.
    turns: Mutex<BTreeMap<String, Arc<Mutex<()>>>>,
    /// Exchanges whose summary was reverted or erased by a person, by their first source; computed on demand.
    left_alone: Mutex<Option<BTreeSet<ItemId>>>,
}

impl Default for SessionLocks {
    fn default() -> Self {
        Self { turns: Mutex::new(Rank::Detail, BTreeMap::new()), left_alone: Mutex::new(Rank::Detail, None) }
    }
}

impl SessionLocks {
    /// The lock of a session.
    pub(crate) fn turn(&self, session: &str) -> Arc<Mutex<()>> {
        let mut turns = self.turns.lock();
        if turns.len() > IDLE_TURNS_KEPT {
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        turns.entry(session.to_owned()).or_insert_with(|| Arc::new(Mutex::new(Rank::Turn, ()))).clone()
    }

    /// Must be called after events were reverted or erased.
    pub(crate) fn forget(&self) {
        *self.left_alone.lock() = None;
    }
}

/// Locks a session.
pub(crate) fn wait(turn: &Mutex<()>) -> MutexGuard<'_, ()> {
    // The lock protects an order and no data, so poisoning can be ignored.
    turn.lock()
}

/// Result of summarising.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SummarizeReport {
    /// Exchanges that were summarised, in order.
    pub summarized: Vec<Summarized>,
    /// Consolidations that were due.
    pub consolidated: Vec<Consolidated>,
    /// Why the rest was not summarised, if so.
    pub fault: Option<String>,
}

impl SummarizeReport {
    /// Combines two reports.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.summarized.extend(other.summarized);
        self.consolidated.extend(other.consolidated);
        self.fault = self.fault.or(other.fault);
        self
    }
}

/// Options of summarising.
#[derive(Debug, Clone, Default)]
pub struct SummarizeOptions {
    /// Only this session.
    pub session: Option<String>,
    /// Includes exchanges whose summary was reverted or erased.
    pub again: bool,
}

/// Summarises every closed exchange without a summary. What fails now is due again at a later command.
///
/// # Errors
/// `Invalid` if the engine has no summariser; `NotFound` if there is no such session; otherwise as for every append.
pub fn summarize(engine: &Engine, user: &UserId, options: &SummarizeOptions) -> Result<SummarizeReport> {
    summarize_while(engine, user, options, &mut || Ok(true))
}

/// As [`summarize`], while `go_on` returns true; it is called before each exchange.
pub(crate) fn summarize_while(
    engine: &Engine,
    user: &UserId,
    options: &SummarizeOptions,
    go_on: GoOn<'_>,
) -> Result<SummarizeReport> {
    if engine.summarizer.is_none() {
        return Err(Error::Invalid("this engine has no summariser: give it one when it is made".to_owned()));
    }
    let open = engine.open(user)?;
    let sessions: Vec<String> = {
        let state = open.read();
        match &options.session {
            Some(session) => {
                base_truth::must_have(&state.memory, session)?;
                vec![session.clone()]
            }
            None => state.memory.sessions().iter().map(|session| session.id.to_string()).collect(),
        }
    };
    let mut all = SummarizeReport::default();
    for session in sessions {
        let one = run_while(engine, &open, &session, options.again, go_on)?;
        all.summarized.extend(one.summarized);
        all.consolidated.extend(one.consolidated);
        if one.fault.is_some() {
            all.fault = one.fault;
            break;
        }
    }
    checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(all)
}

/// Returns true if the summariser calls an external model and may take seconds. It then runs only on request.
pub(crate) fn is_outside(engine: &Engine) -> bool {
    engine.summarizer.as_ref().is_some_and(|summarizer| summarizer.asks_outside())
}

/// Summarises the exchange that a turn has closed, after earlier ones that are due.
pub(crate) fn after_turn(engine: &Engine, open: &OpenMemory, session: &str) -> Result<SummarizeReport> {
    if is_outside(engine) {
        return Ok(SummarizeReport::default());
    }
    let mut left = limit::SUMMARIES_PER_TURN_MAX;
    run_while(engine, open, session, false, &mut || {
        let goes_on = left > 0;
        left = left.saturating_sub(1);
        Ok(goes_on)
    })
}

/// Summarises every due exchange of a session, and consolidates if that is due.
pub(crate) fn run(engine: &Engine, open: &OpenMemory, session: &str) -> Result<SummarizeReport> {
    run_while(engine, open, session, false, &mut || Ok(true))
}

/// As [`run`], while `go_on` returns true; it is called before each exchange. With `again`, includes reverted
/// summaries.
fn run_while(
    engine: &Engine,
    open: &OpenMemory,
    session: &str,
    again: bool,
    go_on: GoOn<'_>,
) -> Result<SummarizeReport> {
    let mut report = SummarizeReport::default();
    let Some(summarizer) = &engine.summarizer else { return Ok(report) };
    let turn = open.sessions.turn(session);
    let _order = wait(&turn);
    let mut lease = None;
    if summarizer.asks_outside() && !open.is_absent() {
        if due(open, session, again)?.is_empty() {
            return Ok(report);
        }
        lease = lease::take(engine, open, &format!("{SUMMARIZE}{session}"))?;
        if lease.is_none() {
            report.fault = Some(lease::HELD_ELSEWHERE.to_owned());
            return Ok(report);
        }
        // The previous holder may have summarised some of them.
        let _level = engine.open(open.user())?;
    }
    for opening in due(open, session, again)? {
        if !go_on()? {
            break;
        }
        if let Some(lease) = &lease
            && !lease.prolong()?
        {
            report.fault = Some(lease::HELD_ELSEWHERE.to_owned());
            break;
        }
        match tell(engine, open, summarizer.as_ref(), session, opening, None)? {
            Ok(told) => report.summarized.extend(told),
            Err(fault) => {
                report.fault = Some(fault);
                break;
            }
        }
        match base_truth::consolidate_if_due(engine, open, summarizer.as_ref(), session) {
            Ok(done) => report.consolidated.extend(done),
            // It is due again at the next turn.
            Err(Error::Unavailable(fault)) => report.fault = Some(fault),
            Err(other) => return Err(other),
        }
    }
    Ok(report)
}

/// The due exchanges of a session, oldest first, by their first sources.
fn due(open: &OpenMemory, session: &str, again: bool) -> Result<Vec<ItemId>> {
    let untold: Vec<ItemId> = {
        let state = open.read();
        let all = session::exchanges(&state.memory, session);
        all.iter().filter(|one| one.is_closed && one.summary.is_none()).map(Exchange::opening).collect()
    };
    if untold.is_empty() || again {
        return Ok(untold);
    }
    let left = left_alone(open)?;
    Ok(untold.into_iter().filter(|opening| !left.contains(opening)).collect())
}

/// Number of due exchanges of all sessions.
pub(crate) fn waiting(open: &OpenMemory) -> Result<usize> {
    let untold: Vec<ItemId> = {
        let state = open.read();
        let sessions = state.memory.sessions();
        let all = sessions.iter().flat_map(|one| session::exchanges(&state.memory, &one.id));
        all.filter(|one| one.is_closed && one.summary.is_none()).map(|one| one.opening()).collect()
    };
    if untold.is_empty() {
        return Ok(0);
    }
    let left = left_alone(open)?;
    Ok(untold.iter().filter(|opening| !left.contains(opening)).count())
}

/// Exchanges whose summary a person reverted or erased; summarising them again would undo that.
pub(crate) fn left_alone(open: &OpenMemory) -> Result<BTreeSet<ItemId>> {
    let known = open.sessions.left_alone.lock().clone();
    if let Some(known) = known {
        return Ok(known);
    }
    let (head, gone) = {
        let state = open.read();
        let erased = state.history.erasures().keys().map(|change| change.seq);
        let gone: BTreeSet<Seq> = state.memory.skipped().iter().copied().chain(erased).collect();
        (state.memory.seq(), gone)
    };
    let mut found = BTreeSet::new();
    if !gone.is_empty() {
        scan::headers(open.writer()?.ledger.as_mut(), 1..=head, &mut |header| {
            let tells = header.rationale.as_ref().is_some_and(|why| why.starts_with(SUMMARIZED_BY));
            if tells && gone.contains(&header.seq) {
                found.extend(header.origin.reference.as_ref().and_then(|name| name.parse::<ItemId>().ok()));
            }
        })?;
    }
    *open.sessions.left_alone.lock() = Some(found.clone());
    Ok(found)
}

/// Summarises one exchange. The inner `Err` says why it cannot be done now.
fn tell(
    engine: &Engine,
    open: &OpenMemory,
    summarizer: &dyn Summarizer,
    session: &str,
    opening: ItemId,
    cause: Option<EventId>,
) -> Result<std::result::Result<Option<Summarized>, String>> {
    let found = {
        let state = open.read();
        let all = session::exchanges(&state.memory, session);
        let exchange = all.iter().find(|one| one.summary.is_none() && one.opening() == opening);
        exchange.map(|exchange| (telling(engine, &state.memory, session, exchange), sources(exchange)))
    };
    let Some((telling, told_from)) = found else { return Ok(Ok(None)) };
    before_slow_call("the summariser");
    let proposal = match propose(summarizer, &telling) {
        Ok(proposal) => proposal,
        Err(fault) => return Ok(Err(format!("turn {} of session {session:?}: {fault}", telling.turn))),
    };
    let mut report = None;
    commit::commit(engine, open, None, &mut |state| {
        report = None;
        let all = session::exchanges(&state.memory, session);
        let same = |one: &&Exchange<'_>| one.summary.is_none() && sources(one) == told_from;
        // The exchange was reverted, erased or extended meanwhile; it is due later.
        let Some(exchange) = all.iter().find(same) else { return Ok(Vec::new()) };
        let case = SessionDecisionInput { memory: &state.memory, session, exchange, options: &engine.sessions };
        let (changes, told) = session::summarize(&case, proposal.as_ref(), &mut |kind| engine.new_item_id(kind));
        report = Some(told);
        let how = if proposal.is_some() { "" } else { ": no proposal came of it, the words stand for themselves" };
        Ok(vec![Draft {
            origin: Origin {
                reference: Some(opening.to_string()),
                session: Some(session.to_owned()),
                ..Origin::of(SourceKind::Inferred)
            },
            rationale: Some(format!("{SUMMARIZED_BY}{}{how}", summarizer.id())),
            caused_by: cause.into_iter().collect(),
            ..Draft::new(Actor::System, SourceKind::Inferred, changes)
        }])
    })?;
    Ok(Ok(report))
}

/// Calls the summariser; `None` if every answer was malformed.
fn propose(
    summarizer: &dyn Summarizer,
    telling: &SummaryInput,
) -> std::result::Result<Option<SummaryProposal>, SummarizeError> {
    for _ in 0..=RETRIES {
        match summarizer.summarize(telling) {
            Ok(proposal) => return Ok(Some(proposal)),
            Err(SummarizeError::Malformed(_)) => {}
            Err(unavailable) => return Err(unavailable),
        }
    }
    Ok(None)
}

fn sources(exchange: &Exchange<'_>) -> Vec<ItemId> {
    exchange.sources.iter().map(|held| held.source.id).collect()
}

fn telling(engine: &Engine, memory: &Memory, session: &str, exchange: &Exchange<'_>) -> SummaryInput {
    SummaryInput {
        whose: memory.user().clone(),
        session: session.to_owned(),
        turn: exchange.turn,
        user: exchange.text_of(Role::User),
        assistant: exchange.text_of(Role::Assistant),
        depth: session::depth(exchange, &engine.sessions),
        base_truth: base_truth::in_force(memory, session).map(KnownEntry::from).collect(),
    }
}

/// Summarises again what lost its summary with a reverted or erased source, but not summaries that were themselves
/// reverted.
pub(crate) fn retell(
    engine: &Engine,
    open: &OpenMemory,
    before: &Memory,
    by_hand: &BTreeSet<Seq>,
    cause: EventId,
) -> Result<()> {
    let Some(summarizer) = engine.summarizer.as_ref().filter(|one| !one.asks_outside()) else { return Ok(()) };
    let lost: Vec<(String, ItemId)> = {
        let state = open.read();
        let memory = &state.memory;
        let told = before.items().sessions();
        let mut lost = Vec::new();
        for session in told.names() {
            for exchange in session::exchanges(memory, session) {
                let by = exchange.sources.iter().filter_map(|held| told.told_at(held.source.id)).next();
                let kept = by.is_some_and(|seq| !by_hand.contains(&seq) && !memory.skipped().contains(&seq));
                if kept && exchange.summary.is_none() && exchange.is_closed {
                    lost.push((session.to_owned(), exchange.opening()));
                }
            }
        }
        lost
    };
    for (session, opening) in lost {
        let turn = open.sessions.turn(&session);
        let _order = wait(&turn);
        // What fails now is due later, like any other exchange.
        if tell(engine, open, summarizer.as_ref(), &session, opening, Some(cause))?.is_err() {
            break;
        }
    }
    Ok(())
}
