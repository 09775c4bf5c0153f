//! Responses of OpenAI's `/v1/responses`.

use serde_json::{Value, json};

use super::reply::{End, ScriptedReply, StreamEvent};
use super::request::FakeRequest;

fn content(told: &ScriptedReply) -> Vec<Value> {
    let text = told.text.iter().map(|text| json!({"type": "output_text", "text": text, "annotations": []}));
    let refusal = told.refusal.iter().map(|refusal| json!({"type": "refusal", "refusal": refusal}));
    text.chain(refusal).collect()
}

fn message(asked: &FakeRequest, content: Vec<Value>, status: &str) -> Value {
    json!({
        "type": "message",
        "id": format!("msg_{}", asked.number),
        "status": status,
        "role": "assistant",
        "content": content,
    })
}

fn whole(asked: &FakeRequest, told: &ScriptedReply, status: &str, output: Value) -> Value {
    let reason = match told.end {
        _ if status == "in_progress" => Value::Null,
        End::Stop => Value::Null,
        End::Length => json!({"reason": "max_output_tokens"}),
        End::Refusal => json!({"reason": "content_filter"}),
    };
    json!({
        "id": format!("resp_{}", asked.number),
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": reason,
        "model": asked.model,
        "output": output,
        "usage": {
            "input_tokens": told.input_tokens,
            "output_tokens": told.output_tokens,
            "total_tokens": told.input_tokens + told.output_tokens,
        },
    })
}

fn status(told: &ScriptedReply) -> &'static str {
    if told.end == End::Stop { "completed" } else { "incomplete" }
}

fn output(asked: &FakeRequest, told: &ScriptedReply) -> Value {
    if told.is_missing {
        return json!([]);
    }
    if let Some(name) = told.tool {
        return json!([{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": "{}"}]);
    }
    json!([message(asked, content(told), status(told))])
}

pub(super) fn plain(asked: &FakeRequest, told: &ScriptedReply) -> Value {
    whole(asked, told, status(told), output(asked, told))
}

pub(super) fn stream(asked: &FakeRequest, told: &ScriptedReply) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let mut push = |name: &'static str, mut value: Value| {
        value["type"] = json!(name);
        value["sequence_number"] = json!(events.len());
        events.push(StreamEvent::named(name, &value));
    };
    let item = format!("msg_{}", asked.number);
    let begun = whole(asked, told, "in_progress", json!([]));
    push("response.created", json!({"response": begun}));
    push("response.in_progress", json!({"response": begun}));
    if !told.is_missing && told.tool.is_none() {
        let place = |more: Value| {
            let mut value = json!({"item_id": item, "output_index": 0, "content_index": 0});
            if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
                value.extend(more);
            }
            value
        };
        let empty = json!({"type": "output_text", "text": "", "annotations": []});
        let text = told.text.as_deref().unwrap_or_default();
        let full = json!({"type": "output_text", "text": text, "annotations": []});
        let added = json!({"output_index": 0, "item": message(asked, Vec::new(), "in_progress")});
        push("response.output_item.added", added);
        push("response.content_part.added", place(json!({"part": empty})));
        for piece in told.pieces() {
            push("response.output_text.delta", place(json!({"delta": piece})));
        }
        if let Some(refusal) = &told.refusal {
            push("response.refusal.delta", place(json!({"delta": refusal})));
            push("response.refusal.done", place(json!({"refusal": refusal})));
        }
        push("response.output_text.done", place(json!({"text": text})));
        push("response.content_part.done", place(json!({"part": full})));
        let done = json!({"output_index": 0, "item": message(asked, content(told), status(told))});
        push("response.output_item.done", done);
    }
    let last = if told.end == End::Stop { "response.completed" } else { "response.incomplete" };
    push(last, json!({"response": plain(asked, told)}));
    events
}
