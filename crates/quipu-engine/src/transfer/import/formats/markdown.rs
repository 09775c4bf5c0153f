//! Parses Markdown: sections with their headings, and the date of the front matter.

mod front_matter;
mod sections;

use std::collections::HashMap;
use std::io::BufRead;

use quipu_core::id::ItemKind;
use quipu_core::limit::IMPORT_TURNS_PER_EVENT;

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::ParseStop;
use crate::transfer::import::formats::text::TextScope;
use crate::transfer::import::{fence, name, whole};
use front_matter::FrontMatter;

/// Reads a Markdown file. A section is one source, or several if it is long; its topic is the path of its headings.
///
/// All sections have the date of the front matter: the first readable one of `said_at`, `date`, `created` and
/// `updated`. The front matter is attached to the first source, verbatim, so that its tags can be found. The native id
/// of a source consists of its headings and a number, so that a change in one section does not affect the ids of
/// others.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    start: u64,
    of: &TextScope,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let text = whole::read(input, start)?;
    let (front, body) = FrontMatter::split(&text, sink.report);
    let body = body.trim_start_matches(['\r', '\n']);
    let start = start + (text.len() - body.len()) as u64;
    let title = of.title.as_deref().or(front.title.as_deref());
    let mut filling = Filling::new(&of.conversation);
    let mut beside = front.artifact;
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut code = fence::fenced(body).into_iter().peekable();
    for passage in sections::passages(body, title) {
        let place = format!("byte {}", start + passage.range.start as u64);
        let number = numbers.entry(passage.path.clone()).or_default();
        *number += 1;
        let mut artifacts: Vec<_> = beside.take().into_iter().collect();
        while let Some((_, block)) = code.next_if(|(at, _)| *at < passage.owns_until) {
            artifacts.push(block);
        }
        let draft = Draft {
            topic: name::label(sink.report, &place, "the path of headings", &passage.path),
            said_at: front.said_at,
            text: body[passage.range].to_owned(),
            artifacts,
            native_id: Some(format!("{}#{number}", passage.path)),
            ..Draft::new(ItemKind::Document, of.session.clone(), place)
        };
        filling.push(draft, sink);
        if filling.len() >= IMPORT_TURNS_PER_EVENT {
            filling.flush(sink)?;
        }
    }
    if let Some(alone) = beside {
        let place = "the front matter";
        let draft = Draft {
            topic: title.and_then(|title| name::label(sink.report, place, "the title", title)),
            said_at: front.said_at,
            artifacts: vec![alone],
            native_id: Some("#1".to_owned()),
            ..Draft::new(ItemKind::Document, of.session.clone(), place.to_owned())
        };
        filling.push(draft, sink);
    }
    filling.flush(sink)
}
