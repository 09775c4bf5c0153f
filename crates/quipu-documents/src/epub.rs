//! Reads EPUB books: the chapters in their reading order, and a section for each heading in them.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use quipu_engine::import::Archive;
use quipu_engine::ports::{Document, DocumentKind, DocumentSection};

use super::{TEXT_BYTES_MAX, damaged, html};

/// The list of chapters is no longer than this, in bytes.
const PACKAGE_BYTES_MAX: u64 = 16 << 20;

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let mut book = Book::open(bytes)?;
    let container =
        book.file("META-INF/container.xml", PACKAGE_BYTES_MAX)?.ok_or_else(|| damaged(DocumentKind::Epub))?;
    let mut package_path = None;
    each_tag(&container, &mut |name, tag| {
        if name == "rootfile" && package_path.is_none() {
            package_path = attribute(tag, "full-path");
        }
    })?;
    let package_path = package_path.ok_or_else(|| damaged(DocumentKind::Epub))?;
    let package = book.file(&package_path, PACKAGE_BYTES_MAX)?.ok_or_else(|| damaged(DocumentKind::Epub))?;
    let (mut files, mut order) = (BTreeMap::new(), Vec::new());
    each_tag(&package, &mut |name, tag| match name {
        "item" => {
            if let (Some(id), Some(path)) = (attribute(tag, "id"), attribute(tag, "href")) {
                files.insert(id, path);
            }
        }
        "itemref" => order.extend(attribute(tag, "idref")),
        _ => {}
    })?;
    let folder = package_path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut document = Document::default();
    let mut left = TEXT_BYTES_MAX as u64;
    for (at, id) in order.iter().enumerate() {
        let path = files.get(id).map(|path| joined(folder, path));
        let chapter = path.map(|path| book.file(&path, left)).transpose()?.flatten();
        let Some(chapter) = chapter else {
            *document.left_out.entry("chapters that are not in the file".to_owned()).or_default() += 1;
            continue;
        };
        left = left.saturating_sub(chapter.len() as u64);
        for (title, text) in html::sections(&chapter)? {
            document.sections.push(DocumentSection {
                place: format!("chapter {}", at + 1),
                title,
                text,
                ..DocumentSection::default()
            });
        }
    }
    Ok(document)
}

struct Book<'a> {
    archive: Archive<Cursor<&'a [u8]>>,
    names: BTreeMap<String, usize>,
}

impl<'a> Book<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let archive = Archive::open(Cursor::new(bytes)).map_err(|fault| fault.to_string())?;
        let names = archive.names().into_iter().map(|(index, name)| (name, index)).collect();
        Ok(Self { archive, names })
    }

    /// A file of the book; `None` if there is none of this name.
    fn file(&mut self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, String> {
        let Some(index) = self.names.get(name) else { return Ok(None) };
        let entry = self.archive.entry(*index).map_err(|fault| fault.to_string())?;
        let mut bytes = Vec::new();
        entry.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| format!("{name:?}: {error}"))?;
        if bytes.len() as u64 > bytes_max {
            return Err(format!("{name:?} unpacks to more than such a file should; the book is refused"));
        }
        Ok(Some(bytes))
    }
}

fn each_tag(xml: &[u8], each: &mut dyn FnMut(&str, &BytesStart<'_>)) -> Result<(), String> {
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().check_end_names = false;
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag) | Event::Empty(tag)) => each(tag.local_name().as_ref(), &tag),
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(format!("{} ({error})", damaged(DocumentKind::Epub))),
        }
        buffer.clear();
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let raw = found.value.into_owned();
    Some(quick_xml::escape::unescape(&raw).map_or_else(|_| raw.clone(), |text| text.into_owned()))
}

/// The name of a file in the archive, for a link in a file of `folder`.
fn joined(folder: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or_default();
    let link = percent_encoding::percent_decode_str(link).decode_utf8_lossy();
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
