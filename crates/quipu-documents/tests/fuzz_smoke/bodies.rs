//! The bodies of the fuzz targets of the document readers. `fuzz/` includes this file.
//!
//! A panic of a library is an error of the document by design, so it is no finding; one of this crate is.

use std::cell::Cell;
use std::io::{Cursor, Write};
use std::sync::Once;

use quipu_documents::read;
use quipu_engine::import::{self, ReadError, Report};
use quipu_engine::ports::DocumentKind;
use quipu_testkit::fuzzing::check_batch;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

thread_local! {
    /// Where this project's code last panicked while a document was read.
    static OWN_PANIC: Cell<Option<String>> = const { Cell::new(None) };
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Replaces the panic hook by one that tells panics of libraries from those of this project.
fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |place| place.file());
            if !IS_READING.get() {
                usual(info);
            } else if file.contains("quipu-") {
                OWN_PANIC.set(Some(info.to_string()));
            }
        }));
    });
}

/// Reads a document and imports it.
///
/// Every section has a place and a text, and every source is one that a memory takes.
fn check(kind: DocumentKind, bytes: &[u8]) {
    watch_panics();
    IS_READING.set(true);
    let outcome = read(kind, bytes);
    IS_READING.set(false);
    if let Some(panic) = OWN_PANIC.take() {
        panic!("{panic}");
    }
    let Ok(document) = outcome else { return };
    for section in &document.sections {
        assert!(!section.place.is_empty() && !section.text.trim().is_empty(), "an empty section: {section:?}");
    }
    let mut report = Report::default();
    let outcome =
        import::read_document(&document, ("fuzz", false), &mut report, &mut |batch| check_batch(&batch).map(drop));
    if let Err(ReadError::Caller(refusal)) = outcome {
        panic!("a source was handed on that no memory takes: {refusal}");
    }
}

/// An archive of files that are stored as they are.
fn archive(files: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in files {
        archive.start_file(*name, options).ok()?;
        archive.write_all(content).ok()?;
    }
    Some(archive.finish().ok()?.into_inner())
}

/// A document: the first byte selects its kind, the rest is the content.
///
/// HTML; Word as an archive, and as the text of `word/document.xml`; EPUB as an archive, and as files that each follow a line `==> path`; e-mail.
pub fn document(data: &[u8]) {
    let Some((choice, content)) = data.split_first() else { return };
    match choice % 6 {
        0 => check(DocumentKind::Html, content),
        1 => check(DocumentKind::Docx, content),
        2 => {
            let Some(file) = archive(&[("word/document.xml", content)]) else { return };
            check(DocumentKind::Docx, &file);
        }
        3 => check(DocumentKind::Epub, content),
        4 => {
            let text = String::from_utf8_lossy(content);
            let files: Vec<(&str, &[u8])> = text
                .split("==> ")
                .skip(1)
                .map(|file| file.split_once('\n').unwrap_or((file, "")))
                .map(|(name, content)| (name, content.as_bytes()))
                .collect();
            let Some(file) = archive(&files) else { return };
            check(DocumentKind::Epub, &file);
        }
        _ => check(DocumentKind::Mbox, content),
    }
}

/// A PDF.
pub fn pdf(data: &[u8]) {
    check(DocumentKind::Pdf, data);
}
