//! Records the text of an edit by hand as a source, so that recall finds it like any other statement.

use std::collections::BTreeMap;

use quipu_core::Memory;
use quipu_core::event::{Change, SourceKind};
use quipu_core::id::{ItemId, ItemKind};
use quipu_core::item::{DerivedChange, Evidence};
use quipu_core::memory::HeldSource;
use quipu_core::source::{Artifact, READY_MADE, Role, Source};

use crate::engine::Engine;
use crate::error::Result;
use crate::write::remember;

/// Kind of the artifact that contains the id of the edited item.
const INSTEAD_OF: &str = "instead_of";

/// Adds a source with the edited text to the items an edit makes, in the same event: to a fact entered by hand without
/// evidence, and to a task or a note that replaces `item`. Other changes stay as they are. The source of an earlier
/// edit of the item is retracted, because it no longer holds.
///
/// The source is marked as ready-made: nothing is extracted from it, and it is no separate memory.
///
/// # Errors
/// `Invalid` if the text is too long.
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
        native_id: Some(READY_MADE.into()),
    };
    remember::redact(&mut source);
    source.check()?;
    let end = u32::try_from(source.text.len()).unwrap_or(u32::MAX);
    evidence.insert(0, Evidence { source: source.id, start: 0, end });
    Ok(Some(source))
}

/// The item replaced by the edit of this source; `None` for other sources.
pub(crate) fn instead_of(source: &Source) -> Option<ItemId> {
    let named = source.artifacts.iter().find(|one| source.is_ready_made() && one.kind == INSTEAD_OF)?;
    named.name.as_deref()?.parse().ok()
}

/// The change that retracts the source of an edit, if the item was made by one; nothing else rests on it.
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

/// All edits: the replaced item, the source of the edit, and the item made of it.
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
        // The first piece of evidence; later ones are no edit.
        let at = evidence.first()?.source;
        Some((*words.get(&at)?, at, id))
    });
    made.collect()
}
