//! Single items: get, list, why, mark.

use std::collections::BTreeSet;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, Event, ItemMark, SourceKind};
use quipu_core::id::{ItemId, ItemKind, Seq, UserId};
use quipu_core::item::{Evidence, Hits};
use quipu_core::memory::{HeldSource, Marks};
use quipu_core::source::{Artifact, Role};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::log::{self, LogEntry};
use crate::history::versions::{self, When};
use crate::memory::MemoryRef;
use crate::memory::checkpoint;
use crate::memory::fold;
use crate::memory::{Receipt, commit};

/// An item for display.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SourceItem"))]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// Its kind.
    pub kind: ItemKind,
    /// The session.
    pub session_id: Option<String>,
    /// Its topic.
    pub topic: Option<String>,
    /// Role of the author.
    pub role: Role,
    /// Name of the author.
    pub author: Option<String>,
    /// Time of the message.
    pub said_at: Option<Timestamp>,
    /// The text.
    pub text: String,
    /// Artifacts of the source.
    pub artifacts: Vec<Artifact>,
    /// Its id in the imported data.
    pub native_id: Option<String>,
    /// Hash over content, author and time of a source; over the text of a derived item.
    #[cfg_attr(feature = "schema", schemars(with = "quipu_core::schema::HexHash"))]
    pub content_hash: String,
    /// Status of a derived item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// Pin and rating.
    pub marks: Marks,
    /// How often and when it was shown, as far as recorded.
    #[serde(flatten)]
    pub hits: Hits,
    /// The event that recorded it.
    pub event_seq: Seq,
}

impl Item {
    pub(crate) fn of(memory: &Memory, held: &HeldSource) -> Self {
        let source = &held.source;
        let text = |name: &Option<std::sync::Arc<str>>| name.as_deref().map(str::to_owned);
        Self {
            id: source.id,
            kind: source.kind(),
            session_id: text(&source.session),
            topic: text(&source.topic),
            role: source.role,
            author: text(&source.author),
            said_at: source.said_at,
            text: source.text.to_string(),
            artifacts: source.artifacts.clone(),
            native_id: source.native_id.as_deref().map(str::to_owned),
            content_hash: source.content_hash().to_hex().to_string(),
            standing: None,
            marks: memory.marks(source.id),
            hits: memory.items().hits(source.id),
            event_seq: held.seq,
        }
    }

    /// Builds an item of any kind. A derived item takes author, time and session from its first source.
    fn of_any(memory: &Memory, id: ItemId) -> Result<Self> {
        if let Some(held) = memory.get(id) {
            return Ok(Self::of(memory, held));
        }
        let items = memory.items();
        let missing = || Error::NotFound(format!("there is no item {id} in version {}", memory.seq()));
        let (text, event_seq) = items.text(id).zip(items.made_by(id)).ok_or_else(missing)?;
        let first = evidence(memory, id).into_iter().next().map(|held| Self::of(memory, held));
        let (session_id, role, author, said_at) = match first {
            Some(first) => (first.session_id, first.role, first.author, first.said_at),
            None => (None, Role::User, None, items.fact(id).and_then(|fact| fact.first_seen)),
        };
        Ok(Self {
            id,
            kind: id.kind,
            session_id,
            topic: items.fact(id).and_then(|fact| fact.topic.clone()),
            role,
            author,
            said_at,
            text: text.to_owned(),
            artifacts: Vec::new(),
            native_id: None,
            content_hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
            standing: Some(items.standing(id)),
            marks: memory.marks(id),
            hits: items.hits(id),
            event_seq,
        })
    }
}

/// The distinct sources of a derived item, in order; empty for a source.
fn evidence(memory: &Memory, id: ItemId) -> Vec<&HeldSource> {
    let items = memory.items();
    let places = |evidence: &[Evidence]| evidence.iter().map(|at| at.source).collect::<Vec<_>>();
    let sources = match id.kind {
        ItemKind::Fact => items.fact(id).map(|fact| places(&fact.evidence)),
        ItemKind::Task => items.task(id).map(|task| places(&task.evidence)),
        ItemKind::Note => items.note(id).map(|note| places(&note.evidence)),
        ItemKind::Episode => items.episode(id).map(|episode| episode.sources.clone()),
        ItemKind::Tenet => items.tenet(id).map(|tenet| tenet.evidence.clone()),
        _ => None,
    };
    let mut seen = BTreeSet::new();
    let each = sources.into_iter().flatten().filter(|source| seen.insert(*source));
    each.filter_map(|source| memory.get(source)).collect()
}

