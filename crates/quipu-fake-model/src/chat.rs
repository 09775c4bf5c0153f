//! Responses of OpenAI's `/v1/chat/completions`.

use serde_json::{Value, json};

use super::reply::{End, ScriptedReply, StreamEvent};
use super::request::FakeRequest;

fn finish(told: &ScriptedReply) -> &'static str {
    match told.end {
        _ if told.tool.is_some() => "tool_calls",
        End::Stop => "stop",
        End::Length => "length",
        End::Refusal => "content_filter",
    }
}

fn usage(told: &ScriptedReply) -> Value {
    json!({
        "prompt_tokens": told.input_tokens,
        "completion_tokens": told.output_tokens,
        "total_tokens": told.input_tokens + told.output_tokens,
    })
}

fn calls(told: &ScriptedReply) -> Option<Value> {
    told.tool.map(
        |name| json!([{"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}]),
    )
}

pub(super) fn plain(asked: &FakeRequest, told: &ScriptedReply) -> Value {
    let mut message = json!({"role": "assistant", "content": told.text, "refusal": told.refusal});
    if let Some(calls) = calls(told) {
        message["tool_calls"] = calls;
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish(told)});
    json!({
        "id": format!("chatcmpl-{}", asked.number),
        "object": "chat.completion",
        "created": 0,
        "model": asked.model,
        "choices": if told.is_missing { json!([]) } else { json!([choice]) },
        "usage": usage(told),
    })
}

pub(super) fn stream(asked: &FakeRequest, told: &ScriptedReply) -> Vec<StreamEvent> {
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", asked.number),
            "object": "chat.completion.chunk",
            "created": 0,
            "model": asked.model,
            "choices": choices,
        });
        if asked.include_usage {
            chunk["usage"] = usage;
        }
        StreamEvent::data(&chunk)
    };
    let delta = |delta: Value, finish: Value| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]), Value::Null)
    };
    let mut events = Vec::new();
    if !told.is_missing {
        events.push(delta(json!({"role": "assistant", "content": ""}), Value::Null));
        events.extend(told.pieces().into_iter().map(|piece| delta(json!({"content": piece}), Value::Null)));
        events.extend(told.refusal.iter().map(|refusal| delta(json!({"refusal": refusal}), Value::Null)));
        events.extend(calls(told).map(|calls| delta(json!({"tool_calls": calls}), Value::Null)));
        events.push(delta(json!({}), json!(finish(told))));
    }
    if asked.include_usage {
        events.push(chunk(json!([]), usage(told)));
    }
    events.push(StreamEvent { name: None, data: "[DONE]".to_owned() });
    events
}
