//! Demotion: removes old items that are covered elsewhere from the active index. They stay in the ledger and the
//! memory, and recall falls back to them if the active index has no good match.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{GrowthContext, GrowthProposal, GrowthSubject, priority};
use crate::event::Change;
use crate::id::{ItemId, ItemKind};
use crate::item::{Demotion, DerivedChange, Episode, Fact, FactStatus, FactType, TenetChange, TenetStatus};
use crate::limit;
use crate::memory::{HeldSource, Memory};

impl GrowthContext<'_> {
    /// The items to demote, a few hundred per event.
    pub fn demotions(&self) -> Vec<GrowthProposal> {
        let mut cold = self.cold();
        cold.extend(self.faded(&cold));
        [(Demotion::Cold, cold), (Demotion::Idle, self.idle()), (Demotion::History, self.history())]
            .into_iter()
            .flat_map(|(because, items)| {
                items.chunks(limit::DEMOTED_PER_EVENT).map(|part| left(because, part)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Old turns covered by an episode of several turns.
    fn cold(&self) -> Vec<ItemId> {
        let items = self.memory().items();
        let told = |held: &&HeldSource| {
            let by = items.told_by(held.source.id).filter(|episode| !items.is_hidden(episode.id));
            by.is_some_and(|episode| episode.sources.len() > 1)
        };
        let turns = self.memory().sources().iter().filter(|held| held.source.kind() == ItemKind::Turn);
        let cold = turns.filter(|held| self.is_older(held.source.said_at, self.knobs.warm_days)).filter(told);
        cold.map(|held| held.source.id).filter(|id| self.may_leave(*id)).collect()
    }

    /// Old episodes of low priority that were not used lately. An episode is demoted only after all of its turns.
    fn faded(&self, leaving: &[ItemId]) -> Vec<ItemId> {
        let items = self.memory().items();
        let leaving: BTreeSet<ItemId> = leaving.iter().copied().collect();
        let out = |id: &ItemId| id.kind == ItemKind::Turn && (leaving.contains(id) || items.is_demoted(*id));
        let faded = |episode: &&Episode| {
            episode.sources.len() > 1
                && !items.is_hidden(episode.id)
                && self.is_older(priority::last_used(self.memory(), episode.id), self.knobs.warm_days)
                && priority::priority(self.memory(), episode.id, self.now()) < self.knobs.idle_priority_max
                && episode.sources.iter().all(out)
        };
        items.episodes().filter(faded).map(|episode| episode.id).filter(|id| self.may_leave(*id)).collect()
    }

    /// Facts of low priority that were not used lately, are not part of the profile, and are covered by an episode.
    fn idle(&self) -> Vec<ItemId> {
        let items = self.memory().items();
        let told = |fact: &Fact| {
            let mut by = fact.evidence.iter().filter_map(|at| items.told_by(at.source));
            by.any(|episode| episode.sources.len() > 1 && !items.is_hidden(episode.id))
        };
        let light = |fact: &&Fact| {
            fact.is_active()
                && fact.core_path.is_none()
                && fact.user_fact_score.is_none()
                && !matches!(fact.fact_type, FactType::Constraint | FactType::Identity)
                && !items.is_promoted(fact.id)
                && !items.is_hidden(fact.id)
                && self.is_older(priority::last_used(self.memory(), fact.id), self.knobs.warm_days)
                && priority::priority(self.memory(), fact.id, self.now()) < self.knobs.idle_priority_max
                && told(fact)
        };
        items.facts().filter(light).map(|fact| fact.id).filter(|id| self.may_leave(*id)).collect()
    }

    /// Superseded values of a slot beyond the most recent ones.
    fn history(&self) -> Vec<ItemId> {
        let items = self.memory().items();
        let mut slots: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
        for fact in items.facts().filter(|fact| fact.status == FactStatus::Superseded && !items.is_hidden(fact.id)) {
            slots.entry(&fact.slot).or_default().push(fact);
        }
        let mut old = Vec::new();
        for mut versions in slots.into_values() {
            versions.sort_by_cached_key(|fact| (fact.valid_to, fact.last_seen, items.creation_order(fact.id)));
            let beyond = versions.len().saturating_sub(self.knobs.versions_kept);
            old.extend(versions[..beyond].iter().map(|fact| fact.id).filter(|id| self.may_leave(*id)));
        }
        old
    }

    /// False for items that are demoted already, marked by a person, or shown recently.
    fn may_leave(&self, id: ItemId) -> bool {
        let items = self.memory().items();
        let marks = self.memory().marks(id);
        let shown = items.hits(id).last_hit_at.is_some_and(|at| !self.is_older(Some(at), self.knobs.warm_days));
        !items.is_demoted(id) && !self.taken_back.has_demoted(id) && !marks.pinned && marks.rating <= 0 && !shown
    }

    /// Tenets whose evidence is no longer active: they stay in the history but are not shown by default.
    pub fn outdated(&self) -> Vec<GrowthProposal> {
        let items = self.memory().items();
        // A merged fact holds as long as the fact it was merged into.
        let last = |id: ItemId| {
            std::iter::successors(Some(id), |id| items.merged_into(*id)).take(limit::MERGES_FOLLOWED_MAX).last()
        };
        let holds = |id: &ItemId| last(*id).and_then(|id| items.fact(id)).is_some_and(Fact::is_active);
        let groundless = |evidence: &[ItemId]| {
            let mut facts = evidence.iter().filter(|id| id.kind == ItemKind::Fact).peekable();
            facts.peek().is_some() && !facts.any(holds)
        };
        let standing = items.tenets().filter(|tenet| tenet.status != TenetStatus::Outdated);
        let found = standing.filter(|tenet| !items.is_hidden(tenet.id) && !self.memory().marks(tenet.id).pinned);
        found
            .filter(|tenet| groundless(&tenet.evidence))
            .map(|tenet| {
                let change = TenetChange { tenet: tenet.id, status: Some(TenetStatus::Outdated), text: None };
                GrowthProposal {
                    what: GrowthSubject::Outdated,
                    items: vec![tenet.id],
                    text: tenet.text.clone(),
                    because: "its evidence no longer holds".to_owned(),
                    changes: vec![Change::Drawn(DerivedChange::TenetChanged(change))],
                }
            })
            .collect()
    }
}

fn left(because: Demotion, items: &[ItemId]) -> GrowthProposal {
    let (count, items) = (items.len(), items.to_vec());
    let (text, why) = match because {
        Demotion::Cold => {
            let stories = items.iter().filter(|id| id.kind == ItemKind::Episode).count();
            let turns = counted(count - stories, "old turn", "old turns");
            let stories = counted(stories, "old story", "old stories");
            let text: Vec<String> = [turns, stories].into_iter().flatten().collect();
            (text.join(" and "), "covered by episodes, or not used lately")
        }
        Demotion::Idle => (
            counted(count, "statement of little weight", "statements of little weight").unwrap_or_default(),
            "covered by episodes and not used lately",
        ),
        Demotion::History => {
            (counted(count, "past value", "past values").unwrap_or_default(), "newer ones are kept at hand")
        }
    };
    let changes = vec![Change::Drawn(DerivedChange::ItemsDemoted { items: items.clone(), because })];
    GrowthProposal { what: GrowthSubject::Demoted, items, text, because: why.to_owned(), changes }
}

/// `1 old turn`, `2 old turns`; none for 0.
fn counted(number: usize, one: &str, many: &str) -> Option<String> {
    (number > 0).then(|| format!("{number} {}", if number == 1 { one } else { many }))
}

/// Size of the active index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActiveIndex {
    /// Items that recall can return: sources and derived items.
    pub items: usize,
    /// Those of them in the active index.
    pub active: usize,
}

/// Counts the items that recall can return, and those in the active index.
pub fn active_index(memory: &Memory) -> ActiveIndex {
    const DRAWN: [ItemKind; 5] = [ItemKind::Fact, ItemKind::Episode, ItemKind::Task, ItemKind::Note, ItemKind::Tenet];
    let said = memory.sources().iter().filter(|held| held.source.is_item()).map(|held| held.source.id);
    // An episode of one source is equivalent to the source.
    let of_one = |id: &ItemId| memory.items().episode(*id).is_some_and(|one| one.sources.len() < 2);
    let drawn = memory.items().ids().filter(|id| DRAWN.contains(&id.kind) && !memory.items().is_hidden(*id));
    let drawn = drawn.filter(|id| !of_one(id));
    let all: BTreeSet<ItemId> = said.chain(drawn).collect();
    let out = all.iter().filter(|id| memory.items().is_demoted(**id)).count();
    ActiveIndex { items: all.len(), active: all.len() - out }
}
