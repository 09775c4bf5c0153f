//! Plots over time: growth, periods and readings.

use std::fmt::Write;

use jiff::Timestamp;

use super::super::shown;
use super::svg::{Width, framed, step, text};

/// Growth: times and counts of `what`, oldest first. `None` for fewer than three.
pub(in crate::inspector) fn growth(width: Width, points: &[(Timestamp, u64)], what: &str) -> Option<String> {
    const HEIGHT: f64 = 180.0;
    let (first, last) = (points.first()?, points.last()?);
    if last.1 < 3 {
        return None;
    }
    let from = first.0.as_millisecond() as f64;
    let span = (last.0.as_millisecond() as f64 - from).max(1.0);
    let top = last.1 as f64;
    // The hour matters only where the whole is short.
    let end = if span > 172_800_000.0 { shown::day } else { shown::moment };
    let x = |time: Timestamp| 44.0 + (time.as_millisecond() as f64 - from) / span * (width.units() - 60.0);
    let y = |seq: f64| HEIGHT - 24.0 - seq / top * (HEIGHT - 40.0);
    // At most about 1,000 points are drawn.
    let every = points.len().div_ceil(1000).max(1);
    let kept = points.iter().enumerate().filter(|(place, _)| place % every == 0 || *place == points.len() - 1);
    let mut line = String::new();
    for (_, (time, seq)) in kept {
        let _ = write!(line, "{}{:.1} {:.1}", if line.is_empty() { "M" } else { "L" }, x(*time), y(*seq as f64));
    }
    let mut inside = String::new();
    let by = step(top, 4.0).max(1.0);
    let mut tick = 0.0;
    while tick <= top {
        let at = y(tick);
        let _ = write!(
            inside,
            "<path class=\"axis\" d=\"M44 {at:.1}H{:.0}\"/><text x=\"36\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            width.units() - 16.0,
            at + 4.0,
            shown::count(tick as usize)
        );
        tick += by;
    }
    let ends = format!("L{:.1} {:.1}L{:.1} {:.1}Z", x(last.0), y(0.0), x(first.0), y(0.0));
    let _ = write!(
        inside,
        "<path class=\"area\" d=\"{line}{ends}\"/><path class=\"mark-line\" d=\"{line}\"/><text x=\"44\" y=\"{HEIGHT}\">{}</text>\
         <text x=\"{:.0}\" y=\"{HEIGHT}\" text-anchor=\"end\">{}</text>",
        end(first.0),
        width.units() - 16.0,
        end(last.0)
    );
    let label = format!("Growth to {} {what}", shown::count(last.1 as usize));
    Some(framed(width, HEIGHT + 6.0, &label, &inside))
}

/// A period in which a value held.
pub(in crate::inspector) struct Lane {
    pub(in crate::inspector) name: String,
    pub(in crate::inspector) from: Option<Timestamp>,
    pub(in crate::inspector) to: Option<Timestamp>,
    /// The CSS class: empty, `past` or `never`.
    pub(in crate::inspector) look: &'static str,
}

