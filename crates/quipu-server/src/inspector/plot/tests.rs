use jiff::Timestamp;
use quipu_core::recall::ReliabilityBin;

use super::svg::step;
use super::*;

#[test]
fn what_people_wrote_stays_text() {
    let name = "</title><script>alert(1)</script>\"'".to_owned();
    let time = Timestamp::from_second(1_700_000_000).ok();
    let drawn =
        lanes(Width::Wide, &[Lane { name, from: time, to: None, look: "" }], Timestamp::UNIX_EPOCH).unwrap_or_default();
    assert!(!drawn.contains("<script") && drawn.contains("&lt;script&gt;"), "{drawn}");
}

#[test]
fn readings_are_drawn_where_they_were_measured() {
    let on = |day: i64, value: f64, unit: &str| Reading {
        at: Timestamp::from_second(day * 86_400).unwrap_or_default(),
        value,
        unit: unit.to_owned(),
        said: format!("{value} {unit}"),
    };
    let drawn = readings(Width::Wide, &[on(0, 86.0, "kg"), on(5, 82.0, "kg"), on(10, 84.0, "kg")]).unwrap_or_default();
    for part in ["M24.0 36.0L360.0 114.0L696.0 75.0", "From 86 kg to 84 kg in 3 readings", ">82 kg</text>"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    assert_eq!(readings(Width::Wide, &[on(0, 86.0, "kg"), on(5, 84.0, "kg")]), None, "two are no trend");
    assert_eq!(
        readings(Width::Wide, &[on(0, 86.0, "kg"), on(5, 180.0, "lb"), on(9, 84.0, "kg")]),
        None,
        "units that differ"
    );
}

#[test]
fn a_bar_is_as_long_as_its_share() {
    let part = |value, colour| BarPart { name: "words", value, colour };
    let drawn = stacked(&[part(0.5, 1), part(-0.2, 2), part(0.25, 3)], 1.0);
    assert!(drawn.contains("width=\"498.0\"") && drawn.contains("x=\"500.0\" width=\"248.0\""), "{drawn}");
    assert!(!drawn.contains("class=\"p2\""), "what takes away has no length: {drawn}");
}

#[test]
fn a_curve_has_its_points_where_they_are_measured() {
    let one = |stated, answerable, questions| ReliabilityBin { stated, answerable, questions };
    let drawn = reliability(Width::Wide, &[one(0.0, 0.0, 4), one(1.0, 0.5, 400)], &[(0.25, "<declines>")], "How sure");
    for part in [
        "cx=\"52.0\" cy=\"300.0\" r=\"3.5\"",
        "cx=\"704.0\" cy=\"162.0\" r=\"8.0\"",
        "400 questions: 100 % stated, 50 % answered",
        "M215.0 24V300",
        "&lt;declines&gt;",
    ] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
}

#[test]
fn what_takes_longer_reaches_further() {
    let row = |name: &str, half, most| Percentiles { name: name.to_owned(), half, most };
    let drawn = reaches(Width::Wide, &[row("<a>", 0.001, 0.01), row("b", 0.1, f64::INFINITY)], "Requests");
    for part in ["&lt;a&gt;", "cx=\"52.5\"", "M52.5 26.0H200.4", "M348.3 62.0H644.0", ">more</text>", ">10 ms</text>"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
}

#[test]
fn few_say_less_than_many() {
    for (share, of, least, most) in [(0.5, 10, 0.237, 0.763), (0.5, 1000, 0.469, 0.531), (0.0, 10, 0.0, 0.278)] {
        let found = between(share, of);
        assert!((found.0 - least).abs() < 1e-3 && (found.1 - most).abs() < 1e-3, "{share} of {of}: {found:?}");
    }
}

#[test]
fn steps_are_round() {
    for (whole, round) in [(3.0, 1.0), (57.0, 20.0), (1200.0, 500.0)] {
        assert!((step(whole, 4.0) - round).abs() < 1e-9, "{whole}: {}", step(whole, 4.0));
    }
}
