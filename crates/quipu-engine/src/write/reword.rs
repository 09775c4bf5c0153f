//! Reword: a person says in other words what an item says. The old words stay in the history.

use std::collections::BTreeSet;

use quipu_core::event::{Actor, Change, Draft, Origin, SourceKind};
use quipu_core::id::{ItemId, ItemKind, Seq};
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
use crate::memory::checkpoint;
use crate::memory::{OpenMemory, State, fold};
use crate::process::understand::{self, Cause};
use crate::process::unread;
use crate::read::items;
use crate::write::agent_files::{first_said, since};
use crate::write::entry_point;
use crate::write::hand_words;
use crate::write::remember;

const WHY: &str = "reworded by hand";

/// Says in other words what an item says. Returns once it is durable.
///
/// A statement with another value in it is entered as such. Other words in the place of a statement, and words in the place
/// of words, are recorded as said by the user and read; their `native_id` names what they are instead of, the first of it, and
/// what was there counts no longer. Reverting the events of the receipts brings it back.
///
/// # Errors
/// `NotFound` without such an item; `Invalid` for a text that is empty, too long, or says what the item says; `Refused` for
/// an item that does not count, or that Quipu tells itself.
pub fn reword<'a>(engine: &Engine, memory: impl Into<MemoryRef<'a>>, name: &str, text: &str) -> Result<Vec<Receipt>> {
    let memory = memory.into();
    let open = engine.open(memory)?;
    let item = items::find_id(&open.read().memory, name)?;
    // Words that came alone are taken back with all that came of them, so that everything is told again without them.
    let alone = own_event(&open, item)?;
    // The new words came in where the old ones did.
    let reference = entry_point::reference_of(&open, item)?;
    let running = unread::begin(engine, &open)?;
    let mut said = None;
    let mut receipts = revert::take_back(engine, &open, alone.as_slice(), Some(WHY), &mut |state| {
        let (drafts, words) = decide(engine, state, (item, text), alone.is_some(), reference.as_deref())?;
        said = words;
        Ok(drafts)
    })?;
    let event = said.and_then(|id| receipts.iter_mut().find(|receipt| receipt.items.contains(&id)).map(|it| (id, it)));
    let mut traceless = false;
    if let Some((source, receipt)) = event {
        let cause = Cause { event: Some(receipt.event_id), reference: None };
        receipt.understood = understand::understand(engine, &open, source, &cause)?;
        traceless = receipt.understood.is_empty();
    }
    running.finish(traceless)?;
    let lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
    if let Some(last) = receipts.last_mut() {
        last.lag = lag;
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
            // What makes way is an event of its own: erasing the new words does not bring the old ones back.
            let way = if is_reverted { Vec::new() } else { parts(changes) };
            let all = way.into_iter().chain([vec![Change::SourceRecorded(source)]]);
            Ok((all.map(draft).collect(), Some(id)))
        }
    }
}

/// What is decided, and the patch that follows from it as an event of its own: the decision stands where some day the patch no
/// longer applies.
pub(crate) fn parts(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let (patches, decided): (Vec<Change>, Vec<Change>) = changes.into_iter().partition(|change| change.is_of_core());
    [decided, patches].into_iter().filter(|changes| !changes.is_empty()).collect()
}

/// The new words: the user's own, about what the old ones were about, in the same conversation.
fn words(engine: &Engine, state: &State, item: ItemId, text: &str) -> Result<Source> {
    let old = state.memory.get(item).map(|held| &held.source);
    let mut artifacts = old.map(|old| old.artifacts.clone()).unwrap_or_default();
    // The words that first said it may be taken back, and then they tell nothing.
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

/// What new words are instead of: where there are such words already, what those are instead of.
fn instead_of(state: &State, item: ItemId) -> ItemId {
    state.memory.get(item).and_then(HeldSource::instead_of).unwrap_or(item)
}

/// The event that recorded some words and nothing else.
pub(crate) fn own_event(open: &OpenMemory, item: ItemId) -> Result<Option<Seq>> {
    let seq = match open.read().memory.get(item) {
        Some(held) => held.seq,
        None => return Ok(None),
    };
    let event = fold::event_at(open.writer()?.ledger.as_mut(), seq)?;
    let alone = event.changes.len() == 1 && matches!(event.changes.first(), Some(Some(Change::SourceRecorded(_))));
    Ok(alone.then_some(seq))
}

/// Items that an event takes back.
pub(crate) fn taken_by(changes: &[Option<Change>]) -> BTreeSet<ItemId> {
    let taken = |change: &Change| match change {
        Change::Drawn(DerivedChange::ItemRetracted { item, .. }) => Some(*item),
        _ => None,
    };
    changes.iter().flatten().filter_map(taken).collect()
}

/// The item that a name is the whole id of.
///
/// # Errors
/// `NotFound` for anything else.
pub(crate) fn whole_id(name: &str) -> Result<ItemId> {
    name.parse().map_err(|_| Error::NotFound(format!("there is no item {name:?}")))
}
