//! Lists the versions of an item across rewordings, corrections and merges.

use std::collections::BTreeMap;

use jiff::Timestamp;
use quipu_core::event::{Change, SourceKind};
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::item::{DerivedChange, Fact, FactStatus};
use quipu_core::{ledger, limit};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::memory::OpenMemory;
use crate::write::reword::{self, whole_id};

/// One version of an item.
#[derive(Debug, Clone, Serialize)]
pub struct Version {
    /// The event.
    pub event_id: String,
    /// Time of the event.
    pub at: Timestamp,
    /// Text before the event.
    pub old: Option<String>,
    /// Text after it; `None` if the item was retracted or reverted.
    pub new: Option<String>,
}

/// Lists every version of an item, oldest first, including items that no longer count.
///
/// # Errors
/// `NotFound` if the item never existed or was erased.
pub fn versions_of(engine: &Engine, user: &UserId, name: &str) -> Result<Vec<Version>> {
    let open = engine.open(user)?;
    let asked = whole_id(name)?;
    let made = everything_made(&open)?;
    let state = open.read();
    let items = state.memory.items();
    let told = |id: ItemId| -> Vec<ItemId> {
        let fact = items.fact(id).filter(|fact| fact.status == FactStatus::Corrected);
        let drawn = fact.and_then(|fact| fact.superseded_by).or_else(|| items.merged_into(id));
        made.instead.get(&id).cloned().unwrap_or_else(|| drawn.into_iter().collect())
    };
    let older = |id: &ItemId| {
        let words = made.instead.iter().find(|(_, all)| all.contains(id)).map(|(old, _)| *old);
        words.or_else(|| made.renamed.get(id).copied()).or_else(|| {
            items
                .facts()
                .find(|fact| fact.superseded_by == Some(*id) && fact.status == FactStatus::Corrected)
                .map(|fact| fact.id)
        })
    };
    let mut last = std::iter::successors(Some(asked), older).take(limit::MERGES_FOLLOWED_MAX).last().unwrap_or(asked);
    let mut chain = vec![last];
    while chain.len() < limit::MERGES_FOLLOWED_MAX
        && let Some(newest) = told(last).last().copied()
    {
        chain.extend(told(last));
        last = newest;
    }
    let mut versions: Vec<Version> = Vec::new();
    for one in chain.iter().filter_map(|id| made.items.get(id)) {
        let old = versions.last().and_then(|last| last.new.clone());
        versions.push(Version { event_id: one.event_id.clone(), at: one.at, old, new: Some(one.text.clone()) });
    }
    let counts = state.memory.has(last) && !items.is_hidden(last) && items.fact(last).is_none_or(Fact::is_active);
    if let Some((event_id, at)) = made.gone(last).filter(|_| !counts) {
        let old = versions.last().and_then(|last| last.new.clone());
        versions.push(Version { event_id, at, old, new: None });
    }
    if versions.is_empty() { Err(Error::NotFound(format!("there is no item {name:?}"))) } else { Ok(versions) }
}

struct Made {
    event_id: String,
    at: Timestamp,
    text: String,
    seq: Seq,
}

/// Everything a ledger made and retracted, whether it counts or not.
#[derive(Default)]
struct LedgerItems {
    items: BTreeMap<ItemId, Made>,
    /// Replacing words of an edit by the item they replace, oldest first.
    instead: BTreeMap<ItemId, Vec<ItemId>>,
    /// Items made in place of another: new id to old id.
    renamed: BTreeMap<ItemId, ItemId>,
    taken: BTreeMap<ItemId, (String, Timestamp)>,
    reverted: BTreeMap<Seq, (String, Timestamp)>,
    rests: BTreeMap<ItemId, Vec<ItemId>>,
}

impl LedgerItems {
    /// The event that retracted or reverted an item or a source it rests on.
    fn gone(&self, id: ItemId) -> Option<(String, Timestamp)> {
        let of = |id: &ItemId| {
            let reverted = self.items.get(id).and_then(|made| self.reverted.get(&made.seq));
            reverted.or_else(|| self.taken.get(id)).cloned()
        };
        of(&id).or_else(|| self.rests.get(&id).into_iter().flatten().find_map(of))
    }
}

fn everything_made(open: &OpenMemory) -> Result<LedgerItems> {
    let mut all = LedgerItems::default();
    let head = open.read().memory.seq();
    open.writer()?.ledger.read(1..=head, &mut |sealed| {
        let Ok(event) = ledger::open(&sealed) else { return true };
        let (seq, event_id, at) = (event.header.seq, event.header.id.to_string(), event.header.recorded_at);
        for taken in reword::taken_by(&event.changes) {
            all.taken.insert(taken, (event_id.clone(), at));
        }
        all.renamed.extend(renamed(&event.changes));
        for change in event.changes.iter().flatten() {
            let made = match change {
                Change::Reverted { events } => {
                    events.iter().for_each(|seq| drop(all.reverted.insert(*seq, (event_id.clone(), at))));
                    None
                }
                Change::SourceRecorded(source) => {
                    if event.header.origin.kind == SourceKind::UserEdited
                        && let Some(old) = source.native_id.as_deref().and_then(|id| id.parse().ok())
                    {
                        all.instead.entry(old).or_default().push(source.id);
                    }
                    Some((source.id, source.text.to_string(), Vec::new()))
                }
                Change::Drawn(drawn) => {
                    let rests = drawn.places().iter().map(|place| place.source).collect();
                    drawn.makes().zip(said(drawn)).map(|(id, text)| (id, text, rests))
                }
                _ => None,
            };
            if let Some((id, text, rests)) = made {
                all.items.insert(id, Made { event_id: event_id.clone(), at, text, seq });
                all.rests.insert(id, rests);
            }
        }
        true
    })?;
    Ok(all)
}

/// The item an event makes in place of another, if any: the new item, and the old one merged into it.
fn renamed(changes: &[Option<Change>]) -> Option<(ItemId, ItemId)> {
    let drawn = || {
        changes.iter().flatten().filter_map(|change| match change {
            Change::Drawn(drawn) => Some(drawn),
            _ => None,
        })
    };
    drawn().find_map(|one| match one {
        DerivedChange::ItemsMerged { from, into } if drawn().any(|made| made.makes() == Some(*into)) => {
            Some((*into, *from.first()?))
        }
        _ => None,
    })
}

/// The text of the item a change makes.
fn said(drawn: &DerivedChange) -> Option<String> {
    match drawn {
        DerivedChange::FactAsserted { fact, .. } => Some(fact.text.clone()),
        DerivedChange::TaskOpened(task) => Some(task.title.clone()),
        DerivedChange::NoteRecorded(note) => Some(note.text.clone()),
        DerivedChange::TenetRecorded(tenet) => Some(tenet.text.clone()),
        _ => None,
    }
}
