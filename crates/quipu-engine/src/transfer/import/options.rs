//! Options for what an input leaves open.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use quipu_core::Refusal;

use super::report::Report;
use super::{name, when};

/// Options of reading. By default, local times are UTC, and the order of dates is inferred.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Time zone of the speakers: of the local times of WhatsApp and Telegram, and of the days that any text names.
    pub timezone: Option<Zone>,
    /// Whether dates start with the day or the month. Used by WhatsApp.
    pub date_order: Option<DateOrder>,
    /// For ChatGPT: also conversations that are marked not to be remembered.
    pub do_not_remember: bool,
}

/// The file of a messenger, apart from its content.
pub(super) struct ChatFile<'a> {
    /// Number of bytes before the content.
    pub(super) start: u64,
    /// Name of the file.
    pub(super) name: &'a Arc<str>,
    /// Options of reading.
    pub(super) options: &'a ReadOptions,
}

/// A time zone from the bundled database, so that it is the same on every machine.
#[derive(Debug, Clone)]
pub struct Zone(TimeZone);

impl Zone {
    /// Its UTC offset at a moment.
    pub fn offset(&self, at: Timestamp) -> Offset {
        self.0.to_offset(at)
    }
}

impl From<Zone> for TimeZone {
    fn from(zone: Zone) -> Self {
        zone.0
    }
}

impl FromStr for Zone {
    type Err = Refusal;

    /// Parses an IANA name such as `Europe/Lisbon`, or an offset such as `+02:00`.
    ///
    /// # Errors
    /// `Invalid` for anything else; the message gives examples.
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let known = DateTimeParser::new().parse_time_zone_with(&TimeZoneDatabase::bundled(), text);
        known.map(Self).map_err(|_| {
            let quoted = name::quote(text);
            Refusal::invalid(format!("{quoted} is no time zone; give one such as Europe/Lisbon, UTC or +02:00"))
        })
    }
}

impl fmt::Display for Zone {
    /// As `FromStr` parses it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            (None, Ok(offset)) => write!(f, "{offset}"),
            (None, Err(_)) => f.write_str("UTC"),
        }
    }
}

/// The order of day and month in a date made of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DateOrder {
    /// 31/12/2025.
    DayFirst,
    /// 12/31/2025.
    MonthFirst,
}

impl DateOrder {
    /// The name of the order, as parsed by `FromStr`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DayFirst => "dmy",
            Self::MonthFirst => "mdy",
        }
    }
}

impl FromStr for DateOrder {
    type Err = Refusal;

    /// # Errors
    /// `Invalid` for an unknown name; the message lists the orders.
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let orders = [Self::DayFirst, Self::MonthFirst];
        orders.into_iter().find(|order| order.as_str() == text).ok_or_else(|| {
            Refusal::invalid(format!("{} is no order of dates; there are dmy and mdy", name::quote(text)))
        })
    }
}

/// Converts local times into UTC, and reports once if no time zone was given.
pub(super) struct Clock<'a> {
    zone: Option<&'a Zone>,
    said: bool,
}

impl<'a> Clock<'a> {
    pub(super) fn new(options: &'a ReadOptions) -> Self {
        Self { zone: options.timezone.as_ref(), said: false }
    }

    /// The time in UTC. A time skipped or repeated by a change of clocks is converted with the offset from before the
    /// change.
    pub(super) fn utc(&mut self, local: DateTime, report: &mut Report) -> Option<Timestamp> {
        if self.zone.is_none() && !self.said {
            self.said = true;
            let reason = "they are local and no time zone was given, so they were taken as UTC; if that is wrong, undo \
                          the import and repeat it with a time zone (--timezone)";
            report.notice("the times", reason);
        }
        when::local(local, self.zone.map_or(TimeZone::UTC, |zone| zone.0.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_orders_are_read_or_refused_with_advice() {
        let noon = jiff::civil::date(2026, 7, 1).at(12, 0, 0, 0);
        for (zone, expected) in [
            ("Europe/Lisbon", Ok("2026-07-01T11:00:00Z")),
            ("America/New_York", Ok("2026-07-01T16:00:00Z")),
            ("UTC", Ok("2026-07-01T12:00:00Z")),
            ("+05:30", Ok("2026-07-01T06:30:00Z")),
            ("-03", Ok("2026-07-01T15:00:00Z")),
            ("Lisbon", Err("give one such as Europe/Lisbon")),
            ("", Err("give one such as Europe/Lisbon")),
        ] {
            let options =
                zone.parse::<Zone>().map(|zone| ReadOptions { timezone: Some(zone), ..ReadOptions::default() });
            match (options, expected) {
                (Ok(options), Ok(expected)) => {
                    let mut report = Report::default();
                    let time = Clock::new(&options).utc(noon, &mut report).map(|time| time.to_string());
                    assert_eq!((time.as_deref(), report.notices.len()), (Some(expected), 0), "{zone}");
                }
                (Err(refusal), Err(expected)) => assert!(refusal.to_string().contains(expected), "{refusal}"),
                (other, _) => panic!("{zone}: {other:?}"),
            }
        }
        assert_eq!("mdy".parse(), Ok(DateOrder::MonthFirst));
        assert!("american".parse::<DateOrder>().is_err_and(|refusal| refusal.to_string().contains("dmy and mdy")));
    }

    #[test]
    fn taking_local_times_as_utc_is_said_once() {
        let (options, mut report) = (ReadOptions::default(), Report::default());
        let mut clock = Clock::new(&options);
        for hour in [1, 2] {
            let time = clock.utc(jiff::civil::date(2026, 7, 1).at(hour, 0, 0, 0), &mut report);
            assert_eq!(time.map(|time| time.to_string()), Some(format!("2026-07-01T0{hour}:00:00Z")));
        }
        assert_eq!(report.notices.len(), 1);
    }
}
