//! Imports files of other systems: parses each format into a stream of validated sources.
//!
//! Nothing is stored here: [`read`] passes [`Batch`]es to its caller and counts in a [`Report`]. Times come from the
//! input only; a missing or unreadable time stays unknown. Ids are derived from the content, so reading the same input
//! again gives the same ids, and an interrupted import is continued by running it again.

mod archive;
mod batch;
mod chop;
mod detect;
mod document;
mod draft;
mod fault;
mod fence;
mod folder;
mod formats;

pub use archive::Archive;
pub use detect::{detect, detect_inside};
pub use formats::{locomo, longmemeval};
mod inputs;
mod lines;
mod name;
mod options;
mod report;
mod stream;
mod walk;
mod when;
mod whole;

use std::fmt;
use std::io::{BufRead, Cursor, Read};
use std::ops::ControlFlow;
use std::str::FromStr;

use quipu_core::Refusal;
use quipu_core::source::Source;

use crate::ports::{Document, DocumentKind};

use batch::Sink;
use fault::ParseStop;
pub use fault::{Fault, ReadError};
pub use inputs::{Input, each_given, each_input};
use options::ChatFile;
pub use options::{DateOrder, ReadOptions, Zone};
pub use report::{Notice, Report};

/// Formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportFormat {
    /// The LoCoMo benchmark's JSON: long conversations of two people.
    Locomo,
    /// Chat messages, one conversation per line: `{"messages":[{"role":…,"content":…}]}`.
    OpenAi,
    /// A plain text file.
    Text,
    /// A Markdown file, with or without front matter.
    Markdown,
    /// A folder of notes in Markdown or plain text, such as an Obsidian vault.
    Folder,
    /// An export of ChatGPT: a zip archive, its folder, or its `conversations.json`.
    ChatGpt,
    /// An export of Claude: a zip archive, its folder, or its `conversations.json`.
    Claude,
    /// An export of a WhatsApp chat: `_chat.txt`, or its archive.
    WhatsApp,
    /// A JSON export of Telegram with one chat or all: `result.json` or its folder.
    Telegram,
    /// Memories listed or exported by mem0: `{"memories":[…]}`, `{"results":[…]}` or a list.
    Mem0,
    /// The file of the MCP reference memory server: entities and relations, one per line.
    MemoryJsonl,
    /// An exported ledger. [`read`] refuses it, because it contains events, not sources.
    Ledger,
    /// The LongMemEval benchmark's JSON: questions, each with a history of chats.
    LongMemEval,
    /// Web pages.
    Html,
    /// Documents of Word.
    Docx,
    /// Books.
    Epub,
    /// PDF.
    Pdf,
    /// E-mail: a mailbox (mbox) or single messages (EML).
    Mbox,
}

impl ImportFormat {
    /// Every format, in the order of their declaration.
    pub const ALL: [Self; 18] = [
        Self::Locomo,
        Self::OpenAi,
        Self::Text,
        Self::Markdown,
        Self::Folder,
        Self::ChatGpt,
        Self::Claude,
        Self::WhatsApp,
        Self::Telegram,
        Self::Mem0,
        Self::MemoryJsonl,
        Self::Ledger,
        Self::LongMemEval,
        Self::Html,
        Self::Docx,
        Self::Epub,
        Self::Pdf,
        Self::Mbox,
    ];

    /// The name of the format, as parsed by `FromStr`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Locomo => "locomo",
            Self::OpenAi => "openai",
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Folder => "folder",
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::WhatsApp => "whatsapp",
            Self::Telegram => "telegram",
            Self::Mem0 => "mem0",
            Self::MemoryJsonl => "memory-jsonl",
            Self::Ledger => "ledger",
            Self::LongMemEval => "longmemeval",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Epub => "epub",
            Self::Pdf => "pdf",
            Self::Mbox => "mbox",
        }
    }

    /// The kind of document, for formats that a [`DocumentReader`](crate::ports::DocumentReader) reads.
    pub fn document(self) -> Option<DocumentKind> {
        match self {
            Self::Html => Some(DocumentKind::Html),
            Self::Docx => Some(DocumentKind::Docx),
            Self::Epub => Some(DocumentKind::Epub),
            Self::Pdf => Some(DocumentKind::Pdf),
            Self::Mbox => Some(DocumentKind::Mbox),
            _ => None,
        }
    }
}

