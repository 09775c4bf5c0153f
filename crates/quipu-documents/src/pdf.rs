//! Reads PDF: a section for each page.

use quipu_engine::ports::{Document, DocumentSection};

pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    if !bytes.get(..1024.min(bytes.len())).unwrap_or_default().windows(5).any(|start| start == b"%PDF-") {
        return Err("it is no PDF".to_owned());
    }
    let pages = pdf_extract::extract_text_from_mem_by_pages(bytes)
        .map_err(|error| format!("it cannot be read as PDF ({error}); if it has a password, save it without"))?;
    let mut document = Document::default();
    for (at, text) in pages.into_iter().enumerate() {
        if text.trim().is_empty() {
            *document.left_out.entry("pages without text, such as scanned ones".to_owned()).or_default() += 1;
            continue;
        }
        let text = joined(&text);
        document.sections.push(DocumentSection {
            place: format!("page {}", at + 1),
            text,
            ..DocumentSection::default()
        });
    }
    Ok(document)
}

/// The text with its lines joined to paragraphs, and with words that were divided at the end of a line put together.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            if !joined.is_empty() && !joined.ends_with("\n\n") {
                joined.push_str("\n\n");
            }
            continue;
        }
        let divided = joined.ends_with('-') && joined[..joined.len() - 1].ends_with(char::is_lowercase);
        if divided && line.starts_with(char::is_lowercase) {
            joined.pop();
        } else if !joined.is_empty() && !joined.ends_with('\n') {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    joined
}
