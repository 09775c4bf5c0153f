//! Port for readers of documents of other programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// A web page.
    Html,
    /// A document of Word.
    Docx,
    /// A book.
    Epub,
    /// Pages.
    Pdf,
    /// E-mail: a mailbox, or one message.
    Mbox,
}

impl DocumentKind {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "HTML",
            Self::Docx => "Word (DOCX)",
            Self::Epub => "EPUB",
            Self::Pdf => "PDF",
            Self::Mbox => "e-mail (mbox or EML)",
        }
    }
}

/// A document as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its sections, in order.
    pub sections: Vec<DocumentSection>,
    /// What was left out, counted by what it is.
    pub left_out: BTreeMap<String, u64>,
}

/// A page, a chapter, what is below a heading, or a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentSection {
    /// Its place, such as `page 3`.
    pub place: String,
    /// Its heading or subject.
    pub title: Option<String>,
    /// The person who wrote it.
    pub author: Option<String>,
    /// When it was written (RFC 3339).
    pub said_at: Option<String>,
    /// Its id in the document.
    pub id: Option<String>,
    /// Its text.
    pub text: String,
}

/// Reads documents. An implementation limits the memory and the processor time that a document can take.
pub trait DocumentReader: Send + Sync {
    /// Reads a document.
    ///
    /// # Errors
    /// What is wrong with it, and what the caller can do.
    fn read(&self, kind: DocumentKind, bytes: &[u8]) -> Result<Document, String>;
}
