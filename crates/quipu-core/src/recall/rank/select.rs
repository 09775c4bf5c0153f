//! Selects the best items from scored passages.

use std::ops::Range;

use crate::limit;
use crate::recall::answer::trace::{LeftOut, Reason};
use crate::recall::index::passage_index::Index;
use crate::recall::rank::candidates::{Arms, Candidates, Evidence};
use crate::recall::rank::late_interaction::{Coverage, QueryTokens};
use crate::recall::rank::score::{Contributions, Features, features, score_max};

/// Maximum number of omitted items in an explanation.
const LEFT_OUT_MAX: usize = 20;

/// An item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its position in the memory's list of sources.
    pub ordinal: u32,
    /// Its best passage, in bytes of [`Source::searchable`](crate::source::Source::searchable).
    pub span: Range<usize>,
    /// The passage's score: the sum of the contributions.
    pub score: f32,
    /// The score as a share of the maximum, 0 … 1. Comparable between queries.
    pub relevance: f32,
    /// The contributions to the score.
    pub contributions: Contributions,
    /// The arms that nominated the passage.
    pub arms: Arms,
    pub(in crate::recall) passage: u32,
}

/// A passage with its features and score.
#[derive(Clone, Copy)]
pub(in crate::recall) struct Scored {
    pub(in crate::recall) passage: u32,
    score: f32,
    pub(in crate::recall) features: Features,
    arms: Arms,
}

pub(in crate::recall) struct Selected {
    pub(in crate::recall) hits: Vec<Hit>,
    pub(in crate::recall) left_out: Vec<LeftOut>,
}

/// Scores the candidates and keeps the best passage of each item, in ledger order; ties go to the earlier one.
pub(in crate::recall) fn score(evidence: &Evidence<'_>, candidates: &Candidates, weights: &Features) -> Vec<Scored> {
    let dense = &evidence.index.dense;
    let cosines = match evidence.vector {
        Some(query) if candidates.passages.len() == evidence.index.passage_count() => dense.cosines(query),
        Some(query) => dense.cosines_at(query, &candidates.passages),
        None => vec![0.0; candidates.passages.len()],
    };
    let all = candidates.passages.len() == evidence.index.passage_count();
    let near = evidence.near(&candidates.passages, all.then_some(&cosines));
    let ordinals = &evidence.index.passages.ordinal;
    let both = cosines.into_iter().zip(near);
    let row = |((&passage, &arms), (cosine, near)): ((&u32, &Arms), (f32, f32))| Scored {
        passage,
        score: 0.0,
        features: features(evidence, passage, cosine, near),
        arms,
    };
    let mut best: Vec<Scored> = candidates.passages.iter().zip(&candidates.arms).zip(both).map(row).collect();
    score_all(&mut best, weights);
    best.dedup_by(|later, kept| {
        let same = ordinals[kept.passage as usize] == ordinals[later.passage as usize];
        if same && later.score > kept.score {
            *kept = *later;
        }
        same
    });
    best
}

/// Number of passages scored at a time, so that their sums are independent.
const SCORED_AT_ONCE: usize = 8;

/// Sets the score of each passage to [`Features::score`] under these weights.
fn score_all(scored: &mut [Scored], weights: &Features) {
    let factors = weights.array();
    let (blocks, rest) = scored.as_chunks_mut::<SCORED_AT_ONCE>();
    for block in blocks {
        let mut rows = [[0.0f32; Features::COUNT]; SCORED_AT_ONCE];
        rows.iter_mut().zip(&*block).for_each(|(row, one)| *row = one.features.array());
        let mut sums = [-0.0f32; SCORED_AT_ONCE];
        let mut most = [0.0f32; SCORED_AT_ONCE];
        for (feature, factor) in factors.iter().enumerate() {
            for at in 0..SCORED_AT_ONCE {
                let part = rows[at][feature] * factor;
                sums[at] += part;
                if Features::SPEAKS[feature] {
                    most[at] = most[at].max(part);
                }
            }
        }
        for (at, one) in block.iter_mut().enumerate() {
            one.score = if most[at] > 0.0 { sums[at] } else { sums[at].min(0.0) };
        }
    }
    rest.iter_mut().for_each(|one| one.score = one.features.weighed(weights).score());
}

