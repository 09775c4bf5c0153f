//! OpenAI's `/responses`.

use super::{ChatRequest, Content, Speaker, member_spot, push};
use crate::proxy::json::{JsonSpan, Members};

const PART: &str = "{\"type\":\"input_text\",\"text\":\"";
const PARTS: (&str, &str) = (",{\"type\":\"input_text\",\"text\":\"", PART);

fn is_text(kind: &str) -> bool {
    matches!(kind, "input_text" | "output_text" | "text")
}

pub(super) fn read(body: &str, whole: JsonSpan<'_>, members: &Members<'_>) -> Option<ChatRequest> {
    let mut request = ChatRequest::default();
    if let Some(text) = members.text("instructions") {
        push(&mut request, Speaker::System, &text);
    }
    let input = members.get("input")?;
    if let Some(text) = input.text() {
        request.in_turn = Content::read(input, is_text).after_words(body, PARTS);
        push(&mut request, Speaker::User, &text);
    }
    for item in input.elements().into_iter().flatten() {
        let item = item.members()?;
        let is_message = item.text("type").is_none_or(|kind| kind == "message");
        let role = item.text("role").filter(|_| is_message);
        let speaker = match role.as_deref() {
            Some("user") => Speaker::User,
            Some("assistant") => Speaker::Assistant,
            Some("system" | "developer") => Speaker::System,
            _ => Speaker::Other,
        };
        let Some(piece) = item.get("content").filter(|_| is_message) else {
            push(&mut request, Speaker::Other, "");
            continue;
        };
        let content = Content::read(piece, is_text);
        if speaker == Speaker::User {
            request.in_turn = content.after_words(body, PARTS).or(request.in_turn);
        }
        push(&mut request, speaker, &content.words());
    }
    request.in_system = member_spot(body, whole, members, "instructions", "\"instructions\":\"", PARTS);
    let conversation = members.get("conversation");
    let named = conversation.and_then(|one| one.text().or_else(|| one.members()?.text("id")));
    request.sessions.extend(named);
    request.goes_on_from = members.text("previous_response_id");
    Some(request)
}
