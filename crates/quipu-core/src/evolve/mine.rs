//! Mines recurring patterns in the parts of the core document without a schema: keys, terms and whole dynamic
//! categories.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use serde_json::{Map, Value};

use super::words::{english, key_terms, sentence_terms, stem};
use super::written::{Day, day_of, pointer, token};
use crate::core_document::{DYNAMIC, UNCATEGORIZED};
use crate::episode;
use crate::item::{Fact, Support};
use crate::limit;
use crate::memory::Memory;
use crate::predicate::{normal, slug};
use jiff::Timestamp;

/// A pattern that could be a category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The term or key of `uncategorized`, or the name of the dynamic category.
    pub key: String,
    /// True for a dynamic category.
    pub dynamic: bool,
    /// The members that belong to it, as pointers, in the order of the document.
    pub members: Vec<String>,
    /// Its support.
    pub support: Support,
}

/// A member of a part without a schema.
struct Member<'a> {
    name: &'a str,
    pointer: String,
    seen: Seen,
    /// Terms by stem: the word, and its position in the key, if it is part of it.
    terms: BTreeMap<String, (String, Option<usize>)>,
}

/// When something was written or said.
#[derive(Debug, Clone, Default)]
struct Seen {
    instances: u32,
    days: BTreeSet<Day>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl Seen {
    fn at(&mut self, time: Timestamp) {
        self.days.insert(day_of(time));
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.last = self.last.max(Some(time));
    }

    fn with(mut self, other: &Self) -> Self {
        self.instances = self.instances.saturating_add(other.instances);
        self.days.extend(&other.days);
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
        self
    }
}

/// The patterns of a memory with at least two instances, best supported first, at most [`limit::CANDIDATES_MAX`].
///
/// A member of `uncategorized` belongs to one pattern only: the one with the most instances.
pub fn mine(memory: &Memory) -> Vec<Candidate> {
    let facts = by_member(memory);
    let mut found = dynamic_categories(memory, &facts);
    found.extend(recurring_terms(memory, &facts));
    found.retain(|candidate| candidate.support.instances >= 2);
    link(memory, &mut found);
    found.sort_by(|a, b| {
        let rank =
            |one: &Candidate| (one.support.instances, one.support.days, one.support.links, one.support.last_seen);
        rank(b).cmp(&rank(a)).then_with(|| a.key.cmp(&b.key))
    });
    found.truncate(limit::CANDIDATES_MAX);
    found
}

/// The pattern of a given name, regardless of its support: a dynamic category, a term or key of `uncategorized`, or a
/// pointer to one of these.
pub(super) fn named(memory: &Memory, name: &str) -> Option<Candidate> {
    let mut found = unlinked(memory, name)?;
    link(memory, std::slice::from_mut(&mut found));
    Some(found)
}

fn unlinked(memory: &Memory, name: &str) -> Option<Candidate> {
    let facts = by_member(memory);
    let same = |other: &str| other == name || (!slug(name).is_empty() && slug(other) == slug(name));
    let wanted = |key: &str, at: &str| same(key) || at == name;
    let mut categories = dynamic_categories(memory, &facts);
    if let Some(at) = categories.iter().position(|one| wanted(&one.key, &pointer(DYNAMIC, &one.key))) {
        return Some(categories.swap_remove(at));
    }
    if let Some(found) = recurring_terms(memory, &facts).into_iter().find(|one| same(&one.key)) {
        return Some(found);
    }
    let all = members(memory, &facts);
    let term = stem(&name.to_lowercase());
    let mut own: Vec<&Member<'_>> = all.iter().filter(|one| wanted(one.name, &one.pointer)).collect();
    if own.is_empty() {
        own = all.iter().filter(|one| one.terms.contains_key(&term)).collect();
    }
    let key = match own.as_slice() {
        [] => return None,
        [one] if wanted(one.name, &one.pointer) => one.name.to_owned(),
        _ => name.to_lowercase(),
    };
    Some(candidate(key, false, &own))
}

type Facts<'a> = HashMap<String, Vec<&'a Fact>>;

/// Active facts by the member that they set, or whose descendant they set.
fn by_member(memory: &Memory) -> Facts<'_> {
    let mut found: Facts<'_> = HashMap::new();
    for fact in memory.items().facts().filter(|fact| fact.is_active() && !memory.items().is_hidden(fact.id)) {
        let Some(path) = fact.core_path.as_deref() else { continue };
        let mut tokens = path.split('/').skip(1);
        if let (Some(root @ (UNCATEGORIZED | DYNAMIC)), Some(member)) = (tokens.next(), tokens.next()) {
            found.entry(format!("/{root}/{member}")).or_default().push(fact);
        }
    }
    found
}

