//! Hand words: the words of an edit become a source of their own, so that recall finds what a person entered as it finds what
//! was said.

use std::collections::BTreeMap;

use quipu_core::Memory;
use quipu_core::event::{Change, SourceKind};
use quipu_core::id::{ItemId, ItemKind};
use quipu_core::item::{DerivedChange, Evidence};
use quipu_core::memory::HeldSource;
use quipu_core::source::{Artifact, Role, Source};

use crate::engine::Engine;
use crate::error::Result;
use crate::process::understand::WRITTEN;
use crate::write::remember;

/// Kind of the artifact that names the item whose place an edit took.
const INSTEAD_OF: &str = "instead_of";

/// Gives what an edit makes a source with the words of it, in the same event: a fact that was entered by hand and names no
/// evidence, and a task or a note in the place of `item`. Changes that make no such item stay as they are. The words of an edit
/// before this one are put away: they say nothing that holds.
///
/// The source is ready-made: nothing is read out of it again, and it is no memory beside the item.
///
/// # Errors
/// `Invalid` for words that are too long.
pub(crate) fn with_words(engine: &Engine, memory: &Memory, item: ItemId, changes: Vec<Change>) -> Result<Vec<Change>> {
    let takes_place =
        |change: &Change| matches!(change, Change::Drawn(DerivedChange::ItemsMerged { from, .. }) if *from == [item]);
    let in_place = changes.iter().any(takes_place);
    let makes = |change: &Change| matches!(change, Change::Drawn(drawn) if drawn.makes().is_some());
    let mut all: Vec<Change> = Vec::new();
    if changes.iter().any(makes) {
        all.extend(put_away(memory, item, "said in other words"));
    }
    for change in changes {
        match change {
            Change::Drawn(mut drawn) => {
                all.extend(words_of(engine, item, in_place, &mut drawn)?.map(Change::SourceRecorded));
                all.push(Change::Drawn(drawn));
            }
            other => all.push(other),
        }
    }
    Ok(all)
}

fn words_of(engine: &Engine, item: ItemId, in_place: bool, drawn: &mut DerivedChange) -> Result<Option<Source>> {
    let (text, evidence) = match drawn {
        DerivedChange::FactAsserted { fact, .. }
            if fact.source == SourceKind::UserEdited && fact.evidence.is_empty() =>
        {
            (&mut fact.text, &mut fact.evidence)
        }
        DerivedChange::TaskOpened(task) if in_place => (&mut task.title, &mut task.evidence),
        DerivedChange::NoteRecorded(note) if in_place => (&mut note.text, &mut note.evidence),
        _ => return Ok(None),
    };
    let mut source = Source {
        id: engine.new_item_id(ItemKind::Entry),
        session: None,
        topic: None,
        role: Role::User,
        author: None,
        said_at: Some(engine.now()),
        text: text.as_str().into(),
        artifacts: vec![Artifact { kind: INSTEAD_OF.to_owned(), name: Some(item.to_string()), text: String::new() }],
        native_id: Some(WRITTEN.into()),
    };
    remember::redact(&mut source);
    source.check()?;
    let end = u32::try_from(source.text.len()).unwrap_or(u32::MAX);
    evidence.insert(0, Evidence { source: source.id, start: 0, end });
    Ok(Some(source))
}

/// The item whose place the words of an edit took with them; nothing for other words.
pub(crate) fn instead_of(source: &Source) -> Option<ItemId> {
    let written = source.native_id.as_deref() == Some(WRITTEN);
    let named = source.artifacts.iter().find(|one| written && one.kind == INSTEAD_OF)?;
    named.name.as_deref()?.parse().ok()
}

/// The change that puts the words of an edit away, if an item was made by one: nothing else rests on them.
pub(crate) fn put_away(memory: &Memory, item: ItemId, reason: &str) -> Option<Change> {
    let items = memory.items();
    let first = items.fact(item).and_then(|fact| fact.evidence.first());
    let first = first.or_else(|| items.task(item).and_then(|task| task.evidence.first()));
    let first = first.or_else(|| items.note(item).and_then(|note| note.evidence.first()))?;
    let held = memory.get(first.source).filter(|held| is_edit(held) && !items.is_hidden(held.source.id))?;
    let (item, reason) = (held.source.id, reason.to_owned());
    Some(Change::Drawn(DerivedChange::ItemRetracted { item, reason }))
}

fn is_edit(held: &HeldSource) -> bool {
    held.from == SourceKind::UserEdited && instead_of(&held.source).is_some()
}

/// What edits made: by the item whose place it took, the words of the edit, and the item made of them.
pub(crate) fn edits(memory: &Memory) -> Vec<(ItemId, ItemId, ItemId)> {
    let words: BTreeMap<ItemId, ItemId> = memory
        .sources()
        .iter()
        .filter(|held| is_edit(held))
        .filter_map(|held| Some((held.source.id, instead_of(&held.source)?)))
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    let items = memory.items();
    let facts = items.facts().map(|fact| (fact.id, fact.evidence.as_slice()));
    let tasks = items.tasks().map(|task| (task.id, task.evidence.as_slice()));
    let notes = items.notes().map(|note| (note.id, note.evidence.as_slice()));
    let made = facts.chain(tasks).chain(notes).filter_map(|(id, evidence)| {
        // The first: what is said of it later on is no edit.
        let at = evidence.first()?.source;
        Some((*words.get(&at)?, at, id))
    });
    made.collect()
}