/// Finds a source by id, by unique prefix of the id, or by native id.
fn find<'a>(memory: &'a Memory, name: &str) -> Result<&'a HeldSource> {
    if let Ok(id) = name.parse::<ItemId>()
        && let Some(held) = memory.get(id)
    {
        return Ok(held);
    }
    let fits = |held: &&HeldSource| {
        (held.source.native_id.as_deref() == Some(name) && !memory.items().is_hidden(held.source.id))
            || (name.len() > 5 && held.source.id.to_string().starts_with(name))
    };
    let mut found = memory.sources().iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(held), None) => Ok(held),
        (None, _) => Err(Error::NotFound(format!("there is no item {name:?} in version {}", memory.seq()))),
        (Some(one), Some(other)) => Err(Error::Invalid(format!(
            "{name:?} fits several items, {} and {} among them; give the whole id",
            one.source.id, other.source.id
        ))),
    }
}

/// Finds the id of an item of any kind by id, unique prefix or native id.
pub(crate) fn find_id(memory: &Memory, name: &str) -> Result<ItemId> {
    if let Ok(id) = name.parse::<ItemId>()
        && memory.has(id)
    {
        return Ok(id);
    }
    let mut drawn = memory.items().ids().filter(|id| name.len() > 5 && id.to_string().starts_with(name));
    match (drawn.next(), drawn.next()) {
        (Some(id), None) => Ok(id),
        (Some(one), Some(other)) => {
            Err(Error::Invalid(format!("{name:?} fits several items, {one} and {other} among them; give the whole id")))
        }
        (None, _) => find(memory, name).map(|held| held.source.id),
    }
}

/// Returns an item of any kind, by id, unique prefix or native id.
///
/// # Errors
/// `NotFound` if nothing matches; `Invalid` if several items do.
pub fn get(engine: &Engine, user: &UserId, name: &str, at: When) -> Result<Item> {
    let open = engine.open(user)?;
    if at == When::Now {
        let state = open.read();
        return Item::of_any(&state.memory, find_id(&state.memory, name)?);
    }
    let memory = versions::memory_at(&open, at)?;
    Item::of_any(&memory, find_id(&memory, name)?)
}

/// The text of an item of any kind; `None` if it does not count.
///
/// # Errors
/// `NotFound` if there is no such user; otherwise as for opening a memory.
pub fn words(engine: &Engine, user: &UserId, id: ItemId) -> Result<Option<String>> {
    let open = engine.open(user)?;
    let state = open.read();
    let items = state.memory.items();
    let said = state.memory.get(id).map(|held| held.source.text.to_string());
    Ok(said.or_else(|| items.text(id).filter(|_| !items.is_hidden(id)).map(str::to_owned)))
}

/// Filter and paging of [`list`].
#[derive(Debug, Clone)]
pub struct ListOptions {
    /// The version to read.
    pub at: When,
    /// Only items of this session.
    pub session: Option<String>,
    /// Only items of this kind.
    pub kind: Option<ItemKind>,
    /// Number of items to skip.
    pub offset: usize,
    /// Most items to return.
    pub limit: usize,
}

/// A page of items.
#[derive(Debug, Clone, Serialize)]
pub struct ItemPage {
    /// Total number of matching items.
    pub total: usize,
    /// The items of this page.
    pub items: Vec<Item>,
}

/// Lists items in the order of recording.
///
/// # Errors
/// `NotFound` if there is no such user or version.
pub fn list(engine: &Engine, user: &UserId, options: &ListOptions) -> Result<ItemPage> {
    let open = engine.open(user)?;
    if options.at == When::Now {
        return Ok(page(&open.read().memory, options));
    }
    Ok(page(&versions::memory_at(&open, options.at)?, options))
}