fn object<'a>(memory: &'a Memory, root: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    memory.core().get(root).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn dynamic_categories(memory: &Memory, facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (name, category) in object(memory, DYNAMIC) {
        let Some(data) = category.get("data") else { continue };
        let at = pointer(DYNAMIC, name);
        let member = Member {
            name,
            seen: seen(memory, &at, &format!("{at}/data"), data, facts),
            pointer: format!("{at}/data"),
            terms: BTreeMap::new(),
        };
        found.push(candidate(name.clone(), true, &[&member]));
    }
    found
}

fn members<'a>(memory: &'a Memory, facts: &Facts<'_>) -> Vec<Member<'a>> {
    let one = |(name, value): (&'a String, &'a Value)| {
        let at = pointer(UNCATEGORIZED, name);
        let mut terms = BTreeMap::new();
        for (place, (stem, word)) in key_terms(name).into_iter().enumerate() {
            terms.entry(stem).or_insert((word, Some(place)));
        }
        let own = facts.get(&at).map_or(&[][..], Vec::as_slice);
        // A value set by a fact is not a sentence.
        for (leaf, value) in leaves(&at, value) {
            if let (Some(text), false) = (value.as_str(), is_of(own, &leaf, value)) {
                for (stem, word) in sentence_terms(text) {
                    terms.entry(stem).or_insert((word, None));
                }
            }
        }
        Member { name, seen: seen(memory, &at, &at, value, facts), pointer: at, terms }
    };
    object(memory, UNCATEGORIZED).map(one).collect()
}

fn recurring_terms(memory: &Memory, facts: &Facts<'_>) -> Vec<Candidate> {
    let all = members(memory, facts);
    let mut free: BTreeSet<usize> = (0..all.len()).collect();
    let mut by_term: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, member) in all.iter().enumerate() {
        member.terms.keys().for_each(|term| by_term.entry(term).or_default().push(at));
    }
    let mut found = Vec::new();
    // Terminates: every round removes members, and a pattern needs two instances.
    loop {
        let best = by_term
            .iter()
            .map(|(term, at)| {
                let own: Vec<usize> = at.iter().copied().filter(|at| free.contains(at)).collect();
                (rank(term, &own, &all), *term, own)
            })
            .max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(a.1)));
        let Some((_, term, own)) = best.filter(|(rank, ..)| rank.instances >= 2) else { break };
        own.iter().for_each(|at| {
            free.remove(at);
        });
        let own: Vec<&Member<'_>> = own.into_iter().map(|at| &all[at]).collect();
        let key = match own.as_slice() {
            [one] => one.name.to_owned(),
            _ => known_as(memory, term).unwrap_or_else(|| word_of(term, &own)),
        };
        found.push(candidate(key, false, &own));
        if found.len() >= limit::CANDIDATES_MAX {
            break;
        }
    }
    found
}

/// Rank of a term as a pattern; earlier fields take precedence.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    instances: u32,
    members: usize,
    in_keys: usize,
    known: bool,
    /// Sum of its positions in the keys, lowest first.
    early: std::cmp::Reverse<usize>,
}

fn rank(term: &str, own: &[usize], all: &[Member<'_>]) -> Rank {
    let places: Vec<Option<usize>> =
        own.iter().map(|&at| all[at].terms.get(term).and_then(|(_, place)| *place)).collect();
    Rank {
        instances: own.iter().map(|&at| all[at].seen.instances).sum(),
        members: own.len(),
        in_keys: places.iter().flatten().count(),
        known: own.iter().any(|&at| all[at].terms.get(term).is_some_and(|(word, _)| english().named(word).is_some())),
        early: std::cmp::Reverse(places.iter().map(|place| place.unwrap_or(8)).sum()),
    }
}

/// The name under which a term was promoted before.
fn known_as(memory: &Memory, term: &str) -> Option<String> {
    let all = memory.schema().categories().flat_map(|(_, category)| &category.promotions);
    all.map(|one| &one.promotion.candidate).find(|candidate| stem(candidate) == term).cloned()
}

/// The displayed form of a term: the most frequent one, preferring those in keys.
fn word_of(term: &str, own: &[&Member<'_>]) -> String {
    let mut forms: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (word, place) in own.iter().filter_map(|member| member.terms.get(term)) {
        let form = forms.entry(word).or_default();
        form.0 += usize::from(place.is_some());
        form.1 += 1;
    }
    let best = forms.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(a.0)));
    best.map_or_else(|| term.to_owned(), |(word, _)| word.to_owned())
}

