//! The time and the dice, as ports: a simulator owns both.

use jiff::Timestamp;

/// Tells the time. The only place the engine learns it from.
pub trait Clock: Send + Sync {
    /// Now, UTC.
    fn now(&self) -> Timestamp;
}

/// Gives random bytes. The only place the engine gets ids and salts from.
pub trait Entropy: Send + Sync {
    /// Fills the whole slice with bytes nobody can guess.
    fn fill(&self, bytes: &mut [u8]);
}
