//! Index of the items derived from sources: text of facts, episodes, tasks, notes and tenets, and their sources.
//!
//! An item has text of its own; its neighbours, session, speaker and vector are those of the passage it was read from.
//! This needs no additional vectors or model calls and scores all kinds on one scale.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::event::Change;
use crate::extract::{REMARK, USER};
use crate::id::{ItemId, ItemKind};
use crate::item::{DerivedChange, Evidence, Fact};
use crate::items::Items;
use crate::predicate::{Predicates, normal};
use crate::recall::index::names::NamedPerson;
use crate::recall::index::names::is_name_here;
use crate::recall::index::words::{OtherStems, WordIndex};
use crate::text::language::Language;
use crate::text::tokens::{self, TextToken, for_each_term_in};

/// Text and sources of all derived items. A projection that can be rebuilt from the items.
#[derive(Debug, Clone, Default)]
pub struct DerivedIndex {
    pub(in crate::recall) words: WordIndex,
    /// By number, in order of creation.
    pub(in crate::recall) entries: Vec<ItemId>,
    numbers: FxHashMap<ItemId, IndexEntry>,
    by_source: FxHashMap<ItemId, BTreeSet<ItemId>>,
    /// Lower-case names of the subjects of facts except the user, by their first word.
    subjects: HashMap<String, BTreeSet<Vec<String>>>,
    /// Lower-case names of people related to the user, by canonical relation word and by the fact that states it.
    kin: HashMap<String, BTreeMap<ItemId, String>>,
}

/// The index entry of an item.
#[derive(Debug, Clone)]
struct IndexEntry {
    number: u32,
    terms: Box<[u32]>,
    /// Its normalised text.
    wording: Box<str>,
}

impl DerivedIndex {
    /// Builds the index of all items.
    pub fn of(items: &Items) -> Self {
        let mut index = Self::default();
        index.index(items, &items.ids_as_created());
        index
    }

    /// Number of indexed items.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns true if no item is indexed.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Indexes new or changed items.
    pub fn refresh(&mut self, items: &Items, ids: impl IntoIterator<Item = ItemId>) {
        let mut ids: Vec<ItemId> = ids.into_iter().collect();
        // An event's items are numbered as they would be if the index were built anew.
        ids.sort_by_cached_key(|id| items.creation_order(*id));
        self.index(items, &ids);
    }

    fn index(&mut self, items: &Items, ids: &[ItemId]) {
        for &id in ids {
            for source in sources(items, id) {
                self.by_source.entry(source).or_default().insert(id);
            }
            self.meet(items, id);
            self.relate(items, id);
            let Some(text) = words(items, id) else { continue };
            let language = Language::of_text(items.text(id).unwrap_or_default()).unwrap_or(Language::English);
            let wording = normal(items.text(id).unwrap_or_default()).into();
            if let Some(entry) = self.numbers.get_mut(&id) {
                self.words.replace(entry.number, &mut entry.terms, &text, language);
                entry.wording = wording;
                continue;
            }
            let number = self.entries.len() as u32;
            self.words.add(None, &text, language);
            self.entries.push(id);
            let terms = self.words.terms_of(&text, language).into();
            self.numbers.insert(id, IndexEntry { number, terms, wording });
        }
    }

    /// Records people related to the user: "my mum" is Jean.
    fn relate(&mut self, items: &Items, id: ItemId) {
        let Some(fact) = items.fact(id).filter(|fact| fact.subject == USER) else { return };
        let said = [fact.qualifiers.get("relation"), fact.qualifiers.get("species")];
        let counts = fact.is_active() && !items.is_hidden(id) && fact.object.starts_with(char::is_uppercase);
        for relation in said.into_iter().flatten() {
            let known = self.kin.entry(tokens::plain(&relation.to_lowercase()).to_owned()).or_default();
            if counts {
                known.insert(id, fact.object.to_lowercase());
            } else {
                known.remove(&id);
            }
        }
    }

    /// Resolves "my" and the following relation to a person, if it is unique and not followed by the name.
    fn related(&self, text: &str, words: &[TextToken], at: usize) -> Option<NamedPerson> {
        let place = at + 1..at + 2;
        let relation = words.get(place.start).filter(|_| matches!(words[at].lower.as_str(), "my" | "our"))?;
        if words.get(place.end).is_some() && self.named_at(text, words, place.end).is_some() {
            return None;
        }
        let mut known: Vec<&String> = self.kin.get(tokens::plain(&relation.lower))?.values().collect();
        known.dedup();
        let [name] = known[..] else { return None };
        // Only people who are the subject of a fact.
        let name = tokens::words(name).into_iter().map(|word| word.lower).collect::<Vec<_>>();
        self.subjects.get(name.first()?)?.contains(&name).then(|| NamedPerson { words: place, name: name.join(" ") })
    }

