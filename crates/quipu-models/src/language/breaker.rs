//! A circuit breaker, which suspends an endpoint that fails repeatedly.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::endpoint::Limits;

/// Counts consecutive failures. While it is open, it admits one request after each rest.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    closed_until: Option<Timestamp>,
}

impl Breaker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time until the next request is admitted. `None` if this one is admitted, as the trial.
    pub(super) fn rest_left(&self, now: Timestamp, limits: &Limits) -> Option<SignedDuration> {
        let mut state = self.state();
        let until = state.closed_until?;
        if now < until {
            return Some(until.duration_since(now));
        }
        // Later callers wait for another rest, unless the trial succeeds.
        state.closed_until = rest(now, limits);
        None
    }

    pub(super) fn succeeded(&self) {
        *self.state() = State::default();
    }

    pub(super) fn failed(&self, now: Timestamp, limits: &Limits) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= limits.failures_max {
            state.closed_until = rest(now, limits);
        }
    }
}

fn rest(now: Timestamp, limits: &Limits) -> Option<Timestamp> {
    now.checked_add(SignedDuration::try_from(limits.rest).ok()?).ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    #[test]
    fn after_some_failures_it_rests_and_then_lets_one_try() {
        let (breaker, limits) = (Breaker::default(), Limits::default());
        let at = |second: i64| Timestamp::from_second(1_000 + second).unwrap();
        for _ in 1..limits.failures_max {
            breaker.failed(at(0), &limits);
        }
        assert_eq!(breaker.rest_left(at(0), &limits), None);
        breaker.failed(at(0), &limits);
        assert_eq!(breaker.rest_left(at(1), &limits), Some(SignedDuration::from_secs(29)));
        assert_eq!(breaker.rest_left(at(30), &limits), None, "one tries");
        assert!(breaker.rest_left(at(31), &limits).is_some(), "and only one");
        breaker.succeeded();
        assert_eq!(breaker.rest_left(at(32), &limits), None);
    }
}
