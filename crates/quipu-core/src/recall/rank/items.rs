//! Scores derived items beside the sources.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::calendar::day_number;
use crate::id::{ItemId, ItemKind};
use crate::item::{Fact, FactStatus, FactType, Task};
use crate::limit;
use crate::memory::Memory;
use crate::recall::index::derived::{DerivedIndex, asked_by, each_source, sources, terms_in};
use crate::recall::index::words::SCORE_MAX;
use crate::recall::query::plan::QueryPlan;
use crate::recall::rank::candidates::{Arm, Arms, Evidence};
use crate::recall::rank::score::{Contributions, Features, features, score_max};
use crate::recall::rank::select::{Hit, Scored};
use crate::source::Source;

/// A derived item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedHit {
    /// The item.
    pub id: ItemId,
    /// The sum of the contributions.
    pub score: f32,
    /// The score as a share of the maximum, 0 … 1.
    pub relevance: f32,
    /// The contributions of its own words and of the passage it was read from.
    pub contributions: Contributions,
    /// The source that supports it most, by position in the memory's list; `None` if it was entered by hand.
    pub witness: Option<u32>,
    /// The arms that nominated it.
    pub arms: Arms,
}

/// Minimum cosine at which a passage supports an item without any of the question's words.
const NEAR_COSINE: f32 = 0.3;

/// Maximum number of an item's sources to examine besides those already scored.
const WITNESSES_MAX: usize = 8;

/// Value of [`Features::holds`] for a fact about someone other than the person in question.
const OF_ANOTHER: f32 = -0.5;

/// Conciseness of a statement, see [`Features::concise`].
const OF_A_STATEMENT: f32 = 0.65;

/// Typical cosine of a question and a passage that answers it.
const AS_AN_ANSWER: f32 = 0.6;

/// Added to the cosine of a task that is asked for and due today, in proportion less for one due later.
const DUE_SPAN: f32 = 0.3;
/// Later due days count as no due day.
const DUE_DAYS_MAX: i32 = 365;

/// Minimum share of the question's terms.
const HALF: f32 = 0.5;

/// The input of this stage.
pub(in crate::recall) struct ItemScoringContext<'a> {
    pub(in crate::recall) memory: &'a Memory,
    pub(in crate::recall) derived: &'a DerivedIndex,
    pub(in crate::recall) evidence: &'a Evidence<'a>,
    pub(in crate::recall) plan: &'a QueryPlan,
    pub(in crate::recall) weights: &'a Features,
    /// Items that are not searched.
    pub(in crate::recall) out: Option<&'a BTreeSet<ItemId>>,
}

