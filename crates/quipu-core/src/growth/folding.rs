//! Folds near-duplicates: items that say the same in different spellings become one.
//!
//! Strict on purpose: a missed pair costs one line, a wrong merge loses information. Facts are compared word by word
//! within their slot, so never across subjects or predicates.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{GrowthContext, GrowthProposal, GrowthSubject};
use crate::event::{Change, Trust};
use crate::extract::TaskKind;
use crate::id::ItemId;
use crate::item::{DerivedChange, Fact, FactStatus, Note, Task};

/// Leading words that do not change a value. Case matters: "The Office" is a name, "the office" is not.
const LEADING: [&str; 7] = ["a", "an", "the", "my", "our", "some", "to"];

impl GrowthContext<'_> {
    /// Items that say the same, one event per group.
    pub fn duplicates(&self) -> Vec<GrowthProposal> {
        let mut found = self.facts_alike();
        found.extend(self.notes_alike());
        found.extend(self.tasks_alike());
        found
    }

    fn facts_alike(&self) -> Vec<GrowthProposal> {
        let items = self.memory().items();
        let mut groups: BTreeMap<(&str, Vec<String>, String), Vec<&Fact>> = BTreeMap::new();
        for fact in items.facts().filter(|fact| fact.is_active() && !items.is_hidden(fact.id)) {
            // Disputed facts are left to the user.
            let disputed = items.in_slot(&fact.slot).any(|other| other.status == FactStatus::Contested);
            if disputed || items.waiting_about(fact.id).next().is_some() {
                continue;
            }
            let value = worded(&fact.object);
            if !value.is_empty() {
                let besides = serde_json::to_string(&fact.qualifiers).unwrap_or_default();
                groups.entry((&fact.slot, value, besides)).or_default().push(fact);
            }
        }
        let weight = |fact: &Fact| {
            let scored = (self.memory().marks(fact.id).pinned, fact.user_fact_score.is_some());
            (
                Reverse(fact.trust),
                Reverse(scored),
                Reverse(fact.seen_count),
                fact.first_seen,
                items.creation_order(fact.id),
            )
        };
        let named = |fact: &&Fact| self.is_named(fact.id) || fact.user_fact_score.is_some();
        groups
            .into_values()
            .filter_map(|mut alike| {
                alike.sort_by_cached_key(|fact| weight(fact));
                let (kept, rest) = alike.split_first()?;
                // Facts that a person pinned, rated or scored are kept, and facts of different times are different
                // claims.
                let from = rest.iter().filter(|fact| !named(fact) && overlaps(kept, fact));
                let from: Vec<ItemId> = from.map(|fact| fact.id).collect();
                let changes = (!from.is_empty()).then(|| self.base.merge(&from, kept.id).ok()).flatten()?;
                Some(proposal(kept.id, from, &kept.text, changes))
            })
            .collect()
    }

    fn notes_alike(&self) -> Vec<GrowthProposal> {
        let items = self.memory().items();
        let mut groups: BTreeMap<Vec<String>, Vec<&Note>> = BTreeMap::new();
        for note in items.notes().filter(|note| !items.is_hidden(note.id)) {
            let said = worded(&note.text);
            if !said.is_empty() {
                groups.entry(said).or_default().push(note);
            }
        }
        groups.into_values().filter_map(|alike| self.notes_as_one(alike)).collect()
    }

    fn notes_as_one(&self, mut alike: Vec<&Note>) -> Option<GrowthProposal> {
        alike.sort_by_cached_key(|note| {
            let age = self.memory().items().creation_order(note.id);
            (!self.memory().marks(note.id).pinned, !note.is_agreed(), Reverse(note.votes), age)
        });
        let (kept, rest) = alike.split_first()?;
        let from: Vec<&&Note> = rest.iter().filter(|note| !self.is_named(note.id)).collect();
        let ids: Vec<ItemId> = from.iter().map(|note| note.id).collect();
        let mut changes = (!ids.is_empty()).then(|| self.base.merge(&ids, kept.id).ok()).flatten()?;
        // Agreement needs another voice; the same source does not count twice.
        let another = |note: &&&&Note| {
            let elsewhere = note.evidence.first().filter(|at| kept.evidence.iter().all(|own| own.source != at.source));
            elsewhere.is_some() && (note.origin != kept.origin || note.trust == Trust::User)
        };
        if let Some(voice) = from.iter().find(another) {
            let second = DerivedChange::NoteSeconded { note: kept.id, evidence: voice.evidence.first().copied() };
            changes.push(Change::Drawn(second));
        }
        Some(proposal(kept.id, ids, &kept.text, changes))
    }

    fn tasks_alike(&self) -> Vec<GrowthProposal> {
        let items = self.memory().items();
        let mut groups: BTreeMap<(TaskKind, Vec<String>), Vec<&Task>> = BTreeMap::new();
        for task in items.tasks().filter(|task| task.status.is_open() && !items.is_hidden(task.id)) {
            let titled = worded(&task.title);
            if !titled.is_empty() {
                groups.entry((task.kind, titled)).or_default().push(task);
            }
        }
        groups
            .into_values()
            .filter_map(|mut alike| {
                alike.sort_by_cached_key(|task| {
                    let age = (task.created_at, items.creation_order(task.id));
                    (Reverse(task.trust), Reverse(task.attempts.len()), age)
                });
                let (kept, rest) = alike.split_first()?;
                // Attempts or a different due date would be lost.
                let bare = |task: &&&Task| {
                    task.attempts.is_empty() && (task.due.is_none() || task.due == kept.due) && !self.is_named(task.id)
                };
                let from: Vec<ItemId> = rest.iter().filter(bare).map(|task| task.id).collect();
                let changes = (!from.is_empty()).then(|| self.base.merge(&from, kept.id).ok()).flatten()?;
                Some(proposal(kept.id, from, &kept.title, changes))
            })
            .collect()
    }

    /// True if a person marked it.
    fn is_named(&self, id: ItemId) -> bool {
        self.memory().marks(id) != Default::default()
    }
}