/// Values of one relation below each other, over time.
pub(in crate::inspector) fn lanes(width: Width, lanes: &[Lane], now: Timestamp) -> Option<String> {
    const ROW: f64 = 30.0;
    let known = || lanes.iter().flat_map(|lane| [lane.from, lane.to]).flatten();
    let earliest = known().min()?;
    let latest = known().max()?.max(now);
    let from = earliest.as_millisecond() as f64;
    let span = (latest.as_millisecond() as f64 - from).max(86_400_000.0);
    let from = from - span * 0.04;
    let x = |time: Timestamp| (time.as_millisecond() as f64 - from) / (span * 1.08) * width.units();
    let mut inside = String::new();
    for (row, lane) in lanes.iter().enumerate() {
        let y = row as f64 * ROW + 18.0;
        let (start, end) = (lane.from.map_or(0.0, x), lane.to.map_or(width.units(), x));
        let name = text(&shown::start(&lane.name, width.letters(60)));
        let days = format!(
            "{} → {}",
            lane.from.map_or_else(|| "?".to_owned(), shown::day),
            lane.to.map_or_else(|| "now".to_owned(), shown::day)
        );
        // The name goes where there is room for it.
        let (at, anchor) = if start > width.units() * 0.6 { (start - 8.0, "end") } else { (start, "start") };
        let y_name = if start > width.units() * 0.6 { y + 7.0 } else { y - 5.0 };
        let _ = write!(
            inside,
            "<text class=\"strong\" x=\"{at:.1}\" y=\"{y_name:.1}\" text-anchor=\"{anchor}\">{name}</text>\
             <rect class=\"lane {}\" x=\"{start:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"8\" rx=\"4\"><title>{days}</title></rect>",
            lane.look,
            (end - start).max(4.0)
        );
    }
    let height = lanes.len() as f64 * ROW + 24.0;
    let today = x(now);
    let _ = write!(
        inside,
        "<path class=\"today\" d=\"M{today:.1} 6V{:.1}\"/><text x=\"{today:.1}\" y=\"{height:.1}\" text-anchor=\"end\">today</text>\
         <text x=\"0\" y=\"{height:.1}\">{}</text>",
        height - 14.0,
        shown::day(earliest)
    );
    Some(framed(width, height + 4.0, "When each value held", &inside))
}

/// A measured value: when, how much, in what unit, and as the user wrote it.
pub(in crate::inspector) struct Reading {
    pub(in crate::inspector) at: Timestamp,
    pub(in crate::inspector) value: f64,
    pub(in crate::inspector) unit: String,
    pub(in crate::inspector) said: String,
}

/// A measured value over time, readings oldest first. `None` for fewer than three readings or for several units.
pub(in crate::inspector) fn readings(width: Width, readings: &[Reading]) -> Option<String> {
    const HEIGHT: f64 = 150.0;
    const SIDE: f64 = 24.0;
    let [first, .., last] = readings else { return None };
    if readings.len() < 3 || readings.iter().any(|one| one.unit != first.unit) || first.at == last.at {
        return None;
    }
    let values = || readings.iter().map(|one| one.value);
    let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let from = first.at.as_millisecond() as f64;
    let span = last.at.as_millisecond() as f64 - from;
    let x = |time: Timestamp| SIDE + (time.as_millisecond() as f64 - from) / span * (width.units() - 2.0 * SIDE);
    let y = |value: f64| HEIGHT - 36.0 - (value - least) / (most - least).max(f64::MIN_POSITIVE) * (HEIGHT - 72.0);
    let (mut line, mut dots) = (String::new(), String::new());
    for (place, one) in readings.iter().enumerate() {
        let (x, y) = (x(one.at), y(one.value));
        let _ = write!(line, "{}{x:.1} {y:.1}", if place == 0 { "M" } else { "L" });
        let (said, day) = (text(&shown::start(&one.said, 24)), shown::day(one.at));
        let _ = write!(
            dots,
            "<circle class=\"point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{said}, {day}</title></circle>"
        );
        // The first, the last, the smallest and the largest reading are labelled.
        let is_named = [0, readings.len() - 1].contains(&place) || one.value == least || one.value == most;
        if is_named {
            let anchor = if place == 0 {
                "start"
            } else if place + 1 == readings.len() {
                "end"
            } else {
                "middle"
            };
            let _ = write!(
                dots,
                "<text class=\"strong\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{said}</text>",
                y - 9.0
            );
        }
    }
    let inside = format!(
        "<path class=\"mark-line\" d=\"{line}\"/>{dots}<text x=\"{SIDE}\" y=\"{HEIGHT}\">{}</text>\
         <text x=\"{:.0}\" y=\"{HEIGHT}\" text-anchor=\"end\">{}</text>",
        shown::day(first.at),
        width.units() - SIDE,
        shown::day(last.at)
    );
    Some(framed(
        width,
        HEIGHT + 6.0,
        &format!("From {} to {} in {} readings", first.said, last.said, readings.len()),
        &inside,
    ))
}
