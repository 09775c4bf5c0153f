//! Requests and responses of OpenAI's chat completions.

use quipu_engine::ports::{PromptRole, Usage};
use serde_json::{Value, json};

use super::dialect::{Question, Reply, tokens};
use super::endpoint::{Endpoint, Provider};
use super::fault::Failure;
use super::ladder::{self, JsonMode};

pub(super) fn body(endpoint: &Endpoint, question: &Question<'_>) -> Value {
    let request = question.request;
    let mut messages = vec![json!({"role": "system", "content": ladder::system(&request.system, question.shape)})];
    messages.extend(question.messages.iter().map(|message| {
        let role = if message.voice == PromptRole::User { "user" } else { "assistant" };
        json!({"role": role, "content": message.text})
    }));
    let mut body = json!({"model": endpoint.model, "messages": messages, "stream": question.stream});
    // OpenAI's newer models accept neither `max_tokens` nor a temperature; other servers support only these.
    if endpoint.base_url == Provider::OpenAi.base_url_default() {
        body["max_completion_tokens"] = json!(request.output_tokens_max);
    } else {
        body["max_tokens"] = json!(request.output_tokens_max);
        body["temperature"] = json!(request.temperature);
    }
    if question.stream {
        body["stream_options"] = json!({"include_usage": true});
    }
    match question.shape {
        Some((shape, JsonMode::Schema)) => {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {"name": shape.name, "strict": true, "schema": shape.schema},
            });
        }
        Some((_, JsonMode::Object)) => body["response_format"] = json!({"type": "json_object"}),
        _ => {}
    }
    body
}

fn usage(value: &Value) -> Usage {
    Usage {
        input_tokens: tokens(&value["prompt_tokens"]),
        output_tokens: tokens(&value["completion_tokens"]),
        estimated: false,
    }
}

pub(super) fn read(body: &Value) -> Result<Reply, Failure> {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(Failure::passing("there is no message in its answer"));
    }
    let mut reply = Reply {
        text: message["content"].as_str().unwrap_or_default().to_owned(),
        refusal: message["refusal"].as_str().filter(|words| !words.is_empty()).map(str::to_owned),
        usage: usage(&body["usage"]),
        ended: true,
        ..Reply::default()
    };
    finish(&choice["finish_reason"], &mut reply);
    Ok(reply)
}

fn finish(reason: &Value, reply: &mut Reply) {
    match reason.as_str() {
        Some("length") => reply.cut = true,
        Some("content_filter") if reply.refusal.is_none() => {
            reply.refusal = Some("a content filter ended it".to_owned())
        }
        _ => {}
    }
}

pub(super) fn read_event(event: &Value, reply: &mut Reply) -> String {
    if event["usage"].is_object() {
        reply.usage = usage(&event["usage"]);
    }
    let choice = &event["choices"][0];
    let delta = &choice["delta"];
    if let Some(words) = delta["refusal"].as_str() {
        reply.refusal.get_or_insert_default().push_str(words);
    }
    if choice["finish_reason"].is_string() {
        // Not every server sends `[DONE]`.
        reply.ended = true;
    }
    finish(&choice["finish_reason"], reply);
    let piece = delta["content"].as_str().unwrap_or_default();
    reply.text.push_str(piece);
    piece.to_owned()
}
