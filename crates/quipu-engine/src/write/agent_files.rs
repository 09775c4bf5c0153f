//! Texts that an agent stores under names of its own. They can be created, replaced and removed; every version stays in
//! the history, and recall finds the newest as said by an agent.

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
use crate::memory::entry_point::{self, EntryPoint};
use crate::memory::{Receipt, commit};
use crate::memory::{State, fold};
use crate::write::remember;
use crate::write::reword;

/// Kind of the artifact that contains the time of the first version of a text.
const SINCE: &str = "since";
/// Kind of the artifact that contains a text of only white space.
const BLANK: &str = "blank";

/// A stored text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentFile {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
    /// The item that contains this version.
    pub id: ItemId,
    /// Its topic.
    pub topic: Option<String>,
    /// Time of the first version under this name.
    pub created_at: Option<Timestamp>,
    /// Time of this version.
    pub updated_at: Option<Timestamp>,
    /// The event that recorded it.
    pub event_seq: Seq,
}

/// Stored texts by name.
pub type AgentFiles = BTreeMap<String, AgentFile>;

/// A step of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// Stores a text under a name, replacing any existing one.
    Put {
        /// The name.
        name: String,
        /// The text.
        text: String,
        /// The topic.
        topic: Option<String>,
    },
    /// Renames a text.
    Move {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
        /// The new topic.
        topic: Option<String>,
    },
    /// Removes the text with this name.
    Take(String),
}

/// Lists the texts whose names begin with `prefix`; empty if there is no such user.
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

/// Returns true for versions of stored texts.
pub(crate) fn is_shelved(from: SourceKind, source: &Source) -> bool {
    source.kind() == ItemKind::Entry
        && source.role == Role::Assistant
        && from == SourceKind::AssistantSaid
        && source.native_id.is_some()
}

/// Time of the first version of a source that replaced others.
pub(crate) fn first_said(source: &Source) -> Option<Timestamp> {
    let since =
        source.artifacts.iter().find(|one| one.kind == SINCE).and_then(|since| since.name.as_deref()?.parse().ok());
    since.or(source.said_at)
}

/// The artifact for a source that replaces others: the time of the first version.
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

/// Changes texts whose names begin with `prefix`, recorded as received through `entry`: all steps or none. `decide`
/// receives the texts as they are when they are changed; without steps nothing is recorded, and no memory is created.
///
/// # Errors
/// `Invalid` for an invalid name or text; `NotFound` if a text to move does not exist; `Refused` if a text to move or
/// remove was stored with another key; otherwise as for every append.
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
                "{name:?} was stored with another key; only a caller with that key may remove it"
            )));
        }
        drafts(engine, state, &shelf, steps, &reference)
    };
    let mut open = engine.open(user)?;
    if open.is_absent() {
        // First decided on an empty memory, so that no steps create no memory.
        let empty = drafted(&State::empty(engine, user))?;
        let Some(first) = empty.into_iter().next() else { return Ok(Vec::new()) };
        open = commit::open_or_create(engine, user.into(), &mut |_| Ok(first.clone()))?;
    }
    let mut receipts = commit::commit(engine, &open, None, &mut drafted)?;
    if let Some(last) = receipts.last_mut() {
        last.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    }
    Ok(receipts)
}

/// The names of texts that are moved or removed.
fn taken(steps: &[FileChange]) -> impl Iterator<Item = &String> {
    steps.iter().filter_map(|step| match step {
        FileChange::Move { from, .. } => Some(from),
        FileChange::Take(name) => Some(name),
        FileChange::Put { .. } => None,
    })
}

/// The events of current texts that were stored with another key. Texts from before keys were recorded belong to no
/// key.
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

/// Retractions are a separate event, so that erasing the new version does not restore the old one.
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
                let missing = || Error::NotFound(format!("there is no text named {from:?}"));
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
