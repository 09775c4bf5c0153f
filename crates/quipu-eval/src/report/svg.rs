//! Plots as SVG inside a page: shapes and text only, coloured by the page's style.

use std::fmt::Write as _;

use super::escaped;

/// A point with its label, its share, and the ends of its interval.
pub(super) type Point = (String, f64, Option<[f64; 2]>);

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;
/// Height of a bar with its gap.
const BAR: f64 = 26.0;
/// Room for the names of bars.
const NAMES: f64 = 190.0;

fn down(share: f64) -> f64 {
    TOP + (1.0 - share.clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM)
}

fn across(share: f64) -> f64 {
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

fn framed(title: &str, height: f64, inside: &str) -> String {
    let title = escaped(title);
    format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">{inside}</svg>\
         <figcaption>{title}</figcaption></figure>\n"
    )
}

/// Lines at every quarter, with labels.
fn grid(label: &dyn Fn(f64) -> String) -> String {
    let line = |share: f64| {
        let (y, end, text) = (down(share), WIDTH - RIGHT, LEFT - 6.0);
        format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"soft\" text-anchor=\"end\" x=\"{text}\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            label(share)
        )
    };
    [0.0, 0.25, 0.5, 0.75, 1.0].map(line).concat()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn named_below(x: f64, name: &str) -> String {
    format!(
        "<text class=\"soft\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
        HEIGHT - 12.0,
        escaped(name)
    )
}

/// A curve over named positions, with a band for the intervals.
pub(super) fn curve(title: &str, points: &[Point]) -> String {
    let x = |place: usize| across((place as f64 + 0.5) / points.len() as f64);
    let mut inside = grid(&percent);
    let ends = |pick: usize| points.iter().enumerate().filter_map(move |(place, point)| Some((place, point.2?[pick])));
    let corner = |(place, share): (usize, f64)| format!("{:.1},{:.1} ", x(place), down(share));
    let mut band: String = ends(1).map(corner).collect();
    band.extend(ends(0).collect::<Vec<_>>().into_iter().rev().map(corner));
    let line: String = points.iter().enumerate().map(|(place, point)| corner((place, point.1))).collect();
    let _ = write!(inside, "<polygon class=\"band\" points=\"{band}\"/><polyline class=\"mark\" points=\"{line}\"/>");
    for (place, (name, share, _)) in points.iter().enumerate() {
        let (x, y) = (x(place), down(*share));
        let _ = write!(
            inside,
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\
             <text text-anchor=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{:.1}</text>{}",
            if y < TOP + 20.0 { y + 20.0 } else { y - 10.0 },
            share * 100.0,
            named_below(x, name)
        );
    }
    framed(title, HEIGHT, &inside)
}

/// One bar for each name, with whiskers for the intervals.
pub(super) fn bars(title: &str, points: &[Point]) -> String {
    let wide = |share: f64| NAMES + share * (WIDTH - NAMES - 52.0);
    let mut inside = String::new();
    for (place, (name, share, interval)) in points.iter().enumerate() {
        let (y, end) = (TOP + place as f64 * BAR, wide(*share));
        let middle = y + BAR / 2.0 - 3.0;
        let _ = write!(
            inside,
            "<text text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <rect class=\"bar\" x=\"{NAMES}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            NAMES - 8.0,
            middle + 4.0,
            escaped(name),
            end - NAMES,
            BAR - 6.0
        );
        let mut text = end;
        if let Some([low, high]) = interval {
            text = wide(*high);
            let _ = write!(
                inside,
                "<line class=\"whisker\" x1=\"{:.1}\" x2=\"{text:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>",
                wide(*low)
            );
        }
        let _ = write!(inside, "<text x=\"{:.1}\" y=\"{:.1}\">{:.1}</text>", text + 6.0, middle + 4.0, share * 100.0);
    }
    framed(title, TOP * 2.0 + points.len() as f64 * BAR, &inside)
}

/// Counts in named bins.
pub(super) fn histogram(title: &str, counts: &[(String, usize)]) -> String {
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1) as f64;
    let mut inside = grid(&|share| format!("{:.0}", share * most));
    let step = 1.0 / counts.len() as f64;
    for (place, (name, count)) in counts.iter().enumerate() {
        let (x, end, y) =
            (across(place as f64 * step) + 1.0, across((place as f64 + 1.0) * step) - 1.0, down(*count as f64 / most));
        let _ = write!(
            inside,
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>{}",
            end - x,
            down(0.0) - y,
            named_below(f64::midpoint(x, end), name)
        );
    }
    framed(title, HEIGHT, &inside)
}

/// A plot as a file of its own, in light and dark.
pub(crate) fn alone(figure: &str) -> String {
    let from = figure.find("<svg").unwrap_or_default();
    let until = figure.find("</svg>").unwrap_or(figure.len());
    let (tag, inside) = figure[from..until].split_once('>').unwrap_or_default();
    format!("{tag} xmlns=\"http://www.w3.org/2000/svg\"><style>{STYLE}</style>{inside}</svg>\n")
}

/// The part of the page's style that plots use.
const STYLE: &str = "text{font:12px sans-serif;fill:#444}.grid{stroke:#8884}.ideal{stroke:#888;stroke-dasharray:4 4}\
    .dot{fill:#2a6fb0}@media(prefers-color-scheme:dark){text{fill:#ccc}.dot{fill:#7db8ee}}";

/// Stated confidence against the share that is right; on the dashed line they agree.
pub(crate) fn reliability(title: &str, points: &[(f64, f64, usize)]) -> String {
    let mut inside = grid(&percent);
    let _ = write!(
        inside,
        "<line class=\"ideal\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        across(0.0),
        down(0.0),
        across(1.0),
        down(1.0)
    );
    for (stated, right, count) in points {
        let radius = 3.0 + (*count as f64).sqrt().min(14.0) / 2.0;
        let (x, y) = (across(*stated), down(*right));
        let _ = write!(
            inside,
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{count}</title></circle>"
        );
    }
    inside +=
        &[0.0, 0.5, 1.0].map(|share| named_below(across(share).clamp(60.0, WIDTH - 30.0), &percent(share))).concat();
    framed(title, HEIGHT, &inside)
}
