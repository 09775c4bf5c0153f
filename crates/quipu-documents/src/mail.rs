//! Reads e-mail: an mbox file, or a single message (EML). A section for each message.

use mail_parser::mailbox::mbox::MessageIterator;
use mail_parser::{Message, MessageParser, MimeHeaders};
use quipu_engine::ports::{Document, DocumentKind, DocumentSection};

use super::damaged;

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let mut document = Document::default();
    let parser = MessageParser::default();
    if !bytes.starts_with(b"From ") {
        let message = parser.parse(bytes).filter(|message| message.from().is_some());
        let message = message.ok_or_else(|| damaged(DocumentKind::Mbox))?;
        add(&mut document, &message, 1);
        return Ok(document);
    }
    for (at, message) in MessageIterator::new(bytes).enumerate() {
        let message = message.map_err(|error| error.to_string())?;
        match parser.parse(message.contents()) {
            Some(message) => add(&mut document, &message, at + 1),
            None => leave_out(&mut document, "messages that cannot be read", 1),
        }
    }
    Ok(document)
}

fn add(document: &mut Document, message: &Message<'_>, number: usize) {
    let attachments = message.attachments().filter(|part| part.attachment_name().is_some()).count();
    leave_out(document, "attachments", attachments);
    let Some(body) = message.body_text(0) else { return leave_out(document, "messages without text", 1) };
    let mut text = String::new();
    let mut quoted = 0;
    for line in body.lines() {
        // What is quoted is in the message it comes from.
        if line.starts_with('>') {
            quoted += 1;
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    leave_out(document, "quoted lines", quoted);
    if text.trim().is_empty() {
        return leave_out(document, "messages without text", 1);
    }
    let from = message.from().and_then(|from| from.first());
    let author = from.and_then(|from| from.name().or_else(|| from.address()));
    document.sections.push(DocumentSection {
        place: format!("message {number}"),
        title: message.subject().map(str::to_owned),
        author: author.map(str::to_owned),
        said_at: message.date().filter(|date| date.is_valid()).map(|date| date.to_rfc3339()),
        id: message.message_id().map(str::to_owned),
        text,
    });
}

fn leave_out(document: &mut Document, what: &str, count: usize) {
    if count > 0 {
        *document.left_out.entry(what.to_owned()).or_default() += count as u64;
    }
}
