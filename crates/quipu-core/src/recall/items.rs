//! Scoring what was drawn from sources, beside the sources themselves.

use std::collections::{BTreeMap, BTreeSet};

use super::candidates::{Arm, Arms, Evidence};
use super::derived::{DerivedIndex, asked_by, sources, terms};
use super::plan::Plan;
use super::score::{Contributions, Features, features, score_max};
use super::select::{Hit, Scored};
use super::words::SCORE_MAX;
use crate::id::{ItemId, ItemKind};
use crate::item::{Fact, FactStatus};
use crate::memory::Memory;
use crate::{limit, time};

/// A drawn item that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedHit {
    /// The item.
    pub id: ItemId,
    /// The sum of the contributions.
    pub score: f32,
    /// The score as a part of the highest there can be, 0 … 1.
    pub relevance: f32,
    /// What its own words add, and what the passage it was read from adds.
    pub contributions: Contributions,
    /// The source it was read from that speaks most for it, by position in the memory's list; none if it was entered by
    /// hand.
    pub witness: Option<u32>,
    /// Who nominated it.
    pub arms: Arms,
}

/// From this cosine on a passage speaks for an item none of whose words were asked for.
const NEAR_COSINE: f32 = 0.3;

/// Sources of one item that are looked at beside those that were scored already.
const WITNESSES_MAX: usize = 8;

/// What a fact about somebody else than is asked about counts.
const OF_ANOTHER: f32 = -0.5;

/// Less than half of a question is another question.
const HALF: f32 = 0.5;

/// What the stage reads.
pub(super) struct Desk<'a> {
    pub(super) memory: &'a Memory,
    pub(super) derived: &'a DerivedIndex,
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) plan: &'a Plan,
    pub(super) weights: &'a Features,
}

