//! Parses text exports of a WhatsApp chat.
//!
//! A message starts with a time and a name, in brackets (iOS) or before a dash (Android), and extends to the next such
//! line. Times are local. The order of day and month depends on the phone: it is inferred from all dates of the file,
//! and must be given if they are ambiguous. The native id of a message is its time with a number among messages of the
//! same time, so that a later export of the same chat gives the same ids.

mod order;
mod stamp;

use std::io::BufRead;
use std::sync::Arc;

use jiff::civil::DateTime;
use quipu_core::id::ItemKind;
use quipu_core::limit::IMPORT_TURNS_PER_EVENT;
use quipu_core::source::Artifact;

use crate::transfer::import::batch::{Filling, Sink};
use crate::transfer::import::draft::Draft;
use crate::transfer::import::fault::{Fault, ParseStop};
use crate::transfer::import::options::{ChatFile, Clock, DateOrder};
use crate::transfer::import::{name, whole};
use order::Evidence;
use stamp::{Stamp, header};

/// Prefixes of file names before the name of the chat.
const FILE_PREFIXES: [&str; 6] = [
    "WhatsApp Chat with ",
    "WhatsApp Chat - ",
    "محادثة واتساب مع ",
    "WhatsApp 대화: ",
    "WhatsApp-keskustelu: ",
    "WhatsApp-chatti: ",
];

/// Reads a chat. Lines before the first message and system lines are counted and left out.
pub(in crate::transfer::import) fn read(
    input: &mut dyn BufRead,
    ChatFile { start, name, options }: ChatFile<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseStop> {
    let text = whole::read(input, start)?;
    let chat = FILE_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name).trim();
    let mut evidence = Evidence::default();
    let mut first = None;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((stamp, _)) = header(line) {
            first.get_or_insert(number);
            evidence.add(number, &stamp);
        }
    }
    let Some(first) = first else {
        return match text.trim() {
            "" => Ok(()),
            _ => {
                let expected =
                    "a chat has lines like [31/12/2025, 18:05:09] Name: words or 31/12/2025, 18:05 - Name: words";
                Err(Fault::invalid("line 1", format!("no line starts with a date and a time; {expected}")).into())
            }
        };
    };
    let order = evidence.settle(options.date_order)?;
    sink.report.leave_out("lines before the first message", first - 1);
    let mut chat = Chat {
        session: name::session(sink.report, "the chat", chat),
        clock: Clock::new(options),
        order,
        filling: Filling::new(chat),
        open: None,
        at: None,
    };
    for (number, line) in (1..).zip(text.lines()).skip(usize::try_from(first - 1).unwrap_or(usize::MAX)) {
        match header(line) {
            Some((stamp, rest)) => {
                chat.close(sink)?;
                chat.open(number, stamp, rest);
            }
            None => {
                if let Some(open) = &mut chat.open {
                    open.lines.push(line);
                }
            }
        }
    }
    chat.close(sink)?;
    chat.filling.flush(sink)
}

/// A message that may continue on the next line.
struct Open<'t> {
    number: u64,
    stamp: Stamp,
    said_at: Option<DateTime>,
    /// Its number among the messages of the same time, from 1.
    nth: u64,
    lines: Vec<&'t str>,
}

struct Chat<'a, 't> {
    session: Option<Arc<str>>,
    clock: Clock<'a>,
    order: DateOrder,
    filling: Filling,
    open: Option<Open<'t>>,
    /// The time of the last message, and how many have had it so far.
    at: Option<(Option<DateTime>, u64)>,
}

impl<'t> Chat<'_, 't> {
    fn open(&mut self, number: u64, stamp: Stamp, rest: &'t str) {
        let said_at = stamp.time(self.order);
        let nth = match self.at {
            Some((before, nth)) if before == said_at => nth + 1,
            _ => 1,
        };
        self.at = Some((said_at, nth));
        self.open = Some(Open { number, stamp, said_at, nth, lines: vec![rest] });
    }

    fn close(&mut self, sink: &mut Sink<'_>) -> Result<(), ParseStop> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let place = format!("line {}", open.number);
        let whole = open.lines.join("\n");
        let Some((who, words)) = author(&whole) else {
            sink.report.leave_out("lines of the system", 1);
            return Ok(());
        };
        let said = match MessageText::of(words) {
            Ok(said) => said,
            Err(reason) => {
                sink.report.leave_out(reason, 1);
                return Ok(());
            }
        };
        let said_at = open.said_at.and_then(|local| self.clock.utc(local, sink.report));
        if said_at.is_none() {
            let reason = format!("{} is no date with --date-order {}", open.stamp, self.order.as_str());
            sink.report.notice(&place, format!("{reason}; the message was kept without a time"));
        }
        let called = open.said_at.map_or_else(|| open.stamp.to_string(), |local| local.to_string());
        let draft = Draft {
            author: name::label(sink.report, &place, "the author's name", who),
            said_at,
            text: said.text,
            artifacts: said.attached.into_iter().collect(),
            native_id: Some(format!("{called}#{}", open.nth)),
            ..Draft::new(ItemKind::Turn, self.session.clone(), place)
        };
        self.filling.push(draft, sink);
        if self.filling.len() >= IMPORT_TURNS_PER_EVENT {
            self.filling.flush(sink)?;
        }
        Ok(())
    }
}

