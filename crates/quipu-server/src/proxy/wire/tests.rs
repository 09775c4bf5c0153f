use serde_json::{Value, json};

use super::*;

const BLOCK: &str = "<memory user=\"ines\" version=\"3\">\n- lives in \"Porto\"\n</memory>\n";

/// The effect of the block: the request with the block, as a value.
fn injected(dialect: Dialect, placement: Placement, body: &str) -> Option<Value> {
    let request = read(dialect, body)?;
    let made = with_blocks(body, &request, placement, "", BLOCK)?;
    // The original bytes are still present, in order.
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
fn what_changes_stands_after_the_last_words_of_the_user() {
    let with = |words: &str| format!("{words}\n\n{BLOCK}");
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
            json!([{"type": "image_url", "image_url": {"url": "data:"}}, {"type": "text", "text": "c"}, {"type": "text", "text": BLOCK}]),
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
            "/messages/0/content/1",
            json!({"type": "text", "text": BLOCK}),
        ),
        (
            // Tool results must come first, or the request is refused.
            Dialect::Messages,
            json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}, {"type": "text", "text": "so?"}]}]}),
            "/messages/0/content",
            json!([{"type": "tool_result", "tool_use_id": "t", "content": "42"}, {"type": "text", "text": "so?"}, {"type": "text", "text": BLOCK}]),
        ),
        (Dialect::Responses, json!({"input": "where?"}), "/input", json!(with("where?"))),
        (
            Dialect::Responses,
            json!({"input": [{"role": "user", "content": [{"type": "input_text", "text": "c"}]}, {"type": "function_call_output", "output": "1"}]}),
            "/input/0/content",
            json!([{"type": "input_text", "text": "c"}, {"type": "input_text", "text": BLOCK}]),
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

const STABLE: &str = "<memory user=\"ines\" part=\"stable\">\n- never use emojis\n</memory>\n";

/// The content of a request as a model's prompt, which a provider's prefix cache compares.
fn prompt(dialect: Dialect, body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap();
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    };
    let system = match dialect {
        Dialect::Chat => String::new(),
        Dialect::Responses => text(&value["instructions"]),
        Dialect::Messages => text(&value["system"]),
    };
    let list = if dialect == Dialect::Responses { &value["input"] } else { &value["messages"] };
    let messages = list.as_array().unwrap().iter();
    messages.fold(system, |all, one| format!("{all}\n{}: {}", one["role"], text(&one["content"])))
}

#[test]
fn the_cache_of_the_prefix_holds_from_turn_to_turn() {
    let marked = |words: &str| json!([{"type": "text", "text": words, "cache_control": {"type": "ephemeral"}}]);
    let plain = |words: &str| json!(words);
    let words: [&dyn Fn(&str) -> Value; 2] = [&plain, &marked];
    for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Messages] {
        for said in words {
            let request = |turns: usize| {
                let mut list = Vec::new();
                for turn in 0..turns {
                    list.push(json!({"role": "user", "content": said(&format!("question {turn}"))}));
                    if turn + 1 < turns {
                        list.push(json!({"role": "assistant", "content": format!("answer {turn}")}));
                    }
                }
                match dialect {
                    Dialect::Chat => {
                        list.insert(0, json!({"role": "system", "content": "Be kind."}));
                        json!({"messages": list})
                    }
                    Dialect::Responses => json!({"instructions": "Be kind.", "input": list}),
                    Dialect::Messages => json!({"system": marked("Be kind."), "messages": list}),
                }
                .to_string()
            };
            let sent = |turns: usize| {
                let body = request(turns);
                let read = read(dialect, &body).unwrap();
                let changing = BLOCK.replace("Porto", &format!("place {turns}"));
                let made = with_blocks(&body, &read, Placement::Turn, STABLE, &changing).unwrap();
                (prompt(dialect, &made), changing)
            };
            for turns in 1..6 {
                let ((first, changing), (next, _)) = (sent(turns), sent(turns + 1));
                let common = first.bytes().zip(next.bytes()).take_while(|(a, b)| a == b).count();
                // Everything except the changing part and the blank lines before it is shared.
                assert!(common + changing.len() + 2 >= first.len(), "{dialect:?} {turns}: {common} of {}", first.len());
                assert!(first.find(STABLE) < first.find("question 0") && first.contains(STABLE), "{first}");
            }
        }
    }
}

#[test]
fn nothing_else_is_written_anew() {
    // Unknown members, order, number formats, white space, escapes, and duplicate keys deeper down.
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