    /// Records the subject of a fact. Only names count, not "the garden".
    fn meet(&mut self, items: &Items, id: ItemId) {
        let fact = items.fact(id).filter(|fact| fact.subject != USER && fact.subject.starts_with(char::is_uppercase));
        let name: Vec<String> = fact
            .map_or_else(Vec::new, |fact| tokens::words(&fact.subject).into_iter().map(|word| word.lower).collect());
        if let Some(first) = name.first() {
            self.subjects.entry(first.clone()).or_default().insert(name);
        }
    }

    /// The people a text names, if facts are about them: by full name, or by a unique first name.
    pub(in crate::recall) fn named(&self, text: &str, words: &[TextToken]) -> Vec<NamedPerson> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let one = self.named_at(text, words, at).or_else(|| self.related(text, words, at));
            at = one.as_ref().map_or(at + 1, |one| one.words.end);
            found.extend(one);
        }
        found
    }

    fn named_at(&self, text: &str, words: &[TextToken], at: usize) -> Option<NamedPerson> {
        let all = self.subjects.get(&words[at].lower)?;
        let is_whole = |name: &&Vec<String>| {
            words.len() - at >= name.len() && name.iter().zip(&words[at..]).all(|(part, word)| *part == word.lower)
        };
        // "My colleague Ana" is "Ana (colleague)" if there is another Ana.
        let is_told_apart = |name: &&Vec<String>| {
            let role = name.get(1..).unwrap_or_default();
            let before = at.checked_sub(role.len()).map_or(&[][..], |from| &words[from..at]);
            !role.is_empty() && role.iter().eq(before.iter().map(|word| &word.lower))
        };
        let told_apart = all.iter().find(is_told_apart).map(|name| (name, 1));
        let whole = || all.iter().filter(is_whole).map(|name| (name, name.len())).max_by_key(|(_, length)| *length);
        let only = || all.first().filter(|_| all.len() == 1).map(|name| (name, 1));
        let (name, length) = told_apart.or_else(whole).or_else(only)?;
        let place: Range<usize> = at..at + length;
        is_name_here(text, words, &place).then(|| NamedPerson { words: place, name: name.join(" ") })
    }

    /// Facts that contain some of these terms, as they were created.
    pub(in crate::recall) fn facts_with<'a>(&self, items: &'a Items, terms: &[String]) -> Vec<&'a Fact> {
        let scores = self.words.score(terms, &OtherStems::new()).passages;
        let found = self.entries.iter().zip(&scores).filter(|(_, score)| **score > 0.0);
        found.filter_map(|(id, _)| items.fact(*id)).collect()
    }

    /// The distinct sources an item was read from, in order.
    pub fn sources(&self, items: &Items, id: ItemId) -> Vec<ItemId> {
        sources(items, id)
    }

    /// The items read from a source.
    pub fn read_from(&self, source: ItemId) -> impl Iterator<Item = ItemId> + '_ {
        self.by_source.get(&source).into_iter().flatten().copied()
    }

    /// Returns true if an item can be an answer itself; a remark is represented by its turn.
    pub(in crate::recall) fn is_searched(&self, id: ItemId) -> bool {
        self.numbers.contains_key(&id)
    }

    /// The number of an item, which orders items as they were created.
    pub(in crate::recall) fn number(&self, id: ItemId) -> u32 {
        self.numbers.get(&id).map_or(u32::MAX, |entry| entry.number)
    }

    /// The score of an item's own text.
    pub(in crate::recall) fn own(&self, scores: &[f32], id: ItemId) -> f32 {
        self.numbers.get(&id).and_then(|entry| scores.get(entry.number as usize)).copied().unwrap_or(0.0)
    }

    /// The normalised text of an item.
    pub(in crate::recall) fn wording(&self, id: ItemId) -> Option<&str> {
        self.numbers.get(&id).map(|entry| &*entry.wording)
    }

    /// Bytes in memory, estimated from capacities.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<(ItemId, IndexEntry)>() + size_of::<ItemId>();
        let terms: usize = self.numbers.values().map(|entry| size_of_val(&*entry.terms) + entry.wording.len()).sum();
        let places: usize = self.by_source.values().map(|items| 48 + items.len() * size_of::<ItemId>()).sum();
        self.words.bytes() + self.entries.capacity() * entry + terms + places
    }
}

/// The items whose text or sources a change may affect.
pub fn touched(change: &Change) -> Vec<ItemId> {
    let Change::Drawn(drawn) = change else { return Vec::new() };
    let known = match drawn {
        DerivedChange::FactSeen { fact, .. } | DerivedChange::FactRestored { fact } => Some(*fact),
        DerivedChange::FactChanged(change) => Some(change.fact),
        DerivedChange::TaskChanged(change) => Some(change.task),
        DerivedChange::NoteSeconded { note, .. } => Some(*note),
        DerivedChange::TenetChanged(change) => Some(change.tenet),
        DerivedChange::ItemsMerged { into, .. } => Some(*into),
        _ => None,
    };
    drawn.makes().into_iter().chain(known).collect()
}

