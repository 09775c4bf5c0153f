//! Memories in the sense of other memory APIs: statements, tasks, notes, and sources from which nothing was derived.
//! Each keeps its id when it is reworded.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind, Trust};
use quipu_core::extract::REMARK;
use quipu_core::id::{ItemId, ItemKind, Seq, UserId};
use quipu_core::item::{Evidence, Fact, FactStatus, TenetStatus};
use quipu_core::items::Items;
use quipu_core::limit;
use quipu_core::memory::HeldSource;
use quipu_core::source::{Artifact, Role, Source};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::revert;
use crate::memory::checkpoint;
use crate::memory::entry_point;
use crate::memory::fold::own_event;
use crate::memory::{Receipt, commit};
use crate::write::agent_files::{first_said, is_shelved};
use crate::write::hand_words;
use crate::write::reword::{self, parts, whole_id};

/// Kind of the artifact that contains a client's metadata. Its text is empty, so it is not searchable.
const ABOUT: &str = "about";

/// A memory.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryView {
    /// Its id, which does not change by rewording.
    pub id: ItemId,
    /// The item that contains its current text.
    pub current: ItemId,
    /// Its text.
    pub text: String,
    /// Role of the author.
    pub role: Role,
    /// The session.
    pub session_id: Option<String>,
    /// Its topic, in one word.
    pub category: Option<String>,
    /// Metadata of the client.
    pub about: Map<String, Value>,
    /// When it was first recorded.
    pub created_at: Option<Timestamp>,
    /// When it was last stated or reworded.
    pub updated_at: Option<Timestamp>,
    /// Its sources.
    pub sources: Vec<ItemId>,
    /// Trust of its source.
    pub trust: Trust,
}

/// Wraps a client's metadata as an artifact of a source.
pub fn about(said: &Map<String, Value>) -> Option<Artifact> {
    let name = (!said.is_empty()).then(|| Value::Object(said.clone()).to_string())?;
    Some(Artifact { kind: ABOUT.to_owned(), name: Some(name), text: String::new() })
}

/// Lists every memory in the order of creation; empty if there is no such user.
///
/// # Errors
/// As for opening a memory.
pub fn memories(engine: &Engine, user: &UserId) -> Result<Vec<MemoryView>> {
    match engine.open(user) {
        Ok(open) => {
            let state = open.read();
            let book = Catalogue::of(&state.memory);
            Ok(book.listed().into_iter().filter_map(|id| book.told(id)).collect())
        }
        Err(Error::NotFound(_)) => Ok(Vec::new()),
        Err(other) => Err(other),
    }
}

/// Returns a memory by its id or the id of any item that contains or contained its text. It need not be listed: a
/// source with derived statements is found as well.
///
/// # Errors
/// `NotFound` if there is no such memory, or if it was retracted.
pub fn memory(engine: &Engine, user: &UserId, name: &str) -> Result<MemoryView> {
    let open = engine.open(user)?;
    let state = open.read();
    let book = Catalogue::of(&state.memory);
    let id = whole_id(name)?;
    book.told(book.current(id)).ok_or_else(|| Error::NotFound(format!("there is no item {name:?}")))
}

/// Maps items to memories, in the same order; `None` for items that are no memory and for repetitions.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn told_of(engine: &Engine, user: &UserId, items: &[ItemId]) -> Result<Vec<Option<MemoryView>>> {
    let open = engine.open(user)?;
    let state = open.read();
    let book = Catalogue::of(&state.memory);
    let mut seen = BTreeSet::new();
    Ok(items.iter().map(|id| book.told(book.said_now(*id)).filter(|told| seen.insert(told.id))).collect())
}

/// Lists the memories that rest on some sources; a source without derived items is its own memory.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn memories_from(engine: &Engine, user: &UserId, sources: &[ItemId]) -> Result<Vec<MemoryView>> {
    let all = memories(engine, user)?;
    Ok(all.into_iter().filter(|told| told.sources.iter().any(|source| sources.contains(source))).collect())
}

