//! Reads HTML: a section for each heading.

use html2text::config;
use html2text::render::TextDecorator;
use quipu_engine::ports::{Document, DocumentSection};

/// Width in characters at which lines are broken: far longer than most paragraphs.
const WIDTH: usize = 4_000;

/// Marks a heading: a character that no page shows.
const HEADING: char = '\u{1}';

/// Writes words without decoration, marks headings, and numbers or dots the items of lists.
struct Plain;

impl TextDecorator for Plain {
    type Annotation = ();

    fn decorate_link_start(&mut self, _: &str) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_link_end(&mut self) -> String {
        String::new()
    }

    fn decorate_em_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_em_end(&self) -> String {
        String::new()
    }

    fn decorate_strong_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_strong_end(&self) -> String {
        String::new()
    }

    fn decorate_strikeout_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_strikeout_end(&self) -> String {
        String::new()
    }

    fn decorate_code_start(&self) -> (String, ()) {
        (String::new(), ())
    }

    fn decorate_code_end(&self) -> String {
        String::new()
    }

    fn decorate_preformat_first(&self) {}

    fn decorate_preformat_cont(&self) {}

    fn decorate_image(&mut self, _: &str, title: &str) -> (String, ()) {
        (title.to_owned(), ())
    }

    fn header_prefix(&self, _: usize) -> String {
        HEADING.to_string()
    }

    fn quote_prefix(&self) -> String {
        String::new()
    }

    fn unordered_item_prefix(&self) -> String {
        "* ".to_owned()
    }

    fn ordered_item_prefix(&self, number: i64) -> String {
        format!("{number}. ")
    }

    fn make_subblock_decorator(&self) -> Self {
        Self
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let sections = sections(bytes)?;
    let named = |(at, (title, text)): (usize, (Option<String>, String))| DocumentSection {
        place: format!("section {}", at + 1),
        title,
        text,
        ..DocumentSection::default()
    };
    Ok(Document { sections: sections.into_iter().enumerate().map(named).collect(), ..Document::default() })
}

/// The sections, each with its heading. Scripts and styles are left out.
pub(super) fn sections(bytes: &[u8]) -> Result<Vec<(Option<String>, String)>, String> {
    let text = config::with_decorator(Plain)
        .raw_mode(true)
        .no_table_borders()
        .link_footnotes(false)
        .string_from_read(bytes, WIDTH)
        .map_err(|error| format!("it cannot be read as HTML: {error}"))?;
    let mut found: Vec<(Option<String>, String)> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix(HEADING).map(str::trim).filter(|heading| !heading.is_empty()) {
            found.push((Some(heading.to_owned()), format!("{heading}\n\n")));
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
