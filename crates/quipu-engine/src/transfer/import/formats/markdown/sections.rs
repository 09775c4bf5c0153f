//! Splits Markdown at its headings, and long sections at their blocks.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};
use quipu_core::limit::PASSAGE_BYTES_MAX;

use crate::transfer::import::chop::Prefer;
use crate::transfer::import::formats::text::{self, Block};

/// Separator between the headings of a path.
const JOINT: &str = " / ";

/// A section or a piece of one, as a range of the text.
pub(super) struct Passage {
    /// The heading and those above it, outermost first, joined.
    pub(super) path: String,
    /// Its range in the text.
    pub(super) range: Range<usize>,
    /// Start of the next passage.
    pub(super) owns_until: usize,
}

/// The passages of a text in order. `title` is prepended to every path, unless the first heading repeats it.
pub(super) fn passages(body: &str, title: Option<&str>) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    for section in sections(body) {
        let title = title.filter(|title| section.path.first().is_none_or(|first| !first.eq_ignore_ascii_case(title)));
        let path = title.into_iter().chain(section.path.iter().map(String::as_str)).collect::<Vec<_>>().join(JOINT);
        let whole = section.range.start..section.range.start + body[section.range.clone()].trim_end().len();
        let ranges = if whole.len() <= PASSAGE_BYTES_MAX { vec![whole] } else { text::passages(body, section.blocks) };
        found.extend(ranges.into_iter().map(|range| Passage { path: path.clone(), range, owns_until: body.len() }));
    }
    for index in 1..found.len() {
        found[index - 1].owns_until = found[index].range.start;
    }
    found
}

/// A heading with its text, up to the next heading.
struct Section {
    level: usize,
    path: Vec<String>,
    range: Range<usize>,
    blocks: Vec<Block>,
}

impl Section {
    /// Returns true if the section has only a heading, or no letters or digits.
    fn is_bare(&self, body: &str) -> bool {
        (self.level > 0 && self.blocks.len() == 1) || !body[self.range.clone()].contains(char::is_alphanumeric)
    }
}

/// The sections in order. A section with only a heading is joined with the deeper section after it.
fn sections(body: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    for part in parts(body) {
        let block = Block { range: part.range.clone(), prefer: part.prefer };
        let Some((level, heading)) = part.heading else {
            match found.last_mut() {
                Some(section) => {
                    section.range.end = part.range.end;
                    section.blocks.push(block);
                }
                None => found.push(Section { level: 0, path: Vec::new(), range: part.range, blocks: vec![block] }),
            }
            continue;
        };
        above.retain(|(outer, _)| *outer < level);
        above.push((level, heading.trim().to_owned()));
        let path = above.iter().map(|(_, heading)| heading.clone()).collect();
        match found.last_mut() {
            Some(bare) if bare.level < level && bare.is_bare(body) => {
                bare.level = level;
                bare.path = path;
                bare.range.end = part.range.end;
                bare.blocks.push(block);
            }
            _ => found.push(Section { level, path, range: part.range, blocks: vec![block] }),
        }
    }
    found.retain(|section| !body[section.range.clone()].trim().is_empty());
    found
}

/// A top-level block, up to the next one.
struct TopBlock {
    range: Range<usize>,
    heading: Option<(usize, String)>,
    prefer: Prefer,
}

/// The top-level blocks, which together are the whole text. A heading without text is an ordinary block.
fn parts(body: &str) -> Vec<TopBlock> {
    let mut found: Vec<TopBlock> = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new(body).into_offset_iter() {
        let starts = depth == 0;
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if starts && !matches!(event, Event::End(_)) {
            let heading = match &event {
                Event::Start(Tag::Heading { level, .. }) => Some((*level as usize, String::new())),
                _ => None,
            };
            let prose = matches!(event, Event::Start(Tag::Paragraph));
            let prefer = if prose { Prefer::Sentence } else { Prefer::Line };
            found.push(TopBlock { range, heading, prefer });
        } else if let (Event::Text(words) | Event::Code(words), Some(TopBlock { heading: Some((_, heading)), .. })) =
            (&event, found.last_mut())
        {
            heading.push_str(words);
        }
    }
    if found.is_empty() && !body.is_empty() {
        found.push(TopBlock { range: 0..body.len(), heading: None, prefer: Prefer::Line });
    }
    let ends: Vec<usize> = found.iter().map(|part| part.range.start).skip(1).chain([body.len()]).collect();
    for (part, end) in found.iter_mut().zip(ends) {
        part.range.end = end;
        part.heading.take_if(|(_, words)| words.trim().is_empty());
    }
    if let Some(first) = found.first_mut() {
        first.range.start = 0;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expected: &[(&str, &str)]) {
        let found = passages(body, None);
        let found: Vec<_> = found.iter().map(|passage| (passage.path.as_str(), &body[passage.range.clone()])).collect();
        assert_eq!(found, expected, "{body:?}");
    }

    #[test]
    fn sections_are_cut_at_headings() {
        check("", &[]);
        check("just text\n", &[("", "just text")]);
        check(
            "intro\n\n# A\n\none\n\n## B\n\ntwo\n\n# C\n\nthree",
            &[("", "intro"), ("A", "# A\n\none"), ("A / B", "## B\n\ntwo"), ("C", "# C\n\nthree")],
        );
        check("# A\n\n## B\n\ntwo\n\n## C\n", &[("A / B", "# A\n\n## B\n\ntwo"), ("A / C", "## C")]);
        check("# A `b` *c*\nx", &[("A b c", "# A `b` *c*\nx")]);
        check("> # quoted\n\n```\n# code\n```\n", &[("", "> # quoted\n\n```\n# code\n```")]);
        check("[a]: https://example.com\n", &[("", "[a]: https://example.com")]);
        check("---\n\n# A\nx", &[("A", "---\n\n# A\nx")]);
        check("Title\n===\ntext", &[("Title", "Title\n===\ntext")]);
    }

    #[test]
    fn a_title_starts_the_path_once() {
        for (body, expected) in [("# Porto\nx", "Porto"), ("# Flat\nx", "Porto / Flat"), ("x", "Porto")] {
            let paths: Vec<String> = passages(body, Some("Porto")).into_iter().map(|passage| passage.path).collect();
            assert_eq!(paths, [expected], "{body:?}");
        }
    }

    #[test]
    fn long_sections_are_cut_between_blocks() {
        let item = "A paragraph about the tide and what it leaves behind. ".repeat(9);
        let body = format!("# Sea\n\n{item}\n\n{item}\n\n```\n{}```\n", "let x = 1;\n".repeat(90));
        let found = passages(&body, None);
        assert_eq!(found.len(), 3);
        for passage in &found {
            assert!(passage.path == "Sea" && passage.range.len() <= PASSAGE_BYTES_MAX, "{:?}", passage.range);
        }
        assert!(body[found[2].range.clone()].starts_with("```"), "{}", &body[found[2].range.clone()]);
    }
}
