//! Folds changes about sessions into base truths and turn logs.
//!
//! The fold applies decisions and enforces the rules that no order of reverts may violate: an exchange is summarised
//! once, a hard exception is removed by hand only, and a merged entry needs all of its parts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::id::{ItemId, Seq};
use crate::item::{DerivedChange, Truth, TurnSummary};
use crate::limit;

/// The base truths and turn logs of one memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    entries: BTreeMap<ItemId, BaseTruthEntry>,
    logs: BTreeMap<String, Log>,
    /// Summarised sources, each with the event that summarised it.
    #[serde(skip)]
    told: BTreeMap<ItemId, Seq>,
}

/// An entry of a base truth, in force or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaseTruthEntry {
    /// The entry.
    pub truth: Truth,
    /// The event that added it.
    pub seq: Seq,
    /// Its removal, if any.
    pub gone: Option<Gone>,
}

/// The removal of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "BaseTruthRemoval"))]
pub struct Gone {
    /// The event that removed it.
    pub seq: Seq,
    /// The entry that replaces it, if any.
    pub into: Option<ItemId>,
}

/// One session's turn log and base truth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Log {
    /// The summaries, in ledger order.
    turns: Vec<Logged>,
    /// Entries in force, in display order.
    in_force: Vec<ItemId>,
    kept: Vec<BaseTruthSnapshot>,
    /// The turn of the last consolidation.
    consolidated_turn: u32,
    ended: Option<Seq>,
}

/// A line of the turn log and its event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    /// The line.
    pub summary: TurnSummary,
    /// The event.
    pub seq: Seq,
}

/// A snapshot of a base truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaseTruthSnapshot {
    /// The event that recorded it.
    pub seq: Seq,
    /// The newest summarised turn at that time.
    pub turn: u32,
    /// The entries in force.
    pub truths: Vec<Truth>,
}

impl Sessions {
    /// An entry by id, in force or not.
    pub fn entry(&self, id: ItemId) -> Option<&BaseTruthEntry> {
        self.entries.get(&id)
    }

