//! Orders answers by relevance, confidence and priority, and diversifies them.

use jiff::Timestamp;
use serde::Serialize;

use crate::episode::affect;
use crate::event::SourceKind;
use crate::id::{ItemId, ItemKind};
use crate::item::FactType;
use crate::limit;
use crate::memory::Memory;
use crate::recall::index::passage_index::Index;
use crate::recall::rank::group::{AnswerGroup, GroupLead};
use crate::recall::rank::items::DerivedHit;
use crate::recall::rank::profile::{Confidence, Order, Profile, Similarity};

/// The scores of an answer, each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageScores {
    /// Similarity to the question.
    pub query: f64,
    /// Cosine with the active goal.
    pub goal: f64,
    /// Similarity of the valence of question and answer.
    pub emotion: f64,
    /// `exp(−age / τ)`; 0 if its time is unknown.
    pub recency: f64,
    /// `1 − exp(−times seen / 3)`.
    pub frequency: f64,
    /// Importance by kind and type.
    pub importance: f64,
    /// Weighted sum of the scores above.
    pub relevance: f64,
    /// Confidence, 0 to 1.
    pub confidence: f64,
    /// Relevance × confidence.
    pub priority: f64,
}

/// Minimum cosine of two agreeing passages.
const AGREES_COSINE: f32 = 0.8;
/// Number of agreeing passages that counts as full agreement.
const FULL_AGREEMENT: f64 = 3.0;
/// Base confidence of a source's own words: they were certainly said, but may be wrong.
const SAID_CONFIDENCE: f64 = 0.9;
/// Minimum absolute valence of a text with a sentiment.
const FEELING_MIN: f64 = 0.05;

/// Default importance of items without one of their own.
const OF_SMALL_TALK: f64 = 0.2;
const OF_A_NOTE: f64 = 0.4;
const OF_A_TENET: f64 = 0.7;
const OF_SAFETY: f64 = 0.9;

/// `w_b · base + w_s · cosine + w_v · agreement + w_p · reliability`, 0 to 1.
///
/// `base` is the confidence of the item before any question, `votes` the number of the best passages that agree or how
/// often it was said, `reliability` the share of correct statements of its kind of source.
pub fn confidence(weights: &Confidence, base: f64, cosine: f32, votes: u32, reliability: f64) -> f64 {
    let agreement = (f64::from(votes) / FULL_AGREEMENT).min(1.0);
    let cosine = f64::from(cosine.clamp(0.0, 1.0));
    let sum =
        weights.base * base + weights.similarity * cosine + weights.votes * agreement + weights.source * reliability;
    sum.clamp(0.0, 1.0)
}

/// Priority of an item (see the glossary): `½ recency + .3 importance + .2 ln(1 + hits) / k`.
///
/// Items with the lowest priority are demoted first. `k` is `ln(1 + hits)` at which use counts fully.
pub fn rif(recency: f64, importance: f64, hits: u64, k: f64) -> f64 {
    0.5 * recency + 0.3 * importance + 0.2 * (1.0 + hits as f64).ln() / k
}

/// `exp(−Δt / τ)`; future times count as now.
pub fn recency(now: Timestamp, then: Timestamp, tau_days: f64) -> f64 {
    let days = now.duration_since(then).as_secs_f64().max(0.0) / 86_400.0;
    (-days / tau_days).exp()
}

/// `1 − exp(−seen / 3)`.
pub fn frequency(seen: u32) -> f64 {
    1.0 - (-f64::from(seen) / 3.0).exp()
}

/// Number of equal parts of a memory's time.
const STRETCHES: usize = 10;

/// The input of the ranking.
pub(in crate::recall) struct RankContext<'a> {
    pub(in crate::recall) memory: &'a Memory,
    pub(in crate::recall) index: &'a Index,
    pub(in crate::recall) profile: &'a Profile,
    /// Weight of the cosine in the score, to recover the cosine from its contribution.
    pub(in crate::recall) cosine_weight: f32,
    /// The maximum score.
    pub(in crate::recall) score_max: f32,
    pub(in crate::recall) now: Option<Timestamp>,
    pub(in crate::recall) question: &'a str,
    /// The active goal's vector.
    pub(in crate::recall) goal: Option<&'a [f32]>,
}

