//! What was drawn from sources, for recall: the words of facts, episodes, tasks, notes and tenets, and where each was read.
//!
//! An item has words of its own; its neighbours, session, speaker and meaning are those of the passage it was read from.
//! That costs no vector and no second model call, and keeps the scores of all kinds on one scale.

use std::collections::{BTreeSet, HashMap};

use super::words::WordIndex;
use crate::event::Change;
use crate::id::{ItemId, ItemKind};
use crate::item::{Drawn, Evidence};
use crate::items::Items;

/// The words and sources of everything drawn. A projection: made from the items at any time.
#[derive(Debug, Clone, Default)]
pub struct DerivedIndex {
    pub(super) words: WordIndex,
    /// By number; `None` where an item's words changed and it got a new number.
    pub(super) entries: Vec<Option<ItemId>>,
    numbers: HashMap<ItemId, (u32, blake3::Hash)>,
    by_source: HashMap<ItemId, BTreeSet<ItemId>>,
}

impl DerivedIndex {
    /// The index of everything there is.
    pub fn of(items: &Items) -> Self {
        let mut index = Self::default();
        index.refresh(items, items.ids());
        index
    }

    /// Items indexed.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// True if nothing was drawn yet.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Reads these items again: they are new, or a change touched them.
    pub fn refresh(&mut self, items: &Items, ids: impl IntoIterator<Item = ItemId>) {
        for id in ids {
            for source in sources(items, id) {
                self.by_source.entry(source).or_default().insert(id);
            }
            let Some(text) = words(items, id) else { continue };
            let hash = blake3::hash(text.as_bytes());
            match self.numbers.get(&id) {
                Some((_, known)) if *known == hash => continue,
                Some((number, _)) => self.entries[*number as usize] = None,
                None => {}
            }
            let number = self.entries.len() as u32;
            self.words.add(None, &text);
            self.entries.push(Some(id));
            self.numbers.insert(id, (number, hash));
        }
    }

    /// The sources an item was read from, each once, in their order.
    pub fn sources(&self, items: &Items, id: ItemId) -> Vec<ItemId> {
        sources(items, id)
    }

    /// The items read from a source.
    pub fn read_from(&self, source: ItemId) -> impl Iterator<Item = ItemId> + '_ {
        self.by_source.get(&source).into_iter().flatten().copied()
    }

    /// What an item's own words score.
    pub(super) fn own(&self, scores: &[f32], id: ItemId) -> f32 {
        self.numbers.get(&id).and_then(|(number, _)| scores.get(*number as usize)).copied().unwrap_or(0.0)
    }

    /// Bytes in memory, estimated from capacities.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<(ItemId, (u32, blake3::Hash))>() + size_of::<Option<ItemId>>();
        let places: usize = self.by_source.values().map(|items| 48 + items.len() * size_of::<ItemId>()).sum();
        self.words.bytes() + self.entries.capacity() * entry + places
    }
}

/// The items whose words or sources a change may have changed.
pub fn touched(change: &Change) -> Vec<ItemId> {
    let Change::Drawn(drawn) = change else { return Vec::new() };
    let known = match drawn {
        Drawn::FactSeen { fact, .. } => Some(*fact),
        Drawn::FactChanged(change) => Some(change.fact),
        Drawn::TaskChanged(change) => Some(change.task),
        Drawn::NoteSeconded { note, .. } => Some(*note),
        Drawn::TenetChanged(change) => Some(change.tenet),
        Drawn::ItemsMerged { into, .. } => Some(*into),
        _ => None,
    };
    drawn.makes().into_iter().chain(known).collect()
}

/// What of an item can be found by its words; `None` for what is not recalled.
fn words(items: &Items, id: ItemId) -> Option<String> {
    match id.kind {
        ItemKind::Fact => items.fact(id).map(|fact| fact.text.clone()),
        ItemKind::Episode => {
            items.episode(id).map(|one| format!("{} {} {}", one.title, one.summary, one.topics.join(" ")))
        }
        ItemKind::Task => items.task(id).map(|task| {
            let attempts = task.attempts.iter().map(|attempt| format!(" {} {}", attempt.approach, attempt.outcome));
            format!("{} {}{}", task.title, task.description, attempts.collect::<String>())
        }),
        ItemKind::Note => items.note(id).map(|note| note.text.clone()),
        ItemKind::Tenet => items.tenet(id).map(|tenet| tenet.text.clone()),
        ItemKind::Review | ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import => None,
    }
}

/// The sources an item was read from, each once, in their order.
pub(super) fn sources(items: &Items, id: ItemId) -> Vec<ItemId> {
    let of = |evidence: &[Evidence]| evidence.iter().map(|place| place.source).collect::<Vec<_>>();
    let mut found = match id.kind {
        ItemKind::Fact => items.fact(id).map(|fact| of(&fact.evidence)),
        ItemKind::Episode => items.episode(id).map(|one| one.sources.clone()),
        ItemKind::Task => items.task(id).map(|task| of(&task.evidence)),
        ItemKind::Note => items.note(id).map(|note| of(&note.evidence)),
        ItemKind::Tenet => items.tenet(id).map(|tenet| tenet.evidence.clone()),
        ItemKind::Review | ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import => None,
    }
    .unwrap_or_default();
    let mut met = BTreeSet::new();
    found.retain(|source| met.insert(*source));
    found
}
