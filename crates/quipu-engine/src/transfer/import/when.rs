//! Parses times of other systems. A time without a zone is taken as UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use serde_json::{Number, Value};

use super::name::quote;

/// Larger numbers are milliseconds since 1970, others seconds.
const SECONDS_MAX: f64 = 1e11;

/// Parses RFC 3339, a date with or without a time, or a number of at least nine digits as in [`number`].
pub(super) fn text(raw: &str) -> Result<Timestamp, String> {
    let raw = raw.trim();
    if raw.len() >= 9
        && raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && let Ok(value) = raw.parse()
    {
        return seconds(value).ok_or_else(|| not_a_time(raw));
    }
    if let Ok(time) = raw.parse::<Timestamp>() {
        return in_range(time).ok_or_else(|| not_a_time(raw));
    }
    // A zone name cannot be resolved here, and ignoring it would shift the time.
    if raw.contains('[') {
        return Err(not_a_time(raw));
    }
    raw.parse::<DateTime>().ok().and_then(utc).ok_or_else(|| not_a_time(raw))
}

/// Parses seconds since 1970, or milliseconds if the number is above 10¹¹.
pub(super) fn number(raw: &Number) -> Result<Timestamp, String> {
    raw.as_f64().and_then(seconds).ok_or_else(|| not_a_time(&raw.to_string()))
}

/// Parses a time from JSON. Null is an unknown time, not an error.
pub(super) fn json(raw: &Value) -> Result<Option<Timestamp>, String> {
    match raw {
        Value::Null => Ok(None),
        Value::String(raw) => text(raw).map(Some),
        Value::Number(raw) => number(raw).map(Some),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err("the time is neither text nor a number".to_owned()),
    }
}

/// Parses LoCoMo's `1:56 pm on 8 May, 2023`, else as [`text`].
pub(super) fn locomo(raw: &str) -> Result<Timestamp, String> {
    let civil = strtime::parse("%I:%M %p on %d %B, %Y", raw.trim()).and_then(|parsed| parsed.to_datetime());
    match civil {
        Ok(civil) => utc(civil).ok_or_else(|| not_a_time(raw)),
        Err(_) => text(raw),
    }
}

/// Parses LongMemEval's `2023/05/20 (Sat) 02:21`, else as [`text`]. The day of the week is ignored.
pub(super) fn longmemeval(raw: &str) -> Result<Timestamp, String> {
    let bare = match (raw.split_once('('), raw.split_once(')')) {
        (Some((before, _)), Some((_, after))) => format!("{} {}", before.trim(), after.trim()),
        _ => raw.trim().to_owned(),
    };
    match strtime::parse("%Y/%m/%d %H:%M", &bare).and_then(|parsed| parsed.to_datetime()) {
        Ok(civil) => utc(civil).ok_or_else(|| not_a_time(raw)),
        Err(_) => text(raw),
    }
}

fn utc(civil: DateTime) -> Option<Timestamp> {
    local(civil, TimeZone::UTC)
}

/// Converts a local time into UTC.
pub(super) fn local(civil: DateTime, zone: TimeZone) -> Option<Timestamp> {
    civil.to_zoned(zone).ok().and_then(|zoned| in_range(zoned.timestamp()))
}

fn seconds(value: f64) -> Option<Timestamp> {
    let micros = if value.abs() > SECONDS_MAX { value * 1e3 } else { value * 1e6 };
    // Numbers up to 9·10¹⁸ fit an i64.
    let fits = micros.abs() < 9e18;
    fits.then(|| Timestamp::from_microsecond(micros.round() as i64).ok().and_then(in_range)).flatten()
}

/// Accepts years 1 to 9999, rounded to microseconds. Other values are damaged numbers rather than times.
fn in_range(time: Timestamp) -> Option<Timestamp> {
    (time.to_zoned(TimeZone::UTC).year() >= 1).then(|| quipu_core::calendar::to_micros(time))
}

fn not_a_time(raw: &str) -> String {
    if raw.trim().is_empty() {
        "the time is empty".to_owned()
    } else {
        format!("{} is not a time Quipu can read", quote(raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(read: fn(&str) -> Result<Timestamp, String>, table: &[(&str, Option<&str>)]) {
        for (raw, expected) in table {
            assert_eq!(read(raw).ok().map(|time| time.to_string()).as_deref(), *expected, "{raw:?}");
        }
    }

    #[test]
    fn times_in_text() {
        check(
            text,
            &[
                ("2026-03-02T08:15:00+01:00", Some("2026-03-02T07:15:00Z")),
                ("2026-03-02T08:15:00.123456789Z", Some("2026-03-02T08:15:00.123456Z")),
                ("2026-03-02 08:15:00", Some("2026-03-02T08:15:00Z")),
                (" 2026-03-02 ", Some("2026-03-02T00:00:00Z")),
                ("1700000000", Some("2023-11-14T22:13:20Z")),
                ("1700000000.5", Some("2023-11-14T22:13:20.5Z")),
                ("2023", None),
                ("2026-02-31", None),
                ("275760-09-13T00:00:00Z", None),
                ("-000001-01-01T00:00:00Z", None),
                ("-0001-01-01", None),
                ("0000-01-01", None),
                ("03/04/2026", None),
                ("2026-03-02T08:15:00[Europe/Lisbon]", None),
                ("yesterday", None),
                ("1.2.3456789", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn times_in_locomo() {
        check(
            locomo,
            &[
                ("1:56 pm on 8 May, 2023", Some("2023-05-08T13:56:00Z")),
                ("12:48 am on 1 February, 2023", Some("2023-02-01T00:48:00Z")),
                ("12:00 pm on 29 February, 2024", Some("2024-02-29T12:00:00Z")),
                ("2023-05-08", Some("2023-05-08T00:00:00Z")),
                ("1:56 pm on 31 February, 2023", None),
                ("13:56 pm on 8 May, 2023", None),
                ("1:56 pm on 8 May, 275760", None),
                ("1:56 pm on 8 May, -1", None),
                ("1:56 pm on 8 May, 0", None),
                ("1:56 pm on 8 Mai, 2023", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn times_in_longmemeval() {
        check(
            longmemeval,
            &[
                ("2023/05/20 (Sat) 02:21", Some("2023-05-20T02:21:00Z")),
                (" 2023/05/20 (Sun) 02:21 ", Some("2023-05-20T02:21:00Z")),
                ("2023/05/20 23:59", Some("2023-05-20T23:59:00Z")),
                ("2023-05-20", Some("2023-05-20T00:00:00Z")),
                ("2023/02/30 (Thu) 02:21", None),
                ("2023/05/20 (Sat) 24:21", None),
                (") 2023/05/20 (", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn times_in_numbers() {
        for (raw, expected) in [
            ("1700000000", Some("2023-11-14T22:13:20Z")),
            ("1700000000123", Some("2023-11-14T22:13:20.123Z")),
            ("1700000000.25", Some("2023-11-14T22:13:20.25Z")),
            ("-1", Some("1969-12-31T23:59:59Z")),
            ("0", Some("1970-01-01T00:00:00Z")),
            ("8640000000000000", None),
            ("-8640000000000000", None),
            ("18446744073709551615", None),
            ("1e300", None),
        ] {
            let time =
                serde_json::from_str::<Number>(raw).map(|value| number(&value).ok().map(|time| time.to_string()));
            assert_eq!(time.ok().flatten().as_deref(), expected, "{raw}");
        }
    }
}
