//! Turns the sections of a document into sources: passages that say where in the document they are.

use quipu_core::id::ItemKind;
use quipu_core::limit::IMPORT_TURNS_PER_EVENT;
use quipu_core::source::Role;

use super::batch::{Filling, Sink};
use super::draft::Draft;
use super::fault::ParseStop;
use super::formats::text::{paragraphs, passages};
use super::{name, when};
use crate::ports::Document;

/// Reads a document of this name. Its session is the name. Each passage has its place as topic, such as
/// `report.pdf, page 3`, which is also its speaker unless the document names an author or the words are the user's own.
pub(super) fn read(document: &Document, called: &str, own_words: bool, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
    let conversation =
        name::label(sink.report, called, "the document's name", called).unwrap_or_else(|| "document".into());
    let session = name::session(sink.report, called, called);
    let mut filling = Filling::new(&conversation);
    for section in &document.sections {
        let place = format!("{called}, {}", section.place);
        let topic = match section.title.as_deref().map(str::trim).filter(|title| !title.is_empty()) {
            Some(title) => format!("{place}: {title}"),
            None => place.clone(),
        };
        let topic = name::label(sink.report, &place, "the heading", &topic);
        let author = match (&section.author, own_words) {
            (_, true) => None,
            (Some(author), false) => name::label(sink.report, &place, "the author", author),
            (None, false) => name::label(sink.report, &place, "the place", &place),
        };
        let said_at = match section.said_at.as_deref().map(when::text) {
            Some(Ok(time)) => Some(time),
            Some(Err(why)) => {
                sink.report.notice(&place, format!("{why}; its time is unknown"));
                None
            }
            None => None,
        };
        for (index, range) in passages(&section.text, paragraphs(&section.text)).into_iter().enumerate() {
            let id = section.id.as_deref().unwrap_or(&place);
            let draft = Draft {
                topic: topic.clone(),
                author: author.clone(),
                // Not the user's words: a document says what it says.
                role: if own_words { Role::User } else { Role::Tool },
                said_at,
                text: section.text[range].to_owned(),
                native_id: Some(if index == 0 { id.to_owned() } else { format!("{id} ({})", index + 1) }),
                ..Draft::new(ItemKind::Document, session.clone(), place.clone())
            };
            filling.push(draft, sink);
            if filling.len() >= IMPORT_TURNS_PER_EVENT {
                filling.flush(sink)?;
            }
        }
    }
    filling.flush(sink)
}
