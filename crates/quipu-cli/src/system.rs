//! The machine's own clock and dice.

use jiff::Timestamp;
use quipu_engine::ports::{Clock, Entropy};

/// The machine's clock, or a time the caller asked for.
pub(crate) struct SystemClock {
    pub(crate) fixed: Option<Timestamp>,
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine for the time")]
    fn now(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }
}

/// The operating system's random bytes.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Without randomness there are no salts and no ids: going on would write guessable digests.
        #[expect(
            clippy::expect_used,
            clippy::disallowed_methods,
            reason = "the operating system without random bytes is no place to go on"
        )]
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}
