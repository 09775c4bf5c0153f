//! One note of a folder of notes: Markdown or plain text, called by its path below the folder.

use std::io::BufRead;

use super::batch::Sink;
use super::fault::ParseStop;
use super::formats::text::TextScope;
use super::formats::{markdown, text};
use super::name;

/// Endings of notes in Markdown.
pub(super) const MARKDOWN: [&str; 2] = ["md", "markdown"];
/// Endings of notes in plain text.
pub(super) const TEXT: [&str; 1] = ["txt"];

/// Reads a note. Its session is its path; the path without the ending starts every topic, and the native id of every
/// section, so that a note without headings is about what its file is called.
///
/// All notes of a folder are one conversation, called `notes`.
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
