//! Shelf: texts an agent keeps under names of its own choice. They are put, replaced and taken away; every version stays in the
//! history, and recall finds the newest as what an agent said.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::id::{ItemId, ItemKind, Seq, UserId};
use quipu_core::source::{Artifact, Role, Source};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::checkpoint;
use crate::memory::{Receipt, commit};
use crate::memory::{State, fold};
use crate::write::entry_point::{self, EntryPoint};
use crate::write::remember;
use crate::write::reword;

/// Kind of the artifact that says when a text was first said, or stood under its name, in other words.
const SINCE: &str = "since";
/// Kind of the artifact that holds a text without a word in it.
const BLANK: &str = "blank";

/// A text on the shelf.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentFile {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
    /// The item that holds this version.
    pub id: ItemId,
    /// What it is about.
    pub topic: Option<String>,
    /// Since when something stands under this name.
    pub created_at: Option<Timestamp>,
    /// When this version was put.
    pub updated_at: Option<Timestamp>,
    /// The event that put it.
    pub event_seq: Seq,
}

/// What stands under names that begin alike, by name.
pub type AgentFiles = BTreeMap<String, AgentFile>;

/// A step of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// This text stands under this name, whatever stood there.
    Put {
        /// The name.
        name: String,
        /// The text.
        text: String,
        /// What it is about.
        topic: Option<String>,
    },
    /// What stands under one name stands under another.
    Move {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
        /// What it is about now.
        topic: Option<String>,
    },
    /// Nothing stands under this name any more.
    Take(String),
}

/// What stands under names that begin with `prefix`; nothing, if there is no such user.
///
/// # Errors
/// As for opening a memory.
pub fn shelf(engine: &Engine, user: &UserId, prefix: &str) -> Result<AgentFiles> {
    match engine.open(user) {
        Ok(open) => Ok(standing(&open.read().memory, prefix)),
        Err(Error::NotFound(_)) => Ok(AgentFiles::new()),
        Err(other) => Err(other),
    }
}

/// True for what a shelf holds, and for versions of it.
pub(crate) fn is_shelved(from: SourceKind, source: &Source) -> bool {
    source.kind() == ItemKind::Entry
        && source.role == Role::Assistant
        && from == SourceKind::AssistantSaid
        && source.native_id.is_some()
}

/// When something was first said, where its words took the place of others.
pub(crate) fn first_said(source: &Source) -> Option<Timestamp> {
    let since =
        source.artifacts.iter().find(|one| one.kind == SINCE).and_then(|since| since.name.as_deref()?.parse().ok());
    since.or(source.said_at)
}

/// Goes with words that take the place of others: when those were first said.
pub(crate) fn since(first: Timestamp) -> Artifact {
    Artifact { kind: SINCE.to_owned(), name: Some(first.to_string()), text: String::new() }
}

fn standing(memory: &Memory, prefix: &str) -> AgentFiles {
    let mut found = AgentFiles::new();
    for held in memory.sources() {
        let source = &held.source;
        let Some(name) = source.native_id.as_deref().filter(|name| name.starts_with(prefix)) else { continue };
        if !is_shelved(held.from, source) || memory.items().is_hidden(source.id) {
            continue;
        }
        let artifact = |kind: &str| source.artifacts.iter().find(|one| one.kind == kind);
        let kept = AgentFile {
            name: name.to_owned(),
            text: artifact(BLANK).map_or_else(|| source.text.to_string(), |blank| blank.text.clone()),
            id: source.id,
            topic: source.topic.as_deref().map(str::to_owned),
            created_at: first_said(source),
            updated_at: source.said_at,
            event_seq: held.seq,
        };
        found.insert(name.to_owned(), kept);
    }
    found
}

/// Changes what stands under names that begin with `prefix`, as it came in through `entry`: all steps or none. `decide` sees what stands there as it is when
/// it is changed; without steps nothing is recorded, and no memory is made.
///
/// # Errors
/// `Invalid` for a name or text that cannot be kept; `NotFound` for a move of what is not there; `Refused` if something that came
/// in with another key is to be moved or taken away; as for every append.
pub fn arrange(
    engine: &Engine,
    user: &UserId,
    prefix: &str,
    entry: &EntryPoint,
    decide: &mut dyn FnMut(&AgentFiles) -> Result<Vec<FileChange>>,
) -> Result<Vec<Receipt>> {
    let reference = entry.reference();
    let foreign = foreign(engine, user, prefix, entry)?;
    let mut drafted = |state: &State| -> Result<Vec<Draft>> {
        let shelf = standing(&state.memory, prefix);
        let steps = decide(&shelf)?;
        let foreign = taken(&steps).find(|name| shelf.get(*name).is_some_and(|kept| foreign.contains(&kept.event_seq)));
        if let Some(name) = foreign {
            return Err(Error::Refused(format!(
                "{name:?} was kept with another key; only a caller with that key takes it away"
            )));
        }
        drafts(engine, state, &shelf, steps, &reference)
    };
    let mut open = engine.open(user)?;
    if open.is_absent() {
        // Tried on an empty memory first: what comes to nothing makes none.
        let empty = drafted(&State::empty(engine, user))?;
        let Some(first) = empty.into_iter().next() else { return Ok(Vec::new()) };
        open = commit::open_or_create(engine, user.into(), &mut |_| Ok(first.clone()))?;
    }
    let mut receipts = commit::commit(engine, &open, None, &mut drafted)?;
    if let Some(last) = receipts.last_mut() {
        last.lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
    }
    Ok(receipts)
}