/// The current memories, with the links between items and their replacements.
struct Catalogue<'a> {
    memory: &'a Memory,
    /// The item each item replaces.
    older: BTreeMap<ItemId, ItemId>,
    /// The item that replaces each item.
    newer: BTreeMap<ItemId, ItemId>,
    /// The replaced items, by the source each was read from.
    restated: BTreeMap<ItemId, ItemId>,
    /// The metadata recorded later for each item.
    notes: BTreeMap<ItemId, &'a Source>,
    /// Sources from which accepted items were derived, and whether any of those was ever true.
    drawn_from: BTreeMap<ItemId, bool>,
}

impl<'a> Catalogue<'a> {
    fn of(memory: &'a Memory) -> Self {
        let items = memory.items();
        let (mut older, mut newer, mut notes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut link = |old: ItemId, new: ItemId| {
            older.insert(new, old);
            newer.insert(old, new);
        };
        for fact in items.facts().filter(|fact| fact.status == FactStatus::Corrected) {
            let by = fact.superseded_by.and_then(|by| items.fact(by));
            by.filter(|by| by.source == SourceKind::UserEdited).into_iter().for_each(|by| link(fact.id, by.id));
        }
        let edits = hand_words::edits(memory);
        edits.iter().filter(|(old, _, new)| old != new).for_each(|(old, _, new)| link(*old, *new));
        for held in memory.sources() {
            let source = &held.source;
            let Some(instead) = held.instead_of() else {
                if let Some(of) = noted(source) {
                    notes.insert(of, source);
                }
                continue;
            };
            if !items.is_hidden(source.id) {
                link(instead, source.id);
            }
        }
        newer.extend(edits.iter().map(|(_, words, new)| (*words, *new)));
        let restated = restated(items, &newer);
        Self { memory, older, newer, restated, notes, drawn_from: drawn_from(memory) }
    }

    /// The item that contains the current text of another. For a source with a reworded statement, this is the current
    /// item of the statement.
    fn said_now(&self, id: ItemId) -> ItemId {
        self.current(self.restated.get(&id).copied().unwrap_or(id))
    }

    /// The item that contains the current text of another.
    fn current(&self, id: ItemId) -> ItemId {
        let merged = |id: &ItemId| self.newer.get(id).copied().or_else(|| self.memory.items().merged_into(*id));
        std::iter::successors(Some(id), merged).take(limit::MERGES_FOLLOWED_MAX).last().unwrap_or(id)
    }

    /// The first version of an item.
    fn root(&self, id: ItemId) -> ItemId {
        let older = |id: &ItemId| self.older.get(id).copied();
        std::iter::successors(Some(id), older).take(limit::MERGES_FOLLOWED_MAX).last().unwrap_or(id)
    }

    /// Items that are memories of their own, in the order of creation.
    fn listed(&self) -> Vec<ItemId> {
        let items = self.memory.items();
        let shown = |id: ItemId| !items.is_hidden(id);
        let mut found: Vec<(ItemId, Vec<ItemId>)> = Vec::new();
        let places = |evidence: &[Evidence]| evidence.iter().map(|at| at.source).collect::<Vec<_>>();
        let facts = items.facts().filter(|fact| fact.is_active() && fact.predicate != REMARK && shown(fact.id));
        found.extend(facts.map(|fact| (fact.id, places(&fact.evidence))));
        let tasks = items.tasks().filter(|task| task.status.is_open() && shown(task.id));
        found.extend(tasks.map(|task| (task.id, places(&task.evidence))));
        let notes = items.notes().filter(|note| shown(note.id));
        found.extend(notes.map(|note| (note.id, places(&note.evidence))));
        let tenets = items.tenets().filter(|tenet| tenet.status == TenetStatus::Confirmed && shown(tenet.id));
        found.extend(tenets.map(|tenet| (tenet.id, tenet.evidence.clone())));
        found.retain(|(_, sources)| self.edit_behind(sources).is_none());
        let covered: BTreeSet<ItemId> = self.drawn_from.keys().copied().filter(|id| !self.is_edit(id)).collect();
        let mut all: Vec<(Seq, ItemId)> =
            found.iter().map(|(id, _)| (items.made_by(*id).unwrap_or_default(), *id)).collect();
        let words = self.memory.sources().iter().filter(|held| is_memory(held) && shown(held.source.id));
        all.extend(words.map(|held| (held.seq, held.source.id)).filter(|(_, id)| !covered.contains(id)));
        all.sort_unstable();
        all.into_iter().map(|(_, id)| id).collect()
    }

    fn is_edit(&self, id: &ItemId) -> bool {
        self.older.contains_key(id) && id.kind.is_source()
    }

    /// The replacing edit, if every source is one.
    fn edit_behind(&self, sources: &[ItemId]) -> Option<ItemId> {
        sources.first().copied().filter(|_| sources.iter().all(|id| self.is_edit(id)))
    }

    /// The memory of a current item; `None` if it does not count.
    fn told(&self, current: ItemId) -> Option<MemoryView> {
        let items = self.memory.items();
        let root = self.root(current);
        // A source that states nothing but what was never true is no memory, unless it is itself the correction.
        let is_wrong = root == current && self.drawn_from.get(&current) == Some(&false);
        if items.is_hidden(current) || is_wrong {
            return None;
        }
        let mut told = match self.memory.get(current) {
            Some(held) => self.of_words(held)?,
            None => self.of_drawn(current)?,
        };
        if let Some(words) = self.edit_behind(&told.sources).filter(|words| *words != current) {
            return self.told(words);
        }
        told.id = root;
        if root != current {
            let first = self.memory.get(root).and_then(|held| held.source.said_at);
            let first = first.or_else(|| items.fact(root).and_then(|fact| fact.first_seen));
            told.created_at = first.into_iter().chain(told.created_at).min();
        }
        for id in [root, current] {
            if let Some(note) = self.notes.get(&id) {
                told.about.extend(about_of(&note.artifacts));
                told.updated_at = told.updated_at.max(note.said_at);
            }
        }
        Some(told)
    }

    fn of_words(&self, held: &HeldSource) -> Option<MemoryView> {
        let source = &held.source;
        source.is_item().then(|| MemoryView {
            id: source.id,
            current: source.id,
            text: source.text.to_string(),
            role: source.role,
            session_id: source.session.as_deref().map(str::to_owned),
            category: source.topic.as_deref().map(str::to_owned),
            about: about_of(&source.artifacts),
            created_at: first_said(source),
            updated_at: source.said_at,
            sources: vec![source.id],
            trust: held.trust,
        })
    }

    fn of_drawn(&self, id: ItemId) -> Option<MemoryView> {
        let items = self.memory.items();
        let places = |evidence: &[Evidence]| evidence.iter().map(|at| at.source).collect::<Vec<_>>();
        let active = |fact: &&Fact| fact.is_active();
        let (sources, category, seen) = match id.kind {
            ItemKind::Fact => {
                let fact = items.fact(id).filter(active)?;
                let category = fact.topic.clone().unwrap_or_else(|| fact.domain.clone());
                (places(&fact.evidence), Some(category), (fact.first_seen, fact.last_seen))
            }
            ItemKind::Task => {
                let task = items.task(id)?;
                (places(&task.evidence), Some("task".to_owned()), (task.created_at, task.updated_at))
            }
            ItemKind::Note => (places(&items.note(id)?.evidence), Some("note".to_owned()), (None, None)),
            ItemKind::Tenet => {
                let tenet = items.tenet(id)?;
                (tenet.evidence.clone(), tenet.topic.clone().or_else(|| tenet.domain.clone()), (None, None))
            }
            _ => return None,
        };
        let first = sources.first().and_then(|source| self.memory.get(*source));
        let said_at = first.and_then(|held| held.source.said_at);
        Some(MemoryView {
            id,
            current: id,
            text: items.text(id)?.to_owned(),
            role: first.map_or(Role::User, |held| held.source.role),
            session_id: first.and_then(|held| held.source.session.as_deref()).map(str::to_owned),
            category,
            about: first.map(|held| about_of(&held.source.artifacts)).unwrap_or_default(),
            created_at: seen.0.or(said_at),
            updated_at: seen.1.or(said_at),
            trust: first.map_or(Trust::User, |held| held.trust),
            sources,
        })
    }
}

/// The replaced derived items, by the source each was read from.
fn restated(items: &Items, newer: &BTreeMap<ItemId, ItemId>) -> BTreeMap<ItemId, ItemId> {
    let mut all = BTreeMap::new();
    for &old in newer.keys() {
        let facts = items.fact(old).map(|fact| fact.evidence.as_slice());
        let evidence = facts.or_else(|| items.task(old).map(|task| task.evidence.as_slice()));
        let evidence = evidence.or_else(|| items.note(old).map(|note| note.evidence.as_slice()));
        all.extend(evidence.into_iter().flatten().map(|at| (at.source, old)));
    }
    // Sources of an edit belong to the replacement.
    all.retain(|source, _| !newer.contains_key(source));
    all
}

fn drawn_from(memory: &Memory) -> BTreeMap<ItemId, bool> {
    let items = memory.items();
    let mut all: BTreeMap<ItemId, bool> = BTreeMap::new();
    let mut note = |evidence: &[Evidence], holds: bool| {
        evidence.iter().for_each(|at| *all.entry(at.source).or_default() |= holds);
    };
    // A remark repeats its source, which is the memory.
    for fact in items.facts().filter(|fact| fact.predicate != REMARK) {
        match fact.status {
            FactStatus::Uncertain | FactStatus::Contested => {}
            FactStatus::Corrected | FactStatus::Retracted => note(&fact.evidence, false),
            FactStatus::Active | FactStatus::Superseded => note(&fact.evidence, true),
        }
    }
    items.tasks().for_each(|task| note(&task.evidence, !items.is_hidden(task.id)));
    items.notes().for_each(|one| note(&one.evidence, !items.is_hidden(one.id)));
    all
}

/// Returns true for sources that may be a memory: what the user said, and entries by any author.
fn is_memory(held: &HeldSource) -> bool {
    let source = &held.source;
    let written = source.is_ready_made();
    let said = source.kind() == ItemKind::Turn && source.role == Role::User;
    !written && !is_shelved(held.from, source) && (said || source.kind() == ItemKind::Entry)
}

/// The item that a source of metadata refers to.
fn noted(source: &Source) -> Option<ItemId> {
    (source.kind() == ItemKind::Import).then_some(source.native_id.as_deref())??.strip_prefix("about:")?.parse().ok()
}

fn about_of(artifacts: &[Artifact]) -> Map<String, Value> {
    let said = artifacts.iter().find(|one| one.kind == ABOUT).and_then(|one| one.name.as_deref());
    said.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Records metadata of a memory, which replaces earlier values of the same names.
///
/// # Errors
/// `NotFound` if there is no such memory; `Invalid` if it exceeds the limits of a source.
pub fn note_about(engine: &Engine, user: &UserId, name: &str, said: &Map<String, Value>) -> Result<Receipt> {
    let told = memory(engine, user, name)?;
    let open = engine.open(user)?;
    let reference = entry_point::reference_of(&open, told.current)?;
    let mut receipt = commit::commit_one(engine, &open, None, &mut |state| {
        let book = Catalogue::of(&state.memory);
        let mut all = book.told(book.current(told.id)).map(|told| told.about).unwrap_or_default();
        all.extend(said.clone());
        let source = Source {
            id: engine.new_item_id(ItemKind::Import),
            session: None,
            topic: None,
            role: Role::System,
            author: None,
            said_at: Some(engine.now()),
            text: format!("about {}", told.id).into(),
            artifacts: about(&all).into_iter().collect(),
            native_id: Some(format!("about:{}", told.id).into()),
        };
        source.check()?;
        let origin = Origin { reference: reference.clone(), ..Origin::of(SourceKind::UserEdited) };
        Ok(Draft { origin, ..Draft::new(Actor::User, SourceKind::UserEdited, vec![Change::SourceRecorded(source)]) })
    })?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(receipt)
}

/// Retracts memories, and reverts the sources that state nothing else. They stay in the history and a revert restores
/// them; use erase to destroy them.
///
/// # Errors
/// `NotFound` if one of them does not exist.
pub fn take_back(engine: &Engine, user: &UserId, names: &[String]) -> Result<Vec<Receipt>> {
    let open = engine.open(user)?;
    let mut gone: BTreeSet<ItemId> = BTreeSet::new();
    for name in names {
        gone.insert(memory(engine, user, name)?.current);
    }
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let words = sole_words(&open.read().memory, &gone);
    let mut events: Vec<Seq> = Vec::new();
    let mut shared: BTreeSet<ItemId> = BTreeSet::new();
    for id in words {
        match own_event(&open, id)? {
            Some(seq) => events.push(seq),
            None => drop(shared.insert(id)),
        }
    }
    let why = "taken back";
    let mut receipts = revert::take_back(engine, &open, &events, Some(why), &mut |state| {
        let desk = engine.desk(&state.memory);
        let mut changes = desk.put_away(&shared, why);
        let rests = |id: &ItemId| {
            state.memory.items().fact(*id).is_some_and(|fact| {
                let reverted =
                    |at: &Evidence| state.memory.get(at.source).is_some_and(|held| events.contains(&held.seq));
                !fact.evidence.is_empty() && fact.evidence.iter().all(reverted)
            })
        };
        let known = reword::taken_by(&changes.iter().cloned().map(Some).collect::<Vec<_>>());
        for id in gone.iter().filter(|id| !id.kind.is_source() && !known.contains(id) && !rests(id)) {
            changes.extend(desk.retract(*id, why)?);
        }
        let draft = |changes| Draft {
            rationale: Some(why.to_owned()),
            ..Draft::new(Actor::User, SourceKind::UserEdited, changes)
        };
        Ok(parts(changes).into_iter().map(draft).collect())
    })?;
    let lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
    if let Some(last) = receipts.last_mut() {
        last.finish(&open, lag);
    }
    Ok(receipts)
}

/// Sources among the given items, and sources on which only these items rest.
fn sole_words(memory: &Memory, gone: &BTreeSet<ItemId>) -> BTreeSet<ItemId> {
    let book = Catalogue::of(memory);
    let listed = book.listed();
    let stays = |id: &&ItemId| !gone.contains(id);
    let needed: BTreeSet<ItemId> =
        listed.iter().filter(stays).filter_map(|id| book.told(*id)).flat_map(|told| told.sources).collect();
    let own = gone.iter().filter_map(|id| book.told(*id)).flat_map(|told| told.sources);
    own.filter(|source| gone.contains(source) || !needed.contains(source)).collect()
}
/// Returns the first of the given memories that was not received through an entry point with its key.
///
/// # Errors
/// `NotFound` if one of them does not exist.
pub fn first_foreign(
    engine: &Engine,
    user: &UserId,
    names: &[String],
    entry: &entry_point::EntryPoint,
) -> Result<Option<String>> {
    let open = engine.open(user)?;
    let mut known: BTreeSet<ItemId> = BTreeSet::new();
    for name in names {
        let told = memory(engine, user, name)?;
        let rests = if told.sources.is_empty() { vec![told.current] } else { told.sources };
        for item in rests {
            if known.insert(item) && !entry.admits(entry_point::reference_of(&open, item)?.as_deref()) {
                return Ok(Some(name.clone()));
            }
        }
    }
    Ok(None)
}
