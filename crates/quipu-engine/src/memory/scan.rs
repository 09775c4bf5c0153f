//! Reads a range of the ledger event by event.

use std::ops::RangeInclusive;

use quipu_core::event::{Event, Header};
use quipu_core::id::Seq;
use quipu_core::ledger::{self, FormatError, SealedEvent};

use crate::error::Result;
use crate::ports::UserLedger;

/// Passes the events of a range to `each`, in order.
///
/// # Errors
/// `Corrupt` at the first event that cannot be read.
pub(crate) fn events(
    ledger: &mut dyn UserLedger,
    range: RangeInclusive<Seq>,
    each: &mut dyn FnMut(Event),
) -> Result<()> {
    opened(ledger, range, ledger::open, each)
}

/// As [`events`], with headers only, which is faster.
///
/// # Errors
/// As [`events`].
pub(crate) fn headers(
    ledger: &mut dyn UserLedger,
    range: RangeInclusive<Seq>,
    each: &mut dyn FnMut(Header),
) -> Result<()> {
    opened(ledger, range, ledger::open_header, each)
}

fn opened<T>(
    ledger: &mut dyn UserLedger,
    range: RangeInclusive<Seq>,
    open: impl Fn(&SealedEvent) -> std::result::Result<T, FormatError>,
    each: &mut dyn FnMut(T),
) -> Result<()> {
    let mut fault = None;
    ledger.read(range, &mut |sealed| match open(&sealed) {
        Ok(event) => {
            each(event);
            true
        }
        Err(error) => {
            fault = Some(error);
            false
        }
    })?;
    fault.map_or(Ok(()), |error| Err(error.into()))
}
