//! Determines which events count at a version: reverts, and reverts of reverts.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Change, ChangeRef, Event};
use crate::id::{Seq, UserId};

/// The control events of a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    reverts: BTreeMap<Seq, Vec<Seq>>,
    erasures: BTreeMap<ChangeRef, Seq>,
    forks: BTreeMap<Seq, (UserId, Seq)>,
}

impl History {
    /// Records an event. Events may come in any order and more than once.
    pub fn note(&mut self, event: &Event) {
        let seq = event.header.seq;
        for change in event.changes.iter().flatten() {
            match change {
                Change::Reverted { events } => self.reverts.entry(seq).or_default().extend(events),
                Change::Erased { targets, .. } => {
                    for target in targets {
                        self.erasures.entry(*target).or_insert(seq);
                    }
                }
                Change::Forked { from, at, .. } => {
                    self.forks.insert(seq, (from.clone(), *at));
                }
                _ => {}
            }
        }
    }

    /// Events that do not count at a version.
    ///
    /// Only a later event can revert an earlier one, so the newest revert always counts, and processing the others from
    /// newest to oldest settles them: a reverted revert has no effect.
    pub fn skipped_at(&self, version: Seq) -> BTreeSet<Seq> {
        let mut skipped = BTreeSet::new();
        for (&seq, targets) in self.reverts.range(..=version).rev() {
            if !skipped.contains(&seq) {
                skipped.extend(targets.iter().copied().filter(|&target| target < seq));
            }
        }
        skipped
    }

    /// The same, with one more revert after `version`.
    pub fn skipped_with(&self, version: Seq, targets: &[Seq]) -> BTreeSet<Seq> {
        let mut next = self.clone();
        next.reverts.insert(version + 1, targets.to_vec());
        next.skipped_at(version + 1)
    }

    /// Number of reverting events.
    pub fn reverts(&self) -> usize {
        self.reverts.len()
    }

    /// True if the event is a revert.
    pub fn is_revert(&self, seq: Seq) -> bool {
        self.reverts.contains_key(&seq)
    }

    /// True if the event records an erasure or a fork, which no revert undoes.
    pub fn is_permanent(&self, seq: Seq) -> bool {
        self.forks.contains_key(&seq) || self.erasures.values().any(|&by| by == seq)
    }

    /// Erased changes, each with the event that erased it.
    pub fn erasures(&self) -> &BTreeMap<ChangeRef, Seq> {
        &self.erasures
    }

    /// The ledgers and positions this ledger was forked from, newest first.
    pub fn forks(&self) -> impl Iterator<Item = (&UserId, Seq)> {
        self.forks.values().rev().map(|(from, at)| (from, *at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reverts: &[(Seq, &[Seq])], version: Seq, skipped: &[Seq]) {
        let mut history = History::default();
        for (seq, targets) in reverts {
            history.reverts.insert(*seq, targets.to_vec());
        }
        let found: Vec<Seq> = history.skipped_at(version).into_iter().collect();
        assert_eq!(found, skipped, "{reverts:?} at {version}");
    }

    #[test]
    fn reverts_resolve_from_the_newest_down() {
        check(&[], 9, &[]);
        check(&[(5, &[2, 3])], 9, &[2, 3]);
        check(&[(5, &[2, 3])], 4, &[]);
        check(&[(5, &[2]), (6, &[5])], 6, &[5]);
        check(&[(5, &[2]), (6, &[5]), (7, &[6])], 7, &[2, 6]);
        check(&[(5, &[2]), (6, &[2]), (7, &[5])], 7, &[2, 5]);
        check(&[(5, &[5, 7])], 9, &[]);
    }
}
