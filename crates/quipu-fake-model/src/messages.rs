//! Responses of Anthropic's `/v1/messages`.

use serde_json::{Value, json};

use super::reply::{End, ScriptedReply, StreamEvent};
use super::request::FakeRequest;

fn stop_reason(told: &ScriptedReply) -> &'static str {
    match told.end {
        _ if told.tool.is_some() => "tool_use",
        _ if told.refusal.is_some() => "refusal",
        End::Stop => "end_turn",
        End::Length => "max_tokens",
        End::Refusal => "refusal",
    }
}

fn content(told: &ScriptedReply) -> Value {
    let text = told.text.iter().map(|text| json!({"type": "text", "text": text}));
    let tool = told.tool.iter().map(|name| json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}));
    if told.is_missing { Value::Null } else { text.chain(tool).collect() }
}

fn whole(asked: &FakeRequest, told: &ScriptedReply, content: Value, stop: Value, output_tokens: usize) -> Value {
    json!({
        "id": format!("msg_{}", asked.number),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {"input_tokens": told.input_tokens, "output_tokens": output_tokens},
    })
}

pub(super) fn plain(asked: &FakeRequest, told: &ScriptedReply) -> Value {
    whole(asked, told, content(told), json!(stop_reason(told)), told.output_tokens)
}

pub(super) fn stream(asked: &FakeRequest, told: &ScriptedReply) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let mut push = |name: &'static str, mut value: Value| {
        value["type"] = json!(name);
        events.push(StreamEvent::named(name, &value));
    };
    push("message_start", json!({"message": whole(asked, told, json!([]), Value::Null, 1)}));
    let mut index = 0;
    if told.text.is_some() && !told.is_missing {
        push("content_block_start", json!({"index": index, "content_block": {"type": "text", "text": ""}}));
        push("ping", json!({}));
        for piece in told.pieces() {
            push("content_block_delta", json!({"index": index, "delta": {"type": "text_delta", "text": piece}}));
        }
        push("content_block_stop", json!({"index": index}));
        index += 1;
    }
    if let Some(name) = told.tool {
        let block = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}});
        push("content_block_start", json!({"index": index, "content_block": block}));
        let delta = json!({"type": "input_json_delta", "partial_json": "{}"});
        push("content_block_delta", json!({"index": index, "delta": delta}));
        push("content_block_stop", json!({"index": index}));
    }
    let delta = json!({"stop_reason": stop_reason(told), "stop_sequence": null});
    push("message_delta", json!({"delta": delta, "usage": {"output_tokens": told.output_tokens}}));
    push("message_stop", json!({}));
    events
}
