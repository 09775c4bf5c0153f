//! Plots as SVG. Every text in one is a number or date made here, or is escaped by [`text`].

use std::fmt::Write;

use jiff::Timestamp;

use quipu_core::recall::ReliabilityBin;

use super::shown;

const WIDTH: f64 = 720.0;

/// Escapes a text for SVG.
fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for letter in raw.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

fn framed(height: f64, label: &str, inside: &str) -> String {
    let label = text(label);
    format!("<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">{inside}</svg>")
}

/// The smallest step of the form 1, 2 or 5 times a power of ten that divides a range into at most this many parts.
fn step(whole: f64, parts: f64) -> f64 {
    let rough = (whole / parts).max(1e-9);
    let ten = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|one| one * ten).find(|one| *one >= rough).unwrap_or(rough)
}

/// The growth of a ledger: times and positions, oldest first. `None` for fewer than three events.
pub(super) fn growth(points: &[(Timestamp, u64)]) -> Option<String> {
    const HEIGHT: f64 = 180.0;
    let (first, last) = (points.first()?, points.last()?);
    if last.1 < 3 {
        return None;
    }
    let from = first.0.as_millisecond() as f64;
    let span = (last.0.as_millisecond() as f64 - from).max(1.0);
    let top = last.1 as f64;
    let x = |time: Timestamp| 44.0 + (time.as_millisecond() as f64 - from) / span * (WIDTH - 60.0);
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
            WIDTH - 16.0,
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
        shown::moment(first.0),
        WIDTH - 16.0,
        shown::moment(last.0)
    );
    Some(framed(HEIGHT + 6.0, &format!("Growth to {} events", shown::count(last.1 as usize)), &inside))
}

/// A part of a bar: its name, its value, and its colour out of eight.
#[derive(Clone)]
pub(super) struct BarPart {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) colour: usize,
}

/// A bar of consecutive parts, scaled to the longest bar.
pub(super) fn stacked(parts: &[BarPart], longest: f64) -> String {
    let told: Vec<String> = parts.iter().map(|part| format!("{} {:.2}", part.name, part.value)).collect();
    let mut inside = String::new();
    let mut at = 0.0;
    for part in parts.iter().filter(|part| part.value > 0.0) {
        let wide = part.value / longest.max(1e-9) * 1000.0;
        let _ = write!(
            inside,
            "<rect class=\"p{}\" x=\"{at:.1}\" width=\"{:.1}\" height=\"10\"><title>{} {:.3}</title></rect>",
            part.colour,
            (wide - 2.0).max(1.0),
            part.name,
            part.value
        );
        at += wide;
    }
    let label = text(&told.join(", "));
    format!(
        "<svg class=\"stackbar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{label}\">{inside}</svg>"
    )
}

/// A period in which a value held.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) from: Option<Timestamp>,
    pub(super) to: Option<Timestamp>,
    /// The CSS class: empty, `past` or `never`.
    pub(super) look: &'static str,
}

/// Values of one relation below each other, over time.
pub(super) fn lanes(lanes: &[Lane], now: Timestamp) -> Option<String> {
    const ROW: f64 = 30.0;
    let known = || lanes.iter().flat_map(|lane| [lane.from, lane.to]).flatten();
    let earliest = known().min()?;
    let latest = known().max()?.max(now);
    let from = earliest.as_millisecond() as f64;
    let span = (latest.as_millisecond() as f64 - from).max(86_400_000.0);
    let from = from - span * 0.04;
    let x = |time: Timestamp| (time.as_millisecond() as f64 - from) / (span * 1.08) * WIDTH;
    let mut inside = String::new();
    for (row, lane) in lanes.iter().enumerate() {
        let y = row as f64 * ROW + 18.0;
        let (start, end) = (lane.from.map_or(0.0, x), lane.to.map_or(WIDTH, x));
        let name = text(&shown::start(&lane.name, 60));
        let days = format!(
            "{} → {}",
            lane.from.map_or_else(|| "?".to_owned(), shown::day),
            lane.to.map_or_else(|| "now".to_owned(), shown::day)
        );
        // The name goes where there is room for it.
        let (at, anchor) = if start > WIDTH * 0.6 { (start - 8.0, "end") } else { (start, "start") };
        let y_name = if start > WIDTH * 0.6 { y + 7.0 } else { y - 5.0 };
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
    Some(framed(height + 4.0, "When each value held", &inside))
}

/// A measured value: when, how much, in what unit, and as the user wrote it.
pub(super) struct Reading {
    pub(super) at: Timestamp,
    pub(super) value: f64,
    pub(super) unit: String,
    pub(super) said: String,
}

/// A measured value over time, readings oldest first. `None` for fewer than three readings or for several units.
pub(super) fn readings(readings: &[Reading]) -> Option<String> {
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
    let x = |time: Timestamp| SIDE + (time.as_millisecond() as f64 - from) / span * (WIDTH - 2.0 * SIDE);
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
        WIDTH - SIDE,
        shown::day(last.at)
    );
    Some(framed(HEIGHT + 6.0, &format!("From {} to {} in {} readings", first.said, last.said, readings.len()), &inside))
}

