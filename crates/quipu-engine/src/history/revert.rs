//! Revert: excludes earlier events from the memory. Nothing is deleted; reverting the revert restores them.

use std::collections::BTreeSet;

use quipu_core::difference::{Difference, difference};
use quipu_core::event::{Actor, Change, Draft, Header, SourceKind};
use quipu_core::id::{Seq, UserId};
use quipu_core::ledger::SealedEvent;
use quipu_core::limit;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::after_revert;
use crate::history::versions::{self, EventRef, When};
use crate::memory::MemoryRef;
use crate::memory::scan;
use crate::memory::{OpenMemory, State, fold};
use crate::memory::{Receipt, commit};
use crate::memory::{Watch, checkpoint};
use crate::ports::UserLedger;
use crate::read::recall::{self, AtVersion, RecallOptions};
use crate::sessions::episodes;
use crate::sessions::summarize;

/// Which events to revert.
#[derive(Debug, Clone)]
pub enum Selection {
    /// The given events.
    Events(Vec<EventRef>),
    /// Every event with this reference (an import, file or message), and the event of its own that recorded a message of
    /// this id.
    Reference(String),
    /// Every event of a session.
    Session(String),
    /// Every event after a version.
    Since(When),
}

/// Options of a revert.
#[derive(Debug, Clone, Default)]
pub struct RevertOptions {
    /// The reason to record.
    pub rationale: Option<String>,
    /// Questions whose first answers are compared before and after, in a preview.
    pub probes: Vec<String>,
}

/// The answer to a question before and after a revert.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RevertProbe"))]
pub struct Probe {
    /// The question.
    pub query: String,
    /// The first answer now: item and text.
    pub before: Option<(String, String)>,
    /// The first answer after the revert.
    pub after: Option<(String, String)>,
}

/// What a revert would do.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevertPreview {
    /// The events that would no longer count.
    pub events: Vec<Seq>,
    /// How the memory would differ. Its new orphans are the events that do not apply without the reverted ones.
    pub difference: Difference,
    /// Events that depend on them in part; their other statements would be recorded again.
    pub restored: Vec<Seq>,
    /// Results of the probes.
    pub probes: Vec<Probe>,
}

/// Reverts events.
///
/// Returns once the revert is durable and readers see the memory without the events.
///
/// # Errors
/// `NotFound` if an event does not exist or nothing is selected; `Refused` if all are reverted already, or if one is an
/// erasure or a fork, which cannot be undone.
pub fn revert<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    selection: &Selection,
    options: &RevertOptions,
    watch: Watch<'_>,
) -> Result<(Receipt, Difference)> {
    let open = engine.open(memory)?;
    let events = select(&open, selection)?;
    let before = open.read().memory.clone();
    let (receipts, restored) =
        take_back_events(engine, &open, &events, options.rationale.as_deref(), &mut |_| Ok(Vec::new()))?;
    let missing = || Error::Bug("a revert made no event".to_owned());
    let mut receipt = receipts.into_iter().next_back().ok_or_else(missing)?;
    let difference = without(difference(&before, &open.read().memory), &restored);
    let lag = checkpoint::after_append(engine, &open, false, watch);
    receipt.finish(&open, lag);
    Ok((receipt, difference))
}

/// Reverts events together with other decisions, all or nothing. The revert is appended after the other decisions. If
/// `events` is empty, no revert is appended.
pub(crate) fn take_back(
    engine: &Engine,
    open: &OpenMemory,
    events: &[Seq],
    rationale: Option<&str>,
    besides: &mut dyn FnMut(&State) -> Result<Vec<Draft>>,
) -> Result<Vec<Receipt>> {
    take_back_events(engine, open, events, rationale, besides).map(|(receipts, _)| receipts)
}

