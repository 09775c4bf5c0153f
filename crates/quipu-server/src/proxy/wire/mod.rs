//! The three chat dialects: how to read a request, and where to inject memory.
//!
//! A request is read in place and never serialized again: the upstream receives its original bytes with the block
//! inserted.

mod chat;
mod messages;
mod responses;

use std::ops::Range;

use quipu_core::guard::strip_packs;

use super::json::{JsonSpan, Members};
use crate::options::{Placement, Wire};

/// An API for chat requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAI's `/chat/completions`.
    Chat,
    /// OpenAI's `/responses`.
    Responses,
    /// Anthropic's `/v1/messages`.
    Messages,
}

impl Dialect {
    /// The protocol of the upstreams that support it.
    pub(crate) fn wire(self) -> Wire {
        match self {
            Self::Chat | Self::Responses => Wire::OpenAi,
            Self::Messages => Wire::Anthropic,
        }
    }
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
    /// Instructions; they do not separate a user's messages.
    System,
    /// Tools and everything else.
    Other,
}

/// A message of a request, as text.
#[derive(Debug, Clone)]
pub(crate) struct WireMessage {
    pub(crate) speaker: Speaker,
    /// The text without blocks inserted by an application or by Quipu.
    pub(crate) words: String,
}

/// A position in the bytes, and the text around a block inserted there.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// The range the block replaces; empty except for a `null`.
    at: Range<usize>,
    before: &'static str,
    after: &'static str,
}

/// A parsed chat request.
#[derive(Debug, Default)]
pub(crate) struct ChatRequest {
    pub(crate) model: Option<String>,
    /// Names of the user: `user`, `metadata.user_id` and `safety_identifier`, in this order.
    pub(crate) users: Vec<String>,
    /// Names of the session, most reliable first.
    pub(crate) sessions: Vec<String>,
    /// Id of the previous reply, if the upstream stores the conversation.
    pub(crate) goes_on_from: Option<String>,
    pub(crate) system: String,
    pub(crate) messages: Vec<WireMessage>,
    /// True if the request already contains a block of memory.
    pub(crate) has_block: bool,
    in_turn: Option<Spot>,
    in_system: Option<Spot>,
}

/// Parses a request; `None` if it does not fit the dialect, which is left to the upstream.
pub(crate) fn read(dialect: Dialect, body: &str) -> Option<ChatRequest> {
    let whole = JsonSpan::whole(body)?;
    let members = whole.members()?;
    let mut request = match dialect {
        Dialect::Chat => chat::read(body, &members)?,
        Dialect::Responses => responses::read(body, whole, &members)?,
        Dialect::Messages => messages::read(body, whole, &members)?,
    };
    request.model = members.text("model");
    let metadata = members.within("metadata");
    let of_metadata = |name: &str| metadata.as_ref().and_then(|found| found.text(name));
    let users = [members.text("user"), of_metadata("user_id"), members.text("safety_identifier")];
    request.users = users.into_iter().flatten().collect();
    let of_client = members.within("client_metadata").and_then(|found| found.text("session_id"));
    let sessions = [of_metadata("session_id"), of_metadata("conversation_id"), of_metadata("chat_id"), of_client];
    request.sessions.extend(sessions.into_iter().flatten());
    Some(request)
}

/// The bytes of the request with both parts of the block inserted; `None` if a non-empty part has no place.
///
/// The stable part goes at the end of the system text, where it is the same in every request. The changing part goes
/// after the user's last message, or with the stable part at the end of the system text. After the last message, a
/// provider's prefix cache covers everything up to and including that message: the next request has the same bytes up
/// to there and continues without the changing part.
pub(crate) fn with_blocks(
    body: &str,
    request: &ChatRequest,
    placement: Placement,
    stable: &str,
    changing: &str,
) -> Option<String> {
    let (system, turn) = match placement {
        Placement::Turn => (stable.to_owned(), changing),
        Placement::System => (format!("{stable}{changing}"), ""),
    };
    let mut parts = Vec::new();
    for (spot, block) in [(request.in_system.as_ref(), system.as_str()), (request.in_turn.as_ref(), turn)] {
        if !block.is_empty() {
            parts.push((spot?, block));
        }
    }
    // Inserts from the end, so that earlier positions stay valid. User messages never precede the end of the system
    // text.
    parts.sort_by_key(|(spot, _)| std::cmp::Reverse(spot.at.start));
    let mut made = body.to_owned();
    for (spot, block) in parts {
        let written = serde_json::to_string(block).ok()?;
        let written = written.get(1..written.len() - 1)?;
        let (before, after) = (made.get(..spot.at.start)?, made.get(spot.at.end..)?);
        made = [before, spot.before, written, spot.after, after].concat();
    }
    Some(made)
}

