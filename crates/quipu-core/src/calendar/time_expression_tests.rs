//! Tests of times as people type them.

use super::*;

/// A Wednesday.
const NOW: &str = "2026-07-15T10:30:00Z";

fn read(text: &str) -> Result<String, String> {
    let now: Timestamp = NOW.parse().unwrap_or_default();
    text.parse::<TimeExpression>()?.at(now).map(|time| time.to_string())
}

#[test]
fn times_as_typed() {
    for (typed, meant) in [
        ("now", NOW),
        ("2026-07-15", "2026-07-15T00:00:00Z"),
        (" 2026-07-15 ", "2026-07-15T00:00:00Z"),
        ("2026-07-15 14:00", "2026-07-15T14:00:00Z"),
        ("2026-07-15T14:00", "2026-07-15T14:00:00Z"),
        ("2026-07-15 14:00:30", "2026-07-15T14:00:30Z"),
        ("2026-07-15T14:00:00Z", "2026-07-15T14:00:00Z"),
        ("2026-07-15T14:00:00+02:00", "2026-07-15T12:00:00Z"),
        ("2026-07-15 2pm", "2026-07-15T14:00:00Z"),
        ("2026/07/15", "2026-07-15T00:00:00Z"),
        ("15 July 2026", "2026-07-15T00:00:00Z"),
        ("July 15, 2026", "2026-07-15T00:00:00Z"),
        ("july 15th 2026 at 9:15", "2026-07-15T09:15:00Z"),
        ("today", "2026-07-15T00:00:00Z"),
        ("Tomorrow", "2026-07-16T00:00:00Z"),
        ("yesterday", "2026-07-14T00:00:00Z"),
        ("yesterday 14:00", "2026-07-14T14:00:00Z"),
        ("tomorrow at 9am", "2026-07-16T09:00:00Z"),
        ("tomorrow at 12am", "2026-07-16T00:00:00Z"),
        ("tomorrow noon", "2026-07-16T12:00:00Z"),
        ("the day before yesterday", "2026-07-13T00:00:00Z"),
        ("day after tomorrow", "2026-07-17T00:00:00Z"),
        ("last monday", "2026-07-13T00:00:00Z"),
        ("Last  Wednesday", "2026-07-08T00:00:00Z"),
        ("next wednesday", "2026-07-22T00:00:00Z"),
        ("this friday", "2026-07-17T00:00:00Z"),
        ("next friday 18:30", "2026-07-17T18:30:00Z"),
        ("3 days ago", "2026-07-12T00:00:00Z"),
        ("three days ago", "2026-07-12T00:00:00Z"),
        ("a week ago", "2026-07-08T00:00:00Z"),
        ("2 months ago", "2026-05-15T00:00:00Z"),
        ("a year ago", "2025-07-15T00:00:00Z"),
        ("in 2 weeks", "2026-07-29T00:00:00Z"),
        ("2 weeks from now", "2026-07-29T00:00:00Z"),
        ("in 10 minutes", "2026-07-15T10:40:00Z"),
        ("2 hours ago", "2026-07-15T08:30:00Z"),
        ("an hour ago", "2026-07-15T09:30:00Z"),
        ("last week", "2026-07-06T00:00:00Z"),
        ("this month", "2026-07-01T00:00:00Z"),
        ("next year", "2027-01-01T00:00:00Z"),
    ] {
        assert_eq!(read(typed).as_deref(), Ok(meant), "{typed:?}");
    }
}

#[test]
fn what_is_no_time_is_refused_with_examples() {
    for typed in [
        "",
        " ",
        "soon",
        "2026",
        "2026-02-30",
        "31 February 2026",
        "tomorrow and yesterday",
        "last",
        "ago",
        "in days",
        "days ago",
        "-3 days ago",
        "99999999999 days ago",
        "13pm",
        "tomorrow 25:00",
        "2026-07-15T10:00:00[Europe/Lisbon]",
        "9999-12-31T23:59:59-23:00",
        "10000 years ago",
        "20000 years ago",
        "in 300000 months",
        "1000000 weeks ago",
        "in 9000 years",
        "next day",
        "last days",
        "see 15 July 2026",
    ] {
        let error = read(typed).err().unwrap_or_else(|| panic!("{typed:?} is refused"));
        assert!(error.contains("last monday") || error.contains("years 1 to 9999"), "{typed:?}: {error}");
    }
}