    /// The sessions with recorded changes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.logs.keys().map(String::as_str)
    }

    /// The base truth of a session, in display order.
    pub fn base_truth<'a>(&'a self, session: &str) -> impl Iterator<Item = &'a Truth> {
        let in_force = self.logs.get(session).map_or(&[][..], |log| &log.in_force);
        in_force.iter().filter_map(|id| self.entries.get(id)).map(|entry| &entry.truth)
    }

    /// The turn log of a session, by turn.
    pub fn turns(&self, session: &str) -> Vec<&Logged> {
        let mut turns: Vec<&Logged> = self.logs.get(session).map_or(&[][..], |log| &log.turns).iter().collect();
        turns.sort_by_key(|logged| logged.summary.turn);
        turns
    }

    /// The event that summarised a source.
    pub fn told_at(&self, source: ItemId) -> Option<Seq> {
        self.told.get(&source).copied()
    }

    /// The snapshots of a session's base truth, oldest first.
    pub fn kept(&self, session: &str) -> &[BaseTruthSnapshot] {
        self.logs.get(session).map_or(&[], |log| &log.kept)
    }

    /// The turn of a session's last consolidation; 0 for never.
    pub fn consolidated_turn(&self, session: &str) -> u32 {
        self.logs.get(session).map_or(0, |log| log.consolidated_turn)
    }

    /// The event that ended a session. The caller must check for later sources.
    pub fn ended_at(&self, session: &str) -> Option<Seq> {
        self.logs.get(session).and_then(|log| log.ended)
    }

    /// True if no session has recorded changes.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.logs.is_empty()
    }

    /// Memory use in bytes, estimated.
    pub fn bytes(&self) -> usize {
        let entries: usize = self.entries.values().map(|entry| entry.truth.text.len() + 400).sum();
        let log = |log: &Log| {
            let turns =
                log.turns.iter().map(|one| one.summary.user_summary.len() + one.summary.assistant_summary.len());
            let kept = log.kept.iter().flat_map(|kept| &kept.truths).map(|truth| truth.text.len() + 200);
            turns.map(|length| length + 300).sum::<usize>() + kept.sum::<usize>()
        };
        entries + self.logs.values().map(log).sum::<usize>()
    }

    /// True if a change is ignored because an earlier event summarised its exchange, or because its parts cannot be
    /// merged. A summary restored by a revert of a revert takes precedence over later ones.
    pub(crate) fn passes_over(&self, change: &DerivedChange, seq: Seq) -> bool {
        let by_another = |source: &ItemId| self.told.get(source).is_some_and(|&by| by != seq);
        match change {
            DerivedChange::TurnSummarized(told) => told.sources.iter().any(|source| self.told.contains_key(source)),
            DerivedChange::BaseTruthAdded(truth) => truth.exchange.as_ref().is_some_and(by_another),
            DerivedChange::BaseTruthRemoved { exchange, .. } => exchange.as_ref().is_some_and(by_another),
            DerivedChange::BaseTruthMerged(merged) => !merged.rests_on.iter().all(|&part| self.may_merge(part)),
            _ => false,
        }
    }

    fn may_merge(&self, part: ItemId) -> bool {
        self.entries.get(&part).is_some_and(|entry| entry.gone.is_none() && !entry.truth.is_hard())
    }

    /// Folds in a change that is not ignored; changes not about sessions have no effect.
    pub(crate) fn apply(&mut self, change: DerivedChange, seq: Seq) {
        match change {
            DerivedChange::TurnSummarized(told) => self.tell(*told, seq),
            DerivedChange::BaseTruthAdded(truth) => self.add(*truth, seq),
            DerivedChange::BaseTruthRemoved { truth, exchange } => {
                let may = |entry: &BaseTruthEntry| exchange.is_none() || !entry.truth.is_hard();
                if self.entries.get(&truth).is_some_and(may) {
                    self.take_out(truth, Gone { seq, into: None });
                }
            }
            DerivedChange::BaseTruthMerged(merged) => {
                let place = merged.rests_on.iter().filter_map(|&part| self.place(&merged.session, part)).min();
                let gone = Gone { seq, into: Some(merged.id) };
                merged.rests_on.iter().for_each(|&part| self.take_out(part, gone));
                self.put(*merged, seq, place);
            }
            DerivedChange::BaseTruthKept { session, turn } => {
                let truths = self.base_truth(&session).cloned().collect();
                let log = self.logs.entry(session).or_default();
                log.kept.push(BaseTruthSnapshot { seq, turn, truths });
                let surplus = log.kept.len().saturating_sub(limit::BASE_TRUTH_SNAPSHOTS_KEPT);
                log.kept.drain(..surplus);
                log.consolidated_turn = log.consolidated_turn.max(turn);
            }
            DerivedChange::SessionEnded { session } => self.logs.entry(session).or_default().ended = Some(seq),
            _ => {}
        }
    }

    fn tell(&mut self, mut told: TurnSummary, seq: Seq) {
        self.told.extend(told.sources.iter().map(|&source| (source, seq)));
        let log = self.logs.entry(told.session.clone()).or_default();
        let taken: BTreeSet<u32> = log.turns.iter().map(|logged| logged.summary.turn).collect();
        if taken.contains(&told.turn) {
            // Only after reverts of reverts: a number identifies one turn.
            told.turn = taken.last().map_or(1, |last| last.saturating_add(1));
        }
        log.turns.push(Logged { summary: told, seq });
    }

    fn add(&mut self, truth: Truth, seq: Seq) {
        let by_hand = truth.exchange.is_none();
        let replaced = truth.replaces.filter(|id| {
            let entry = self.entries.get(id);
            entry.is_some_and(|entry| entry.truth.session == truth.session && (by_hand || !entry.truth.is_hard()))
        });
        let place = replaced.and_then(|id| self.place(&truth.session, id));
        if let Some(id) = replaced {
            self.take_out(id, Gone { seq, into: Some(truth.id) });
        }
        self.put(truth, seq, place);
    }

    fn put(&mut self, truth: Truth, seq: Seq, place: Option<usize>) {
        let in_force = &mut self.logs.entry(truth.session.clone()).or_default().in_force;
        let end = in_force.len();
        in_force.insert(place.unwrap_or(end).min(end), truth.id);
        self.entries.insert(truth.id, BaseTruthEntry { truth, seq, gone: None });
    }

    fn place(&self, session: &str, id: ItemId) -> Option<usize> {
        self.logs.get(session)?.in_force.iter().position(|&held| held == id)
    }

    fn take_out(&mut self, id: ItemId, gone: Gone) {
        let Some(entry) = self.entries.get_mut(&id).filter(|entry| entry.gone.is_none()) else { return };
        entry.gone = Some(gone);
        if let Some(log) = self.logs.get_mut(&entry.truth.session) {
            log.in_force.retain(|&held| held != id);
        }
    }

    /// Rebuilds the indexes; call after reading a snapshot.
    pub(crate) fn restore(&mut self) {
        let turns = self.logs.values().flat_map(|log| &log.turns);
        self.told =
            turns.flat_map(|logged| logged.summary.sources.iter().map(|&source| (source, logged.seq))).collect();
    }
}
