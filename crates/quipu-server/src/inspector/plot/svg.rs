//! Parts of every plot: its frame, its widths, and escaped text.

/// The two widths a plot is drawn in, so that its text is legible on a small screen too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::inspector) enum Width {
    /// For pages of 600 pixels and more.
    Wide,
    /// For phones.
    Narrow,
}

impl Width {
    /// The width of the drawing, in its own units.
    pub(super) fn units(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 340.0,
        }
    }

    /// How many of so many letters have room.
    pub(super) fn letters(self, wide: usize) -> usize {
        match self {
            Self::Wide => wide,
            Self::Narrow => wide * 2 / 3,
        }
    }
}

/// As [`both`], for what may have too little to be drawn.
pub(in crate::inspector) fn maybe_both(draw: impl Fn(Width) -> Option<String>) -> Option<String> {
    Some(framed_twice(&draw(Width::Wide)?, &draw(Width::Narrow)?))
}

fn framed_twice(wide: &str, narrow: &str) -> String {
    format!("<div class=\"for-wide\">{wide}</div><div class=\"for-narrow\">{narrow}</div>")
}

/// A plot in both widths; the style sheet shows the one that fits the screen.
pub(in crate::inspector) fn both(draw: impl Fn(Width) -> String) -> String {
    framed_twice(&draw(Width::Wide), &draw(Width::Narrow))
}

/// Escapes a text for SVG.
pub(super) fn text(raw: &str) -> String {
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

pub(super) fn framed(width: Width, height: f64, label: &str, inside: &str) -> String {
    let (label, width) = (text(label), width.units());
    format!("<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{inside}</svg>")
}

/// The smallest step of the form 1, 2 or 5 times a power of ten that divides a range into at most this many parts.
pub(super) fn step(whole: f64, parts: f64) -> f64 {
    let rough = (whole / parts).max(1e-9);
    let ten = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|one| one * ten).find(|one| *one >= rough).unwrap_or(rough)
}
