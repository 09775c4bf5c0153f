//! Cleans and shortens names from outside.

use std::sync::Arc;

use quipu_core::limit::NAME_BYTES_MAX;

use super::report::Report;

/// A valid name of an author or topic: one line, at most `NAME_BYTES_MAX` bytes. `None` if it would be empty.
pub(super) fn label(report: &mut Report, place: &str, field: &str, raw: &str) -> Option<Arc<str>> {
    fit(report, place, field, raw, "…")
}

/// A valid name of a session. A shortened one ends in a hash, so that different long names stay different.
pub(super) fn session(report: &mut Report, place: &str, raw: &str) -> Option<Arc<str>> {
    let hash = blake3::hash(raw.as_bytes()).to_hex();
    fit(report, place, "the session's name", raw, &format!("…{}", &hash[..8]))
}

fn fit(report: &mut Report, place: &str, field: &str, raw: &str, tail: &str) -> Option<Arc<str>> {
    let mut text = raw.trim().to_owned();
    if text.contains(char::is_control) {
        text = text.replace(char::is_control, " ").trim().to_owned();
        report.notice(place, format!("{field} contains control characters; they became spaces"));
    }
    if text.len() > NAME_BYTES_MAX {
        let bytes = text.len();
        text = cut(&text, NAME_BYTES_MAX, tail);
        report.notice(place, format!("{field} has {bytes} bytes; it was shortened to {NAME_BYTES_MAX}"));
    }
    (!text.is_empty()).then(|| text.into())
}

/// Cuts the text at a character boundary so that, with `tail`, it has at most `bytes_max` bytes.
pub(super) fn cut(text: &str, bytes_max: usize, tail: &str) -> String {
    let kept = &text[..text.floor_char_boundary(bytes_max.saturating_sub(tail.len()))];
    format!("{}{tail}", kept.trim_end())
}

/// Quotes and escapes a text for a message, and shortens it.
pub(super) fn quote(text: &str) -> String {
    const SHOWN_BYTES_MAX: usize = 60;
    if text.len() > SHOWN_BYTES_MAX { format!("{:?}", cut(text, SHOWN_BYTES_MAX, "…")) } else { format!("{text:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_brought_into_bounds() {
        let mut report = Report::default();
        let long = "é".repeat(100);
        for (raw, expected, notices) in [
            ("Ana", Some("Ana".to_owned()), 0),
            ("  Ana ", Some("Ana".to_owned()), 0),
            ("A\nna", Some("A na".to_owned()), 1),
            ("\u{7}", None, 1),
            ("", None, 0),
            (long.as_str(), Some(format!("{}…", "é".repeat(62))), 1),
        ] {
            report.notices.clear();
            assert_eq!(label(&mut report, "here", "author", raw).as_deref(), expected.as_deref(), "{raw:?}");
            assert_eq!(report.notices.len(), notices, "{raw:?}");
        }
    }

    #[test]
    fn long_sessions_stay_apart() {
        let mut report = Report::default();
        let [a, b] = ["a", "b"].map(|end| session(&mut report, "here", &format!("{}{end}", "x".repeat(200))));
        assert!(a.is_some() && a != b, "{a:?} {b:?}");
    }
}