impl ItemScoringContext<'_> {
    /// The derived items that answer, best first: those with the question's words, and those read from nominated
    /// sources.
    pub(in crate::recall) fn found(&self, scored: &[Scored], hits: &[Hit]) -> Vec<DerivedHit> {
        let own = self.derived.words.score(&self.plan.asked, &self.plan.other_stems).passages;
        let found = hits.iter().take(self.nominees());
        let found = found.filter_map(|hit| self.evidence.index.items.get(hit.ordinal as usize));
        // An item may have many sources: each item is examined once.
        let mut read: Vec<ItemId> = found.flat_map(|source| self.derived.read_from(*source)).collect();
        read.retain(|id| self.derived.is_searched(*id));
        read.sort_unstable();
        read.dedup();
        let by_words = self.by_words(&own).into_iter().map(|id| (id, Arm::Words));
        let mut nominees: Vec<(ItemId, Arm)> = by_words.collect();
        nominees.extend(read.into_iter().filter(|id| self.admits(*id)).map(|id| (id, Arm::Evidence)));
        if self.plan.form.tasks {
            let mut open: Vec<&Task> = self.memory.items().tasks().filter(|task| self.is_asked_for(task)).collect();
            open.sort_by_key(|task| (task.due.is_none(), task.due, task.id));
            let open = open.into_iter().map(|task| task.id).filter(|id| self.admits(*id)).take(self.nominees());
            nominees.extend(open.map(|id| (id, Arm::Words)));
        }
        nominees.sort_unstable_by_key(|(id, arm)| (*id, *arm as u8));
        let items: Vec<(ItemId, Arms)> = nominees
            .chunk_by(|(one, _), (other, _)| one == other)
            .map(|same| {
                let mut arms = Arms::default();
                same.iter().for_each(|(_, arm)| arms.add(*arm));
                (same[0].0, arms)
            })
            .collect();
        let witnesses = self.witnesses(scored, items.iter().map(|(id, _)| *id));
        let mut all: Vec<DerivedHit> = items
            .into_iter()
            .zip(witnesses)
            .map(|((id, arms), witness)| self.hit(id, arms, self.derived.own(&own, id), witness))
            .filter(|hit| hit.score > 0.0 && self.speaks(hit))
            .collect();
        let number = |hit: &DerivedHit| self.derived.number(hit.id);
        all.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| number(a).cmp(&number(b))));
        all
    }

    fn nominees(&self) -> usize {
        self.plan.k.max(limit::DRAWN_NOMINEES_PER_ARM)
    }

    /// Returns true for an open task, if the question asks for those.
    fn is_asked_for(&self, task: &Task) -> bool {
        self.plan.form.tasks && task.status.is_open()
    }

    /// Returns true if its own words match or its passage is near in meaning. A matching session or date alone is not
    /// enough.
    fn speaks(&self, hit: &DerivedHit) -> bool {
        hit.contributions.n > 0.0 || hit.contributions.x >= self.weights.x * NEAR_COSINE
    }

    fn score(&self, features: &Features) -> f32 {
        features.weighed(self.weights).sum()
    }

    fn admits(&self, id: ItemId) -> bool {
        let filter = &self.plan.filter;
        // An episode of one source is equivalent to that source.
        let of_one =
            id.kind == ItemKind::Episode && self.memory.items().episode(id).is_some_and(|one| one.sources.len() < 2);
        let kind = if filter.kinds.is_empty() { !of_one } else { filter.kinds.contains(&id.kind) };
        let asleep = self.out.is_some_and(|out| out.contains(&id));
        kind && !asleep && self.plan.admits(self.memory.items(), id) && self.is_said_there(id)
    }

    fn is_said_there(&self, id: ItemId) -> bool {
        let filter = &self.plan.filter;
        let said_there = |source: ItemId| {
            let Some(Source { session, .. }) = self.memory.get(source).map(|held| &held.source) else { return false };
            let day = || self.memory.get(source).and_then(|held| held.source.local_time()).map(day_number);
            let is_of_session = session.as_ref().is_some_and(|session| filter.sessions.contains(session));
            (filter.sessions.is_empty() || is_of_session)
                && (filter.days.is_none() || day().is_some_and(|day| filter.admits_day(day)))
        };
        filter.sessions.is_empty() && filter.days.is_none()
            || sources(self.memory.items(), id).into_iter().any(said_there)
    }

    fn is_asked_about(&self, fact: &Fact) -> bool {
        self.plan.about.as_ref().is_some_and(|about| about.is_of(fact))
    }

    /// Returns false for a fact that held in the requested time but not at the preferred moment: of homes before a
    /// move, the last is meant.
    fn is_near(&self, fact: &Fact) -> bool {
        !fact.single || self.plan.near.is_none_or(|near| fact.held_at(near))
    }

    /// How much of the question a fact about the person in question answers: the share of the terms that occur in it or
    /// in its predicate's wording. Negative if it is about someone else.
    fn holds(&self, fact: &Fact, is_asked_about: bool) -> f32 {
        let Some(about) = &self.plan.about else { return 0.0 };
        if !is_asked_about {
            return if about.excludes_other(fact, self.derived.wording(fact.id)) { OF_ANOTHER } else { 0.0 };
        }
        if fact.status == FactStatus::Contested || self.plan.negation.over && fact.is_active() {
            return 0.0;
        }
        if self.plan.negation.leaves_out(&fact.text) {
            return OF_ANOTHER;
        }
        // What has not begun is no answer to a question about the present, unless it is a plan or an appointment.
        let is_ahead = fact.valid_from.zip(self.plan.near.or(self.plan.now)).is_some_and(|(from, at)| from > at);
        if is_ahead && !self.plan.form.ahead && !matches!(fact.fact_type, FactType::Commitment | FactType::Event) {
            return 0.0;
        }
        let relation = asked_by(&fact.predicate);
        let asked = &self.plan.asked;
        if !asked.iter().any(|term| relation.contains(term)) {
            return 0.0;
        }
        let own = terms_in(&fact.text, self.plan.language);
        let covered = asked.iter().filter(|term| relation.contains(*term) || own.contains(term)).count();
        let share = covered as f32 / asked.len() as f32;
        if share < HALF || !self.is_near(fact) { 0.0 } else { share }
    }

    fn by_words(&self, own: &[f32]) -> Vec<ItemId> {
        let named = self.derived.entries.iter().zip(own).filter(|(_, score)| **score > 0.0);
        let mut found: Vec<(f32, ItemId)> =
            named.map(|(id, score)| (*score, *id)).filter(|(_, id)| self.admits(*id)).collect();
        let nominees = self.nominees();
        if found.len() > nominees {
            // Facts about the person in question come first: a thousand people may live somewhere.
            let of_them = |id: ItemId| self.memory.items().fact(id).is_some_and(|fact| self.is_asked_about(fact));
            let asked_about = found.iter_mut().filter(|(_, id)| of_them(*id));
            asked_about.for_each(|(score, _)| *score += SCORE_MAX);
            let number = |one: &(f32, ItemId)| self.derived.number(one.1);
            let better =
                |a: &(f32, ItemId), b: &(f32, ItemId)| b.0.total_cmp(&a.0).then_with(|| number(a).cmp(&number(b)));
            found.select_nth_unstable_by(nominees, better);
            found.truncate(nominees);
        }
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// For each item, the source that supports it most, apart from its own words.
    fn witnesses(&self, scored: &[Scored], ids: impl Iterator<Item = ItemId>) -> Vec<Option<(u32, Features)>> {
        let ordinals = &self.evidence.index.passages.ordinal;
        let of = |at: usize| ordinals[scored[at].passage as usize];
        // If every passage was scored, a source may be at its own position.
        let place = |ordinal: u32| match scored.get(ordinal as usize) {
            Some(one) if ordinals[one.passage as usize] == ordinal => Some(ordinal as usize),
            _ => scored.binary_search_by_key(&ordinal, |one| ordinals[one.passage as usize]).ok(),
        };
        let mut wanted: Vec<(Vec<usize>, Vec<u32>)> = Vec::new();
        for id in ids {
            let (mut known, mut absent) = (Vec::new(), Vec::new());
            each_source(self.memory.items(), id, &mut |source| {
                let Some(ordinal) = self.memory.find(source) else { return };
                match place(ordinal) {
                    Some(at) => known.push(at),
                    None if absent.len() < WITNESSES_MAX => absent.push(ordinal),
                    None => {}
                }
            });
            wanted.push((known, absent));
        }
        let looked_up = self.looked_up(wanted.iter().flat_map(|(_, absent)| absent.iter().copied()));
        let besides = |found: &Features| self.score(&Features { n: 0.0, isq: 0.0, ..*found });
        let mut worth: Vec<Option<f32>> = vec![None; scored.len()];
        let best = |(known, absent): (Vec<usize>, Vec<u32>)| {
            let mut best: Option<(f32, u32, Features)> = None;
            let mut offer = |value: f32, ordinal: u32, features: &Features| {
                let better = best.as_ref().is_none_or(|(most, other, _)| match value.total_cmp(most) {
                    Ordering::Equal => ordinal < *other,
                    order => order == Ordering::Greater,
                });
                if better {
                    best = Some((value, ordinal, *features));
                }
            };
            for at in known {
                let value = *worth[at].get_or_insert_with(|| besides(&scored[at].features));
                offer(value, of(at), &scored[at].features);
            }
            for ordinal in absent {
                if let Some(found) = looked_up.get(&ordinal) {
                    offer(besides(found), ordinal, found);
                }
            }
            best.map(|(_, ordinal, features)| (ordinal, features))
        };
        wanted.into_iter().map(best).collect()
    }

    /// The features of the best passage of each of these sources, which were not scored.
    fn looked_up(&self, ordinals_wanted: impl Iterator<Item = u32>) -> BTreeMap<u32, Features> {
        let index = self.evidence.index;
        let ordinals = &index.passages.ordinal;
        let absent: BTreeSet<u32> = ordinals_wanted.collect();
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
        let near = self.evidence.near(&passages, None);
        let mut known: BTreeMap<u32, Features> = BTreeMap::new();
        for ((&passage, cosine), near) in passages.iter().zip(cosines).zip(near) {
            let found = features(self.evidence, passage, cosine, near);
            let best = known.entry(ordinals[passage as usize]).or_insert(found);
            if self.score(&found) > self.score(best) {
                *best = found;
            }
        }
        known
    }

    fn hit(&self, id: ItemId, arms: Arms, own: f32, witness: Option<(u32, Features)>) -> DerivedHit {
        let mut made_of = witness.map(|(_, found)| found).unwrap_or_default();
        made_of.n = own;
        made_of.isq = 0.0;
        if let Some(fact) = (id.kind == ItemKind::Fact).then(|| self.memory.items().fact(id)).flatten() {
            let started = fact.valid_from.map_or(0.0, |from| self.evidence.dates.of(day_number(from)));
            let counts = fact.status != FactStatus::Contested && self.is_near(fact);
            let held = if counts { self.plan.validity.share(fact) } else { 0.0 };
            made_of.date = made_of.date.max(started).max(held);
            let is_speakers = self.plan.speaker.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(&fact.subject));
            let is_asked_about = self.is_asked_about(fact);
            if is_speakers || is_asked_about {
                made_of.spk = 1.0;
            }
            made_of.holds = self.holds(fact, is_asked_about);
        }
        if let Some(task) = self.memory.items().task(id).filter(|task| self.is_asked_for(task)) {
            // The nearest due days first.
            let late = self.plan.now.zip(task.due).map_or(1.0, |(now, due)| {
                let days = (day_number(due) - day_number(now)).clamp(0, DUE_DAYS_MAX);
                days as f32 / (DUE_DAYS_MAX + 1) as f32
            });
            (made_of.holds, made_of.spk) = (1.0, 1.0);
            made_of.x = AS_AN_ANSWER + DUE_SPAN * (1.0 - late);
            (made_of.late, made_of.late_near) = (made_of.x, made_of.x);
        }
        if witness.is_none() && made_of.x == 0.0 {
            // An item entered by hand has no passage; its share of the question stands in for the cosine.
            made_of.own = 1.0;
            made_of.concise = OF_A_STATEMENT;
            let answered = AS_AN_ANSWER * made_of.holds.max(0.0);
            (made_of.x, made_of.late, made_of.late_near) = (answered, answered, answered);
        }
        let made_of = made_of.weighed(self.weights);
        let (score, highest) = (made_of.sum(), score_max(self.weights));
        let relevance = if highest > 0.0 { (score / highest).clamp(0.0, 1.0) } else { 0.0 };
        DerivedHit { id, score, relevance, contributions: made_of, witness: witness.map(|(ordinal, _)| ordinal), arms }
    }
}
