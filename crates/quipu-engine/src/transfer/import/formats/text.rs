//! Parses plain text: joins or splits paragraphs into passages that can be found and understood separately.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use quipu_core::id::ItemKind;
use quipu_core::limit::{IMPORT_TURNS_PER_EVENT, PASSAGE_BYTES_MAX};

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::chop::{Prefer, chop};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::report::Report;
use crate::transfer::import::{name, whole};

/// Short neighbours are joined up to this many bytes.
const JOINED_BYTES_MAX: usize = 900;

/// A range of text that should stay in one piece.
pub(in crate::transfer::import) struct Block {
    pub(in crate::transfer::import) range: Range<usize>,
    pub(in crate::transfer::import) prefer: Prefer,
}

/// The names that a text belongs to.
pub(in crate::transfer::import) struct TextScope {
    /// Name of its batches.
    pub(in crate::transfer::import) conversation: Arc<str>,
    pub(in crate::transfer::import) session: Option<Arc<str>>,
    /// Prefix of every topic, and of every native id of a Markdown section.
    pub(in crate::transfer::import) title: Option<Arc<str>>,
}

impl TextScope {
    /// The scope of a file with this name, without a topic.
    pub(in crate::transfer::import) fn named(name: &Arc<str>, report: &mut Report) -> Self {
        Self { conversation: name.clone(), session: name::session(report, name, name), title: None }
    }
}

/// Reads a text file. Its passages have the native ids `p1`, `p2` … and belong to the session named like the file.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    start: u64,
    of: &TextScope,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let text = whole::read(input, start)?;
    let mut filling = Filling::new(&of.conversation);
    for (index, range) in passages(&text, paragraphs(&text)).into_iter().enumerate() {
        let place = format!("byte {}", start + range.start as u64);
        let draft = Draft {
            topic: of.title.clone(),
            text: text[range].to_owned(),
            native_id: Some(format!("p{}", index + 1)),
            ..Draft::new(ItemKind::Document, of.session.clone(), place)
        };
        filling.push(draft, sink);
        if filling.len() >= IMPORT_TURNS_PER_EVENT {
            filling.flush(sink)?;
        }
    }
    filling.flush(sink)
}

/// The paragraphs, which are separated by blank lines, in order.
pub(in crate::transfer::import) fn paragraphs(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        match found.last_mut() {
            _ if line.trim().is_empty() => open = false,
            Some(block) if open => block.range.end = range.end,
            _ => {
                found.push(Block { range, prefer: Prefer::Sentence });
                open = true;
            }
        }
    }
    found
}

/// Joins short consecutive blocks, and splits those over `PASSAGE_BYTES_MAX` bytes.
///
/// Passages are chosen from the start on, so an extended text has the same passages except for the last one. White
/// space around a passage is left out.
pub(in crate::transfer::import) fn passages(text: &str, blocks: Vec<Block>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for Block { range, prefer } in blocks {
        let range = without_trailing_space(text, range);
        match found.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if range.end - last.start <= JOINED_BYTES_MAX => last.end = range.end,
            _ if range.len() <= PASSAGE_BYTES_MAX => found.push(range),
            _ => {
                for piece in chop(&text[range.clone()], PASSAGE_BYTES_MAX, prefer) {
                    let piece = without_trailing_space(text, range.start + piece.start..range.start + piece.end);
                    let lead = match prefer {
                        Prefer::Sentence => text[piece.clone()].len() - text[piece.clone()].trim_start().len(),
                        Prefer::Line => 0,
                    };
                    if !piece.is_empty() {
                        found.push(piece.start + lead..piece.end);
                    }
                }
            }
        }
    }
    found
}

fn without_trailing_space(text: &str, range: Range<usize>) -> Range<usize> {
    range.start..range.start + text[range.clone()].trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        passages(text, paragraphs(text)).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn short_paragraphs_are_joined() {
        assert_eq!(cut("\n\n  One.\n \nTwo\nlines.\r\n\r\n"), ["  One.\n \nTwo\nlines."]);
        assert_eq!(cut(" \n\t\n"), [""; 0]);
        let long = "word ".repeat(170);
        let text = format!("{long}\n\n{long}\n\nend");
        assert_eq!(cut(&text), [long.trim_end(), &format!("{long}\n\nend")]);
    }

    #[test]
    fn long_paragraphs_are_cut_after_a_sentence() {
        let text = "The tide came in and then it left. ".repeat(100);
        let pieces = cut(&text);
        assert!(pieces.len() > 2, "{}", pieces.len());
        for piece in pieces {
            assert!(
                piece.len() <= PASSAGE_BYTES_MAX && piece.starts_with("The") && piece.ends_with("left."),
                "{piece:?}"
            );
        }
    }
}
