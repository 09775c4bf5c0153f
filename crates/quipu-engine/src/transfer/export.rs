//! Exports a memory in other formats.

use quipu_core::artifact::{GlobalMemory, TopicMemory, global_page, topic_page};
use quipu_core::id::UserId;
use quipu_core::item::Fact;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files;

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// The core document, and every item with its history and text.
    Json,
    /// The pages of the plain files, in one text.
    Markdown,
    /// `{"memories": […]}`, as mem0 lists and imports them; only what holds now.
    Mem0,
}

/// Exports a memory as one text.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn export(engine: &Engine, user: &UserId, format: ExportFormat) -> Result<String> {
    match format {
        ExportFormat::Json => page(&everything(engine, user)?),
        ExportFormat::Markdown => {
            let glance = files::glance(engine, user)?;
            Ok(pages(&glance.global, &glance.topics))
        }
        ExportFormat::Mem0 => page(&memories(engine, user)?),
    }
}

fn page(value: &Value) -> Result<String> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| Error::Bug(error.to_string()))?;
    text.push('\n');
    Ok(text)
}

fn everything(engine: &Engine, user: &UserId) -> Result<Value> {
    let open = engine.open(user)?;
    let state = open.read();
    let memory = &state.memory;
    let items = memory.items();
    let sources: Vec<Value> = memory
        .sources()
        .iter()
        .map(|held| {
            let source = &held.source;
            json!({
                "id": source.id, "session_id": source.session.as_deref(), "topic": source.topic.as_deref(),
                "role": source.role, "author": source.author.as_deref(),
                "said_at": source.said_at.map(|time| time.to_string()), "text": source.text,
                "artifacts": source.artifacts, "native_id": source.native_id, "trust": held.trust, "event": held.seq,
            })
        })
        .collect();
    Ok(json!({
        "schema": "quipu_export.v1",
        "user_id": user,
        "version": memory.seq(),
        "head": memory.head().to_hex().to_string(),
        "core": memory.core_with_meta(),
        "facts": items.facts().collect::<Vec<_>>(),
        "episodes": items.episodes().collect::<Vec<_>>(),
        "tasks": items.tasks().collect::<Vec<_>>(),
        "notes": items.notes().collect::<Vec<_>>(),
        "tenets": items.tenets().collect::<Vec<_>>(),
        "reviews": items.reviews().collect::<Vec<_>>(),
        "hidden": items.ids().filter(|id| items.is_hidden(*id)).collect::<Vec<_>>(),
        "sources": sources,
    }))
}

fn memories(engine: &Engine, user: &UserId) -> Result<Value> {
    let open = engine.open(user)?;
    let state = open.read();
    let items = state.memory.items();
    let mut held: Vec<&Fact> = items.facts().filter(|fact| fact.is_active() && !items.is_hidden(fact.id)).collect();
    held.sort_by_key(|fact| (items.made_by(fact.id), fact.id));
    let memory = |fact: &&Fact| {
        let (created, updated) = (fact.first_seen, fact.last_seen);
        json!({
            "id": fact.id,
            "memory": fact.text,
            "user_id": user,
            "hash": blake3::hash(fact.text.as_bytes()).to_hex().to_string(),
            "categories": [fact.topic.as_deref().unwrap_or(&fact.domain)],
            "metadata": {
                "subject": fact.subject, "relation": fact.predicate, "object": fact.object, "type": fact.fact_type,
                "confidence": fact.confidence_base, "valid_from": fact.valid_from,
            },
            "created_at": created.map(|time| time.to_string()),
            "updated_at": updated.map(|time| time.to_string()),
        })
    };
    Ok(json!({ "memories": held.iter().map(memory).collect::<Vec<_>>() }))
}

/// Joins the pages, without what only a folder needs.
fn pages(global: &GlobalMemory, topics: &[TopicMemory]) -> String {
    let mut text = plain(&global_page(global));
    for topic in topics {
        text.push_str("\n---\n\n");
        text.push_str(&plain(&topic_page(topic)));
    }
    text
}

/// A page without front matter, block ids and links.
fn plain(page: &str) -> String {
    let body = page.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(page, |(_, body)| body);
    let mut text = String::with_capacity(body.len());
    for line in body.lines().filter(|line| !line.starts_with("[[GLOBAL_MEMORY|")) {
        let line = line.rsplit_once(" ^").filter(|(_, block)| !block.contains(' ')).map_or(line, |(words, _)| words);
        text.push_str(&unlinked(line));
        text.push('\n');
    }
    text
}

/// Replaces `[[topics/work/topic_memory|Work]]` by `Work`. Brackets in people's words are escaped and kept.
fn unlinked(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("[[topics/") {
        let Some((link, then)) = after.split_once("]]") else { break };
        text.push_str(before);
        text.push_str(link.split_once('|').map_or(link, |(_, name)| name));
        rest = then;
    }
    text.push_str(rest);
    text
}
