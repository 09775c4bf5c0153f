//! Series of measured values: weight, rent, hours of sleep. The newest reading is the active fact; earlier readings are
//! the facts it superseded.

use crate::item::{Fact, FactStatus};
use crate::predicate::Predicates;

use super::Items;

impl Items {
    /// The readings before an active fact, newest first: superseded facts of the same slot. Empty if the predicate has
    /// no [readings](crate::predicate::Predicate::readings) or the value has no [figure].
    pub fn earlier_readings<'a>(&'a self, fact: &Fact, predicates: &Predicates) -> Vec<&'a Fact> {
        let is_series = fact.single
            && fact.is_active()
            && predicates.get(&fact.predicate).readings
            && figure(&fact.object).is_some();
        let before = |other: &&Fact| {
            other.status == FactStatus::Superseded
                && other.id != fact.id
                && other.began() <= fact.began()
                && figure(&other.object).is_some()
                && !self.is_hidden(other.id)
        };
        let mut earlier: Vec<&Fact> =
            if is_series { self.in_slot(&fact.slot).filter(before).collect() } else { Vec::new() };
        earlier.sort_by_cached_key(|one| std::cmp::Reverse((one.began(), self.creation_order(one.id))));
        earlier
    }
}

/// Words before a number that mark it as approximate.
const ABOUT: [&str; 6] = ["about", "around", "roughly", "almost", "nearly", "just"];

/// Units and their synonyms.
const UNITS: [(&str, &[&str]); 5] = [
    ("kg", &["kgs", "kilo", "kilos", "kilograms"]),
    ("lb", &["lbs", "pound", "pounds"]),
    ("stone", &["st"]),
    ("hours", &["h", "hr", "hrs", "hour"]),
    ("min", &["mins", "minute", "minutes"]),
];

/// The number at the start of a value and its unit, in lower case: 82.5 and "kg" for "82.5 kg", 1850 and "$ a month"
/// for "$1,850 a month". None if the value starts with another word or with a negative number, an ordinal, a clock time
/// or a date such as 2026-03-05.
pub fn figure(value: &str) -> Option<(f64, String)> {
    let value = value.trim().trim_end_matches('.').to_lowercase();
    let start = value.find(|letter: char| letter.is_ascii_digit())?;
    let (before, rest) = value.split_at(start);
    let sign = before.trim().trim_end_matches(['~', '≈']).trim();
    let sign = ABOUT.iter().find_map(|about| sign.strip_prefix(about)).unwrap_or(sign).trim();
    if sign.chars().any(char::is_alphanumeric) || sign.ends_with(['-', '−']) {
        return None;
    }
    let end =
        rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != ',').unwrap_or(rest.len());
    let digits = rest[..end].trim_end_matches([',', '.']);
    let after = &rest[digits.len()..];
    let is_ordinal = ["nd", "rd", "th"].iter().any(|ordinal| after.starts_with(ordinal))
        || (after.starts_with("st") && !after.starts_with("stone") && digits.ends_with('1') && !digits.ends_with("11"));
    if after.starts_with([':', '-']) || is_ordinal {
        return None;
    }
    // A comma before three digits separates thousands; before fewer digits it is a decimal comma.
    let is_decimal = digits.rsplit_once(',').is_some_and(|(_, last)| last.len() < 3) && !digits.contains('.');
    let number = digits.replace(',', if is_decimal { "." } else { "" }).parse().ok()?;
    let after = after.trim();
    let after = UNITS.iter().find(|(_, names)| names.contains(&after)).map_or(after, |(unit, _)| *unit);
    let unit = [sign, after].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ");
    Some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn a_value_begins_with_a_figure() {
        let table: &[(&str, Option<(f64, &str)>)] = &[
            ("82.5 kg", Some((82.5, "kg"))),
            ("82kg", Some((82.0, "kg"))),
            ("82 Kilos", Some((82.0, "kg"))),
            ("82,5 KG", Some((82.5, "kg"))),
            ("12st", Some((12.0, "stone"))),
            ("21st of May", None),
            ("-5 °C", None),
            ("$1,850 a month", Some((1850.0, "$ a month"))),
            ("~6 hours", Some((6.0, "hours"))),
            ("About £6", Some((6.0, "£"))),
            ("158/96", Some((158.0, "/96"))),
            ("41", Some((41.0, ""))),
            ("120.", Some((120.0, ""))),
            ("2026-03-05", None),
            ("7:30", None),
            ("5th of March", None),
            ("Room 6", None),
            ("Porto", None),
            ("", None),
        ];
        for (value, expected) in table {
            assert_eq!(figure(value), expected.map(|(number, unit)| (number, unit.to_owned())), "{value}");
        }
    }
}
