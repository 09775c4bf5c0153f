//! Ports for time and randomness, which a simulator can replace.

use jiff::Timestamp;
use jiff::tz::Offset;

/// Source of the current time.
pub trait Clock: Send + Sync {
    /// The current time in UTC.
    fn now(&self) -> Timestamp;

    /// The UTC offset of the user's clock at a moment, by which "today" and "tomorrow" are counted in what is said
    /// here. `None`, the default, if it is unknown; then days are those of UTC.
    fn utc_offset(&self, _at: Timestamp) -> Option<Offset> {
        None
    }
}

/// Source of random bytes for ids and salts.
pub trait Entropy: Send + Sync {
    /// Fills the slice with unpredictable bytes.
    fn fill(&self, bytes: &mut [u8]);
}
