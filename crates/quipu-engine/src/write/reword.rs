//! Rewords an item by hand. The old text stays in the history.

use std::collections::BTreeSet;

use quipu_core::event::{Actor, Change, Draft, ItemMark, Origin, SourceKind};
use quipu_core::id::{ItemId, ItemKind};
use quipu_core::item::DerivedChange;
use quipu_core::limit::ARTIFACTS_MAX;
use quipu_core::memory::HeldSource;
use quipu_core::reconcile::Reworded;
use quipu_core::source::{Role, Source};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::revert;
use crate::memory::MemoryRef;
use crate::memory::Receipt;
use crate::memory::State;
use crate::memory::checkpoint;
use crate::memory::entry_point;
use crate::memory::fold::own_event;
use crate::process::understand::{self, Cause};
use crate::process::unread;
use crate::read::items;
use crate::write::agent_files::{first_said, since};
use crate::write::hand_words;
use crate::write::remember;

const WHY: &str = "reworded by hand";

/// Replaces the text of an item. Returns once it is durable.
///
/// If the new text is a statement with another value, the fact is corrected. Otherwise the text is recorded as said by
/// the user and extracted from; its `native_id` contains the first item it replaces, and the replaced item no longer
/// counts. Reverting the events of the receipts restores it.
///
/// # Errors
/// `NotFound` if there is no such item; `Invalid` for an empty, too long or unchanged text; `Refused` for an item that
/// does not count or that Quipu generates itself.
pub fn reword<'a>(engine: &Engine, memory: impl Into<MemoryRef<'a>>, name: &str, text: &str) -> Result<Vec<Receipt>> {
    let memory = memory.into();
    let open = engine.open(memory)?;
    let item = items::find_id(&open.read().memory, name)?;
    // A source with its own event is reverted with everything derived from it, so that summaries are made again without
    // it.
    let alone = own_event(&open, item)?;
    // The new text is attributed to the entry point of the old one.
    let reference = entry_point::reference_of(&open, item)?;
    let running = unread::begin(engine, &open)?;
    let mut said = None;
    let mut receipts = revert::take_back(engine, &open, alone.as_slice(), Some(WHY), &mut |state| {
        let (drafts, words) = decide(engine, state, (item, text), alone.is_some(), reference.as_deref())?;
        said = words;
        Ok(drafts)
    })?;
    let event = said.and_then(|id| receipts.iter_mut().find(|receipt| receipt.items.contains(&id)).map(|it| (id, it)));
    // The new words are durable; what fails now is repeated later.
    let read = match event {
        Some((source, receipt)) => {
            let cause = Cause { event: Some(receipt.event_id), reference: None };
            understand::understand(engine, &open, source, &cause).and_then(|understood| {
                receipt.understood = understood;
                running.finish(receipt.understood.is_empty())
            })
        }
        None => running.finish(false),
    };
    let unread = read.err().map(|error| format!("it is recorded, but nothing was extracted from it yet: {error}"));
    let lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
    if let Some(last) = receipts.last_mut() {
        last.finish(&open, unread.or(lag));
    }
    Ok(receipts)
}

fn decide(
    engine: &Engine,
    state: &State,
    (item, text): (ItemId, &str),
    is_reverted: bool,
    reference: Option<&str>,
) -> Result<(Vec<Draft>, Option<ItemId>)> {
    let memory = &state.memory;
    let draft = |changes| Draft {
        rationale: Some(WHY.to_owned()),
        origin: Origin { reference: reference.map(str::to_owned), ..Origin::of(SourceKind::UserEdited) },
        ..Draft::new(Actor::User, SourceKind::UserEdited, changes)
    };
    match engine.desk(memory).reword(item, text, &mut |kind| engine.new_item_id(kind))? {
        Reworded::Changed(changes) => {
            let changes = hand_words::with_words(engine, memory, item, changes)?;
            Ok((parts(changes).into_iter().map(draft).collect(), None))
        }
        Reworded::Said(changes) => {
            let source = words(engine, state, item, text)?;
            let id = source.id;
            // Retractions are a separate event, so that erasing the new text does not restore the old one.
            let way = if is_reverted { Vec::new() } else { parts(changes) };
            // The new words are pinned if the old ones were.
            let pin = ItemMark { item: id, pinned: Some(true), rating: None };
            let pin = memory.marks(item).pinned.then_some(Change::ItemMarked(pin));
            let said = std::iter::once(Change::SourceRecorded(source)).chain(pin).collect();
            let all = way.into_iter().chain([said]);
            Ok((all.map(draft).collect(), Some(id)))
        }
    }
}

/// Splits changes into decisions and patches: separate events, so the decision survives a failed patch.
pub(crate) fn parts(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let (patches, decided): (Vec<Change>, Vec<Change>) = changes.into_iter().partition(|change| change.is_of_core());
    [decided, patches].into_iter().filter(|changes| !changes.is_empty()).collect()
}

/// A source with the new text: the user's own, with topic and session of the old one.
fn words(engine: &Engine, state: &State, item: ItemId, text: &str) -> Result<Source> {
    let old = state.memory.get(item).map(|held| &held.source);
    let mut artifacts = old.map(|old| old.artifacts.clone()).unwrap_or_default();
    // The first source may be reverted, so its time is kept here.
    if let Some(old) = old.filter(|old| first_said(old) == old.said_at && artifacts.len() < ARTIFACTS_MAX) {
        artifacts.extend(old.said_at.map(since));
    }
    let mut source = Source {
        id: engine.new_item_id(ItemKind::Entry),
        session: old.and_then(|old| old.session.clone()),
        topic: old.and_then(|old| old.topic.clone()),
        role: Role::User,
        author: old.filter(|old| old.role == Role::User).and_then(|old| old.author.clone()),
        said_at: Some(engine.now()),
        text: text.trim().into(),
        artifacts,
        native_id: Some(instead_of(state, item).to_string().into()),
    };
    remember::redact(&mut source);
    source.check()?;
    Ok(source)
}

/// The first item in a chain of replacements.
fn instead_of(state: &State, item: ItemId) -> ItemId {
    state.memory.get(item).and_then(HeldSource::instead_of).unwrap_or(item)
}

/// Items that changes retract.
pub(crate) fn taken_by(changes: &[Option<Change>]) -> BTreeSet<ItemId> {
    let taken = |change: &Change| match change {
        Change::Drawn(DerivedChange::ItemRetracted { item, .. }) => Some(*item),
        _ => None,
    };
    changes.iter().flatten().filter_map(taken).collect()
}

/// Parses a complete item id.
///
/// # Errors
/// `NotFound` for anything else.
pub(crate) fn whole_id(name: &str) -> Result<ItemId> {
    name.parse().map_err(|_| Error::NotFound(format!("there is no item {name:?}")))
}