impl Desk<'_> {
    /// The drawn items that answer, best first: those with the question's words, and those read from what was found.
    pub(super) fn found(&self, scored: &[Scored], hits: &[Hit]) -> Vec<DerivedHit> {
        let own = self.derived.words.score(&self.plan.asked).passages;
        let mut nominees: BTreeMap<ItemId, Arms> = BTreeMap::new();
        for id in self.by_words(&own) {
            nominees.entry(id).or_default().add(Arm::Words);
        }
        let found = hits.iter().take(limit::NOMINEES_PER_ARM);
        for source in found.filter_map(|hit| self.memory.sources().get(hit.ordinal as usize)) {
            for id in self.derived.read_from(source.source.id).filter(|id| self.admits(*id)) {
                nominees.entry(id).or_default().add(Arm::Evidence);
            }
        }
        let witnesses = self.witnesses(scored, nominees.keys().copied());
        let mut all: Vec<DerivedHit> = nominees
            .into_iter()
            .map(|(id, arms)| self.hit(id, arms, self.derived.own(&own, id), witnesses.get(&id).copied()))
            .filter(|hit| hit.score > 0.0 && self.speaks(hit))
            .collect();
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        all
    }

    /// True if its own words answer, or the passage it was read from is near in meaning: its session or date alone say
    /// nothing about it.
    fn speaks(&self, hit: &DerivedHit) -> bool {
        hit.contributions.n > 0.0 || hit.contributions.x >= self.weights.x * NEAR_COSINE
    }

    fn score(&self, features: &Features) -> f32 {
        features.weighed(self.weights).sum()
    }

    fn admits(&self, id: ItemId) -> bool {
        let filter = &self.plan.filter;
        // A story of one source is that source.
        let of_one =
            id.kind == ItemKind::Episode && self.memory.items().episode(id).is_some_and(|one| one.sources.len() < 2);
        let kind = if filter.kinds.is_empty() { !of_one } else { filter.kinds.contains(&id.kind) };
        kind && self.plan.validity.admits(self.memory.items(), id) && self.is_of_sessions(id)
    }

    fn is_of_sessions(&self, id: ItemId) -> bool {
        let wanted = &self.plan.filter.sessions;
        let said_there = |source: ItemId| {
            let held = self.memory.get(source);
            held.and_then(|held| held.source.session.as_ref()).is_some_and(|session| wanted.contains(session))
        };
        wanted.is_empty() || sources(self.memory.items(), id).into_iter().any(said_there)
    }

    fn is_asked_about(&self, id: ItemId) -> bool {
        let about = self.plan.about.as_ref();
        about.is_some_and(|about| self.memory.items().fact(id).is_some_and(|fact| about.is_of(fact)))
    }

    /// False for what held in the asked time and not at the moment that is meant: of homes before a move, the last is.
    fn is_near(&self, fact: &Fact) -> bool {
        !fact.single || self.plan.near.is_none_or(|near| fact.held_at(near))
    }

    /// How much of the question a fact answers, if it is about whom and what is asked: the share of the terms that are its
    /// own or its relation's. Less than 0 if it is about somebody else.
    fn holds(&self, fact: &Fact) -> f32 {
        let Some(about) = &self.plan.about else { return 0.0 };
        if !about.is_of(fact) {
            return if about.excludes(fact) { OF_ANOTHER } else { 0.0 };
        }
        if fact.status == FactStatus::Contested || self.plan.negation.over && fact.is_active() {
            return 0.0;
        }
        if self.plan.negation.leaves_out(&fact.text) {
            return OF_ANOTHER;
        }
        let relation = asked_by(&fact.predicate);
        let asked = &self.plan.asked;
        if !asked.iter().any(|term| relation.contains(term)) {
            return 0.0;
        }
        let own = terms(&fact.text);
        let covered = asked.iter().filter(|term| relation.contains(*term) || own.contains(term)).count();
        let share = covered as f32 / asked.len() as f32;
        if share < HALF || !self.is_near(fact) { 0.0 } else { share }
    }

    fn by_words(&self, own: &[f32]) -> Vec<ItemId> {
        let named = self.derived.entries.iter().zip(own).filter(|(_, score)| **score > 0.0);
        // Those about whom the question asks come first: a thousand people may live somewhere.
        let worth = |score: f32, id: ItemId| if self.is_asked_about(id) { score + SCORE_MAX } else { score };
        let mut found: Vec<(f32, ItemId)> =
            named.map(|(id, score)| (worth(*score, *id), *id)).filter(|(_, id)| self.admits(*id)).collect();
        let better = |a: &(f32, ItemId), b: &(f32, ItemId)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if found.len() > limit::NOMINEES_PER_ARM {
            found.select_nth_unstable_by(limit::NOMINEES_PER_ARM, better);
            found.truncate(limit::NOMINEES_PER_ARM);
        }
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// For each item the source that speaks most for it, its own words apart.
    fn witnesses(&self, scored: &[Scored], ids: impl Iterator<Item = ItemId>) -> BTreeMap<ItemId, (u32, Features)> {
        let index = self.evidence.index;
        let ordinals = &index.passages.ordinal;
        let mut known: BTreeMap<u32, Features> = BTreeMap::new();
        let mut wanted: Vec<(ItemId, Vec<u32>)> = Vec::new();
        let mut absent: BTreeSet<u32> = BTreeSet::new();
        for id in ids {
            let all = sources(self.memory.items(), id).into_iter().filter_map(|source| self.memory.find(source));
            let (mut of_item, mut looked_at) = (Vec::new(), 0);
            for ordinal in all {
                let at = scored.binary_search_by_key(&ordinal, |one| ordinals[one.passage as usize]);
                if let Ok(at) = at {
                    known.insert(ordinal, scored[at].features);
                } else if looked_at < WITNESSES_MAX {
                    looked_at += 1;
                    absent.insert(ordinal);
                } else {
                    continue;
                }
                of_item.push(ordinal);
            }
            wanted.push((id, of_item));
        }
        let passages: Vec<u32> = absent
            .iter()
            .flat_map(|ordinal| {
                let first = ordinals.partition_point(|other| other < ordinal);
                (first..ordinals.len()).take_while(move |&at| ordinals[at] == *ordinal).map(|at| at as u32)
            })
            .collect();
        let cosines = match self.evidence.vector {
            Some(query) => index.dense.cosines_at(query, &passages),
            None => vec![0.0; passages.len()],
        };
        for (&passage, cosine) in passages.iter().zip(cosines) {
            let found = features(self.evidence, passage, cosine);
            let best = known.entry(ordinals[passage as usize]).or_insert(found);
            if self.score(&found) > self.score(best) {
                *best = found;
            }
        }
        let besides = |found: &Features| self.score(&Features { n: 0.0, isq: 0.0, ..*found });
        let best = |(id, of_item): (ItemId, Vec<u32>)| {
            let found = of_item.into_iter().filter_map(|ordinal| Some((ordinal, *known.get(&ordinal)?)));
            let best = found.max_by(|a, b| besides(&a.1).total_cmp(&besides(&b.1)).then(b.0.cmp(&a.0)));
            best.map(|best| (id, best))
        };
        wanted.into_iter().filter_map(best).collect()
    }

    fn hit(&self, id: ItemId, arms: Arms, own: f32, witness: Option<(u32, Features)>) -> DerivedHit {
        let mut made_of = witness.map(|(_, found)| found).unwrap_or_default();
        made_of.n = own;
        made_of.isq = 0.0;
        if let Some(fact) = (id.kind == ItemKind::Fact).then(|| self.memory.items().fact(id)).flatten() {
            let started = fact.valid_from.map_or(0.0, |from| self.evidence.dates.of(time::day_number(from)));
            let counts = fact.status != FactStatus::Contested && self.is_near(fact);
            let held = if counts { self.plan.validity.share(fact) } else { 0.0 };
            made_of.date = made_of.date.max(started).max(held);
            let is_speakers = self.plan.speaker.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(&fact.subject));
            if is_speakers || self.is_asked_about(id) {
                made_of.spk = 1.0;
            }
            made_of.holds = self.holds(fact);
        }
        let made_of = made_of.weighed(self.weights);
        let (score, highest) = (made_of.sum(), score_max(self.weights));
        let relevance = if highest > 0.0 { (score / highest).clamp(0.0, 1.0) } else { 0.0 };
        DerivedHit { id, score, relevance, contributions: made_of, witness: witness.map(|(ordinal, _)| ordinal), arms }
    }
}