/// Returns true for direction marks, which WhatsApp puts before text of its own.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Author and text; `None` for a system line.
fn author(line: &str) -> Option<(&str, &str)> {
    let (who, words) =
        line.split_once(": ").or_else(|| Some((line.split_once(":\n")?.0, line.split_once(":\n")?.1)))?;
    // The name of a person who is not a contact is preceded by a tilde.
    let who = who.trim_matches(is_mark).trim().trim_start_matches('~').trim().trim_matches(is_mark);
    (!who.is_empty() && !who.contains('\n')).then_some((who, words))
}

/// The text of a message without additions of WhatsApp.
struct MessageText {
    text: String,
    attached: Option<Artifact>,
}

impl MessageText {
    /// # Errors
    /// Why nothing is left, as a reason for the report.
    fn of(raw: &str) -> Result<Self, &'static str> {
        let marked = raw.starts_with('\u{200e}');
        let mut text = raw.trim_matches(|c| is_mark(c) || c.is_whitespace());
        if text.starts_with('<') && text.ends_with('>') && !text.contains(['\n', ':']) {
            return Err("media that the export does not hold");
        }
        // A remark in angle brackets after a mark: an attached file, or a note that the message was edited.
        let mut attached = None;
        if text.ends_with('>') {
            if let Some((before, remark)) = text.rsplit_once("\u{200e}<") {
                attached = file(remark);
                text = before.trim_end_matches(|c| is_mark(c) || c.is_whitespace());
            } else if let Some(found) = text.strip_prefix('<').filter(|remark| !remark.contains('\n')).and_then(file) {
                return Ok(Self { text: String::new(), attached: Some(found) });
            }
        }
        if attached.is_none() {
            let (line, caption) = text.split_once('\n').unwrap_or((text, ""));
            if let Some(name) = android_file(line) {
                return Ok(Self { text: caption.to_owned(), attached: Some(artifact(name)) });
            }
        }
        if marked && attached.is_none() && !text.contains('\n') && !text.contains("://") {
            let omitted = text.ends_with("omitted");
            return Err(if omitted { "media that the export does not hold" } else { "lines of the system" });
        }
        if text.is_empty() && attached.is_none() {
            return Err("empty messages");
        }
        Ok(Self { text: text.to_owned(), attached })
    }
}

/// The file name in `attached: NAME>`, in any language.
fn file(remark: &str) -> Option<Artifact> {
    let (_, name) = remark.strip_suffix('>')?.split_once(": ")?;
    (name.contains('.') && !name.contains(' ')).then(|| artifact(name))
}

/// The file name in `IMG-20260102-WA0001.jpg (file attached)`, in any language.
fn android_file(line: &str) -> Option<&str> {
    let (name, remark) = line.strip_suffix(')')?.split_once(" (")?;
    let generated = name.contains("-WA") || remark == "file attached";
    (generated && name.contains('.') && !name.contains(' ')).then_some(name.trim_matches(is_mark))
}

fn artifact(name: &str) -> Artifact {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let kind = match ending.as_str() {
        "jpg" | "jpeg" | "png" | "gif" | "webp" | "heic" => "image",
        "mp4" | "mov" | "3gp" => "video",
        "opus" | "m4a" | "mp3" | "aac" | "ogg" => "audio",
        _ => "file",
    };
    Artifact { kind: kind.to_owned(), name: Some(name.to_owned()), text: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_whatsapp_wrote_is_told_from_what_was_said() {
        let media = Err("media that the export does not hold");
        let system = Err("lines of the system");
        for (raw, expected) in [
            ("hello", Ok(("hello", None))),
            ("a < b and b > c", Ok(("a < b and b > c", None))),
            ("\u{200e}image omitted", media),
            ("<Media omitted>", media),
            ("<Medien ausgeschlossen>", media),
            ("\u{200e}<attached: 00000012-PHOTO-2026-01-02.jpg>", Ok(("", Some("00000012-PHOTO-2026-01-02.jpg")))),
            ("<attached: 00000012-PHOTO.jpg>", Ok(("", Some("00000012-PHOTO.jpg")))),
            ("the roof \u{200e}<attached: 12-PHOTO.jpg>", Ok(("the roof", Some("12-PHOTO.jpg")))),
            ("IMG-20260102-WA0001.jpg (file attached)\nthe roof", Ok(("the roof", Some("IMG-20260102-WA0001.jpg")))),
            ("\u{200e}AUD-20260102-WA0002.opus (Datei angehängt)", Ok(("", Some("AUD-20260102-WA0002.opus")))),
            ("at nine \u{200e}<This message was edited>", Ok(("at nine", None))),
            ("\u{200e}You deleted this message.", system),
            (
                "\u{200e}Location: https://maps.example.com/?q=1,2",
                Ok(("Location: https://maps.example.com/?q=1,2", None)),
            ),
            ("see notes.txt (the second)", Ok(("see notes.txt (the second)", None))),
            (" \u{200e} ", Err("empty messages")),
        ] {
            let found = MessageText::of(raw);
            let found = found
                .as_ref()
                .map(|words| (words.text.as_str(), words.attached.as_ref().and_then(|file| file.name.as_deref())));
            assert_eq!(found.map_err(|reason| *reason), expected, "{raw:?}");
        }
    }

    #[test]
    fn authors_are_told_from_the_system() {
        for (line, expected) in [
            ("Ana: hi: there", Some(("Ana", "hi: there"))),
            ("~\u{202f}Ana Lima: hi", Some(("Ana Lima", "hi"))),
            ("\u{202a}+351 900 000 000\u{202c}: hi", Some(("+351 900 000 000", "hi"))),
            ("Ana added you", None),
            ("Ana:\nhi", Some(("Ana", "hi"))),
            (": hi", None),
        ] {
            assert_eq!(author(line), expected, "{line:?}");
        }
    }
}
