//! Log: lists the events of a ledger, newest first.

use std::collections::BTreeSet;

use jiff::Timestamp;
use quipu_core::beginning::beginning;
use quipu_core::event::{Actor, Change, Event, SourceKind, Trust};
use quipu_core::id::{EventId, Seq, UserId};
use quipu_core::item::DerivedChange;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::{State, fold::event_at};
use crate::ports::UserLedger;

/// Which events to list.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// Only events before this position. Defaults to all.
    pub before: Option<Seq>,
    /// Most events to list.
    pub limit: usize,
    /// Only events with this reference (an import, file or message).
    pub reference: Option<String>,
}

/// Whether an event counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventStatus {
    /// It counts.
    Counts,
    /// A revert excludes it.
    Reverted,
    /// It no longer applies.
    Orphaned,
}

/// One event in a log.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogEntry {
    /// Position of the event.
    pub seq: Seq,
    /// Id of the event.
    pub id: EventId,
    /// Time of recording.
    pub recorded_at: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// Kind of the source.
    pub source: SourceKind,
    /// The import, file or message.
    pub reference: Option<String>,
    /// Trust of the source.
    pub trust: Trust,
    /// The recorded reason.
    pub rationale: Option<String>,
    /// Short summary of its changes.
    pub summary: String,
    /// Whether it counts.
    pub standing: EventStatus,
    /// Changes whose payload was erased.
    pub erased: usize,
    /// Hash of the event.
    #[cfg_attr(feature = "schema", schemars(with = "quipu_core::schema::HexHash"))]
    pub hash: String,
}

/// Lists events, newest first.
///
/// # Errors
/// `NotFound` if there is no such user; `Corrupt` if an event cannot be read.
pub fn log(engine: &Engine, user: &UserId, options: &LogOptions) -> Result<Vec<LogEntry>> {
    const PAGE: Seq = 256;
    let open = engine.open(user)?;
    let mut writer = open.writer()?;
    let state = open.read();
    let mut until = options.before.map_or(state.memory.seq(), |seq| seq.saturating_sub(1).min(state.memory.seq()));
    let mut entries = Vec::new();
    if let Some(reference) = &options.reference {
        let head = state.memory.seq();
        let ledger = writer.ledger.as_mut();
        if let Some(seqs) = open.origins.newest_of(ledger, head, reference, until + 1, options.limit)? {
            return named(ledger, &state, &seqs);
        }
    }
    while until > 0 && entries.len() < options.limit {
        let left = (options.limit - entries.len()) as Seq;
        // With a reference few events match, so full pages are read.
        let size = if options.reference.is_none() { left.min(PAGE) } else { PAGE };
        let from = until.saturating_sub(size - 1).max(1);
        let mut page = Vec::new();
        writer.ledger.read(from..=until, &mut |sealed| {
            page.push(sealed);
            true
        })?;
        for sealed in page.iter().rev() {
            let event = quipu_core::ledger::open(sealed)?;
            let wanted = options.reference.as_ref().is_none_or(|r| event.header.origin.reference.as_ref() == Some(r));
            if wanted && entries.len() < options.limit {
                entries.push(entry(&state, &event));
            }
        }
        until = from - 1;
    }
    Ok(entries)
}

fn named(ledger: &mut dyn UserLedger, state: &State, seqs: &[Seq]) -> Result<Vec<LogEntry>> {
    seqs.iter().map(|&seq| Ok(entry(state, &event_at(ledger, seq)?))).collect()
}

/// Lists the events that record an erasure, newest first, before a position. No other event is read.
///
/// # Errors
/// As [`log`].
pub fn erasures(engine: &Engine, user: &UserId, before: Option<Seq>, limit: usize) -> Result<Vec<LogEntry>> {
    let open = engine.open(user)?;
    let mut writer = open.writer()?;
    let state = open.read();
    let before = before.unwrap_or(Seq::MAX);
    let seqs: BTreeSet<Seq> = state.history.erasures().values().copied().filter(|&seq| seq < before).collect();
    let newest: Vec<Seq> = seqs.into_iter().rev().take(limit).collect();
    named(writer.ledger.as_mut(), &state, &newest)
}

/// Samples the growth of a ledger: the position reached at each of `points` evenly spaced times from its first event to
/// its last. Reads two events, however many there are.
///
/// # Errors
/// As [`log`].
pub fn growth(engine: &Engine, user: &UserId, points: usize) -> Result<Vec<(Timestamp, Seq)>> {
    let open = engine.open(user)?;
    let mut writer = open.writer()?;
    let head = open.read().memory.seq();
    if head == 0 {
        return Ok(Vec::new());
    }
    let ledger = writer.ledger.as_mut();
    let first = event_at(ledger, 1)?.header.recorded_at;
    let last = event_at(ledger, head)?.header.recorded_at;
    let (from, to) = (first.as_microsecond(), last.as_microsecond());
    let between = points.saturating_sub(2) as i64;
    let mut grown = vec![(first, ledger.position_at(first)?.max(1))];
    for place in 1..=between {
        let at = from + (to - from) / (between + 1) * place;
        let time = Timestamp::from_microsecond(at).map_err(|error| Error::Bug(error.to_string()))?;
        grown.push((time, ledger.position_at(time)?));
    }
    grown.push((last, head));
    Ok(grown)
}