fn page(memory: &Memory, options: &ListOptions) -> ItemPage {
    let wanted = |held: &&HeldSource| {
        let source = &held.source;
        !memory.items().is_hidden(source.id)
            && options.kind.map_or(source.is_item(), |kind| source.kind() == kind)
            && options.session.as_ref().is_none_or(|session| source.session.as_deref() == Some(session))
    };
    let total = memory.sources().iter().filter(wanted).count();
    let shown = memory.sources().iter().filter(wanted).skip(options.offset).take(options.limit);
    ItemPage { total, items: shown.map(|held| Item::of(memory, held)).collect() }
}

/// Provenance of an item.
#[derive(Debug, Clone, Serialize)]
pub struct ItemReceipts {
    /// The item.
    pub item: Item,
    /// The event that recorded it.
    pub event: LogEntry,
    /// Index of the change in the event.
    pub change: u32,
    /// Salted digest of the change.
    pub digest: String,
    /// True if the stored bytes match the digest, and the event its hash.
    pub intact: bool,
    /// The sources of a derived item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Item>,
    /// The source before it in the session.
    pub before: Option<Item>,
    /// The source after it in the session.
    pub after: Option<Item>,
    /// Later events that concern it.
    pub later: Vec<LogEntry>,
}

/// Returns the provenance of an item: its event, evidence, neighbours and later events.
///
/// # Errors
/// As [`get`].
pub fn why(engine: &Engine, user: &UserId, name: &str) -> Result<ItemReceipts> {
    let open = engine.open(user)?;
    let mut writer = open.writer()?;
    let state = open.read();
    let id = find_id(&state.memory, name)?;
    let item = Item::of_any(&state.memory, id)?;
    let sealed = fold::sealed_at(writer.ledger.as_mut(), item.event_seq)?;
    let event = quipu_core::ledger::open(&sealed)?;
    let change = change_of(&event, id).unwrap_or_default();
    let digest = event.header.digests.get(change as usize).map(|digest| digest.to_hex().to_string());
    let mut later = Vec::new();
    writer.ledger.read(item.event_seq + 1..=state.memory.seq(), &mut |sealed| {
        if let Ok(event) = quipu_core::ledger::open(&sealed)
            && event.changes.iter().flatten().any(|change| change.is_about(id))
        {
            later.push(log::entry(&state, &event));
        }
        true
    })?;
    Ok(ItemReceipts {
        event: log::entry(&state, &event),
        change,
        digest: digest.unwrap_or_default(),
        intact: quipu_core::ledger::is_intact(&sealed),
        evidence: evidence(&state.memory, id).into_iter().map(|held| Item::of(&state.memory, held)).collect(),
        before: neighbour(&state.memory, id, -1),
        after: neighbour(&state.memory, id, 1),
        later,
        item,
    })
}

/// Index of the change that recorded or made an item.
fn change_of(event: &Event, id: ItemId) -> Option<u32> {
    let makes = |change: &Option<Change>| match change {
        Some(Change::SourceRecorded(source)) => source.id == id,
        Some(Change::Drawn(drawn)) => drawn.makes() == Some(id),
        _ => false,
    };
    event.changes.iter().position(makes).and_then(|index| u32::try_from(index).ok())
}

/// The source at an offset from another in its session.
fn neighbour(memory: &Memory, id: ItemId, offset: isize) -> Option<Item> {
    let session = memory.session(memory.get(id)?.source.session.as_deref()?)?;
    let own = memory.find(id)?;
    let place = session.sources.iter().position(|&ordinal| ordinal == own)?;
    let ordinal = *session.sources.get(place.checked_add_signed(offset)?)?;
    Some(Item::of(memory, memory.sources().get(ordinal as usize)?))
}

/// Pins, unpins or rates an item. A rating is from −2 to 2.
///
/// # Errors
/// `Invalid` for another rating; `NotFound` if there is no such item.
pub fn mark<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    name: &str,
    pinned: Option<bool>,
    rating: Option<i8>,
) -> Result<Receipt> {
    let memory = memory.into();
    if rating.is_some_and(|stars| !(-2..=2).contains(&stars)) {
        return Err(Error::Invalid("a rating goes from -2 to 2".to_owned()));
    }
    let open = engine.open(memory)?;
    let mut receipt = commit::commit_one(engine, &open, None, &mut |state| {
        let item = find_id(&state.memory, name)?;
        let change = Change::ItemMarked(ItemMark { item, pinned, rating });
        Ok(Draft::new(Actor::User, SourceKind::UserEdited, vec![change]))
    })?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(receipt)
}
