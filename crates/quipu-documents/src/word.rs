//! Reads Word documents (DOCX): a section for each heading.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use quipu_engine::import::Archive;
use quipu_engine::ports::{Document, DocumentKind, DocumentSection};

use super::damaged;

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let mut archive = Archive::open(std::io::Cursor::new(bytes)).map_err(|fault| fault.to_string())?;
    let names = archive.names();
    let index = |wanted: &str| names.iter().find(|(_, name)| name == wanted).map(|(index, _)| *index);
    let body = index("word/document.xml").ok_or_else(|| damaged(DocumentKind::Docx))?;
    let mut document = Document::default();
    for (name, what) in [
        ("word/footnotes.xml", "parts with footnotes"),
        ("word/endnotes.xml", "parts with endnotes"),
        ("word/comments.xml", "parts with comments"),
    ] {
        if index(name).is_some() {
            *document.left_out.entry(what.to_owned()).or_default() += 1;
        }
    }
    let stream = archive.entry(body).map_err(|fault| fault.to_string())?;
    let mut reader = Reader::from_reader(stream);
    reader.config_mut().check_end_names = false;
    let mut parts = Parts::default();
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) => parts.start(&tag),
            Ok(Event::Empty(tag)) => {
                parts.start(&tag);
                parts.end(tag.local_name().as_ref());
            }
            Ok(Event::End(tag)) => parts.end(tag.local_name().as_ref()),
            Ok(Event::Text(text)) if parts.in_text => {
                parts.paragraph.push_str(&text);
            }
            Ok(Event::GeneralRef(name)) if parts.in_text => {
                let name: &str = &name;
                let known = quick_xml::escape::unescape(&format!("&{name};")).map(|text| text.into_owned());
                parts.paragraph.push_str(&known.unwrap_or_default());
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => return Err(format!("{} ({error})", damaged(DocumentKind::Docx))),
        }
        buffer.clear();
    }
    parts.close();
    document.sections = parts.sections;
    Ok(document)
}

/// The sections so far, and the open paragraph.
#[derive(Default)]
struct Parts {
    sections: Vec<DocumentSection>,
    paragraph: String,
    in_text: bool,
    is_heading: bool,
    open: Option<DocumentSection>,
}

impl Parts {
    fn start(&mut self, tag: &BytesStart<'_>) {
        match tag.local_name().as_ref() {
            "t" => self.in_text = true,
            "tab" => self.paragraph.push('\t'),
            "br" | "cr" => self.paragraph.push('\n'),
            "pStyle" => {
                let value = tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == "val");
                let style = value.map(|attribute| attribute.value.to_lowercase());
                // Word names styles in the language of its user; the ids of headings are these.
                self.is_heading = style.is_some_and(|style| style.starts_with("heading") || style == "title");
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        let is_heading = std::mem::take(&mut self.is_heading);
        if text.trim().is_empty() {
            return;
        }
        if is_heading {
            self.close();
        }
        let section = self.open.get_or_insert_with(DocumentSection::default);
        if is_heading {
            section.title = Some(text.trim().to_owned());
        }
        section.text.push_str(text.trim());
        section.text.push_str("\n\n");
    }

    fn close(&mut self) {
        if let Some(mut section) = self.open.take() {
            section.place = format!("section {}", self.sections.len() + 1);
            self.sections.push(section);
        }
    }
}
