//! Reads documents of other programs: HTML, Word (DOCX), EPUB, PDF and e-mail (mbox), as sections of plain text.
//!
//! Nothing here is sandboxed: the libraries for these formats are large, and a document may be made to exhaust them. Run
//! [`read`] in a process of its own with limits on memory and processor time, as the command line does.

mod epub;
mod html;
mod mail;
mod pdf;
mod word;

use std::panic::{AssertUnwindSafe, catch_unwind};

use quipu_engine::ports::{Document, DocumentKind};

/// Maximum number of sections; more is an error.
const SECTIONS_MAX: usize = 200_000;

/// Maximum text of a document in bytes; more is an error.
const TEXT_BYTES_MAX: usize = 128 << 20;

/// Reads a document.
///
/// # Errors
/// What is wrong with it, and what the caller can do. A panic of a library is an error too.
pub fn read(kind: DocumentKind, bytes: &[u8]) -> Result<Document, String> {
    let read = || match kind {
        DocumentKind::Html => html::read(bytes),
        DocumentKind::Docx => word::read(bytes),
        DocumentKind::Epub => epub::read(bytes),
        DocumentKind::Pdf => pdf::read(bytes),
        DocumentKind::Mbox => mail::read(bytes),
    };
    let document = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(damaged(kind)))?;
    let text: usize = document.sections.iter().map(|section| section.text.len()).sum();
    if document.sections.len() > SECTIONS_MAX || text > TEXT_BYTES_MAX {
        return Err(format!(
            "it has more than {SECTIONS_MAX} sections or {} MiB of text; split it",
            TEXT_BYTES_MAX >> 20
        ));
    }
    Ok(document)
}

fn damaged(kind: DocumentKind) -> String {
    format!("it is damaged or no {} file that can be read; open it in its program and save it again", kind.name())
}

#[cfg(test)]
mod tests;
