//! The user's clock, as far as their messages tell it.

use jiff::Timestamp;
use jiff::tz::Offset;

use super::Memory;
use crate::calendar;
use crate::event::Trust;
use crate::limit;
use crate::source::Role;

impl Memory {
    /// The UTC offset of the user's clock, and when it was told: that of the latest of their messages that came with
    /// one, among the newest sources.
    pub fn clock(&self) -> Option<(Offset, Timestamp)> {
        let newest = self.sources.iter().rev().take(limit::OFFSET_SOURCES_MAX);
        let own = newest.filter(|held| held.trust == Trust::User && held.source.role == Role::User);
        let clocks = own.filter_map(|held| held.source.utc_offset().zip(held.source.said_at));
        clocks.max_by_key(|(_, said_at)| *said_at)
    }

    /// The UTC offset of the user's clock, as [`Memory::clock`] has it.
    pub fn utc_offset(&self) -> Option<Offset> {
        self.clock().map(|(offset, _)| offset)
    }

    /// What the user's clock shows at a moment, written as if it were UTC. By it days are counted, and is judged what
    /// holds: days are stored as they are called, without a zone.
    pub fn local(&self, at: Timestamp) -> Timestamp {
        self.utc_offset().map_or(at, |offset| calendar::local(at, offset))
    }
}
