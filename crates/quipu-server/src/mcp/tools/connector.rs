//! `search` and `fetch`, with the names and shapes that connectors expect.

use quipu_engine::versions::When;
use quipu_engine::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::call::Call;
use super::super::tool::Tool;
use super::asking::best;
use super::looking::whole;

const RESULTS: usize = 10;
/// Longest title, in characters.
const TITLE_CHARS: usize = 80;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::reading(
            "search",
            "Search (connector)",
            "The same search in the shape connectors expect: ids, titles and addresses. Use it together with fetch if your client asks for \
             these two; else use search_memories, which says more.",
            search,
        )
        .text_only(),
        Tool::reading(
            "fetch",
            "Fetch (connector)",
            "One item in the shape connectors expect. Call it with an id of search.",
            fetch,
        )
        .text_only(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The question.
    query: String,
}

#[derive(Serialize, JsonSchema)]
struct Results {
    results: Vec<Pointer>,
}

#[derive(Serialize, JsonSchema)]
struct Pointer {
    id: String,
    title: String,
    url: String,
}

/// The resource address of an item.
pub(in super::super) fn address(id: &str) -> String {
    format!("memory://item/{id}")
}

fn title(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

fn search(call: &Call<'_>, asked: Search) -> Result<Results> {
    let found = best(call, &asked.query, RESULTS)?;
    let one = |hit: super::super::said::Hit| Pointer { title: title(&hit.text), url: address(&hit.id), id: hit.id };
    Ok(Results { results: found.into_iter().map(one).collect() })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fetch {
    /// An id of search.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct Fetched {
    id: String,
    title: String,
    text: String,
    url: String,
    metadata: Value,
}

fn fetch(call: &Call<'_>, asked: Fetch) -> Result<Fetched> {
    // Some clients return the address instead of the id.
    let id = asked.id.strip_prefix("memory://item/").unwrap_or(&asked.id);
    if id.trim().is_empty() {
        return Err(Error::Invalid("id is empty".to_owned()));
    }
    let item = whole(call, id, When::Now)?;
    let evidence: Vec<Value> = item.evidence.iter().map(|words| json!({"id": words.id, "text": words.text})).collect();
    Ok(Fetched {
        title: title(&item.text),
        url: address(&item.id),
        id: item.id,
        text: item.text,
        metadata: json!({"kind": item.kind, "standing": item.standing, "evidence": evidence}),
    })
}