#[test]
fn ambiguous_times_are_refused_with_a_way_out() {
    assert!(read("monday").is_err_and(|error| error.contains("`last monday` or `next monday`")));
    assert!(read("15 July").is_err_and(|error| error.contains("the year is missing")));
    let long = "tomorrow ".repeat(1_000);
    assert!(read(&long).is_err_and(|error| error.len() < 400));
}

#[test]
fn a_day_ends_with_its_last_moment() {
    let now: Timestamp = NOW.parse().unwrap_or_default();
    let end = |typed: &str| {
        typed
            .parse::<TimeExpression>()
            .and_then(|time| time.last_moment(now, &|_| Offset::UTC))
            .map(|time| time.to_string())
    };
    assert_eq!(end("yesterday").as_deref(), Ok("2026-07-14T23:59:59.999999999Z"));
    assert_eq!(end("2026-07-15").as_deref(), Ok("2026-07-15T23:59:59.999999999Z"));
    assert_eq!(end("yesterday 14:00").as_deref(), Ok("2026-07-14T14:00:00Z"));
    assert_eq!(end("2 hours ago").as_deref(), Ok("2026-07-15T08:30:00Z"));
}

#[test]
fn the_parser_accepts_what_the_pattern_of_the_schema_does() {
    let pattern = regex::Regex::new(RELATIVE_TIME_PATTERN).unwrap_or_else(|error| panic!("{error}"));
    let units = ["minute", "hour", "day", "week", "month", "year"];
    let counted =
        units.iter().flat_map(|unit| [format!("1 {unit} ago"), format!("999 {unit}s ago"), format!("in 999 {unit}s")]);
    let sides = ["last", "this", "next"]
        .into_iter()
        .flat_map(|side| ["monday", "sunday", "week", "month", "year"].map(|word| format!("{side} {word}")));
    for text in counted.chain(sides).chain(["now", "today", "yesterday", "tomorrow"].map(str::to_owned)) {
        assert!(pattern.is_match(&text), "{text}");
        assert!(read(&text).is_ok(), "{text}: {:?}", read(&text));
        let parsed: Result<TimeExpression, String> = text.parse();
        assert_eq!(parsed.clone().and_then(|time| time.to_string().parse()), parsed, "{text}");
    }
}

#[test]
fn a_moment_is_on_the_clock_of_who_types_it() {
    // New York: the clocks went forward on 8 March 2026.
    let offset = |at: Timestamp| {
        let is_summer = at >= "2026-03-08T07:00:00Z".parse().unwrap_or_default();
        Offset::constant(if is_summer { -4 } else { -5 })
    };
    let now: Timestamp = "2026-03-10T02:00:00Z".parse().unwrap_or_default();
    for (typed, meant) in [
        ("now", "2026-03-10T02:00:00Z"),
        ("2 hours ago", "2026-03-10T00:00:00Z"),
        ("today", "2026-03-09T04:00:00Z"),
        ("yesterday 14:00", "2026-03-08T18:00:00Z"),
        ("2026-03-07", "2026-03-07T05:00:00Z"),
        ("2026-03-07 14:00", "2026-03-07T19:00:00Z"),
        ("2026-03-07T14:00:00Z", "2026-03-07T14:00:00Z"),
        ("2026-03-07T14:00:00+02:00", "2026-03-07T12:00:00Z"),
    ] {
        let moment = typed.parse::<TimeExpression>().and_then(|typed| typed.moment(now, &offset));
        assert_eq!(moment.map(|time| time.to_string()).as_deref(), Ok(meant), "{typed:?}");
    }
}

#[test]
fn the_offset_of_a_time_is_kept() {
    for (typed, offset) in [
        ("2026-03-07T14:00:00+02:00", Some("+02:00")),
        ("2026-03-07 14:00-0330", Some("-03:30")),
        ("2026-03-07T14:00:00-08", Some("-08:00")),
        ("2026-03-07T14:00:00+00:00", None),
        ("20260307T140000+0200", Some("+02:00")),
        ("2026-03-07T14:00:00Z", None),
        ("2026-03-07T14:00:00", None),
        ("2026-03-07", None),
        ("yesterday", None),
    ] {
        let parsed = typed.parse::<TimeExpression>();
        let kept = parsed.clone().ok().and_then(|time| time.utc_offset()).map(crate::calendar::offset_text);
        assert_eq!(kept.as_deref(), offset, "{typed:?}");
        let again = parsed.clone().and_then(|time| time.to_string().parse::<TimeExpression>());
        let parts = |time: TimeExpression| (time.at(Timestamp::UNIX_EPOCH), time.utc_offset());
        assert_eq!(again.map(parts), parsed.map(parts), "{typed:?}");
    }
}
