//! Implements the engine's ports with the system clock and the system's random number generator.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use quipu_engine::ports::{Clock, Entropy};

/// The system clock, or a fixed time.
#[derive(Debug, Clone, Default)]
pub struct SystemClock {
    /// The time to report instead of the system's.
    pub fixed: Option<Timestamp>,
    /// The time zone of the user's clock. Without one days are those of UTC.
    pub zone: Option<TimeZone>,
}

impl SystemClock {
    /// The clock of this machine, in its time zone.
    pub fn of_machine() -> Self {
        Self { fixed: None, zone: machine_zone() }
    }

    /// The clock of someone in UTC, at a fixed time if there is one.
    #[must_use]
    pub fn at(fixed: Option<Timestamp>) -> Self {
        Self { fixed, zone: None }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the only place that reads the system clock")]
    fn now(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }

    fn utc_offset(&self, at: Timestamp) -> Option<Offset> {
        self.zone.as_ref().map(|zone| zone.to_offset(at))
    }
}

/// The time zone of this machine; `None` if that is UTC, or unknown.
pub fn machine_zone() -> Option<TimeZone> {
    const UNIVERSAL: [&str; 6] = ["UTC", "Etc/UTC", "Etc/UCT", "Etc/Zulu", "Universal", "GMT"];
    let zone = TimeZone::try_system().ok().filter(|zone| !zone.is_unknown())?;
    let is_universal = match zone.iana_name() {
        Some(name) => UNIVERSAL.contains(&name),
        None => zone.to_fixed_offset().is_ok_and(|offset| offset == Offset::UTC),
    };
    (!is_universal).then_some(zone)
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
