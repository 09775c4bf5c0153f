//! Reads a note of a folder of notes: Markdown or plain text, named by its path in the folder.

use std::io::BufRead;

use super::batch::Sink;
use super::fault::ParseStop;
use super::formats::text::TextScope;
use super::formats::{markdown, text};
use super::name;

/// File extensions of Markdown.
pub(super) const MARKDOWN: [&str; 2] = ["md", "markdown"];
/// File extensions of plain text.
pub(super) const TEXT: [&str; 1] = ["txt"];

/// Reads a note. Its session is its path. The path without extension is the prefix of every topic and of every
/// section's native id, so a note without headings has its file name as topic.
///
/// All notes of a folder form one conversation named `notes`.
pub(super) fn read(input: &mut dyn BufRead, start: u64, path: &str, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let place = TextScope {
        conversation: "notes".into(),
        session: name::session(sink.report, path, path),
        title: name::label(sink.report, path, "the path", stem),
    };
    if TEXT.contains(&ending.to_ascii_lowercase().as_str()) {
        text::read(input, start, &place, sink)
    } else {
        markdown::read(input, start, &place, sink)
    }
}
