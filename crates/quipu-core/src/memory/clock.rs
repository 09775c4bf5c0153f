//! The user's clock, as far as their messages tell it.

use jiff::Timestamp;
use jiff::tz::Offset;

use super::Memory;
use crate::calendar;
use crate::limit;

impl Memory {
    /// The UTC offset of the user's clock: that of the newest message that came with one, if it is among the newest
    /// messages.
    pub fn utc_offset(&self) -> Option<Offset> {
        self.sources.iter().rev().take(limit::OFFSET_SOURCES_MAX).find_map(|held| held.source.utc_offset())
    }

    /// What the user's clock shows at a moment, written as if it were UTC. By it days are counted, and is judged what
    /// holds: days are stored as they are called, without a zone.
    pub fn local(&self, at: Timestamp) -> Timestamp {
        self.utc_offset().map_or(at, |offset| calendar::local(at, offset))
    }
}