impl fmt::Display for ImportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ImportFormat {
    type Err = Refusal;

    /// # Errors
    /// `Invalid` for an unknown name; the message lists the formats.
    fn from_str(text: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            Refusal::invalid(format!("{} is not an import format; there are {known}", name::quote(text)))
        })
    }
}

/// Sources of one conversation, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Name of the conversation: the id of a LoCoMo sample or LongMemEval question, mem0's user, a chat's name, or else
    /// the name of the input. Not necessarily a valid user id: it may contain any printable character, within
    /// `limit::NAME_BYTES_MAX` bytes.
    pub conversation: String,
    /// At least one. Each passes [`Source::check`] and has the id derived from its content; ids are distinct.
    pub sources: Vec<Source>,
}

/// Reads the whole input with the default [`ReadOptions`]; see [`read_with`].
///
/// # Errors
/// As [`read_with`].
pub fn read<E>(
    format: ImportFormat,
    input: &mut dyn BufRead,
    name: &str,
    report: &mut Report,
    each: &mut dyn FnMut(Batch) -> Result<(), E>,
) -> Result<(), ReadError<E>> {
    read_with(format, input, name, &ReadOptions::default(), report, each)
}

/// Reads the whole input and passes it to `each` in batches.
///
/// `name` is the name of the input, such as a file's stem; it is used for sessions without a name. For
/// [`ImportFormat::Folder`] the input is one note, and the name is its path in the folder. A batch is a conversation, a
/// line of chat messages, or up to `limit::IMPORT_TURNS_PER_EVENT` passages, messages or memories. Memory use is
/// bounded by one conversation of at most `limit::IMPORT_ELEMENT_BYTES_MAX` bytes of JSON (LoCoMo:
/// `limit::IMPORT_FILE_BYTES_MAX`), or one message or memory where a conversation is a stream of them; plain text,
/// Markdown and WhatsApp are read whole, up to `limit::IMPORT_FILE_BYTES_MAX` bytes. A byte order mark at the start is
/// dropped.
///
/// Content that cannot be imported is skipped or repaired and recorded in the report, which is valid even after an
/// error.
///
/// # Errors
/// - `Fault`: the input is empty, damaged, over a limit, truncated, of another format or unreadable. Everything before
///   the fault was delivered; plain text, Markdown and WhatsApp are checked to be UTF-8 as a whole first.
/// - `Caller`: `each` failed; nothing was read after that.
pub fn read_with<E>(
    format: ImportFormat,
    input: &mut dyn BufRead,
    name: &str,
    options: &ReadOptions,
    report: &mut Report,
    each: &mut dyn FnMut(Batch) -> Result<(), E>,
) -> Result<(), ReadError<E>> {
    delivered(report, options.timezone.as_ref(), each, &mut |sink| dispatch(format, input, name, options, sink))
}

/// As [`read_with`], for a document that a [`DocumentReader`](crate::ports::DocumentReader) has read. Without
/// `own_words` it counts as nobody's words.
///
/// # Errors
/// As [`read_with`].
pub fn read_document<E>(
    document: &Document,
    (name, own_words): (&str, bool),
    report: &mut Report,
    each: &mut dyn FnMut(Batch) -> Result<(), E>,
) -> Result<(), ReadError<E>> {
    delivered(report, None, each, &mut |sink| {
        document::read(document, name, own_words, sink)?;
        something(sink)
    })
}

/// Runs a parser, and turns its outcome into the caller's.
fn delivered<E>(
    report: &mut Report,
    timezone: Option<&Zone>,
    each: &mut dyn FnMut(Batch) -> Result<(), E>,
    parse: &mut dyn FnMut(&mut Sink<'_>) -> Result<(), ParseStop>,
) -> Result<(), ReadError<E>> {
    let mut failed = None;
    let mut deliver = |batch: Batch| match each(batch) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    };
    let outcome = parse(&mut Sink::new(report, &mut deliver).in_timezone(timezone));
    match (outcome, failed) {
        (Ok(()), _) => Ok(()),
        (Err(ParseStop::Fault(fault)), _) => Err(ReadError::Fault(fault.after(report.sources))),
        (Err(ParseStop::Caller), Some(error)) => Err(ReadError::Caller(error)),
        (Err(ParseStop::Caller), None) => Err(ReadError::Fault(Fault::Refused("the caller asked to stop".to_owned()))),
    }
}

