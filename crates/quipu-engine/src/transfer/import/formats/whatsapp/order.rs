//! Infers from all dates of a chat whether the day or the month comes first.

use jiff::civil::Date;

use super::stamp::Stamp;
use crate::transfer::import::fault::Fault;
use crate::transfer::import::options::DateOrder;

/// What the dates so far allow.
#[derive(Default)]
pub(super) struct Evidence {
    /// The first line whose date can only start with the day.
    day_first: Option<u64>,
    /// The first line whose date can only start with the month.
    month_first: Option<u64>,
    /// The first line whose date is valid and different in both orders.
    open: Option<u64>,
    in_order: [InOrder; 2],
}

/// Whether the dates in one order are ascending, as messages are.
#[derive(Default)]
struct InOrder {
    last: Option<Date>,
    broken: bool,
}

impl Evidence {
    pub(super) fn add(&mut self, line: u64, stamp: &Stamp) {
        if stamp.year_first {
            return;
        }
        let [first, second, _] = stamp.numbers;
        match (first > 12, second > 12) {
            (true, false) => _ = self.day_first.get_or_insert(line),
            (false, true) => _ = self.month_first.get_or_insert(line),
            (true, true) => return,
            // A dot as separator is only used where the day comes first.
            (false, false) if stamp.separator == '.' => _ = self.day_first.get_or_insert(line),
            (false, false) if first != second => _ = self.open.get_or_insert(line),
            (false, false) => {}
        }
        for (order, seen) in [DateOrder::DayFirst, DateOrder::MonthFirst].into_iter().zip(&mut self.in_order) {
            let date = stamp.date(order);
            seen.broken |= date.is_none() || date < seen.last;
            seen.last = date;
        }
    }

    /// The order of all dates: the requested one, or else the one they allow.
    ///
    /// # Errors
    /// The dates are ambiguous or contradict each other.
    pub(super) fn settle(&self, asked: Option<DateOrder>) -> Result<DateOrder, Fault> {
        let advice = "say whether dates start with the day or the month: --date-order dmy or --date-order mdy";
        match (asked, self.day_first, self.month_first, self.open) {
            (Some(order), ..) => Ok(order),
            (None, Some(day), Some(month), _) => {
                let reason = format!("its date can only start with the month, that of line {day} only with the day");
                Err(Fault::invalid(format!("line {month}"), format!("{reason}; {advice}")))
            }
            (None, Some(_), None, _) | (None, None, None, None) => Ok(DateOrder::DayFirst),
            (None, None, Some(_), _) => Ok(DateOrder::MonthFirst),
            // Messages are in the order of sending.
            (None, None, None, Some(line)) => match [self.in_order[0].broken, self.in_order[1].broken] {
                [false, true] => Ok(DateOrder::DayFirst),
                [true, false] => Ok(DateOrder::MonthFirst),
                _ => Err(Fault::invalid(
                    format!("line {line}"),
                    format!("its date can be read in two ways, and no other line settles it; {advice}"),
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stamp::header;
    use super::*;

    #[test]
    fn all_dates_together_settle_the_order() {
        use DateOrder::{DayFirst, MonthFirst};
        let both = "line 1: its date can be read in two ways";
        for (dates, expected) in [
            (&["01/02/26", "13/02/26"][..], Ok(DayFirst)),
            (&["01/02/26", "02/13/26"], Ok(MonthFirst)),
            (&["03/01/26", "04/01/26", "05/01/26", "01/02/26"], Ok(DayFirst)),
            (&["01/30/26", "02/01/26"], Ok(MonthFirst)),
            (&["01/03/26", "01/04/26", "02/01/26"], Ok(MonthFirst)),
            (&["01.02.26"], Ok(DayFirst)),
            (&["05/05/26"], Ok(DayFirst)),
            (&["2026-01-02"], Ok(DayFirst)),
            (&["01/02/26", "01/02/26"], Err(both)),
            (&["01/02/26", "03/04/26"], Err(both)),
            (&["04/03/26", "01/02/26"], Err(both)),
            (&["13/02/26", "02/13/26"], Err("line 2: its date can only start with the month, that of line 1")),
        ] {
            let mut evidence = Evidence::default();
            for (number, date) in (1..).zip(dates) {
                let line = format!("{date}, 10:00 - Ana: hi");
                header(&line).into_iter().for_each(|(stamp, _)| evidence.add(number, &stamp));
            }
            match (evidence.settle(None), expected) {
                (Ok(order), Ok(expected)) => assert_eq!(order, expected, "{dates:?}"),
                (Err(fault), Err(expected)) => {
                    let text = fault.to_string();
                    assert!(text.starts_with(expected) && text.contains("--date-order dmy"), "{text}");
                }
                (other, _) => panic!("{dates:?}: {other:?}"),
            }
            assert!(evidence.settle(Some(MonthFirst)).is_ok_and(|order| order == MonthFirst));
        }
    }
}
