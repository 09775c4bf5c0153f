//! Ports for time and randomness, which a simulator can replace.

use jiff::Timestamp;

/// Source of the current time.
pub trait Clock: Send + Sync {
    /// The current time in UTC.
    fn now(&self) -> Timestamp;
}

/// Source of random bytes for ids and salts.
pub trait Entropy: Send + Sync {
    /// Fills the slice with unpredictable bytes.
    fn fill(&self, bytes: &mut [u8]);
}
