//! Runs work with a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use quipu_core::limit;

/// Counts work that is still running after its deadline.
#[derive(Debug, Default)]
pub(crate) struct DeadlineWorkers {
    unfinished: Arc<AtomicUsize>,
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missed {
    /// It did not finish in time.
    TimeIsUp,
    /// Earlier work is still running after its deadline; no more is started.
    StillBusy,
    /// It panicked or could not be started.
    Broken,
}

impl Missed {
    /// Description for messages.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::TimeIsUp => "did not answer before the deadline",
            Self::StillBusy => "is still busy with questions whose deadline has passed",
            Self::Broken => "stopped without an answer",
        }
    }
}

/// The end of a time limit, if there is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// The deadline `after` a start.
    pub(crate) fn from(start: Instant, after: Option<Duration>) -> Self {
        // A time that cannot be represented is no deadline.
        Self(after.and_then(|after| start.checked_add(after)))
    }
}

/// Decrements the counter on drop, also during a panic.
struct Count(Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl DeadlineWorkers {
    /// Runs the work, on its own thread if there is a deadline. Late work continues and its result is dropped.
    #[expect(clippy::disallowed_methods, reason = "a deadline is a time of day's work, not of the memory")]
    pub(crate) fn within<T: Send + 'static>(
        &self,
        deadline: Deadline,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Missed> {
        let Some(end) = deadline.0 else { return Ok(work()) };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Missed::TimeIsUp);
        }
        let count = Count(self.unfinished.clone());
        if self.unfinished.fetch_add(1, Ordering::AcqRel) >= limit::UNFINISHED_MAX {
            return Err(Missed::StillBusy);
        }
        let (done, result) = mpsc::sync_channel(1);
        let run = move || {
            let made = work();
            drop(count);
            // The receiver may have given up.
            let _ = done.send(made);
        };
        thread::Builder::new().name("quipu-late".to_owned()).spawn(run).map_err(|_| Missed::Broken)?;
        result.recv_timeout(left).map_err(|why| match why {
            RecvTimeoutError::Timeout => Missed::TimeIsUp,
            RecvTimeoutError::Disconnected => Missed::Broken,
        })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the subject of the tests")]
mod tests {
    use super::*;

    fn soon(millis: u64) -> Deadline {
        Deadline::from(Instant::now(), Some(Duration::from_millis(millis)))
    }

    #[test]
    fn what_is_in_time_is_returned_and_what_is_not_is_not_waited_for() {
        let late = DeadlineWorkers::default();
        assert_eq!(late.within(Deadline(None), || 1), Ok(1));
        assert_eq!(late.within(soon(60_000), || 2), Ok(2));
        assert_eq!(late.within(soon(0), || 3), Err(Missed::TimeIsUp));
        let (release, held) = mpsc::channel::<()>();
        assert_eq!(late.within(soon(1), move || held.recv().is_ok()), Err(Missed::TimeIsUp));
        drop(release);
        assert_eq!(late.within(soon(60_000), || -> u8 { panic!("as a model might") }), Err(Missed::Broken));
    }

    #[test]
    fn late_work_does_not_pile_up_and_counts_no_more_when_it_is_done() {
        let late = DeadlineWorkers::default();
        let (mut releases, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..limit::UNFINISHED_MAX {
            let ((release, held), (end, ended)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
            let work = move || {
                let _ = held.recv();
                drop(end);
            };
            assert_eq!(late.within(soon(1), work), Err(Missed::TimeIsUp));
            releases.push(release);
            ends.push(ended);
        }
        assert_eq!(late.within(soon(60_000), || ()), Err(Missed::StillBusy));
        drop(releases);
        ends.iter().for_each(|ended| assert!(ended.recv().is_err()));
        while late.unfinished.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
        assert_eq!(late.within(soon(60_000), || 4), Ok(4));
    }
}