/// The built-in predicates. Recall uses only their names and wordings, which no memory changes.
static REGISTRY: LazyLock<Predicates> = LazyLock::new(Predicates::default_registry);

/// The terms of every registered predicate.
static ASKED_BY: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| {
    let of = |name: &str| {
        let predicate = REGISTRY.get(name);
        // Text in braces is a placeholder.
        let plain = predicate.said.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
        let texts = plain.chain(predicate.words.iter().map(String::as_str));
        (name.to_owned(), texts.flat_map(terms).collect())
    };
    REGISTRY.names().map(of).collect()
});

/// The terms by which a predicate is requested.
pub(in crate::recall) fn asked_by(predicate: &str) -> Cow<'static, BTreeSet<String>> {
    let unknown = || Cow::Owned(terms(&predicate.replace('_', " ")).into_iter().collect());
    ASKED_BY.get(predicate).map_or_else(unknown, Cow::Borrowed)
}

/// Terms that identify one predicate of a pair of opposites, with the term of the other.
static OPPOSITES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let plain = |name: &str| asked_by(name).iter().next().filter(|_| asked_by(name).len() == 1).cloned();
    let pair = |name: &str| Some((plain(name)?, plain(REGISTRY.get(name).opposite.as_deref()?)?));
    REGISTRY.names().filter_map(pair).collect()
});

/// The term of the opposite predicate: "dislik" for "like".
pub(in crate::recall) fn opposite_of(term: &str) -> Option<&'static str> {
    OPPOSITES.get(term).map(String::as_str)
}

/// The terms of an English text.
pub(in crate::recall) fn terms(text: &str) -> Vec<String> {
    terms_in(text, Language::English)
}

/// The terms of a text in a language.
pub(in crate::recall) fn terms_in(text: &str, language: Language) -> Vec<String> {
    let mut found = Vec::new();
    for_each_term_in(text, language, |term| found.push(term.to_owned()));
    found
}

/// The searchable text of an item; `None` if it is not searched.
fn words(items: &Items, id: ItemId) -> Option<String> {
    match id.kind {
        // The turn of a remark has the same text.
        ItemKind::Fact => items.fact(id).filter(|fact| fact.predicate != REMARK).map(|fact| {
            let words = &REGISTRY.get(&fact.predicate).words;
            std::iter::once(&fact.text).chain(words).map(String::as_str).collect::<Vec<_>>().join(" ")
        }),
        ItemKind::Episode => {
            items.episode(id).map(|one| format!("{} {} {}", one.title, one.summary, one.topics.join(" ")))
        }
        ItemKind::Task => items.task(id).map(|task| {
            let attempts = task.attempts.iter().map(|attempt| format!(" {} {}", attempt.approach, attempt.outcome));
            format!("{} {}{}", task.title, task.description, attempts.collect::<String>())
        }),
        ItemKind::Note => items.note(id).map(|note| note.text.clone()),
        ItemKind::Tenet => items.tenet(id).map(|tenet| tenet.text.clone()),
        // A base truth belongs to its session's context.
        ItemKind::Truth
        | ItemKind::Review
        | ItemKind::Turn
        | ItemKind::Entry
        | ItemKind::Document
        | ItemKind::Import => None,
    }
}

/// The distinct sources an item was read from, in order.
pub(in crate::recall) fn sources(items: &Items, id: ItemId) -> Vec<ItemId> {
    let mut found = Vec::new();
    each_source(items, id, &mut |source| found.push(source));
    let mut met = BTreeSet::new();
    found.retain(|source| met.insert(*source));
    found
}

/// Calls `each` with the sources an item was read from, in order, with repetitions.
pub(in crate::recall) fn each_source(items: &Items, id: ItemId, each: &mut dyn FnMut(ItemId)) {
    let mut of = |evidence: &[Evidence]| evidence.iter().for_each(|place| each(place.source));
    match id.kind {
        ItemKind::Fact => items.fact(id).map(|fact| of(&fact.evidence)),
        ItemKind::Task => items.task(id).map(|task| of(&task.evidence)),
        ItemKind::Note => items.note(id).map(|note| of(&note.evidence)),
        ItemKind::Episode => items.episode(id).map(|one| one.sources.iter().copied().for_each(each)),
        ItemKind::Tenet => items.tenet(id).map(|tenet| tenet.evidence.iter().copied().for_each(each)),
        ItemKind::Truth
        | ItemKind::Review
        | ItemKind::Turn
        | ItemKind::Entry
        | ItemKind::Document
        | ItemKind::Import => None,
    };
}