/// The names whose texts some steps move or take away.
fn taken(steps: &[FileChange]) -> impl Iterator<Item = &String> {
    steps.iter().filter_map(|step| match step {
        FileChange::Move { from, .. } => Some(from),
        FileChange::Take(name) => Some(name),
        FileChange::Put { .. } => None,
    })
}

/// The events that put what stands there now and came with another key. What was put before keys were noted is nobody's.
fn foreign(engine: &Engine, user: &UserId, prefix: &str, entry: &EntryPoint) -> Result<BTreeSet<Seq>> {
    let open = engine.open(user)?;
    let mut found = BTreeSet::new();
    let events: BTreeSet<Seq> = standing(&open.read().memory, prefix).values().map(|kept| kept.event_seq).collect();
    for seq in events {
        let header = fold::event_at(open.writer()?.ledger.as_mut(), seq)?.header;
        let reference = header.origin.reference.filter(|reference| entry_point::is(reference));
        if reference.is_some_and(|reference| !entry.admits(Some(&reference))) {
            found.insert(seq);
        }
    }
    Ok(found)
}

/// What is put away is an event of its own: erasing the new version does not bring the old one back.
fn drafts(
    engine: &Engine,
    state: &State,
    shelf: &AgentFiles,
    steps: Vec<FileChange>,
    reference: &str,
) -> Result<Vec<Draft>> {
    let mut gone: BTreeSet<ItemId> = BTreeSet::new();
    let mut made: BTreeMap<String, Source> = BTreeMap::new();
    for step in steps {
        match step {
            FileChange::Put { name, text, topic } => {
                let old = shelf.get(&name);
                gone.extend(old.map(|old| old.id));
                let since = old.and_then(|old| old.created_at);
                made.insert(name.clone(), source(engine, name, &text, topic, since)?);
            }
            FileChange::Move { from, to, topic } => {
                let missing = || Error::NotFound(format!("nothing stands under {from:?}"));
                let old = shelf.get(&from).ok_or_else(missing)?;
                gone.extend([old.id].into_iter().chain(shelf.get(&to).map(|there| there.id)));
                made.insert(to.clone(), source(engine, to, &old.text, topic, old.created_at)?);
            }
            FileChange::Take(name) => gone.extend(shelf.get(&name).map(|old| old.id)),
        }
    }
    let draft = |changes| Draft {
        origin: Origin { reference: Some(reference.to_owned()), ..Origin::of(SourceKind::AssistantSaid) },
        ..Draft::new(Actor::Agent, SourceKind::AssistantSaid, changes)
    };
    let away =
        if gone.is_empty() { Vec::new() } else { engine.desk(&state.memory).put_away(&gone, "replaced or taken away") };
    let put: Vec<Change> = made.into_values().map(Change::SourceRecorded).collect();
    let all = reword::parts(away).into_iter().chain([put]).filter(|changes| !changes.is_empty());
    Ok(all.map(draft).collect())
}

fn source(
    engine: &Engine,
    name: String,
    text: &str,
    topic: Option<String>,
    first: Option<Timestamp>,
) -> Result<Source> {
    let mut artifacts = Vec::new();
    let is_blank = text.trim().is_empty();
    if is_blank {
        artifacts.push(Artifact { kind: BLANK.to_owned(), name: None, text: text.to_owned() });
    }
    artifacts.extend(first.map(since));
    let mut source = Source {
        id: engine.new_item_id(ItemKind::Entry),
        session: None,
        topic: topic.map(Into::into),
        role: Role::Assistant,
        author: None,
        said_at: Some(engine.now()),
        text: if is_blank { "".into() } else { text.into() },
        artifacts,
        native_id: Some(name.into()),
    };
    remember::redact(&mut source);
    source.check()?;
    Ok(source)
}
