use axum::http::{HeaderName, HeaderValue};

use super::*;
use crate::proxy::wire::{Dialect, read};

fn headers(lines: &[&str]) -> HeaderMap {
    let pair = |line: &&str| {
        let (name, value) = line.split_once(": ").unwrap();
        (HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap())
    };
    lines.iter().map(pair).collect()
}

/// A chat request with additional members.
fn request(more: &str) -> ChatRequest {
    let body = format!(r#"{{"messages":[{{"role":"user","content":"hi"}}]{more}}}"#);
    read(Dialect::Chat, &body).unwrap()
}

const CLAUDE: &str =
    r#","metadata":{"user_id":"{\"device_id\":\"d1\",\"account_uuid\":\"acc-1\",\"session_id\":\"ses-1\"}"}"#;
const CLAUDE_BEFORE: &str = r#","metadata":{"user_id":"user_ab_account_cd_session_ses-2"}"#;

#[test]
fn the_surest_name_of_the_user_counts() {
    let all = [
        "x-memory-user: own",
        "x-openwebui-user-id: webui",
        "x-litellm-end-user-id: litellm",
        "helicone-user-id: helicone",
        "x-sm-user-id: sm",
    ];
    let body = r#","user":"body","metadata":{"user_id":"meta"},"safety_identifier":"safe""#;
    for (lines, more, expected) in [
        (&all[..], body, "own"),
        (&all[1..], body, "webui"),
        (&all[2..], body, "litellm"),
        (&all[3..], body, "helicone"),
        (&all[4..], body, "sm"),
        (&[], body, "body"),
        (&[], r#","metadata":{"user_id":"meta"},"safety_identifier":"safe""#, "meta"),
        (&[], r#","safety_identifier":"safe""#, "safe"),
        (&[], CLAUDE, "acc-1"),
        (&[], CLAUDE_BEFORE, "user_ab_account_cd"),
        (&[], r#","user":"""#, "me"),
        (&[], r#","user":7"#, "me"),
        (&[], "", "me"),
    ] {
        let default = UserId::parse("me").unwrap();
        let found = user(&headers(lines), Some(&request(more)), Some(&default)).unwrap().unwrap();
        assert_eq!(found.as_str(), expected, "{lines:?} {more}");
    }
    assert_eq!(user(&headers(&[]), Some(&request("")), None), Ok(None));
}

#[test]
fn a_name_that_cannot_be_an_id_is_always_the_same_other_one_and_our_own_header_is_strict() {
    let named = |name: &str| user(&headers(&[name]), None, None);
    let hashed = named("x-openwebui-user-id: auth0|7").unwrap().unwrap();
    assert!(hashed.as_str().starts_with("id-"), "{hashed}");
    assert_eq!(named("x-openwebui-user-id: auth0|7").unwrap().unwrap(), hashed);
    assert_ne!(named("x-openwebui-user-id: auth0|8").unwrap().unwrap(), hashed);
    assert!(named("x-memory-user: auth0|7").is_err());
}

#[test]
fn the_surest_name_of_the_conversation_counts() {
    let all = [
        "x-memory-session: own",
        "x-sm-conversation-id: sm",
        "x-openwebui-chat-id: webui",
        "helicone-session-id: helicone",
        "user-agent: codex_cli_rs/1",
        "session-id: codex",
    ];
    let body = r#","metadata":{"session_id":"meta"}"#;
    for (lines, more, expected) in [
        (&all[..], body, "own"),
        (&all[1..], body, "sm"),
        (&all[2..], body, "webui"),
        (&all[3..], body, "helicone"),
        (&all[4..], body, "codex"),
        // Any client may send a header of this name.
        (&all[5..], body, "meta"),
        (&[], CLAUDE, "ses-1"),
        (&[], CLAUDE_BEFORE, "ses-2"),
        (&[], r#","client_metadata":{"session_id":"cm"}"#, "cm"),
        (&[], body, "meta"),
    ] {
        assert_eq!(session(&headers(lines), &request(more)).as_deref(), Some(expected), "{lines:?} {more}");
    }
}

#[test]
fn without_a_name_the_first_words_of_the_user_make_the_conversation() {
    let of = |messages: &str| {
        let body = format!(r#"{{"messages":[{messages}]}}"#);
        session(&headers(&[]), &read(Dialect::Chat, &body).unwrap())
    };
    let (hi, ho) = (r#"{"role":"user","content":"hi"}"#, r#"{"role":"user","content":"ho"}"#);
    let reply = r#"{"role":"assistant","content":"hello"}"#;
    let first = of(hi).unwrap();
    assert!(first.starts_with("auto-"), "{first}");
    assert_eq!(of(&format!("{hi},{reply},{ho}")), Some(first.clone()));
    assert_ne!(of(ho), Some(first));
    assert_eq!(of(reply), None);
    let long = format!("x-memory-session: {}", "s".repeat(200));
    let named = session(&headers(&[&long]), &request("")).unwrap();
    assert!(named.starts_with("session-") && named.len() <= 128, "{named}");
}
