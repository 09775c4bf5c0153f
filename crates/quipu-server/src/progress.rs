//! Watches background work and detects steps that make no progress.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::metrics::Metrics;
use crate::options::Bounds;

/// A kind of watched work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WatchedWork {
    /// Appending an exchange.
    Append,
    /// Reading and summarising recorded messages. An answer of a language model counts as progress.
    Read,
    /// Building a block of memory for a request.
    Recall,
    /// Probing store and engine.
    Probe,
}

impl WatchedWork {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Read => "read",
            Self::Recall => "recall",
            Self::Probe => "probe",
        }
    }
}

/// A step that exceeds its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stalled {
    pub(crate) work: WatchedWork,
    /// Time since the step began or last made progress.
    pub(crate) since: Duration,
}

/// The steps in progress.
pub(crate) struct Progress {
    steps: Mutex<Steps>,
    metrics: Arc<Metrics>,
    stalled_after: Duration,
    reading_stalled_after: Duration,
}

#[derive(Default)]
struct Steps {
    begun: u64,
    running: BTreeMap<u64, (WatchedWork, Instant)>,
}

/// A step in progress; ends when dropped.
pub(crate) struct Step {
    progress: Arc<Progress>,
    number: u64,
}

impl Progress {
    pub(crate) fn new(bounds: &Bounds, metrics: Arc<Metrics>) -> Self {
        Self {
            steps: Mutex::default(),
            metrics,
            stalled_after: bounds.stalled_after,
            reading_stalled_after: bounds.reading_stalled_after,
        }
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a step.
    pub(crate) fn begin(self: &Arc<Self>, work: WatchedWork) -> Step {
        let mut steps = self.steps();
        steps.begun += 1;
        let number = steps.begun;
        steps.running.insert(number, (work, Instant::now()));
        drop(steps);
        Step { progress: self.clone(), number }
    }

    /// The step that exceeds its limit by most, if any.
    pub(crate) fn stalled(&self) -> Option<Stalled> {
        self.stalled_at(Instant::now())
    }

    fn stalled_at(&self, now: Instant) -> Option<Stalled> {
        let answered = self.metrics.last_model_answer();
        let since = |(work, began): &(WatchedWork, Instant)| {
            let (last, bound) = match work {
                WatchedWork::Read => {
                    (answered.map_or(*began, |answered| answered.max(*began)), self.reading_stalled_after)
                }
                WatchedWork::Append | WatchedWork::Recall | WatchedWork::Probe => (*began, self.stalled_after),
            };
            let since = now.saturating_duration_since(last);
            (since > bound).then_some(Stalled { work: *work, since })
        };
        self.steps().running.values().filter_map(since).max_by_key(|stalled| stalled.since)
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.progress.steps().running.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_stalled_once_it_is_over_its_bound_and_until_it_ends() {
        let bounds = Bounds::default();
        let progress = Arc::new(Progress::new(&bounds, Arc::default()));
        let (append, _read) = (progress.begin(WatchedWork::Append), progress.begin(WatchedWork::Read));
        let stalled = |at: Instant| progress.stalled_at(at).map(|stalled| stalled.work);
        let second = Duration::from_secs(1);
        let now = Instant::now();
        assert_eq!(stalled(now), None);
        let later = now + bounds.stalled_after + second;
        assert_eq!(stalled(later), Some(WatchedWork::Append), "reading may take longer");
        drop(append);
        assert_eq!(stalled(later), None);
        let much_later = now + bounds.reading_stalled_after + second;
        assert_eq!(stalled(much_later), Some(WatchedWork::Read));
        progress.metrics.note_model_answer(much_later);
        assert_eq!(stalled(much_later + second), None, "a model that answers is progress");
    }
}