/// A content: a string, or a list of parts.
struct Content<'a> {
    /// The texts, in order, each with its span.
    texts: Vec<(String, JsonSpan<'a>)>,
    piece: JsonSpan<'a>,
}

impl<'a> Content<'a> {
    /// Parses a content; `is_text` selects the part types that are text.
    fn read(piece: JsonSpan<'a>, is_text: fn(&str) -> bool) -> Self {
        let mut texts = Vec::new();
        if let Some(text) = piece.text() {
            texts.push((text, piece));
        }
        for part in piece.elements().into_iter().flatten() {
            let Some(members) = part.members() else { continue };
            if members.text("type").is_some_and(|kind| is_text(&kind))
                && let Some(text) = members.text("text")
            {
                texts.push((text, part));
            }
        }
        Self { texts, piece }
    }

    fn words(&self) -> String {
        self.texts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The position at its end, if it has any text.
    fn after_words(&self, body: &str, parts: (&'static str, &'static str)) -> Option<Spot> {
        if self.texts.is_empty() { None } else { self.at_end(body, parts) }
    }

    /// The position at its end; `parts` are the beginnings of a part: after another one, and as the first.
    fn at_end(&self, body: &str, parts: (&'static str, &'static str)) -> Option<Spot> {
        let start = self.piece.start_in(body);
        let end = start + self.piece.written().len() - 1;
        if self.piece.is_text() {
            let before = if end == start + 1 { "" } else { "\\n\\n" };
            return Some(Spot { at: end..end, before, after: "" });
        }
        let is_empty = self.piece.elements()?.is_empty();
        Some(Spot { at: end..end, before: if is_empty { parts.1 } else { parts.0 }, after: "\"}" })
    }
}

/// The position for a top-level text member that may be missing or `null`. `whole` is the request.
fn member_spot(
    body: &str,
    whole: JsonSpan<'_>,
    members: &Members<'_>,
    name: &str,
    opening: &'static str,
    parts: (&'static str, &'static str),
) -> Option<Spot> {
    match members.get(name) {
        Some(piece) if piece.is_null() => {
            let start = piece.start_in(body);
            Some(Spot { at: start..start + piece.written().len(), before: "\"", after: "\"" })
        }
        Some(piece) if piece.is_text() || piece.is_list() => Content::read(piece, |_| true).at_end(body, parts),
        Some(_) => None,
        None if members.is_empty() => None,
        None => {
            let start = whole.start_in(body) + 1;
            Some(Spot { at: start..start, before: opening, after: "\"," })
        }
    }
}

/// How applications mark text they insert into a user's message.
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// The text of a message without blocks of memory and reminders of an application.
fn own_words(text: &str) -> String {
    let kept: String = strip_packs(text).into_iter().filter_map(|range| text.get(range)).collect();
    let mut words = String::with_capacity(kept.len());
    let mut rest = kept.as_str();
    while let Some((before, after)) = rest.split_once(REMINDER.0) {
        words.push_str(before);
        rest = after.split_once(REMINDER.1).map_or("", |(_, rest)| rest);
    }
    words.push_str(rest);
    words.trim().to_owned()
}

/// Adds a message to a request.
fn push(request: &mut ChatRequest, speaker: Speaker, text: &str) {
    request.has_block |= has_block(text);
    if speaker == Speaker::System {
        if !request.system.is_empty() {
            request.system.push('\n');
        }
        request.system.push_str(text);
    }
    request.messages.push(WireMessage { speaker, words: own_words(text) });
}

/// True if the text contains a block of memory.
fn has_block(text: &str) -> bool {
    strip_packs(text).iter().map(ExactSizeIterator::len).sum::<usize>() < text.len()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;