/// As [`take_back`]; also returns the orphans that are recorded again.
fn take_back_events(
    engine: &Engine,
    open: &OpenMemory,
    events: &[Seq],
    rationale: Option<&str>,
    besides: &mut dyn FnMut(&State) -> Result<Vec<Draft>>,
) -> Result<(Vec<Receipt>, BTreeSet<Seq>)> {
    let before = open.read().memory.clone();
    let mut restored = BTreeSet::new();
    let mut decided = 0;
    let mut receipts = commit::commit_planned(engine, open, None, &mut |ledger| {
        let planned = plan(engine, open, ledger, events, rationale, besides)?;
        (decided, restored) = (planned.decided, planned.restored);
        Ok(planned.events)
    })?;
    receipts.truncate(decided);
    if let Some(last) = receipts.last_mut().filter(|_| !events.is_empty()) {
        // The revert is durable. Exchanges that cannot be summarised now stay marked and are summarised later.
        let retold = summarize::retell(engine, open, &before, &BTreeSet::new(), last.event_id);
        last.lag =
            retold.err().map(|error| format!("it is recorded, but sessions are not summarised again yet: {error}"));
    }
    Ok((receipts, restored))
}

/// The events to append for a revert.
struct Planned {
    events: Vec<SealedEvent>,
    /// Number of events that were decided; the others follow from them.
    decided: usize,
    /// The orphans that are recorded again.
    restored: BTreeSet<Seq>,
}

/// Computes everything a revert appends: other decisions, the revert, and its consequences. All of it is appended in
/// one step, so a crash cannot separate a revert from its consequences.
fn plan(
    engine: &Engine,
    open: &OpenMemory,
    ledger: &mut dyn UserLedger,
    events: &[Seq],
    rationale: Option<&str>,
    besides: &mut dyn FnMut(&State) -> Result<Vec<Draft>>,
) -> Result<Planned> {
    let selected = after_revert::with_consequences(ledger, events)?;
    let (drafts, reverted, before, history) = {
        let state = open.read();
        let drafts = besides(&state)?;
        let reverted = if selected.is_empty() { Vec::new() } else { decide(&state, &selected)? };
        (drafts, reverted, state.memory.clone(), state.history.clone())
    };
    let mut ahead = if reverted.is_empty() {
        before.clone()
    } else {
        let skipped = history.skipped_with(before.seq(), &reverted);
        fold::fold_skipping(ledger, before.user(), skipped, before.seq())?
    };
    let mut planned = Planned { events: Vec::new(), decided: 0, restored: BTreeSet::new() };
    for draft in drafts {
        planned.events.push(commit::seal_next(engine, Some(&before), &mut ahead, draft)?);
    }
    if !reverted.is_empty() {
        let draft = Draft {
            rationale: rationale.map(str::to_owned),
            ..Draft::new(Actor::User, SourceKind::UserEdited, vec![Change::Reverted { events: reverted }])
        };
        let revert = commit::seal_next(engine, Some(&before), &mut ahead, draft)?;
        let cause = revert.id;
        planned.events.push(revert);
        planned.decided = planned.events.len();
        let settled = after_revert::settle(engine, ledger, &before, &mut ahead, cause)?;
        planned.events.extend(settled.events);
        planned.restored = settled.kept;
        planned.events.extend(episodes::retold(engine, &before, &mut ahead, cause)?);
    } else {
        planned.decided = planned.events.len();
    }
    Ok(planned)
}

/// Removes the orphans that are recorded again from a difference.
fn without(mut difference: Difference, restored: &BTreeSet<Seq>) -> Difference {
    difference.orphans_new.retain(|orphan| !restored.contains(&orphan.seq));
    difference
}

