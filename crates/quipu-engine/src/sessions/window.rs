//! Builds the window of a conversation shown to a language model: new messages, the messages before them, and related
//! known items.

use std::collections::BTreeSet;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::extract::window::{KnownItem, Speaker, Window, WindowView};
use quipu_core::extract::{REMARK, USER};
use quipu_core::id::{ItemId, ItemKind};
use quipu_core::item::{Evidence, Fact, FactType, Task};
use quipu_core::memory::HeldSource;
use quipu_core::source::Role;

use crate::engine::Engine;
use crate::error::Result;
use crate::lock::before_slow_call;
use crate::memory::OpenMemory;
use crate::process::understand::{own_words, speaker};
use crate::read::recall::{AtVersion, RecallOptions, recall_in};

/// Most new messages of a window, and most bytes of them.
const MESSAGES_MAX: usize = 16;
const BYTES_MAX: usize = 8_000;
/// Most bytes of one new message; the rest is read by rules only.
const MESSAGE_BYTES_MAX: usize = 6_000;
/// Most messages before the first new one, and most bytes of each; the byte limit also holds for replies of the
/// assistant.
const BEFORE_MAX: usize = 4;
const CONTEXT_BYTES_MAX: usize = 400;
/// Most known items, most items searched per message, most messages searched for, and most tasks.
const KNOWN_MAX: usize = 40;
const FOUND_MAX: usize = 6;
const ASKED_MAX: usize = 8;
const TASKS_MAX: usize = 10;
/// Most bytes of a message that are used as a query.
const QUERY_BYTES_MAX: usize = 300;

/// How many of these consecutive sources fit into one window. They must belong to one session. At least one.
pub(crate) fn length(memory: &Memory, sources: &[ItemId]) -> usize {
    let held = |id: &ItemId| memory.get(*id);
    let session = sources.first().and_then(held).and_then(|held| held.source.session.clone());
    let mut bytes = 0;
    let fits = sources.iter().take(MESSAGES_MAX).take_while(|id| {
        let Some(held) = held(id) else { return true };
        bytes += held.source.text.len().min(MESSAGE_BYTES_MAX);
        held.source.session == session && (bytes <= BYTES_MAX || sources.first() == Some(*id))
    });
    fits.count().max(1)
}

/// Builds the window for these sources; `None` if none of them exists any more.
pub(crate) fn build(engine: &Engine, open: &OpenMemory, sources: &[ItemId]) -> Result<Option<Window>> {
    let mut messages = {
        let state = open.read();
        messages(&state.memory, sources)
    };
    if messages.iter().all(|message| !message.is_new) {
        return Ok(None);
    }
    if let Some(extractor) = &engine.extractor {
        before_slow_call("the extractor");
        for message in messages.iter_mut().filter(|message| message.is_new) {
            message.dates = extractor.dates(&message.text, message.said_at);
        }
    }
    let mut found: Vec<ItemId> = Vec::new();
    for message in messages.iter().filter(|message| message.is_new).take(ASKED_MAX) {
        let query = cut(&message.text, QUERY_BYTES_MAX).trim();
        if query.split_whitespace().count() < 2 && query.chars().count() < 6 {
            continue;
        }
        let options = RecallOptions {
            k: FOUND_MAX,
            kinds: vec![ItemKind::Fact, ItemKind::Task],
            now: open.read().memory.get(message.source).and_then(|held| held.source.said_at),
            ..RecallOptions::of(query)
        };
        found.extend(recall_in(engine, &AtVersion::Now(open), &options)?.hits.iter().map(|hit| hit.id));
    }
    Ok(Some(with_known(open, messages, &found)))
}

/// As [`build`], without a search for related items: similar in length, and needs no embedder.
pub(crate) fn without_search(open: &OpenMemory, sources: &[ItemId]) -> Option<Window> {
    let messages = messages(&open.read().memory, sources);
    messages.iter().any(|message| message.is_new).then(|| with_known(open, messages, &[]))
}

fn with_known(open: &OpenMemory, messages: Vec<WindowView>, found: &[ItemId]) -> Window {
    let known = known(&open.read().memory, &messages, found);
    Window { messages, known }
}

fn messages(memory: &Memory, sources: &[ItemId]) -> Vec<WindowView> {
    let new: BTreeSet<ItemId> = sources.iter().copied().collect();
    let first = sources.iter().find_map(|id| memory.get(*id));
    let of_session = first.and_then(|held| memory.session(held.source.session.as_deref()?));
    let held: Vec<&HeldSource> = match of_session {
        None => sources.iter().filter_map(|id| memory.get(*id)).collect(),
        Some(session) => {
            let all: Vec<&HeldSource> =
                session.sources.iter().filter_map(|&ordinal| memory.sources().get(ordinal as usize)).collect();
            let places = || all.iter().enumerate().filter(|(_, held)| new.contains(&held.source.id)).map(|(at, _)| at);
            let (Some(first), Some(last)) = (places().next(), places().next_back()) else { return Vec::new() };
            all[first.saturating_sub(BEFORE_MAX)..=last].to_vec()
        }
    };
    let shown = held.into_iter().filter(|held| !memory.items().is_hidden(held.source.id) && held.source.is_item());
    shown.enumerate().map(|(number, held)| message(memory, held, number + 1, new.contains(&held.source.id))).collect()
}

