use serde_json::{Value, json};

use super::*;

const BLOCK: &str = "<memory user=\"ines\" version=\"3\">\n- lives in \"Porto\"\n</memory>\n";

/// What the block changes: the request as it was, with the block, as values.
fn injected(dialect: Dialect, placement: Placement, body: &str) -> Option<Value> {
    let request = read(dialect, body)?;
    let made = with_block(body, &request, placement, BLOCK)?;
    // Whatever was written is still there, in its order.
    let written = serde_json::to_string(BLOCK).unwrap();
    let inner = &written[1..written.len() - 1];
    let at = made.find(inner).unwrap();
    assert_eq!(made.matches(inner).count(), 1, "{made}");
    let (before, after) = (&made[..at], &made[at + inner.len()..]);
    let common = before.bytes().zip(body.bytes()).take_while(|(a, b)| a == b).count();
    let tail = after.bytes().rev().zip(body.bytes().rev()).take_while(|(a, b)| a == b).count();
    assert!(common + tail >= body.len() || body.contains("null"), "more than the block changed: {made}");
    Some(serde_json::from_str(&made).unwrap())
}

#[test]
fn the_block_stands_before_the_last_words_of_the_user() {
    let with = |words: &str| format!("{BLOCK}\n{words}");
    let cases: [(Dialect, Value, &str, Value); 7] = [
        (
            Dialect::Chat,
            json!({"messages": [{"role": "user", "content": "where?"}]}),
            "/messages/0/content",
            json!(with("where?")),
        ),
        (
            Dialect::Chat,
            json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "c"}]}]}),
            "/messages/2/content",
            json!([{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": BLOCK}, {"type": "text", "text": "c"}]),
        ),
        (
            Dialect::Chat,
            json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null, "tool_calls": []},
                {"role": "tool", "content": "42"}]}),
            "/messages/0/content",
            json!(with("a")),
        ),
        (
            Dialect::Messages,
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}]}),
            "/messages/0/content/0",
            json!({"type": "text", "text": BLOCK}),
        ),
        (
            // Results of tools come first, or the request is refused.
            Dialect::Messages,
            json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}, {"type": "text", "text": "so?"}]}]}),
            "/messages/0/content",
            json!([{"type": "tool_result", "tool_use_id": "t", "content": "42"}, {"type": "text", "text": BLOCK}, {"type": "text", "text": "so?"}]),
        ),
        (Dialect::Responses, json!({"input": "where?"}), "/input", json!(with("where?"))),
        (
            Dialect::Responses,
            json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "c"}]}, {"type": "function_call_output", "output": "1"}]}),
            "/input/0/content",
            json!([{"type": "input_text", "text": BLOCK}, {"type": "input_text", "text": "c"}]),
        ),
    ];
    for (dialect, body, place, expected) in cases {
        let made = injected(dialect, Placement::Turn, &body.to_string()).unwrap();
        assert_eq!(made.pointer(place), Some(&expected), "{body}");
    }
}

#[test]
fn or_at_the_end_of_the_system_text() {
    let with = |words: &str| format!("{words}\n\n{BLOCK}");
    let user = json!({"role": "user", "content": "where?"});
    let cases: [(Dialect, Value, &str, Value); 9] = [
        (
            Dialect::Chat,
            json!({"messages": [{"role": "system", "content": "Be kind."}, user]}),
            "/messages/0/content",
            json!(with("Be kind.")),
        ),
        (
            Dialect::Chat,
            json!({"messages": [{"role": "system", "content": ""}, user]}),
            "/messages/0/content",
            json!(BLOCK),
        ),
        (Dialect::Chat, json!({"messages": [user]}), "/messages/0", json!({"role": "system", "content": BLOCK})),
        (
            Dialect::Chat,
            json!({"messages": [{"role": "developer", "content": [{"type": "text", "text": "Be kind."}]}, user]}),
            "/messages/0/content",
            json!([{"type": "text", "text": "Be kind."}, {"type": "text", "text": BLOCK}]),
        ),
        (Dialect::Messages, json!({"system": "Be kind.", "messages": [user]}), "/system", json!(with("Be kind."))),
        (
            Dialect::Messages,
            json!({"system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}], "messages": [user]}),
            "/system/1",
            json!({"type": "text", "text": BLOCK}),
        ),
        (Dialect::Messages, json!({"messages": [user]}), "/system", json!(BLOCK)),
        (
            Dialect::Responses,
            json!({"instructions": "Be kind.", "input": "where?"}),
            "/instructions",
            json!(with("Be kind.")),
        ),
        (Dialect::Responses, json!({"instructions": null, "input": "where?"}), "/instructions", json!(BLOCK)),
    ];
    for (dialect, body, place, expected) in cases {
        let made = injected(dialect, Placement::System, &body.to_string()).unwrap();
        assert_eq!(made.pointer(place), Some(&expected), "{body}");
    }
}

#[test]
fn nothing_else_is_written_anew() {
    // Unknown members, their order, how numbers are written, white space, escapes, and what an object has twice deeper down.
    let body = "{ \"zebra\" : 1.0e+2,\n\t\"temperature\":0.70, \"tools\":[{\"a\":1,\"a\":2}], \"n\" : 12345678901234567890123,\
                \"messages\":[ {\"content\":\"caf\\u00e9 \\/ ?\",\"x\":null,\"role\":\"user\"} ] , \"response_format\":{\"type\":\"json_object\"} }\n";
    for placement in [Placement::Turn, Placement::System] {
        assert!(injected(Dialect::Chat, placement, body).is_some(), "{placement:?}");
    }
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for (dialect, body) in [
        (Dialect::Chat, "no json"),
        (Dialect::Chat, "[]"),
        (Dialect::Chat, "{}"),
        (Dialect::Chat, r#"{"messages":"hi"}"#),
        (Dialect::Chat, r#"{"messages":[{"role":"user","content":"a"}],"messages":[]}"#),
        (Dialect::Chat, r#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#),
        (Dialect::Messages, r#"{"messages":[{"role":"user"}]}"#),
        (Dialect::Responses, r#"{"model":"x"}"#),
    ] {
        assert!(injected(dialect, Placement::Turn, body).is_none(), "{body}");
    }
}

#[test]
fn a_users_words_are_the_users() {
    let block = BLOCK.replace('\n', "\\n").replace('"', "\\\"");
    for (content, expected) in [
        ("plain", "plain"),
        (" spaces ", "spaces"),
        ("<system-reminder>be brief</system-reminder>\\nI moved.<system-reminder>x", "I moved."),
        (&format!("Look:\\n{block}I moved."), "Look:\n\nI moved."),
    ] {
        let body = format!(r#"{{"messages":[{{"role":"user","content":"{content}"}}]}}"#);
        let request = read(Dialect::Chat, &body).unwrap();
        assert_eq!(request.messages[0].words, expected, "{content}");
        assert_eq!(request.has_block, content.contains("<memory"), "{content}");
    }
}
