//! Origins: the events of each import, file or other reference, updated as the ledger grows.
//!
//! Cached while a memory is open. Each event is read once, on demand.

use std::collections::BTreeMap;

use jiff::Timestamp;
use quipu_core::id::{ItemId, Seq, UserId};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::lock::{Mutex, MutexGuard, Rank};
use crate::memory::State;
use crate::memory::scan;
use crate::ports::UserLedger;

/// An import, a file or another reference, with its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportOrigin {
    /// Its name, as passed to `revert` and `log`.
    pub reference: String,
    /// Number of its events.
    pub events: usize,
    /// Number of its events that count.
    pub counting: usize,
    /// Time of its last event.
    pub last_recorded_at: Timestamp,
}

/// Lists the imports, files and other references of a memory by name, without the references of extractions to items.
///
/// # Errors
/// `NotFound` if there is no such user; `Corrupt` if an event cannot be read.
pub fn origins(engine: &Engine, user: &UserId) -> Result<Vec<ImportOrigin>> {
    let open = engine.open(user)?;
    let mut writer = open.writer()?;
    let state = open.read();
    open.origins.all(writer.ledger.as_mut(), &state)
}

/// The events of every origin, up to a position.
pub(crate) struct Origins(Mutex<OriginCount>);

impl Default for Origins {
    fn default() -> Self {
        Self(Mutex::new(Rank::Detail, OriginCount::default()))
    }
}

#[derive(Default)]
struct OriginCount {
    level: Seq,
    by_reference: BTreeMap<String, Came>,
}

/// Runs of events (first and last position), and the time of the last event.
struct Came {
    runs: Vec<(Seq, Seq)>,
    last: Timestamp,
}

/// Returns true for the name of an import, a file or another reference; false for an item id, which is the reference of
/// an extraction.
fn is_origin(reference: &str) -> bool {
    reference.parse::<ItemId>().is_err()
}

impl OriginCount {
    fn reach(&mut self, ledger: &mut dyn UserLedger, head: Seq) -> Result<()> {
        if self.level < head {
            scan::headers(ledger, self.level + 1..=head, &mut |header| {
                self.note(header.origin.reference, header.seq, header.recorded_at);
            })?;
            self.level = head;
        }
        Ok(())
    }

    fn note(&mut self, reference: Option<String>, seq: Seq, last: Timestamp) {
        let Some(reference) = reference.filter(|reference| is_origin(reference)) else { return };
        let came = self.by_reference.entry(reference).or_insert_with(|| Came { runs: Vec::new(), last });
        came.last = last;
        match came.runs.last_mut() {
            // Recorded by an earlier scan that failed later on.
            Some((_, to)) if *to >= seq => {}
            Some((_, to)) if *to + 1 == seq => *to = seq,
            _ => came.runs.push((seq, seq)),
        }
    }
}

impl Origins {
    fn known(&self) -> MutexGuard<'_, OriginCount> {
        // After a failed scan the level is unchanged, and the next scan starts there again.
        self.0.lock()
    }

    fn all(&self, ledger: &mut dyn UserLedger, state: &State) -> Result<Vec<ImportOrigin>> {
        let mut known = self.known();
        known.reach(ledger, state.memory.seq())?;
        let (skipped, orphans) = (state.memory.skipped(), state.memory.orphans());
        let within = |&(from, to): &(Seq, Seq)| {
            let reverted = skipped.range(from..=to).count();
            let orphaned = orphans.iter().filter(|one| (from..=to).contains(&one.seq) && !skipped.contains(&one.seq));
            (to - from + 1) as usize - reverted - orphaned.count()
        };
        let origin = |(reference, came): (&String, &Came)| ImportOrigin {
            reference: reference.clone(),
            events: came.runs.iter().map(|(from, to)| (to - from + 1) as usize).sum(),
            counting: came.runs.iter().map(within).sum(),
            last_recorded_at: came.last,
        };
        Ok(known.by_reference.iter().map(origin).collect())
    }

    /// Positions of the newest events of an origin before `before`, newest first, at most `limit`; `None` if
    /// `reference` is not an origin.
    pub(crate) fn newest_of(
        &self,
        ledger: &mut dyn UserLedger,
        head: Seq,
        reference: &str,
        before: Seq,
        limit: usize,
    ) -> Result<Option<Vec<Seq>>> {
        if !is_origin(reference) {
            return Ok(None);
        }
        let mut known = self.known();
        known.reach(ledger, head)?;
        let Some(came) = known.by_reference.get(reference) else { return Ok(Some(Vec::new())) };
        let newest = came.runs.iter().rev().flat_map(|&(from, to)| (from..=to).rev());
        Ok(Some(newest.filter(|&seq| seq < before).take(limit).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_broken_scan_noted_is_not_counted_twice() {
        let mut known = OriginCount::default();
        let at = Timestamp::UNIX_EPOCH;
        let events = [(1, "import:a"), (2, "import:a"), (3, "import:b"), (4, "import:a")];
        // The first scan stops after the third event.
        for (seq, reference) in events[..3].iter().chain(&events) {
            known.note(Some((*reference).to_owned()), *seq, at);
        }
        let runs = |reference: &str| known.by_reference.get(reference).map(|came| came.runs.clone());
        assert_eq!(runs("import:a"), Some(vec![(1, 2), (4, 4)]));
        assert_eq!(runs("import:b"), Some(vec![(3, 3)]));
    }
}
