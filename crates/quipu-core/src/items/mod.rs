//! The derived items of a memory: facts, episodes, tasks, notes, tenets and reviews.
//!
//! The fold only applies decisions. It enforces one rule itself, because no order of reverts may violate it: of the
//! facts in a slot that holds one value, at most one is active and has begun.

mod apply;
mod growth;
mod readings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::id::{ItemId, ItemKind};
use crate::item::{Episode, Fact, FactStatus, Note, RejectedValue, Review, ReviewKind, Task, Tenet, TenetStatus};
use crate::session::Sessions;

use growth::UsageState;

pub use readings::figure;

/// The items of one memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Items {
    facts: BTreeMap<ItemId, Fact>,
    episodes: BTreeMap<ItemId, Episode>,
    tasks: BTreeMap<ItemId, Task>,
    notes: BTreeMap<ItemId, Note>,
    tenets: BTreeMap<ItemId, Tenet>,
    reviews: BTreeMap<ItemId, Review>,
    #[serde(default, skip_serializing_if = "Sessions::is_empty")]
    sessions: Sessions,
    /// Rejected values, each with the event that rejected it.
    rejected: BTreeMap<String, u64>,
    /// Retracted items except facts, whose status shows it.
    retracted: BTreeSet<ItemId>,
    /// Merged items, each with the surviving item.
    merged: BTreeMap<ItemId, ItemId>,
    /// The event that created each item.
    made_by: BTreeMap<ItemId, u64>,
    refused_count: u64,
    /// Hits, promoted facts and demoted items.
    #[serde(default, skip_serializing_if = "UsageState::is_empty")]
    growth: UsageState,
    #[serde(skip)]
    slots: BTreeMap<String, BTreeSet<ItemId>>,
    /// Undecided reviews by the item they are about.
    #[serde(skip)]
    undecided: BTreeMap<ItemId, BTreeSet<ItemId>>,
    /// Turns, each with the episode it belongs to.
    #[serde(skip)]
    told_by: BTreeMap<ItemId, ItemId>,
    /// The sources in the evidence of facts, each with the fact.
    #[serde(skip)]
    quoting: BTreeSet<(ItemId, ItemId)>,
    /// Facts about a state that began, or begins, after it was said.
    #[serde(skip)]
    ahead: BTreeSet<ItemId>,
}

