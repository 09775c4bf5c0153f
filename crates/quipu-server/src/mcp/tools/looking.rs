//! Single items, lists, and the history of an item.

use jiff::Timestamp;
use quipu_core::id::{ItemId, ItemKind, Seq};
use quipu_engine::versions::When;
use quipu_engine::{
    Error, FactOptions, ListOptions, Result, episodes, facts, history, list, look, notes, tasks, tenets, users,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::call::Call;
use super::super::said::{SourceQuote, word};
use super::super::tool::Tool;
use super::asking::when;

/// Default and largest number of entries on a page.
const USUAL: usize = 20;
const MOST: usize = 100;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::reading(
            "get_memory",
            "Get one item",
            "Shows one item whole: what it says, how it stands, the words it was read from. Call it with an id that search_memories, \
             get_context or list_memories gave, to check the evidence before you rely on it.",
            get,
        ),
        Tool::reading(
            "list_memories",
            "List memory",
            "Lists what is remembered, kind by kind, a page at a time. Call it when the user asks what you know or remember about them; to \
             answer a question use search_memories.",
            listed,
        ),
        Tool::reading(
            "get_memory_history",
            "Show an item's history",
            "Lists every event about an item, oldest first: when it was recorded, by whom, from what, and what changed it. Call it when the \
             user asks why or since when something is remembered, or what was believed before.",
            told,
        ),
    ]
}

/// A kind of item.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Fact,
    Episode,
    Task,
    Note,
    Tenet,
    Turn,
    Entry,
    Document,
    Import,
}

impl From<Kind> for ItemKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Fact => Self::Fact,
            Kind::Episode => Self::Episode,
            Kind::Task => Self::Task,
            Kind::Note => Self::Note,
            Kind::Tenet => Self::Tenet,
            Kind::Turn => Self::Turn,
            Kind::Entry => Self::Entry,
            Kind::Document => Self::Document,
            Kind::Import => Self::Import,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// The item.
    id: String,
    /// The version to look at: a version, a date or a time.
    #[serde(default)]
    as_of: Option<String>,
}

/// An item.
#[derive(Serialize, JsonSchema)]
pub(super) struct ItemWhole {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) text: String,
    /// Its status.
    pub(super) standing: String,
    pinned: bool,
    /// The words it was read from.
    pub(super) evidence: Vec<SourceQuote>,
    /// The item in full.
    pub(super) item: Value,
}

fn get(call: &Call<'_>, asked: Get) -> Result<ItemWhole> {
    whole(call, &asked.id, when(call, asked.as_of.as_deref(), "as_of")?)
}

