//! Implements the engine's ports with the system clock and the system's random number generator.

use jiff::Timestamp;
use quipu_engine::ports::{Clock, Entropy};

/// The system clock, or a fixed time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock {
    /// The time to report instead of the system's.
    pub fixed: Option<Timestamp>,
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the only place that reads the system clock")]
    fn now(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }
}

/// The operating system's random number generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// If the operating system provides no random bytes, since salts and ids would be predictable.
    fn fill(&self, bytes: &mut [u8]) {
        #[expect(
            clippy::expect_used,
            clippy::disallowed_methods,
            reason = "there is no safe way to continue without it"
        )]
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}