impl RankContext<'_> {
    /// Computes the scores of every answer, orders the answers and keeps the best `k`.
    pub(in crate::recall) fn rank(&self, groups: &mut Vec<AnswerGroup>, k: usize) {
        let passages: Vec<Option<u32>> = groups.iter().map(|group| passage(self.index, &group.lead)).collect();
        let by_priority = self.profile.order == Order::Priority;
        let agreement = Agreement::new(self.index, &passages, if by_priority { passages.len() } else { k });
        let goal = self.goals();
        let feels = self.feeling(self.question);
        for (group, passage) in groups.iter_mut().zip(&passages) {
            let made_of = match &group.lead {
                GroupLead::Source(hit) => &hit.contributions,
                GroupLead::Derived(hit) => &hit.contributions,
            };
            group.cosine = if self.cosine_weight > 0.0 { made_of.x / self.cosine_weight } else { 0.0 };
            if by_priority {
                group.votes = agreement.with(*passage);
            }
            group.standing = self.standing(group, *passage, &goal, feels);
        }
        let value = |group: &AnswerGroup| match self.profile.order {
            Order::Relevance => group.standing.relevance,
            Order::Priority => group.standing.priority,
        };
        let mut order: Vec<usize> = (0..groups.len()).collect();
        // Stable: ties keep their order by score and creation.
        order.sort_by(|&a, &b| value(&groups[b]).total_cmp(&value(&groups[a])));
        if self.profile.diversity < 1.0 {
            let values: Vec<f64> = groups.iter().map(value).collect();
            order = self.diverse(&order, &values, &passages, k);
        }
        order.truncate(k);
        let mut taken: Vec<Option<AnswerGroup>> = std::mem::take(groups).into_iter().map(Some).collect();
        groups.extend(order.iter().filter_map(|&at| taken[at].take()));
        if !by_priority {
            // Votes do not affect this order, so they are computed only for returned answers.
            for (group, &at) in groups.iter_mut().zip(&order) {
                group.votes = agreement.with(passages[at]);
                group.standing = self.standing(group, passages[at], &goal, feels);
            }
        }
    }

    /// Orders answers by relevance and time: `by` is added for what was said last, and in proportion for what was said
    /// earlier.
    pub(in crate::recall) fn lean(&self, groups: &mut [AnswerGroup], by: f64) {
        let last = self.memory.sources().len().max(1) as f64;
        let value =
            |group: &AnswerGroup| group.standing.relevance + ordinal(group).map_or(0.0, |at| by * at as f64 / last);
        // Stable: ties keep their order.
        groups.sort_by(|a, b| value(b).total_cmp(&value(a)));
    }

    /// Spreads answers over the time of the memory: the best of each of [`STRETCHES`] parts, then the second of each,
    /// and so on.
    pub(in crate::recall) fn spread(&self, groups: &mut [AnswerGroup]) {
        let last = self.memory.sources().len().max(1);
        let stretch = |group: &AnswerGroup| ordinal(group).map_or(0, |at| (at * STRETCHES / last).min(STRETCHES - 1));
        let mut met = [0usize; STRETCHES];
        let mut keyed: Vec<(usize, AnswerGroup)> = Vec::with_capacity(groups.len());
        for group in groups.iter() {
            let at = stretch(group);
            keyed.push((met[at], group.clone()));
            met[at] += 1;
        }
        // Stable: within a round the better one stays first.
        keyed.sort_by_key(|(round, _)| *round);
        groups.iter_mut().zip(keyed).for_each(|(place, (_, group))| *place = group);
    }

    fn standing(
        &self,
        group: &AnswerGroup,
        passage: Option<u32>,
        goals: &[Vec<i8>],
        feels: Option<f64>,
    ) -> UsageScores {
        let about = self.about(group);
        let weights = &self.profile.relevance;
        let query = match self.profile.similarity {
            Similarity::Match if self.score_max > 0.0 => f64::from((group.place / self.score_max).clamp(0.0, 1.0)),
            Similarity::Match => 0.0,
            Similarity::Cosine => f64::from(group.cosine.clamp(0.0, 1.0)),
        };
        // Skip scores of weight 0.
        let goal = if weights.goal > 0.0 { self.nearest(passage, goals) } else { 0.0 };
        let felt = feels.filter(|_| weights.emotion > 0.0).and_then(|one| Some((one, self.feeling(about.text)?)));
        let emotion = felt.map_or(0.0, |(one, other)| 1.0 - (one - other).abs() / 2.0);
        let tau = if about.lasting { self.profile.aging.profile_days } else { self.profile.aging.episodic_days };
        let recency = self.now.zip(about.time).map_or(0.0, |(now, then)| recency(now, then, tau));
        let (frequency, importance) = (frequency(about.seen), about.importance);
        let relevance = weights.query * query
            + weights.goal * goal
            + weights.emotion * emotion
            + weights.recency * recency
            + weights.frequency * frequency
            + weights.importance * importance;
        let votes = group.votes.max(about.seen);
        let confidence = confidence(&self.profile.confidence, about.base, group.cosine, votes, about.reliability);
        let priority = relevance * confidence;
        UsageScores { query, goal, emotion, recency, frequency, importance, relevance, confidence, priority }
    }

    /// The valence of a text, −1 to 1; `None` if it is neutral.
    fn feeling(&self, text: &str) -> Option<f64> {
        if self.profile.relevance.emotion <= 0.0 {
            return None;
        }
        Some(affect::of_text(text).valence).filter(|valence| valence.abs() >= FEELING_MIN)
    }

    /// The vector of the given goal, else of the passage that stated the user's most pressing goal.
    fn goals(&self) -> Vec<Vec<i8>> {
        if self.profile.relevance.goal <= 0.0 {
            return Vec::new();
        }
        if let Some(given) = self.goal {
            return crate::recall::index::dense::quantise(given).into_iter().map(|(_, steps)| steps).collect();
        }
        let items = self.memory.items();
        let open = items.tasks().filter(|task| task.is_open_goal() && !items.is_hidden(task.id));
        // Of equal ones, the one stated last.
        let pressing = open.max_by_key(|task| (task.priority, task.updated_at, items.creation_order(task.id)));
        let told = pressing.and_then(|goal| goal.evidence.last()).and_then(|place| self.memory.find(place.source));
        let passage = told.and_then(|ordinal| first_passage(self.index, ordinal));
        passage.and_then(|passage| self.index.vector(passage)).map(|vector| vector.steps.to_vec()).into_iter().collect()
    }

    fn nearest(&self, passage: Option<u32>, goals: &[Vec<i8>]) -> f64 {
        let Some(vector) = passage.and_then(|passage| self.index.vector(passage)) else { return 0.0 };
        goals.iter().map(|goal| f64::from(cosine(goal, vector.steps).clamp(0.0, 1.0))).fold(0.0, f64::max)
    }

    /// Maximal marginal relevance: repeatedly takes the answer with the highest
    /// `λ · relevance − (1 − λ) · greatest cosine` to those taken.
    fn diverse(&self, order: &[usize], values: &[f64], passages: &[Option<u32>], k: usize) -> Vec<usize> {
        let lambda = self.profile.diversity;
        let vector = |at: usize| passages[at].and_then(|passage| self.index.vector(passage));
        let mut rest: Vec<(usize, f64)> = order.iter().take(limit::DIVERSIFIED).map(|&at| (at, 0.0)).collect();
        let mut taken = Vec::with_capacity(rest.len());
        while !rest.is_empty() && taken.len() < k {
            let worth = |(at, like): &(usize, f64)| lambda * values[*at] - (1.0 - lambda) * like;
            // Ties keep their order.
            let best =
                (1..rest.len()).fold(0, |best, at| if worth(&rest[at]) > worth(&rest[best]) { at } else { best });
            let (chosen, _) = rest.remove(best);
            if let Some(one) = vector(chosen) {
                for (at, like) in &mut rest {
                    let other = vector(*at).map_or(0.0, |other| f64::from(likeness(&one, &other)));
                    *like = like.max(other);
                }
            }
            taken.push(chosen);
        }
        taken.extend(order.iter().skip(limit::DIVERSIFIED));
        taken
    }

    fn about(&self, group: &AnswerGroup) -> About<'_> {
        match &group.lead {
            GroupLead::Source(hit) => {
                let held = &self.memory.sources()[hit.ordinal as usize];
                let source = &held.source;
                About {
                    text: &source.text,
                    time: source.said_at,
                    lasting: false,
                    seen: 1,
                    importance: OF_SMALL_TALK,
                    base: SAID_CONFIDENCE,
                    reliability: held.from.reliability(),
                }
            }
            GroupLead::Derived(hit) => about_item(self.memory, hit.id, hit.witness),
        }
    }
}