/// Previews a revert. Appends nothing.
///
/// # Errors
/// As [`revert`].
pub fn preview_revert(
    engine: &Engine,
    user: &UserId,
    selection: &Selection,
    options: &RevertOptions,
) -> Result<RevertPreview> {
    let open = engine.open(user)?;
    let selected = select(&open, selection)?;
    let selected = after_revert::with_consequences(open.writer()?.ledger.as_mut(), &selected)?;
    let (events, before, history) = {
        let state = open.read();
        (decide(&state, &selected)?, state.memory.clone(), state.history.clone())
    };
    let (after, restored) = {
        let mut writer = open.writer()?;
        let skipped = history.skipped_with(before.seq(), &events);
        let mut after = fold::fold_skipping(writer.ledger.as_mut(), user, skipped, before.seq())?;
        let cause = engine.new_event_id();
        let settled = after_revert::settle(engine, writer.ledger.as_mut(), &before, &mut after, cause)?;
        (after, settled.kept)
    };
    let difference = without(difference(&before, &after), &restored);
    let restored = restored.into_iter().collect();
    let mut probes = Vec::new();
    if !options.probes.is_empty() {
        let after = versions::view(engine, &open, after)?;
        for query in &options.probes {
            let asked = RecallOptions { k: 1, ..RecallOptions::of(query) };
            let first = |answers: recall::RecallReport| {
                answers.hits.into_iter().next().map(|hit| (hit.id.to_string(), hit.text))
            };
            let now = first(recall::recall_in(engine, &AtVersion::Now(&open), &asked)?);
            let then = first(recall::recall_in(engine, &AtVersion::Other(&after), &asked)?);
            probes.push(Probe { query: query.clone(), before: now, after: then });
        }
    }
    Ok(RevertPreview { events, difference, restored, probes })
}

fn select(open: &OpenMemory, selection: &Selection) -> Result<Vec<Seq>> {
    let mut found: Vec<Seq> = match selection {
        Selection::Events(events) => {
            events.iter().map(|&event| versions::event_position(open, event)).collect::<Result<_>>()?
        }
        Selection::Since(when) => {
            let from = versions::position(open, *when)? + 1;
            let state = open.read();
            (from..=state.memory.seq()).filter(|&seq| !state.history.is_permanent(seq)).collect()
        }
        Selection::Reference(reference) => {
            let mut found = scan(open, &|header| header.origin.reference.as_ref() == Some(reference))?;
            if let Ok(source) = reference.parse() {
                found.extend(fold::own_event(open, source)?);
            }
            found
        }
        Selection::Session(session) => scan(open, &|header| header.origin.session.as_ref() == Some(session))?,
    };
    found.sort_unstable();
    found.dedup();
    match found.len() {
        0 => Err(Error::NotFound("no event matches; `quipu log` lists them".to_owned())),
        many if many > limit::EVENTS_PER_COMMAND_MAX => {
            Err(Error::Invalid(format!("{many} events at once; at most {}", limit::EVENTS_PER_COMMAND_MAX)))
        }
        _ => Ok(found),
    }
}

fn scan(open: &OpenMemory, wanted: &dyn Fn(&Header) -> bool) -> Result<Vec<Seq>> {
    let mut found = Vec::new();
    let head = open.read().memory.seq();
    scan::headers(open.writer()?.ledger.as_mut(), 1..=head, &mut |header| {
        if wanted(&header) {
            found.push(header.seq);
        }
    })?;
    Ok(found)
}

/// The events a revert names; at least one of them must still count.
fn decide(state: &State, selected: &[Seq]) -> Result<Vec<Seq>> {
    if let Some(&fixed) = selected.iter().find(|&&seq| state.history.is_permanent(seq)) {
        return Err(Error::Refused(format!("event {fixed} records an erasure or a fork, which cannot be undone")));
    }
    let skipped = state.memory.skipped();
    // Events that are reverted already are named again: if the earlier revert is among the selected events, they must
    // stay reverted.
    let events = selected.to_vec();
    if events.iter().all(|seq| skipped.contains(seq)) {
        return Err(Error::Refused(
            "these events are reverted already; revert the revert to bring them back".to_owned(),
        ));
    }
    Ok(events)
}
