//! Anthropic's `/v1/messages`.

use super::{ChatRequest, Content, Speaker, member_spot, push};
use crate::proxy::json::{JsonSpan, Members};

const PART: &str = "{\"type\":\"text\",\"text\":\"";
const PARTS: (&str, &str) = (",{\"type\":\"text\",\"text\":\"", PART);

fn is_text(kind: &str) -> bool {
    kind == "text"
}

pub(super) fn read(body: &str, whole: JsonSpan<'_>, members: &Members<'_>) -> Option<ChatRequest> {
    let mut request = ChatRequest::default();
    if let Some(system) = members.get("system") {
        push(&mut request, Speaker::System, &Content::read(system, is_text).words());
    }
    for message in members.get("messages")?.elements()? {
        let message = message.members()?;
        let speaker = match message.text("role")?.as_str() {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            "system" => Speaker::System,
            _ => Speaker::Other,
        };
        let content = Content::read(message.get("content")?, is_text);
        // A message with nothing but tool results is not the user's.
        let speaker = if speaker == Speaker::User && content.texts.is_empty() { Speaker::Other } else { speaker };
        if speaker == Speaker::User {
            request.in_turn = content.after_words(body, PARTS).or(request.in_turn);
        }
        push(&mut request, speaker, &content.words());
    }
    request.in_system = member_spot(body, whole, members, "system", "\"system\":\"", PARTS);
    Some(request)
}