/// An item in full.
pub(super) fn whole(call: &Call<'_>, id: &str, at: When) -> Result<ItemWhole> {
    if !users(call.engine)?.contains(call.user()) {
        return Err(Error::NotFound("nothing is remembered yet".to_owned()));
    }
    let seen = look(call.engine, call.user(), id, at)?;
    let quote = |(id, text): (ItemId, String)| SourceQuote { id: id.to_string(), speaker: None, said_at: None, text };
    Ok(ItemWhole {
        id: seen.id.to_string(),
        kind: word(&seen.kind),
        text: seen.text,
        standing: seen.standing,
        pinned: seen.marks.pinned,
        evidence: seen.quotes.into_iter().map(quote).collect(),
        item: seen.item,
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Which kind; default: facts.
    #[serde(default)]
    kind: Option<Kind>,
    /// How many; default 20, at most 100.
    #[serde(default)]
    limit: Option<usize>,
    /// The value of `next` of the previous page.
    #[serde(default)]
    after: Option<String>,
    /// Only in this conversation; for turns, entries, documents and imports.
    #[serde(default)]
    session_id: Option<String>,
    /// The version to look at: a version, a date or a time.
    #[serde(default)]
    as_of: Option<String>,
}

/// A page.
#[derive(Default, Serialize, JsonSchema)]
struct Page {
    items: Vec<ListEntry>,
    /// How many there are on all pages.
    total: usize,
    /// What to give as `after` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// An item of a list.
#[derive(Serialize, JsonSchema)]
pub(in super::super) struct ListEntry {
    pub(in super::super) id: String,
    pub(in super::super) text: String,
    /// Its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// Whose word it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<String>,
    /// When it was last said, or is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) at: Option<Timestamp>,
}

fn listed(call: &Call<'_>, asked: List) -> Result<Page> {
    let limit = asked.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(Error::Invalid(format!("limit goes from 1 to {MOST}, not {limit}")));
    }
    let at = when(call, asked.as_of.as_deref(), "as_of")?;
    let kind = asked.kind.unwrap_or(Kind::Fact);
    if !users(call.engine)?.contains(call.user()) {
        return Ok(Page::default());
    }
    let all = entries(call, kind, at, asked.session_id.as_deref())?;
    let from = match &asked.after {
        None => 0,
        Some(after) => {
            let gone = || Error::Invalid(format!("after: {after:?} is not in this list any more; start again"));
            all.iter().position(|entry| entry.id == *after).ok_or_else(gone)? + 1
        }
    };
    let total = all.len();
    let items: Vec<ListEntry> = all.into_iter().skip(from).take(limit).collect();
    let next = items.last().map(|last| last.id.clone()).filter(|_| from + items.len() < total);
    Ok(Page { items, total, next })
}

fn entries(call: &Call<'_>, kind: Kind, at: When, session: Option<&str>) -> Result<Vec<ListEntry>> {
    let (engine, user, seen) = (call.engine, call.user(), Some(at));
    let entry = |id: ItemId, text: String, status: Option<String>, trust: Option<String>, at: Option<Timestamp>| {
        ListEntry { id: id.to_string(), text, status, trust, at }
    };
    Ok(match kind {
        Kind::Fact => facts(engine, user, &FactOptions { at: seen, ..FactOptions::default() })?
            .into_iter()
            .map(|shown| shown.fact)
            .map(|fact| entry(fact.id, fact.text, Some(word(&fact.status)), Some(word(&fact.trust)), fact.last_seen))
            .collect(),
        Kind::Task => tasks(engine, user, seen, false)?
            .into_iter()
            .map(|task| {
                let at = task.due.or(task.updated_at);
                entry(task.id, task.title, Some(word(&task.status)), Some(word(&task.trust)), at)
            })
            .collect(),
        Kind::Episode => episodes(engine, user, seen)?
            .into_iter()
            .map(|one| entry(one.id, format!("{}: {}", one.title, one.summary), None, None, one.start))
            .collect(),
        Kind::Note => notes(engine, user, seen)?
            .into_iter()
            .map(|note| entry(note.id, note.text, None, Some(word(&note.trust)), None))
            .collect(),
        Kind::Tenet => tenets(engine, user, seen, false)?
            .into_iter()
            .map(|tenet| entry(tenet.id, tenet.text, Some(word(&tenet.status)), None, None))
            .collect(),
        Kind::Turn | Kind::Entry | Kind::Document | Kind::Import => {
            let options = ListOptions {
                at,
                session: session.map(str::to_owned),
                kind: Some(kind.into()),
                offset: 0,
                limit: usize::MAX,
            };
            let page = list(engine, user, &options)?;
            page.items.into_iter().rev().map(|item| entry(item.id, item.text, None, None, item.said_at)).collect()
        }
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ItemArguments {
    /// The item.
    id: String,
}

/// The history of an item.
#[derive(Serialize, JsonSchema)]
struct HistoryView {
    id: String,
    text: String,
    /// Its status now.
    standing: String,
    /// Every event about it, oldest first.
    events: Vec<Event>,
}

/// One event.
#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct Event {
    seq: Seq,
    recorded_at: Timestamp,
    /// Who did it: `user`, `agent` or `system`.
    actor: String,
    /// The kind of source it came from.
    source: String,
    trust: String,
    /// What it changed.
    summary: String,
    /// `counts`, `reverted` or `orphaned`.
    standing: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
}

impl From<quipu_engine::log::LogEntry> for Event {
    fn from(entry: quipu_engine::log::LogEntry) -> Self {
        Self {
            seq: entry.seq,
            recorded_at: entry.recorded_at,
            actor: word(&entry.actor),
            source: word(&entry.source),
            trust: word(&entry.trust),
            summary: entry.summary,
            standing: word(&entry.standing),
            rationale: entry.rationale,
        }
    }
}

fn told(call: &Call<'_>, asked: ItemArguments) -> Result<HistoryView> {
    if !users(call.engine)?.contains(call.user()) {
        return Err(Error::NotFound("nothing is remembered yet".to_owned()));
    }
    let story = history(call.engine, call.user(), &asked.id)?;
    Ok(HistoryView {
        id: story.id.to_string(),
        text: story.text,
        standing: story.standing,
        events: story.events.into_iter().map(Event::from).collect(),
    })
}

/// The newest sources and derived items.
pub(in super::super) fn recent(call: &Call<'_>, most: usize) -> Result<Vec<ListEntry>> {
    if !users(call.engine)?.contains(call.user()) {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for kind in [Kind::Turn, Kind::Entry, Kind::Fact, Kind::Task, Kind::Note] {
        all.extend(entries(call, kind, When::Now, None)?);
    }
    all.sort_by(|one, other| other.at.cmp(&one.at).then_with(|| one.id.cmp(&other.id)));
    all.truncate(most);
    Ok(all)
}
