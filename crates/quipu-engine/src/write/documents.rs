//! Reads a document for an import, through the port.

use std::io::{BufRead, Read};

use quipu_core::limit;

use crate::engine::Engine;
use crate::ports::{Document, DocumentKind};

/// Reads a document.
///
/// # Errors
/// What is wrong with it, and what the caller can do.
pub(super) fn read(engine: &Engine, kind: DocumentKind, stream: &mut dyn BufRead) -> Result<Document, String> {
    let reader = engine.optional.documents.as_ref();
    let reader = reader.ok_or_else(|| format!("this program has no reader of {}", kind.name()))?;
    let mut bytes = Vec::new();
    let most = limit::IMPORT_DOCUMENT_BYTES_MAX;
    stream.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot read it: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {} MiB; split it", most >> 20));
    }
    reader.read(kind, &bytes)
}