fn dispatch(
    format: ImportFormat,
    input: &mut dyn BufRead,
    called: &str,
    options: &ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let (start, mut input) = without_mark(input)?;
    let input = &mut input;
    if format == ImportFormat::Folder {
        folder::read(input, start, called, sink)?;
        return something(sink);
    }
    let name = name::label(sink.report, called, "the input's name", called).unwrap_or_else(|| "import".into());
    match format {
        ImportFormat::Locomo => formats::locomo::read(input, start, sink)?,
        ImportFormat::LongMemEval => formats::longmemeval::read(input, start, sink)?,
        ImportFormat::OpenAi => formats::openai::read(input, &name, sink)?,
        ImportFormat::Text => {
            formats::text::read(input, start, &formats::text::TextScope::named(&name, sink.report), sink)?
        }
        ImportFormat::Markdown => {
            formats::markdown::read(input, start, &formats::text::TextScope::named(&name, sink.report), sink)?
        }
        ImportFormat::ChatGpt => formats::chatgpt::read(input, ChatFile { start, name: &name, options }, sink)?,
        ImportFormat::Claude => formats::claude::read(input, start, &name, sink)?,
        ImportFormat::WhatsApp => formats::whatsapp::read(input, ChatFile { start, name: &name, options }, sink)?,
        ImportFormat::Telegram => formats::telegram::read(input, ChatFile { start, name: &name, options }, sink)?,
        ImportFormat::Mem0 => formats::mem0::read(input, start, &name, sink)?,
        ImportFormat::MemoryJsonl => formats::memory_jsonl::read(input, &name, sink)?,
        ImportFormat::Folder => {}
        ImportFormat::Html | ImportFormat::Docx | ImportFormat::Epub | ImportFormat::Pdf | ImportFormat::Mbox => {
            return Err(Fault::Refused(format!("{format} is not read as a stream: see `read_document`")).into());
        }
        ImportFormat::Ledger => {
            let reason = "a ledger is not read as sources: it is imported event by event".to_owned();
            return Err(Fault::Refused(reason).into());
        }
    }
    something(sink)
}

/// Treats an input without sources as an error, because the caller expected some.
fn something(sink: &Sink<'_>) -> Result<(), ParseStop> {
    if sink.report.sources > 0 {
        return Ok(());
    }
    Err(Fault::Nothing(match (sink.report.notices.first(), sink.report.left_out.iter().next()) {
        (Some(notice), _) => format!("everything was skipped, first {notice}"),
        (None, Some((reason, count))) => format!("everything was left out, such as {count} {reason}"),
        (None, None) => "the input is empty".to_owned(),
    })
    .into())
}

/// Drops a UTF-8 byte order mark. Returns the number of bytes dropped, and the rest of the input.
fn without_mark(input: &mut dyn BufRead) -> Result<(u64, impl BufRead), Fault> {
    let mut head = Vec::new();
    (&mut *input).take(3).read_to_end(&mut head).map_err(|source| Fault::unreadable("byte 0", source))?;
    let mark = if head == [0xEF, 0xBB, 0xBF] { 3 } else { 0 };
    head.drain(..mark);
    Ok((mark as u64, Cursor::new(head).chain(input)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_read_back_as_written() {
        for format in ImportFormat::ALL {
            assert_eq!(format.to_string().parse::<ImportFormat>(), Ok(format));
        }
    }

    #[test]
    fn an_unknown_format_is_answered_with_the_known_ones() {
        let answer = "fish".parse::<ImportFormat>().map_err(|refusal| refusal.to_string());
        let expected = "\"fish\" is not an import format; there are locomo, openai, text, markdown, folder, chatgpt, claude, \
                        whatsapp, telegram, mem0, memory-jsonl, ledger, longmemeval, html, docx, epub, pdf, mbox";
        assert_eq!(answer, Err(expected.to_owned()));
    }
}
