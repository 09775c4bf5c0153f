//! Plots as SVG. Every text in one is a number or date made here, or is escaped by [`text`].

use std::fmt::Write;

mod reliability;
mod svg;
#[cfg(test)]
mod tests;
mod time;

use super::shown;
use svg::{framed, text};

pub(super) use reliability::{between, reliability};
pub(super) use svg::{Width, both, maybe_both};
pub(super) use time::{Lane, Reading, growth, lanes, readings};

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

/// Bars below each other: a name and a count each.
pub(super) fn funnel(width: Width, rows: &[(String, usize)]) -> String {
    const ROW: f64 = 26.0;
    let most = rows.iter().map(|(_, number)| *number).max().unwrap_or(0).max(1) as f64;
    let mut inside = String::new();
    for (place, (name, number)) in rows.iter().enumerate() {
        let y = place as f64 * ROW + 4.0;
        // Logarithmic: a few out of many would be invisible on a linear scale.
        let wide = ((*number as f64 + 1.0).ln() / (most + 1.0).ln() * (width.units() - 260.0)).max(1.0);
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
    framed(width, rows.len() as f64 * ROW + 4.0, "How many were left after each stage", &inside)
}

/// A histogram: the upper bound of each bucket in seconds, and its count.
pub(super) fn histogram(width: Width, buckets: &[(f64, u64)], label: &str) -> String {
    const HEIGHT: f64 = 160.0;
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1) as f64;
    let whole = width.units();
    let wide = (whole - 8.0) / buckets.len().max(1) as f64;
    let mut inside = format!("<path class=\"axis\" d=\"M0 {:.1}H{whole}\"/>", HEIGHT - 24.0);
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
        // On a narrow plot every third bound is named.
        if width == Width::Narrow && place % 3 != 0 {
            continue;
        }
        let _ = write!(
            inside,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x + wide / 2.0,
            HEIGHT - 8.0,
            seconds(*bound)
        );
    }
    framed(width, HEIGHT, label, &inside)
}

/// Median and 95th percentile of a duration, in seconds.
pub(super) struct Percentiles {
    pub(super) name: String,
    pub(super) half: f64,
    pub(super) most: f64,
}

/// Bars from the median to the 95th percentile, below each other on a logarithmic scale.
pub(super) fn reaches(width: Width, rows: &[Percentiles], label: &str) -> String {
    const ROW: f64 = 36.0;
    const LEAST: f64 = 0.0005;
    const MOST: f64 = 10.0;
    let x = |seconds: f64| {
        let share = (seconds.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
        8.0 + share * (width.units() - 84.0)
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
            text(&shown::start(&row.name, width.letters(80))),
            seconds(row.half),
            to + 10.0,
            y + 4.0,
            seconds(row.most)
        );
    }
    framed(width, foot + 22.0, label, &inside)
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