/// Position of the source of an answer.
fn ordinal(group: &AnswerGroup) -> Option<usize> {
    match &group.lead {
        GroupLead::Source(hit) => Some(hit.ordinal as usize),
        GroupLead::Derived(hit) => hit.witness.map(|ordinal| ordinal as usize),
    }
}

/// Counts the best passages that agree.
struct Agreement<'a> {
    index: &'a Index,
    among: Vec<u32>,
    /// By position in `among`, if most of them are needed.
    votes: Option<Vec<u32>>,
}

impl<'a> Agreement<'a> {
    /// Prepares the passages of the answers, of which `asked` are needed.
    fn new(index: &'a Index, passages: &[Option<u32>], asked: usize) -> Self {
        let among: Vec<u32> = passages.iter().flatten().copied().take(limit::NOMINEES_PER_ARM).collect();
        let votes = (2 * asked >= among.len()).then(|| among_themselves(index, &among));
        Self { index, among, votes }
    }

    /// Number of passages that agree with this one, including itself.
    fn with(&self, own: Option<u32>) -> u32 {
        let Some(own) = own else { return 0 };
        let known = self.votes.as_ref().zip(self.among.iter().position(|&other| other == own));
        known.map_or_else(
            || {
                let cosines = self.among.iter().zip(self.index.dense.cosines_with(own, &self.among));
                let agrees = |&(other, cosine): &(&u32, f32)| *other != own && cosine >= AGREES_COSINE;
                1 + cosines.filter(agrees).count() as u32
            },
            |(votes, at)| votes[at],
        )
    }
}