fn proposal(kept: ItemId, from: Vec<ItemId>, text: &str, changes: Vec<Change>) -> GrowthProposal {
    let because = format!("{} say the same", from.len() + 1);
    let items = std::iter::once(kept).chain(from).collect();
    GrowthProposal { what: GrowthSubject::Folded, items, text: text.to_owned(), because, changes }
}

/// False if one ended before the other began.
fn overlaps(one: &Fact, other: &Fact) -> bool {
    let before = |a: &Fact, b: &Fact| a.valid_to.zip(b.valid_from).is_some_and(|(end, start)| end <= start);
    !before(one, other) && !before(other, one) && (one.valid_to.is_some() == other.valid_to.is_some())
}

/// The words of a text for comparison: without leading words, and singular where lower case. Order, numbers, names and
/// every other word count.
fn worded(text: &str) -> Vec<String> {
    let bare = text.split_whitespace().map(|word| word.trim_matches(|c: char| ".,;:!?\"()".contains(c)));
    let mut words: Vec<&str> = bare.filter(|word| !word.is_empty()).collect();
    while words.len() > 1 && LEADING.contains(&words[0]) {
        words.remove(0);
    }
    let compared = |word: &&str| match word.chars().all(char::is_lowercase) {
        true => singular(word),
        false => word.to_lowercase(),
    };
    words.iter().map(compared).collect()
}

/// The singular of a word: "walks" gives "walk", "hobbies" gives "hobby"; "bus", "news" and "chess" stay.
fn singular(word: &str) -> String {
    const WHOLE: [&str; 4] = ["ss", "us", "is", "ws"];
    if word.len() <= 3 || WHOLE.iter().any(|end| word.ends_with(end)) {
        return word.to_owned();
    }
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 => format!("{stem}y"),
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}
