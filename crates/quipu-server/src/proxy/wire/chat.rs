//! OpenAI's `/chat/completions`.

use super::{ChatRequest, Content, Speaker, Spot, push};
use crate::proxy::json::{JsonSpan, Members};

const PART: &str = "{\"type\":\"text\",\"text\":\"";
const PARTS: (&str, &str) = (",{\"type\":\"text\",\"text\":\"", PART);

fn is_text(kind: &str) -> bool {
    kind == "text"
}

pub(super) fn read(body: &str, members: &Members<'_>) -> Option<ChatRequest> {
    let mut request = ChatRequest::default();
    let list = members.get("messages")?;
    for message in list.elements()? {
        let message = message.members()?;
        let speaker = match message.text("role")?.as_str() {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            "system" | "developer" => Speaker::System,
            _ => Speaker::Other,
        };
        let Some(piece) = message.get("content") else {
            push(&mut request, speaker, "");
            continue;
        };
        let content = Content::read(piece, is_text);
        match speaker {
            Speaker::User => request.in_turn = content.after_words(body, PARTS).or(request.in_turn),
            Speaker::System => request.in_system = content.at_end(body, PARTS),
            Speaker::Assistant | Speaker::Other => {}
        }
        push(&mut request, speaker, &content.words());
    }
    if request.in_system.is_none() && !request.messages.is_empty() {
        request.in_system = Some(first_message(body, list));
    }
    Some(request)
}

/// Inserts a new message before all others.
fn first_message(body: &str, list: JsonSpan<'_>) -> Spot {
    let start = list.start_in(body) + 1;
    Spot { at: start..start, before: "{\"role\":\"system\",\"content\":\"", after: "\"}," }
}