/// Bars below each other: a name and a count each.
pub(super) fn funnel(rows: &[(String, usize)]) -> String {
    const ROW: f64 = 26.0;
    let most = rows.iter().map(|(_, number)| *number).max().unwrap_or(0).max(1) as f64;
    let mut inside = String::new();
    for (place, (name, number)) in rows.iter().enumerate() {
        let y = place as f64 * ROW + 4.0;
        // Logarithmic: a few out of many would be invisible on a linear scale.
        let wide = ((*number as f64 + 1.0).ln() / (most + 1.0).ln() * (WIDTH - 260.0)).max(1.0);
        let _ = write!(
            inside,
            "<text x=\"0\" y=\"{:.1}\">{}</text><rect class=\"bar\" x=\"190\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"16\" rx=\"3\"/>\
             <text class=\"strong\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            y + 12.0,
            text(name),
            198.0 + wide,
            y + 12.0,
            shown::count(*number)
        );
    }
    framed(rows.len() as f64 * ROW + 4.0, "How many were left after each stage", &inside)
}

/// A histogram: the upper bound of each bucket in seconds, and its count.
pub(super) fn histogram(buckets: &[(f64, u64)], label: &str) -> String {
    const HEIGHT: f64 = 160.0;
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1) as f64;
    let wide = (WIDTH - 8.0) / buckets.len().max(1) as f64;
    let mut inside = format!("<path class=\"axis\" d=\"M0 {:.1}H{WIDTH}\"/>", HEIGHT - 24.0);
    for (place, (bound, count)) in buckets.iter().enumerate() {
        let x = 4.0 + place as f64 * wide;
        let high = *count as f64 / most * (HEIGHT - 48.0);
        let y = HEIGHT - 24.0 - high;
        if *count > 0 {
            let _ = write!(
                inside,
                "<rect class=\"bar\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"><title>{count} up to {}</title></rect>\
                 <text class=\"strong\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{count}</text>",
                x + 2.0,
                wide - 4.0,
                high.max(2.0),
                seconds(*bound),
                x + wide / 2.0,
                y - 4.0
            );
        }
        let _ = write!(
            inside,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x + wide / 2.0,
            HEIGHT - 8.0,
            seconds(*bound)
        );
    }
    framed(HEIGHT, label, &inside)
}

/// Median and 95th percentile of a duration, in seconds.
pub(super) struct Percentiles {
    pub(super) name: String,
    pub(super) half: f64,
    pub(super) most: f64,
}