fn candidate(key: String, dynamic: bool, own: &[&Member<'_>]) -> Candidate {
    let seen = own.iter().fold(Seen::default(), |all, one| all.with(&one.seen));
    let members: Vec<String> = own.iter().map(|one| one.pointer.clone()).collect();
    let support = Support {
        instances: seen.instances,
        days: u32::try_from(seen.days.len()).unwrap_or(u32::MAX),
        first_seen: seen.first,
        last_seen: seen.last,
        links: 0,
    };
    Candidate { key, dynamic, members, support }
}

/// Counts the episodes that influenced a member of a pattern or are about its term.
fn link(memory: &Memory, candidates: &mut [Candidate]) {
    if candidates.is_empty() {
        return;
    }
    let terms: Vec<BTreeSet<String>> =
        candidates.iter().map(|one| key_terms(&one.key).into_iter().map(|(stem, _)| stem).collect()).collect();
    for told in memory.items().episodes().filter(|episode| !memory.items().is_hidden(episode.id)) {
        let about: BTreeSet<String> = told.topics.iter().flat_map(|topic| episode::stems(topic)).collect();
        for (candidate, terms) in candidates.iter_mut().zip(&terms) {
            let at = |path: &String| candidate.members.iter().any(|member| is_at(path, member));
            if told.related_paths.iter().any(at) || !about.is_disjoint(terms) {
                candidate.support.links += 1;
            }
        }
    }
}

/// How often a member was written: facts count as often as they were said, on those days; every other value counts
/// once, on the days the member was written.
fn seen(memory: &Memory, member: &str, root: &str, value: &Value, facts: &Facts<'_>) -> Seen {
    let own = facts.get(member).map_or(&[][..], Vec::as_slice);
    let mut all = Seen::default();
    for fact in own {
        all.instances = all.instances.saturating_add(fact.seen_count.max(1));
        let said = fact.evidence.iter().filter_map(|at| memory.get(at.source)?.source.said_at);
        let times = said.chain(fact.first_seen).chain(fact.last_seen);
        times.for_each(|time| all.at(time));
    }
    let by_hand = leaves(root, value).into_iter().filter(|(at, leaf)| !is_of(own, at, leaf)).count();
    if by_hand > 0 {
        all.instances = all.instances.saturating_add(u32::try_from(by_hand).unwrap_or(u32::MAX));
        if let Some(place) = memory.schema().written().at(member) {
            all.at(place.first);
            all.at(place.last);
            all.days.extend(&place.days);
        }
    }
    all
}

/// True if a fact set this value.
fn is_of(facts: &[&Fact], leaf: &str, value: &Value) -> bool {
    let says = |fact: &&Fact| {
        let Some(path) = fact.core_path.as_deref() else { return false };
        let text = value.as_str().map(normal);
        path == leaf || (is_at(leaf, path) && text.is_some_and(|text| text == normal(&fact.object)))
    };
    facts.iter().any(says)
}

/// Every scalar value with its pointer.
pub(super) fn leaves<'a>(at: &str, value: &'a Value) -> Vec<(String, &'a Value)> {
    let below = |name: &str, value: &'a Value| leaves(&format!("{at}/{}", token(name)), value);
    match value {
        Value::Object(members) => members.iter().flat_map(|(name, value)| below(name, value)).collect(),
        Value::Array(list) => list.iter().enumerate().flat_map(|(n, value)| below(&n.to_string(), value)).collect(),
        Value::Null => Vec::new(),
        leaf => vec![(at.to_owned(), leaf)],
    }
}

fn is_at(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
