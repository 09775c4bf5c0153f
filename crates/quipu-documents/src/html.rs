//! Reads HTML: a section for each heading.

use html2text::config;
use quipu_engine::ports::{Document, Section};

/// Width in characters at which lines are broken: far longer than most paragraphs.
const WIDTH: usize = 4_000;

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let sections = sections(bytes)?;
    let named = |(at, (title, text)): (usize, (Option<String>, String))| Section {
        place: format!("section {}", at + 1),
        title,
        text,
        ..Section::default()
    };
    Ok(Document { sections: sections.into_iter().enumerate().map(named).collect(), ..Document::default() })
}

/// The sections, each with its heading. Scripts and styles are left out.
pub(super) fn sections(bytes: &[u8]) -> Result<Vec<(Option<String>, String)>, String> {
    let text = config::plain_no_decorate()
        .raw_mode(true)
        .no_table_borders()
        .link_footnotes(false)
        .string_from_read(bytes, WIDTH)
        .map_err(|error| format!("it cannot be read as HTML: {error}"))?;
    let mut found: Vec<(Option<String>, String)> = Vec::new();
    for line in text.lines() {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') && !heading.trim().is_empty() {
            found.push((Some(heading.trim().to_owned()), format!("{}\n\n", heading.trim())));
            continue;
        }
        // A horizontal rule is as wide as the page.
        let is_rule = line.len() > 200 && line.chars().all(|char| matches!(char, '─' | '-' | '━' | '═'));
        if found.is_empty() {
            found.push((None, String::new()));
        }
        if let Some((_, text)) = found.last_mut().filter(|_| !is_rule) {
            text.push_str(line);
            text.push('\n');
        }
    }
    found.retain(|(_, text)| !text.trim().is_empty());
    Ok(found)
}
