//! Requests and responses of Anthropic's `/v1/messages`.

use quipu_engine::ports::PromptRole;
use serde_json::{Value, json};

use super::dialect::{Question, Reply, tokens};
use super::endpoint::Endpoint;
use super::fault::Failure;
use super::ladder::{self, JsonMode};

pub(super) fn body(endpoint: &Endpoint, question: &Question<'_>) -> Value {
    let request = question.request;
    let messages: Vec<Value> = question
        .messages
        .iter()
        .map(|message| {
            let role = if message.voice == PromptRole::User { "user" } else { "assistant" };
            json!({"role": role, "content": message.text})
        })
        .collect();
    let mut body = json!({
        "model": endpoint.model,
        "system": ladder::system(&request.system, question.shape),
        "messages": messages,
        "max_tokens": request.output_tokens_max,
        "temperature": request.temperature.min(1.0),
        "stream": question.stream,
    });
    if let Some((shape, JsonMode::Schema)) = question.shape {
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": shape.schema}});
    }
    body
}

pub(super) fn read(body: &Value) -> Result<Reply, Failure> {
    let Some(parts) = body["content"].as_array() else {
        return Err(Failure::passing("there is no message in its answer"));
    };
    let mut reply = Reply { ended: true, ..Reply::default() };
    reply.text = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    count(&body["usage"], &mut reply);
    stop(&body["stop_reason"], &mut reply);
    Ok(reply)
}

fn count(usage: &Value, reply: &mut Reply) {
    reply.usage.input_tokens = reply.usage.input_tokens.max(tokens(&usage["input_tokens"]));
    reply.usage.output_tokens = reply.usage.output_tokens.max(tokens(&usage["output_tokens"]));
}

fn stop(reason: &Value, reply: &mut Reply) {
    match reason.as_str() {
        Some("max_tokens" | "model_context_window_exceeded") => reply.cut = true,
        Some("refusal") => reply.refusal = Some("it ended with a refusal".to_owned()),
        _ => {}
    }
}

pub(super) fn read_event(event: &Value, reply: &mut Reply) -> String {
    match event["type"].as_str() {
        Some("message_start") => count(&event["message"]["usage"], reply),
        Some("message_delta") => {
            count(&event["usage"], reply);
            stop(&event["delta"]["stop_reason"], reply);
        }
        Some("message_stop") => reply.ended = true,
        Some("content_block_delta") => {
            let piece = event["delta"]["text"].as_str().unwrap_or_default();
            reply.text.push_str(piece);
            return piece.to_owned();
        }
        _ => {}
    }
    String::new()
}
