//! The three dialects: what a request says, and where a block of memory goes into it.
//!
//! A request is read in place and never written again: what goes upstream are its own bytes with the block between them.

mod chat;
mod messages;
mod responses;

use std::ops::Range;

use quipu_core::guard::strip_packs;

use super::json::{JsonSpan, Members};
use crate::options::{Placement, Wire};

/// A way of asking for a reply.
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
    /// The kind of upstream that speaks it.
    pub(crate) fn wire(self) -> Wire {
        match self {
            Self::Chat | Self::Responses => Wire::OpenAi,
            Self::Messages => Wire::Anthropic,
        }
    }
}

/// Who spoke, as far as memory is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
    /// Instructions; they interrupt nothing.
    System,
    /// Tools and whatever else.
    Other,
}

/// One message of a request, as text.
#[derive(Debug, Clone)]
pub(crate) struct WireMessage {
    pub(crate) speaker: Speaker,
    /// Its words, without what an application or Quipu put between them.
    pub(crate) words: String,
}

/// A place between bytes, and what must stand around the block there.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// What the block takes the place of; empty but for a `null`.
    at: Range<usize>,
    before: &'static str,
    after: &'static str,
}

/// What a request says.
#[derive(Debug, Default)]
pub(crate) struct ChatRequest {
    pub(crate) model: Option<String>,
    /// Who is asking, by `user`, `metadata.user_id` and `safety_identifier`, in this order.
    pub(crate) users: Vec<String>,
    /// Names of the conversation, the surest first.
    pub(crate) sessions: Vec<String>,
    /// The reply this one goes on from, where the upstream keeps the conversation.
    pub(crate) goes_on_from: Option<String>,
    pub(crate) system: String,
    pub(crate) messages: Vec<WireMessage>,
    /// True if there is a block of Quipu's in it already.
    pub(crate) has_block: bool,
    in_turn: Option<Spot>,
    in_system: Option<Spot>,
}

/// Reads a request; none if it is not what the dialect has: then it is the upstream's to judge.
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

/// The request's own bytes with the two parts of memory between them; none if there is no place for one that is not empty.
///
/// The stable part stands at the end of the system text, where it is the same in every request. The changing part stands after the
/// user's last words, or with the stable one at the end of the system text. A provider's cache of the prefix then holds up to and
/// with the user's words: the next request has the same bytes up to there, and goes on without the changing part.
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
    // From the end, so that the places before stay where they are. The user's words never come before the system text's end.
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

/// A content that is a string or a list of parts.
struct Content<'a> {
    /// The texts in it, in order, each with its own piece.
    texts: Vec<(String, JsonSpan<'a>)>,
    piece: JsonSpan<'a>,
}

impl<'a> Content<'a> {
    /// Reads a content; `is_text` says which types of part are words.
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

    /// The same, if it has words at all.
    fn after_words(&self, body: &str, parts: (&'static str, &'static str)) -> Option<Spot> {
        if self.texts.is_empty() { None } else { self.at_end(body, parts) }
    }

    /// The place at its end; `parts` are how a part begins after another one, and as the first.
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

/// Where a text member of the request's own goes that may be missing or `null`. `whole` is the request.
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

/// How applications mark what they put into a user's message themselves.
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// The words of a message without blocks of memory and reminders of the application.
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

/// Takes in a message.
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

/// True if a block of Quipu's stands in the text.
fn has_block(text: &str) -> bool {
    strip_packs(text).iter().map(ExactSizeIterator::len).sum::<usize>() < text.len()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;
