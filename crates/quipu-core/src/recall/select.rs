//! From scored passages to the best items.

use std::collections::BTreeSet;
use std::ops::Range;

use super::candidates::{Arms, Candidates, Evidence};
use super::index::Index;
use super::late::{Coverage, QueryTokens};
use super::score::{Contributions, Features, features, score_max};
use super::trace::{LeftOut, Reason};
use crate::limit;

/// Runners-up an explanation lists.
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
    /// The score as a part of the highest there can be, 0 … 1. Comparable between queries.
    pub relevance: f32,
    /// What the score is made of.
    pub contributions: Contributions,
    /// Who nominated the passage.
    pub arms: Arms,
    pub(super) passage: u32,
}

/// A passage and what speaks for it.
#[derive(Clone, Copy)]
pub(super) struct Scored {
    pub(super) passage: u32,
    score: f32,
    pub(super) features: Features,
    arms: Arms,
}

pub(super) struct Selected {
    pub(super) hits: Vec<Hit>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Scores the candidates and keeps the best passage of each item, in ledger order; among equals the earlier one.
pub(super) fn score(evidence: &Evidence<'_>, candidates: &Candidates, weights: &Features) -> Vec<Scored> {
    let dense = &evidence.index.dense;
    let cosines = match evidence.vector {
        Some(query) if candidates.passages.len() == evidence.index.passage_count() => dense.cosines(query),
        Some(query) => dense.cosines_at(query, &candidates.passages),
        None => vec![0.0; candidates.passages.len()],
    };
    let all = candidates.passages.len() == evidence.index.passage_count();
    let near = evidence.near(&candidates.passages, all.then_some(&cosines));
    let ordinals = &evidence.index.passages.ordinal;
    let mut best: Vec<Scored> = Vec::with_capacity(candidates.passages.len());
    let both = cosines.into_iter().zip(near);
    for ((&passage, &arms), (cosine, near)) in candidates.passages.iter().zip(&candidates.arms).zip(both) {
        let features = features(evidence, passage, cosine, near);
        let scored = Scored { passage, score: features.weighed(weights).score(), features, arms };
        match best.last_mut() {
            Some(last) if ordinals[last.passage as usize] == ordinals[passage as usize] => {
                if scored.score > last.score {
                    *last = scored;
                }
            }
            _ => best.push(scored),
        }
    }
    best
}

/// Compares the tokens of the best with the question's, and scores all anew.
pub(super) fn rescore(index: &Index, query: &QueryTokens, scored: &mut [Scored], weights: &Features) -> usize {
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
    for one in scored {
        one.score = one.features.weighed(weights).score();
    }
    compared.len()
}

/// Of what is not compared yet, those with most of the question's words: what is the same word for word may be far in meaning.
fn by_words(scored: &[Scored], compared: &[u32]) -> Vec<u32> {
    let compared: BTreeSet<u32> = compared.iter().copied().collect();
    let words = scored.iter().zip(0u32..).filter(|(one, at)| one.features.n > 0.0 && !compared.contains(at));
    let mut best: Vec<(f32, u32)> = words.map(|(one, at)| (one.features.n, at)).collect();
    let count = limit::LATE_PASSAGES / 8;
    if best.len() > count {
        best.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(count);
    }
    best.into_iter().map(|(_, at)| at).collect()
}

/// Scores with the places they stand at: little to move when they are put in order.
fn places(scored: &[Scored]) -> Vec<(f32, u32)> {
    scored.iter().zip(0u32..).map(|(one, at)| (one.score, at)).collect()
}

/// The `k` best items for which anything speaks, best first, ties broken by id.
pub(super) fn select(index: &Index, scored: &[Scored], k: usize, weights: &Features, explain: bool) -> Selected {
    let wanted = if explain { k + LEFT_OUT_MAX } else { k };
    let id = |at: u32| index.items[index.passages.ordinal[scored[at as usize].passage as usize] as usize];
    let better = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then_with(|| id(a.1).cmp(&id(b.1)));
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
