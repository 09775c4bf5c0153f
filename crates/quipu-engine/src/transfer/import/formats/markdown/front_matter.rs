//! Parses the front matter of a note, between `---` and `---`: simple `key: value` pairs without nesting.

use jiff::Timestamp;
use quipu_core::source::Artifact;

use crate::transfer::import::report::Report;
use crate::transfer::import::when;

/// Keys that may contain the date of a note, in order of preference.
const DATES: [&str; 4] = ["said_at", "date", "created", "updated"];

#[derive(Default)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    pub(super) said_at: Option<Timestamp>,
    /// The lines, verbatim.
    pub(super) artifact: Option<Artifact>,
}

impl FrontMatter {
    /// Splits the front matter from the text. Without a closing line there is no front matter.
    pub(super) fn split<'t>(text: &'t str, report: &mut Report) -> (Self, &'t str) {
        let Some((lines, body)) = frame(text) else { return (Self::default(), text) };
        let value = |key: &str| {
            let lines = lines.lines().filter_map(|line| line.split_once(':'));
            lines
                .filter(|(known, _)| known.trim_end().eq_ignore_ascii_case(key))
                .map(|(_, value)| unquoted(value))
                .next()
        };
        let mut said_at = None;
        for key in DATES {
            match value(key).map(when::text) {
                Some(Ok(time)) => said_at = said_at.or(Some(time)),
                Some(Err(reason)) => report.notice("the front matter", format!("{key}: {reason}; it was not used")),
                None => {}
            }
        }
        let artifact = Artifact { kind: "front_matter".to_owned(), name: None, text: lines.to_owned() };
        let title = value("title").filter(|title| !title.is_empty()).map(str::to_owned);
        (Self { title, said_at, artifact: (!lines.trim().is_empty()).then_some(artifact) }, body)
    }
}

/// The lines of the front matter, and the text after it.
fn frame(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---" && line.ends_with('\n'))?;
    let mut at = first.len();
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&text[first.len()..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let within = |quote| value.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, title: Option<&str>, said_at: Option<&str>, body: &str, notices: usize) {
        let mut report = Report::default();
        let (front, rest) = FrontMatter::split(text, &mut report);
        assert_eq!(front.title.as_deref(), title, "{text:?}");
        assert_eq!(front.said_at.map(|time| time.to_string()).as_deref(), said_at, "{text:?}");
        assert_eq!((rest, report.notices.len()), (body, notices), "{text:?}");
    }

    #[test]
    fn simple_pairs_are_read() {
        check("# Note", None, None, "# Note", 0);
        check("---\ntitle: \"A: B\"\ndate: 2026-03-02\n---\nx", Some("A: B"), Some("2026-03-02T00:00:00Z"), "x", 0);
        check("---\r\nCreated: 2026-03-02T10:00:00+01:00\r\n...\r\nx", None, Some("2026-03-02T09:00:00Z"), "x", 0);
        check("---\ndate: soon\nupdated: 2026-03-02\n---\n", None, Some("2026-03-02T00:00:00Z"), "", 1);
        check("---\ndate: 2026-02-31\n---\n", None, None, "", 1);
        check("---\ntitle: never closed\n", None, None, "---\ntitle: never closed\n", 0);
        check("---", None, None, "---", 0);
        check("---\n---\n", None, None, "", 0);
    }
}
