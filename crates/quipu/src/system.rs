//! The machine's clock and random number generator, as the engine's ports.

use jiff::Timestamp;
use quipu_engine::ports::{Clock, Entropy};

/// The machine's clock, or a fixed time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock {
    /// The time to report instead of the machine's.
    pub fixed: Option<Timestamp>,
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine for the time")]
    fn now(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }
}

/// The operating system's random number generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// If the operating system gives no random bytes: without them salts and ids could be guessed.
    fn fill(&self, bytes: &mut [u8]) {
        #[expect(
            clippy::expect_used,
            clippy::disallowed_methods,
            reason = "there is no safe way to continue without it"
        )]
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}
