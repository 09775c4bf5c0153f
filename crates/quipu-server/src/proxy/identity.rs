//! Determines the user and the session of a request, from the most reliable source first.

use axum::http::HeaderMap;
use quipu_core::id::{UserId, check_name};
use serde_json::Value;

use super::unanswered::UNNAMED;
use super::wire::{ChatRequest, Speaker};

/// Headers that name the user, after `X-Memory-User`.
const USER_HEADERS: [&str; 4] = ["x-openwebui-user-id", "x-litellm-end-user-id", "helicone-user-id", "x-sm-user-id"];
/// Headers that name the session.
const SESSION_HEADERS: [&str; 4] =
    ["x-memory-session", "x-sm-conversation-id", "x-openwebui-chat-id", "helicone-session-id"];
/// Headers in which Codex names its session.
const CODEX_SESSION: [&str; 2] = ["session-id", "session_id"];

/// The user of a request; `None` if no one is named and there is no default.
///
/// Sources: `X-Memory-User`, then headers of applications, then the body. A name from an application that is not a
/// valid user id is replaced by its hash, so the same name remains the same user.
///
/// # Errors
/// A message if `X-Memory-User` is invalid.
pub(crate) fn user(
    headers: &HeaderMap,
    request: Option<&ChatRequest>,
    default: Option<&UserId>,
) -> Result<Option<UserId>, String> {
    if let Some(named) = headers.get("x-memory-user") {
        let named = named.to_str().map_err(|_| "X-Memory-User is not plain text".to_owned())?;
        return UserId::parse(named.trim()).map(Some).map_err(|refusal| format!("X-Memory-User: {refusal}"));
    }
    let in_headers = USER_HEADERS.iter().find_map(|name| plain(headers, name));
    let in_body = || request.and_then(|request| request.users.first()).map(|name| of_claude(name).0);
    let Some(name) = in_headers.map(str::to_owned).or_else(in_body) else { return Ok(default.cloned()) };
    let hashed = || format!("id-{}", short_hash(&[&name]));
    UserId::parse(&name).or_else(|_| UserId::parse(&hashed())).map(Some).map_err(|refusal| refusal.to_string())
}

/// The session of a request; `None` if the request has no text of a user.
///
/// Sources: headers, then metadata of the client, else the hash of the user's first message. Without a name, two
/// conversations of a user that begin alike are therefore one session.
pub(crate) fn session(headers: &HeaderMap, request: &ChatRequest) -> Option<String> {
    let in_headers = SESSION_HEADERS.iter().find_map(|name| plain(headers, name)).map(str::to_owned);
    let is_codex = ["user-agent", "originator"]
        .iter()
        .any(|name| plain(headers, name).is_some_and(|text| text.to_ascii_lowercase().contains("codex")));
    let of_codex =
        || CODEX_SESSION.iter().find_map(|name| plain(headers, name)).filter(|_| is_codex).map(str::to_owned);
    let of_claude = || request.users.iter().find_map(|name| of_claude(name).1);
    let in_body = || request.sessions.first().cloned();
    let named = in_headers.or_else(of_codex).or_else(of_claude).or_else(in_body);
    if let Some(name) = named {
        let fits = check_name("session", &name).is_ok();
        return Some(if fits { name } else { format!("session-{}", short_hash(&[&name])) });
    }
    let first = request.messages.iter().find(|said| said.speaker == Speaker::User && !said.words.is_empty())?;
    Some(format!("{UNNAMED}{}", short_hash(&[&first.words])))
}

fn plain<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim).filter(|text| !text.is_empty())
}

/// Account and session in the `metadata.user_id` of Claude's clients: a JSON object as text, or
/// `user_…_account_…_session_…`. Any other name is the user's.
fn of_claude(name: &str) -> (String, Option<String>) {
    if name.starts_with('{')
        && let Ok(object) = serde_json::from_str::<Value>(name)
    {
        let text = |key: &str| object[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let account = text("account_uuid").or_else(|| text("device_id"));
        return (account.unwrap_or_else(|| name.to_owned()), text("session_id"));
    }
    match name.split_once("_session_") {
        Some((account, session)) if account.starts_with("user_") && !session.is_empty() => {
            (account.to_owned(), Some(session.to_owned()))
        }
        _ => (name.to_owned(), None),
    }
}

/// 128 bits of a hash over several texts.
fn short_hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("quipu proxy name v1");
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests;