/// Compares the tokens of the best passages with the question's and rescores all.
pub(in crate::recall) fn rescore(
    index: &Index,
    query: &QueryTokens,
    scored: &mut [Scored],
    weights: &Features,
) -> usize {
    let mut best = places(scored);
    if best.len() > limit::LATE_PASSAGES {
        let better = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        best.select_nth_unstable_by(limit::LATE_PASSAGES, better);
        best.truncate(limit::LATE_PASSAGES);
    }
    let mut compared: Vec<u32> = best.iter().map(|&(_, at)| at).collect();
    compared.extend(by_words(scored, &compared));
    let mut coverage = Coverage::new(index, query);
    for &at in &compared {
        let at = at as usize;
        (scored[at].features.late, scored[at].features.late_near) = coverage.of(scored[at].passage);
    }
    score_all(scored, weights);
    compared.len()
}

/// Of the remaining passages, those with most of the question's words: a literal match may be far in meaning.
fn by_words(scored: &[Scored], compared: &[u32]) -> Vec<u32> {
    let mut is_compared = vec![false; scored.len()];
    compared.iter().for_each(|&at| is_compared[at as usize] = true);
    let words = scored.iter().zip(0u32..).filter(|(one, at)| one.features.n > 0.0 && !is_compared[*at as usize]);
    let mut best: Vec<(f32, u32)> = words.map(|(one, at)| (one.features.n, at)).collect();
    let count = limit::LATE_PASSAGES / 8;
    if best.len() > count {
        best.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(count);
    }
    best.into_iter().map(|(_, at)| at).collect()
}

/// Scores with their indices, which are cheap to sort.
fn places(scored: &[Scored]) -> Vec<(f32, u32)> {
    scored.iter().zip(0u32..).map(|(one, at)| (one.score, at)).collect()
}

/// The `k` best items of positive score, best first; of equal ones, those recorded first.
pub(in crate::recall) fn select(
    index: &Index,
    scored: &[Scored],
    k: usize,
    weights: &Features,
    explain: bool,
) -> Selected {
    let wanted = if explain { k + LEFT_OUT_MAX } else { k };
    // Ids are random, so they would order equal messages differently in each memory.
    let passage = |at: u32| scored[at as usize].passage;
    let better = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then_with(|| passage(a.1).cmp(&passage(b.1)));
    let mut best = places(scored);
    if best.len() > wanted {
        best.select_nth_unstable_by(wanted, better);
        best.truncate(wanted);
    }
    best.sort_unstable_by(better);
    let scored: Vec<&Scored> = best.iter().map(|&(_, at)| &scored[at as usize]).collect();
    let found = scored.iter().take(k).take_while(|scored| scored.score > 0.0).count();
    let ordinal = |scored: &Scored| index.passages.ordinal[scored.passage as usize];
    let score_max = score_max(weights);
    let hit = |scored: &Scored| Hit {
        ordinal: ordinal(scored),
        span: index.span(scored.passage),
        score: scored.score,
        relevance: if score_max > 0.0 { (scored.score / score_max).clamp(0.0, 1.0) } else { 0.0 },
        contributions: scored.features.weighed(weights),
        arms: scored.arms,
        passage: scored.passage,
    };
    let left_out = |scored: &Scored| LeftOut {
        ordinal: ordinal(scored),
        score: scored.score,
        contributions: scored.features.weighed(weights),
        arms: scored.arms,
        reason: if scored.score > 0.0 { Reason::BelowTheBest } else { Reason::NoEvidence },
    };
    let rest: &[&Scored] = if explain { &scored[found..] } else { &[] };
    Selected {
        hits: scored[..found].iter().copied().map(hit).collect(),
        left_out: rest.iter().copied().take(LEFT_OUT_MAX).map(left_out).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::recall::rank::score::Weights;

    fn features(values: &[f32]) -> Features {
        let of = |at: usize| values[at];
        Features {
            n: of(0),
            n_prev: of(1),
            n_sess: of(2),
            spk: of(3),
            isq: of(4),
            x: of(5),
            when: of(6),
            late: of(7),
            late_near: of(8),
            own: of(9),
            brief: of(10),
            code: of(11),
            ..Features::default()
        }
    }

    proptest! {
        #[test]
        fn many_at_once_score_as_each_alone(
            rows in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0.0f32), -1.0f32..2.0], 12), 0..30),
        ) {
            let Weights { first, late, .. } = Weights::default();
            for weights in [first, late.unwrap_or(first)] {
                let row = |values: &Vec<f32>| {
                    Scored { passage: 0, score: 7.0, features: features(values), arms: Arms::default() }
                };
                let mut scored: Vec<Scored> = rows.iter().map(row).collect();
                score_all(&mut scored, &weights);
                for one in scored {
                    prop_assert_eq!(one.score.to_bits(), one.features.weighed(&weights).score().to_bits());
                }
            }
        }
    }
}
