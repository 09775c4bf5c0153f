//! Responses of OpenAI's `/v1/embeddings` and `/v1/models`.

use serde_json::{Value, json};

use super::reply::tokens;

/// A deterministic vector of length 1 for a text.
fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut bytes = vec![0u8; dimensions * 2];
    blake3::Hasher::new().update(text.as_bytes()).finalize_xof().fill(&mut bytes);
    let raw: Vec<f32> =
        bytes.chunks_exact(2).map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0).collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    raw.into_iter().map(|x| x / length).collect()
}

pub(super) fn embeddings(body: &Value, dimensions: usize) -> Value {
    let texts: Vec<&str> = match &body["input"] {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let dimensions = body["dimensions"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(dimensions).min(4096);
    let one = |(index, text): (usize, &&str)| json!({"object": "embedding", "index": index, "embedding": vector(text, dimensions)});
    let used: usize = texts.iter().map(|text| tokens(text)).sum();
    json!({
        "object": "list",
        "data": texts.iter().enumerate().map(one).collect::<Vec<_>>(),
        "model": body["model"],
        "usage": {"prompt_tokens": used, "total_tokens": used},
    })
}

pub(super) fn models(names: &[String]) -> Value {
    let one = |name: &String| json!({"id": name, "object": "model", "created": 0, "owned_by": "fake"});
    json!({"object": "list", "data": names.iter().map(one).collect::<Vec<_>>()})
}