/// For each passage, the number of those that agree with it, including itself. Each pair is compared once.
fn among_themselves(index: &Index, among: &[u32]) -> Vec<u32> {
    let mut votes = vec![1; among.len()];
    for (at, &own) in among.iter().enumerate() {
        for (other, agree) in (at + 1..).zip(index.dense.agreements(own, &among[at + 1..], AGREES_COSINE)) {
            if among[other] != own {
                votes[at] += u32::from(agree[0]);
                votes[other] += u32::from(agree[1]);
            }
        }
    }
    votes
}

/// The scores of an item independent of a question.
pub fn unasked(memory: &Memory, hit: &DerivedHit) -> UsageScores {
    let about = about_item(memory, hit.id, hit.witness);
    let weights = Profile::default().confidence;
    let confidence = confidence(&weights, about.base, 0.0, about.seen, about.reliability);
    UsageScores { confidence, importance: about.importance, frequency: frequency(about.seen), ..UsageScores::default() }
}

fn about_item(memory: &Memory, id: ItemId, witness: Option<u32>) -> About<'_> {
    let items = memory.items();
    let held = witness.and_then(|ordinal| memory.sources().get(ordinal as usize));
    let plain = About {
        text: items.text(id).unwrap_or_default(),
        time: held.and_then(|held| held.source.said_at),
        lasting: false,
        seen: 1,
        importance: OF_SMALL_TALK,
        base: SAID_CONFIDENCE,
        reliability: held.map_or(SourceKind::UserEdited, |held| held.from).reliability(),
    };
    match id.kind {
        ItemKind::Fact => items.fact(id).map(|fact| About {
            time: fact.last_seen,
            lasting: true,
            seen: fact.seen_count,
            importance: match fact.fact_type {
                FactType::Constraint => fact.intrinsic_importance.max(OF_SAFETY),
                _ => fact.intrinsic_importance,
            },
            base: fact.confidence_base,
            ..plain
        }),
        ItemKind::Note => items.note(id).map(|note| About {
            lasting: true,
            seen: note.votes.max(1),
            importance: OF_A_NOTE,
            base: note.confidence_base,
            ..plain
        }),
        ItemKind::Tenet => Some(About { lasting: true, importance: OF_A_TENET, ..plain }),
        ItemKind::Task => items.task(id).map(|task| About {
            time: task.updated_at.or(task.created_at),
            importance: f64::from(task.priority) / 10.0,
            ..plain
        }),
        ItemKind::Episode => items.episode(id).map(|one| About {
            time: one.start,
            importance: f64::from(one.importance) / 10.0,
            ..plain
        }),
        _ => None,
    }
    .unwrap_or(plain)
}