fn message(memory: &Memory, held: &HeldSource, number: usize, is_new: bool) -> WindowView {
    let text = own_words(&held.source.text);
    let most = if is_new { MESSAGE_BYTES_MAX } else { CONTEXT_BYTES_MAX };
    let speaker = match held.source.role {
        Role::User => match speaker(memory, held) {
            USER => Speaker::User,
            name => Speaker::Person(name.to_owned()),
        },
        Role::Assistant | Role::System | Role::Tool => Speaker::Assistant,
    };
    WindowView {
        mark: format!("m{number}"),
        source: held.source.id,
        text: cut(&text, most).to_owned(),
        speaker,
        said_at: held.source.local_time(),
        is_new,
        dates: Vec::new(),
    }
}

fn known(memory: &Memory, messages: &[WindowView], found: &[ItemId]) -> Vec<KnownItem> {
    let items = memory.items();
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let end = end(memory, messages);
    let counts = |fact: &&Fact| {
        fact.is_active()
            && fact.predicate != REMARK
            && !items.is_hidden(fact.id)
            && !is_later(memory, &fact.evidence, end)
    };
    let new = |source: ItemId| messages.iter().find(|message| message.is_new && message.source == source);
    // Facts that rules have read from these messages come first, because the model must judge each.
    let read = items.facts().filter(counts).filter_map(|fact| {
        let places: Option<Vec<&WindowView>> = fact.evidence.iter().map(|place| new(place.source)).collect();
        let message = places?.first().copied()?;
        Some((fact, message))
    });
    // In the order of extraction, which is deterministic; ids are not.
    let place = |fact: &Fact| (items.made_by(fact.id), fact.evidence.first().map(|at| at.start), fact.text.clone());
    let mut read: Vec<(&Fact, &WindowView)> = read.collect();
    read.sort_by_cached_key(|(fact, _)| place(fact));
    for (fact, message) in read.into_iter().take(KNOWN_MAX) {
        seen.insert(fact.id);
        all.push(of_fact(fact, all.len() + 1, Some(message.mark.clone())));
    }
    // The user's constraints and single-valued facts are always relevant; of the others, the latest are the most likely
    // to change.
    let (mut always, mut others): (Vec<&Fact>, Vec<&Fact>) = items
        .facts()
        .filter(counts)
        .partition(|fact| fact.subject == USER && (fact.single || fact.fact_type == FactType::Constraint));
    always.sort_by_cached_key(|fact| place(fact));
    others.sort_by_cached_key(|fact| std::cmp::Reverse((fact.last_seen, place(fact))));
    always.append(&mut others);
    let rest = always.into_iter().map(|fact| fact.id);
    let open =
        |task: &&Task| task.status.is_open() && !items.is_hidden(task.id) && !is_later(memory, &task.evidence, end);
    let mut tasks: Vec<&Task> = items.tasks().filter(open).collect();
    tasks.sort_by_cached_key(|task| std::cmp::Reverse((task.updated_at, items.made_by(task.id), task.title.clone())));
    let tasks = tasks.into_iter().take(TASKS_MAX).map(|task| task.id);
    for id in found.iter().copied().chain(tasks).chain(rest) {
        if all.len() >= KNOWN_MAX || !seen.insert(id) {
            continue;
        }
        if let Some(fact) = items.fact(id).filter(counts) {
            all.push(of_fact(fact, all.len() + 1, None));
        } else if let Some(task) = items.task(id).filter(open) {
            let mark = format!("t{}", all.len() + 1);
            all.push(KnownItem { mark, id, text: task.title.clone(), claim: None, read_in: None });
        }
    }
    all
}

/// The position of a source in a memory: by time, then by order of recording.
type TurnPosition = (Option<Timestamp>, u32);

/// The position of the last new message.
fn end(memory: &Memory, messages: &[WindowView]) -> Option<TurnPosition> {
    messages.iter().filter(|message| message.is_new).filter_map(|message| place_of(memory, message.source)).max()
}

fn place_of(memory: &Memory, source: ItemId) -> Option<TurnPosition> {
    memory.find(source).zip(memory.get(source)).map(|(ordinal, held)| (held.source.said_at, ordinal))
}

/// Returns true for items based only on sources after the window. Rules have read those already, but they must not
/// influence the reading of the window.
fn is_later(memory: &Memory, evidence: &[Evidence], end: Option<TurnPosition>) -> bool {
    let later = |at: &Evidence| end.zip(place_of(memory, at.source)).is_some_and(|(end, place)| place > end);
    !evidence.is_empty() && evidence.iter().all(later)
}

fn of_fact(fact: &Fact, number: usize, read_in: Option<String>) -> KnownItem {
    KnownItem {
        mark: format!("f{number}"),
        id: fact.id,
        text: fact.text.clone(),
        claim: Some([fact.subject.clone(), fact.predicate.clone(), fact.object.clone()]),
        read_in,
    }
}

/// The start of a text, cut at a character boundary.
fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