/// Bars from the median to the 95th percentile, below each other on a logarithmic scale.
pub(super) fn reaches(rows: &[Percentiles], label: &str) -> String {
    const ROW: f64 = 36.0;
    const LEAST: f64 = 0.0005;
    const MOST: f64 = 10.0;
    let x = |seconds: f64| {
        let share = (seconds.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
        8.0 + share * (WIDTH - 84.0)
    };
    let foot = rows.len() as f64 * ROW + 6.0;
    let mut inside = String::new();
    for mark in [0.001, 0.01, 0.1, 1.0, 10.0] {
        let _ = write!(
            inside,
            "<path class=\"axis\" d=\"M{:.1} 0V{foot:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(mark),
            x(mark),
            foot + 16.0,
            seconds(mark)
        );
    }
    for (place, row) in rows.iter().enumerate() {
        // The name goes above, where it has room on small screens.
        let y = place as f64 * ROW + 26.0;
        let (from, to) = (x(row.half), x(row.most));
        let _ = write!(
            inside,
            "<text x=\"0\" y=\"{:.1}\">{}</text><path class=\"span\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>\
             <circle class=\"point\" cx=\"{from:.1}\" cy=\"{y:.1}\" r=\"5\"><title>half within {}</title></circle>\
             <text class=\"strong\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            y - 10.0,
            text(&shown::start(&row.name, 80)),
            seconds(row.half),
            to + 10.0,
            y + 4.0,
            seconds(row.most)
        );
    }
    framed(foot + 22.0, label, &inside)
}

/// The 95 % Wilson score interval (1927) of a share.
pub(super) fn between(share: f64, of: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let number = of.max(1) as f64;
    let widened = 1.0 + Z * Z / number;
    let middle = (share + Z * Z / (2.0 * number)) / widened;
    let reach = Z / widened * (share * (1.0 - share) / number + Z * Z / (4.0 * number * number)).sqrt();
    ((middle - reach).max(0.0), (middle + reach).min(1.0))
}

/// A reliability diagram: stated probability against the share that is answered; on the dashed line they agree.
/// `limits` are probabilities with labels.
pub(super) fn reliability(curve: &[ReliabilityBin], limits: &[(f64, &str)], label: &str) -> String {
    const HEIGHT: f64 = 340.0;
    const FOOT: f64 = HEIGHT - 40.0;
    let x = |share: f64| 52.0 + share * (WIDTH - 68.0);
    let y = |share: f64| FOOT - share * (FOOT - 24.0);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut inside = String::new();
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let _ = write!(
            inside,
            "<path class=\"axis\" d=\"M52 {:.1}H{:.0}\"/><text x=\"44\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            y(share),
            WIDTH - 16.0,
            y(share) + 4.0,
            percent(share),
            x(share),
            FOOT + 18.0,
            percent(share)
        );
    }
    for (limit, name) in limits {
        let at = x(*limit);
        let _ = write!(
            inside,
            "<path class=\"limit\" d=\"M{at:.1} 24V{FOOT:.0}\"/><text x=\"{:.1}\" y=\"18\" text-anchor=\"middle\">{}</text>",
            at,
            text(name)
        );
    }
    let _ = write!(inside, "<path class=\"ideal\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>", x(0.0), y(0.0), x(1.0), y(1.0));
    let mut line = String::new();
    let mut points = String::new();
    for one in curve {
        let (at, high) = (x(one.stated), y(one.answerable));
        let _ = write!(line, "{}{at:.1} {high:.1}", if line.is_empty() { "M" } else { "L" });
        let (least, most) = between(one.answerable, one.questions);
        let radius = 3.0 + (one.questions as f64).sqrt().min(21.0) / 4.0;
        let _ = write!(
            points,
            "<path class=\"reach\" d=\"M{at:.1} {:.1}V{:.1}\"/>\
             <circle class=\"point\" cx=\"{at:.1}\" cy=\"{high:.1}\" r=\"{radius:.1}\"><title>{} questions: {} stated, {} answered</title></circle>",
            y(least),
            y(most),
            one.questions,
            percent(one.stated),
            percent(one.answerable)
        );
    }
    let _ = write!(
        inside,
        "<path class=\"mark-line\" d=\"{line}\"/>{points}<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"end\">stated</text>\
         <text x=\"0\" y=\"14\">answered</text>",
        WIDTH - 16.0,
        FOOT + 36.0
    );
    framed(HEIGHT, label, &inside)
}

/// `0.6 ms`, `2.4 s`
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "more".to_owned(),
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 0.01 => format!("{:.1} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_stays_text() {
        let name = "</title><script>alert(1)</script>\"'".to_owned();
        let time = Timestamp::from_second(1_700_000_000).ok();
        let drawn = lanes(&[Lane { name, from: time, to: None, look: "" }], Timestamp::UNIX_EPOCH).unwrap_or_default();
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
        let drawn = readings(&[on(0, 86.0, "kg"), on(5, 82.0, "kg"), on(10, 84.0, "kg")]).unwrap_or_default();
        for part in ["M24.0 36.0L360.0 114.0L696.0 75.0", "From 86 kg to 84 kg in 3 readings", ">82 kg</text>"] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert_eq!(readings(&[on(0, 86.0, "kg"), on(5, 84.0, "kg")]), None, "two are no trend");
        assert_eq!(readings(&[on(0, 86.0, "kg"), on(5, 180.0, "lb"), on(9, 84.0, "kg")]), None, "units that differ");
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
        let drawn = reliability(&[one(0.0, 0.0, 4), one(1.0, 0.5, 400)], &[(0.25, "<declines>")], "How sure");
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
        let drawn = reaches(&[row("<a>", 0.001, 0.01), row("b", 0.1, f64::INFINITY)], "Requests");
        for part in
            ["&lt;a&gt;", "cx=\"52.5\"", "M52.5 26.0H200.4", "M348.3 62.0H644.0", ">more</text>", ">10 ms</text>"]
        {
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
}
