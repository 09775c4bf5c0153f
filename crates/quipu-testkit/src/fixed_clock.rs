//! A clock under the control of a test.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use quipu_engine::ports::Clock;

/// Advances by a fixed step with each reading.
#[derive(Debug)]
pub struct FixedClock {
    next_micros: AtomicI64,
    step_micros: i64,
}

/// 2026-01-01T00:00:00Z.
const START_MICROS: i64 = 1_767_225_600_000_000;

impl FixedClock {
    /// Starts with 2026 and advances by one second.
    pub fn new() -> Self {
        Self::starting(START_MICROS, 1_000_000)
    }

    /// Starts at a time in microseconds since 1970 and advances by `step_micros`.
    pub fn starting(at_micros: i64, step_micros: i64) -> Self {
        Self { next_micros: AtomicI64::new(at_micros), step_micros }
    }

    /// Sets the time, in microseconds since 1970.
    pub fn put(&self, at_micros: i64) {
        self.next_micros.store(at_micros, Ordering::SeqCst);
    }
}

impl Default for FixedClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        let micros = self.next_micros.fetch_add(self.step_micros, Ordering::SeqCst);
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
    }
}