/// The properties of an item that its scores depend on.
#[derive(Clone, Copy)]
struct About<'a> {
    text: &'a str,
    time: Option<Timestamp>,
    /// True if it belongs to the profile rather than to events.
    lasting: bool,
    seen: u32,
    importance: f64,
    base: f64,
    reliability: f64,
}

fn passage(index: &Index, lead: &GroupLead) -> Option<u32> {
    match lead {
        GroupLead::Source(hit) => Some(hit.passage),
        GroupLead::Derived(hit) => hit.witness.and_then(|ordinal| first_passage(index, ordinal)),
    }
}

fn first_passage(index: &Index, ordinal: u32) -> Option<u32> {
    let ordinals = &index.passages.ordinal;
    let at = ordinals.partition_point(|&other| other < ordinal);
    (ordinals.get(at) == Some(&ordinal)).then_some(at as u32)
}

fn likeness(one: &crate::recall::StoredVector<'_>, other: &crate::recall::StoredVector<'_>) -> f32 {
    dot(one.steps, other.steps) as f32 * one.scale * other.scale
}

fn dot(one: &[i8], other: &[i8]) -> i32 {
    one.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

fn cosine(one: &[i8], other: &[i8]) -> f32 {
    let length = |steps: &[i8]| (dot(steps, steps) as f32).sqrt();
    let both = length(one) * length(other);
    if both > 0.0 { dot(one, other) as f32 / both } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_follow_their_formulas() {
        let weights = Profile::default().confidence;
        for (base, cosine, votes, reliability, expected) in [
            (1.0, 1.0, 3, 1.0, 1.0),
            (0.0, 0.0, 0, 0.0, 0.0),
            (0.9, 0.5, 1, 0.95, 0.36 + 0.1 + 0.25 / 3.0 + 0.1425),
            (0.6, -0.4, 9, 0.6, 0.24 + 0.25 + 0.09),
        ] {
            let found = confidence(&weights, base, cosine, votes, reliability);
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        let day = |day: i64| Timestamp::from_second(day * 86_400).unwrap_or_default();
        assert_eq!(recency(day(10), day(10), 7.0), 1.0);
        assert_eq!(recency(day(10), day(12), 7.0), 1.0, "what is yet to come is not old");
        assert!((recency(day(17), day(10), 7.0) - (-1.0f64).exp()).abs() < 1e-12);
        assert!((frequency(3) - (1.0 - (-1.0f64).exp())).abs() < 1e-12 && frequency(0) == 0.0);
        assert!((rif(1.0, 0.5, 9, 10f64.ln()) - (0.5 + 0.15 + 0.2)).abs() < 1e-12);
    }
}