impl Items {
    /// Every fact of any status, by id.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.values()
    }

    /// A fact by id.
    pub fn fact(&self, id: ItemId) -> Option<&Fact> {
        self.facts.get(&id)
    }

    /// True if there are facts about a subject, given in its [normal](crate::predicate::normal) form.
    pub(crate) fn knows_subject(&self, subject: &str) -> bool {
        self.about(subject).next().is_some()
    }

    /// The facts about a subject, by slot; the subject is given in its [normal](crate::predicate::normal) form.
    pub(crate) fn about<'a>(&'a self, subject: &str) -> impl Iterator<Item = &'a Fact> {
        let first = format!("{subject}|");
        let slots = self.slots.range(first.clone()..).take_while(move |(slot, _)| slot.starts_with(&first));
        slots.flat_map(|(_, ids)| ids).filter_map(|id| self.facts.get(id))
    }

    /// The facts about a state that was said to begin on a later day and do not hold the one value of their slot, by id.
    pub fn ahead(&self) -> impl Iterator<Item = &Fact> {
        self.ahead.iter().filter_map(|id| self.facts.get(id))
    }

    /// The facts of a slot, by id.
    pub fn in_slot<'a>(&'a self, slot: &str) -> impl Iterator<Item = &'a Fact> {
        self.slots.get(slot).into_iter().flatten().filter_map(|id| self.facts.get(id))
    }

    /// The facts with evidence in a source, by id.
    pub fn quoting(&self, source: ItemId) -> impl Iterator<Item = &Fact> {
        let fact = |bits| (source, ItemId { kind: ItemKind::Fact, bits });
        self.quoting.range(fact(0)..=fact(u64::MAX)).filter_map(|(_, fact)| self.facts.get(fact))
    }

    /// Every episode, by id.
    pub fn episodes(&self) -> impl Iterator<Item = &Episode> {
        self.episodes.values()
    }

    /// An episode by id.
    pub fn episode(&self, id: ItemId) -> Option<&Episode> {
        self.episodes.get(&id)
    }

    /// The episode that a turn belongs to.
    pub fn told_by(&self, turn: ItemId) -> Option<&Episode> {
        self.told_by.get(&turn).and_then(|id| self.episodes.get(id))
    }

    /// Every task, goal and problem, by id.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values()
    }

    /// A task by id.
    pub fn task(&self, id: ItemId) -> Option<&Task> {
        self.tasks.get(&id)
    }

    /// Every note, by id.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.values()
    }

    /// A note by id.
    pub fn note(&self, id: ItemId) -> Option<&Note> {
        self.notes.get(&id)
    }

    /// Every tenet, by id.
    pub fn tenets(&self) -> impl Iterator<Item = &Tenet> {
        self.tenets.values()
    }

    /// A tenet by id.
    pub fn tenet(&self, id: ItemId) -> Option<&Tenet> {
        self.tenets.get(&id)
    }

    /// Every waiting or decided review, by id.
    pub fn reviews(&self) -> impl Iterator<Item = &Review> {
        self.reviews.values()
    }

    /// A review by id.
    pub fn review(&self, id: ItemId) -> Option<&Review> {
        self.reviews.get(&id)
    }

    /// The base truths and turn logs of sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The waiting reviews, by the item they are about.
    pub fn waiting(&self) -> impl Iterator<Item = &Review> {
        let undecided = self.undecided.values().flatten().filter_map(|id| self.reviews.get(id));
        undecided.filter(|review| self.waits(review))
    }

    /// The waiting reviews about one item.
    pub fn waiting_about(&self, about: ItemId) -> impl Iterator<Item = &Review> {
        let undecided = self.undecided.get(&about).into_iter().flatten().filter_map(|id| self.reviews.get(id));
        undecided.filter(|review| self.waits(review))
    }

    /// True if a review still needs a decision: its item may have been settled in another way.
    pub fn waits(&self, review: &Review) -> bool {
        let outdated = self.tenets.get(&review.about).is_some_and(|tenet| tenet.status == TenetStatus::Outdated);
        let unsettled = match self.facts.get(&review.about) {
            None if outdated => false,
            Some(fact) if review.kind == ReviewKind::Conflict && review.against.is_none() => fact.is_active(),
            Some(fact) if review.kind == ReviewKind::Edit => fact.is_active(),
            Some(fact) => matches!(fact.status, FactStatus::Uncertain | FactStatus::Contested),
            None => self.has(review.about),
        };
        let hidden = self.is_hidden(review.id) || self.is_hidden(review.about);
        review.decided.is_none() && unsettled && !hidden
    }

    /// The active fact that would give way if this review of a contradiction were approved now. It is the fact that
    /// was contradicted when the review was opened, or what has taken its place since.
    pub fn rival(&self, review: &Review) -> Option<&Fact> {
        let named = self.facts.get(&review.against?);
        let about = self.facts.get(&review.about)?;
        let holds = |fact: &&Fact| fact.is_active() && !self.is_hidden(fact.id) && fact.id != about.id;
        named.filter(holds).or_else(|| self.in_slot(&about.slot).filter(|fact| about.single && fact.single).find(holds))
    }

    /// The event in which the user rejected this value, if any.
    pub fn rejected_at(&self, value: &RejectedValue) -> Option<u64> {
        self.rejected.get(&value.key()).copied()
    }

    /// True if the item was retracted or merged into another.
    pub fn is_hidden(&self, id: ItemId) -> bool {
        self.retracted.contains(&id) || self.merged.contains_key(&id)
    }

    /// Number of hidden items.
    pub fn hidden_count(&self) -> usize {
        self.retracted.len() + self.merged.len()
    }

    /// Hidden sources: they stay in the history, but recall does not return them.
    pub fn hidden_sources(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.retracted.iter().chain(self.merged.keys()).copied().filter(|id| id.kind.is_source())
    }

    /// The item this one was merged into.
    pub fn merged_into(&self, id: ItemId) -> Option<ItemId> {
        self.merged.get(&id).copied()
    }

    /// The event that created an item.
    pub fn made_by(&self, id: ItemId) -> Option<u64> {
        self.made_by.get(&id).copied()
    }

    /// Orders items as they were created: by event, within an event by kind and text. Ids are random, so they decide
    /// only between items that are otherwise equal.
    pub fn creation_order(&self, id: ItemId) -> impl Ord {
        let text = self.text(id).unwrap_or_default();
        (self.made_by(id).unwrap_or(u64::MAX), id.kind, text, id.bits)
    }

    /// Every item's id, in [order of creation](Self::creation_order).
    pub(crate) fn ids_as_created(&self) -> Vec<ItemId> {
        let mut all: Vec<(u64, ItemId)> = self.made_by.iter().map(|(id, seq)| (*seq, *id)).collect();
        // Texts are looked up only within an event.
        all.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.creation_order(a.1).cmp(&self.creation_order(b.1)))
        });
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Number of candidates that the gate refused.
    pub fn refused_count(&self) -> u64 {
        self.refused_count
    }

    /// Every item's id, by kind and bits.
    pub fn ids(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.made_by.keys().copied()
    }

    /// True if the item exists.
    pub fn has(&self, id: ItemId) -> bool {
        self.made_by.contains_key(&id)
    }

    /// True if nothing was derived yet.
    pub fn is_empty(&self) -> bool {
        self.made_by.is_empty() && self.rejected.is_empty() && self.refused_count == 0 && self.sessions.is_empty()
    }

    /// The text of an item, in one line.
    pub fn text(&self, id: ItemId) -> Option<&str> {
        match id.kind {
            ItemKind::Fact => self.facts.get(&id).map(|fact| fact.text.as_str()),
            ItemKind::Episode => self.episodes.get(&id).map(|episode| episode.summary.as_str()),
            ItemKind::Task => self.tasks.get(&id).map(|task| task.title.as_str()),
            ItemKind::Note => self.notes.get(&id).map(|note| note.text.as_str()),
            ItemKind::Tenet => self.tenets.get(&id).map(|tenet| tenet.text.as_str()),
            ItemKind::Review => self.reviews.get(&id).map(|review| review.question.as_str()),
            ItemKind::Truth => self.sessions.entry(id).map(|entry| entry.truth.text.as_str()),
            ItemKind::Turn | ItemKind::Entry | ItemKind::Document | ItemKind::Import => None,
        }
    }

    /// The state of an item as text, for comparing two versions of a memory.
    pub fn standing(&self, id: ItemId) -> String {
        let word = |value: &dyn words::Word| value.word();
        let stands = match id.kind {
            ItemKind::Fact => self.facts.get(&id).map(|fact| {
                let until = fact.valid_to.map(|to| format!(" until {to}")).unwrap_or_default();
                format!("{}{until}, said {}", word(&fact.status), times(fact.seen_count))
            }),
            ItemKind::Task => self.tasks.get(&id).map(|task| {
                let (tried, ending) = (task.attempts.len(), if task.attempts.len() == 1 { "" } else { "s" });
                format!("{}, {tried} attempt{ending}", word(&task.status))
            }),
            ItemKind::Note => self.notes.get(&id).map(|note| format!("{} votes", note.votes)),
            ItemKind::Tenet => self.tenets.get(&id).map(|tenet| word(&tenet.status)),
            ItemKind::Truth => self.sessions.entry(id).map(|entry| {
                let kind = entry.truth.kind.as_str();
                let gone = |into: ItemId| format!("{kind}, replaced by {into}");
                entry.gone.map_or_else(
                    || kind.to_owned(),
                    |left| left.into.map_or_else(|| format!("{kind}, taken out"), gone),
                )
            }),
            ItemKind::Review => self.reviews.get(&id).map(|review| match &review.decided {
                Some((decision, _)) => word(decision),
                None if self.waits(review) => "waiting".to_owned(),
                None => "settled in another way".to_owned(),
            }),
            _ => self.episodes.get(&id).map(|episode| format!("{} sources", episode.sources.len())),
        };
        let hidden = match self.merged_into(id) {
            Some(into) => format!(", replaced by {into}"),
            None if self.is_hidden(id) => ", retracted".to_owned(),
            None => String::new(),
        };
        stands.unwrap_or_default() + &hidden + self.growth.standing(id)
    }

    /// Rebuilds the indexes; call after reading a snapshot.
    pub(crate) fn restore(&mut self) {
        self.slots.clear();
        for fact in self.facts.values() {
            self.slots.entry(fact.slot.clone()).or_default().insert(fact.id);
        }
        self.quoting = self.facts.values().flat_map(quotes).collect();
        self.ahead = self.facts.values().filter(|fact| fact.was_ahead()).map(|fact| fact.id).collect();
        self.undecided.clear();
        for review in self.reviews.values().filter(|review| review.decided.is_none()) {
            self.undecided.entry(review.about).or_default().insert(review.id);
        }
        self.sessions.restore();
        self.told_by.clear();
        let episodes = std::mem::take(&mut self.episodes);
        episodes.values().for_each(|episode| self.told(episode));
        self.episodes = episodes;
    }

    /// Records the turns of an episode. Other sources may belong to several episodes, one per sentence of a summary.
    fn told(&mut self, episode: &Episode) {
        let turns = episode.sources.iter().filter(|source| source.kind == ItemKind::Turn);
        self.told_by.extend(turns.map(|&turn| (turn, episode.id)));
    }

    /// Memory use in bytes, estimated.
    pub fn bytes(&self) -> usize {
        let facts: usize = self.facts.values().map(|fact| 3 * fact.text.len() + 200).sum();
        let episodes: usize = self.episodes.values().map(|one| one.summary.len() + one.raw_excerpt.len() + 400).sum();
        facts + episodes + self.sessions.bytes() + self.made_by.len() * (size_of::<Fact>() + 96)
    }
}

/// The sources that a fact quotes, each with the fact.
fn quotes(fact: &Fact) -> impl Iterator<Item = (ItemId, ItemId)> {
    fact.evidence.iter().map(|at| (at.source, fact.id))
}

/// "once" or "3 times".
pub fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The serialised names of enum variants.
mod words {
    pub(super) trait Word {
        fn word(&self) -> String;
    }

    impl<T: serde::Serialize> Word for T {
        fn word(&self) -> String {
            match serde_json::to_value(self) {
                Ok(serde_json::Value::String(word)) => word,
                Ok(serde_json::Value::Object(map)) => map.keys().next().cloned().unwrap_or_default(),
                _ => String::new(),
            }
        }
    }
}