pub(crate) fn entry(state: &State, event: &Event) -> LogEntry {
    let header = &event.header;
    let standing = if state.memory.skipped().contains(&header.seq) {
        EventStatus::Reverted
    } else if state.memory.orphans().iter().any(|orphan| orphan.seq == header.seq) {
        EventStatus::Orphaned
    } else {
        EventStatus::Counts
    };
    LogEntry {
        seq: header.seq,
        id: header.id,
        recorded_at: header.recorded_at,
        actor: header.actor,
        source: header.origin.kind,
        reference: header.origin.reference.clone(),
        trust: header.trust,
        rationale: header.rationale.clone(),
        summary: summary(&event.changes),
        standing,
        erased: event.changes.iter().filter(|change| change.is_none()).count(),
        hash: event.hash.to_hex().to_string(),
    }
}

/// Longest quotation in a summary, in characters.
const QUOTE_CHARS: usize = 60;

pub(crate) fn summary(changes: &[Option<Change>]) -> String {
    let present: Vec<&Change> = changes.iter().flatten().collect();
    match present.as_slice() {
        [] => "erased".to_owned(),
        [Change::SourceRecorded(source)] => {
            let quote = beginning(&source.text, QUOTE_CHARS);
            let dots = if quote.len() < source.text.len() { "…" } else { "" };
            format!("{}: \"{}{dots}\"", source.speaker(), quote)
        }
        [Change::CorePatched(patch) | Change::Drawn(DerivedChange::CoreEdited { patch, .. })] => {
            let edits = patch.0.iter().filter(|op| !matches!(op, json_patch::PatchOperation::Test(_)));
            let paths: Vec<String> = edits.map(|op| op.path().to_string()).take(3).collect();
            format!("core {}", paths.join(", "))
        }
        [Change::Drawn(DerivedChange::CoreFieldsChanged { changes })] => {
            let mut places: Vec<&str> = changes.iter().map(|change| change.at.as_str()).collect();
            places.dedup();
            places.truncate(3);
            format!("core {}", places.join(", "))
        }
        [Change::ItemMarked(mark)] => format!("marked {}", mark.item),
        [Change::Reverted { events }] => format!("reverted {}", ranges(events)),
        [Change::Erased { targets, .. }] => {
            const NAMED_MAX: usize = 5;
            let names: Vec<String> = targets.iter().take(NAMED_MAX).map(ToString::to_string).collect();
            let more = targets.len().saturating_sub(NAMED_MAX);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("erased {}{rest}", names.join(", "))
        }
        [Change::Forked { from, at, .. }] => format!("forked from {from} at {at}"),
        many if many.iter().any(|change| matches!(change, Change::Drawn(_))) => drawn(many),
        many => {
            let turns = many.iter().filter(|change| matches!(change, Change::SourceRecorded(_))).count();
            if turns == many.len() { format!("{turns} sources") } else { format!("{} changes", many.len()) }
        }
    }
}

/// Summary of derived changes in one line: the first two, and the number of the others.
fn drawn(changes: &[&Change]) -> String {
    let said = |change: &&Change| match change {
        Change::Drawn(DerivedChange::FactAsserted { fact, .. }) => Some(format!("fact: {}", fact.text)),
        Change::Drawn(DerivedChange::TaskOpened(task)) => Some(format!("task: {}", task.title)),
        Change::Drawn(DerivedChange::EpisodeRecorded(episode)) => Some(format!("episode: {}", episode.title)),
        Change::Drawn(DerivedChange::NoteRecorded(note)) => Some(format!("note: {}", note.text)),
        Change::Drawn(DerivedChange::TenetRecorded(tenet)) => Some(format!("tenet: {}", tenet.text)),
        Change::Drawn(DerivedChange::ReviewDecided { review, .. }) => Some(format!("decided {review}")),
        Change::Drawn(DerivedChange::ItemRetracted { item, .. }) => Some(format!("took back {item}")),
        Change::Drawn(DerivedChange::TurnSummarized(told)) => Some(format!("turn {} of {}", told.turn, told.session)),
        Change::Drawn(DerivedChange::BaseTruthAdded(truth)) => Some(format!("{}: {}", truth.kind.as_str(), truth.text)),
        Change::Drawn(DerivedChange::BaseTruthMerged(truth)) => {
            Some(format!("merged {}: {}", truth.kind.as_str(), truth.text))
        }
        Change::Drawn(DerivedChange::BaseTruthRemoved { truth, .. }) => Some(format!("took out {truth}")),
        Change::Drawn(DerivedChange::SessionEnded { session }) => Some(format!("end of session {session}")),
        Change::Drawn(DerivedChange::SchemaPromoted(made)) => {
            Some(format!("promoted {} to {}", made.candidate, made.name))
        }
        Change::Drawn(DerivedChange::ItemsMerged { into, .. }) => Some(format!("merged into {into}")),
        _ => None,
    };
    let lines: Vec<String> = changes.iter().filter_map(said).collect();
    let Some(first) = lines.first() else {
        let mut words: Vec<&str> = changes.iter().map(|change| change.as_str()).collect();
        words.dedup();
        return words.join(", ").replace('_', " ");
    };
    let shown = lines.get(1).map_or_else(|| first.clone(), |second| format!("{first}; {second}"));
    if lines.len() > 2 { format!("{shown}; {} more", lines.len() - 2) } else { shown }
}

/// Formats positions as ranges: `3, 5-9`.
pub fn ranges(seqs: &[Seq]) -> String {
    let mut parts: Vec<(Seq, Seq)> = Vec::new();
    for &seq in seqs {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == seq => *last = seq,
            _ => parts.push((seq, seq)),
        }
    }
    let word = |&(first, last): &(Seq, Seq)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(word).collect::<Vec<_>>().join(", ")
}
