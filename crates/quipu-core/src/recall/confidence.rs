//! How sure an answer is: what was known beforehand, and what the question adds (seed 3, §4).

use super::dense::DenseRows;
use super::fold::{Group, Lead};
use super::index::Index;
use super::score::Features;
use crate::limit;

/// Two passages with this cosine say about the same.
const AGREES_COSINE: f32 = 0.8;
/// This many agreeing passages are full agreement.
const FULL_AGREEMENT: f64 = 3.0;

/// `.40 base + .20 cosine + .25 agreement + .15 reliability`, 0 to 1.
///
/// `base` is how sure the item was before any question, `votes` how many of the best passages say the same or how often it
/// was said, `reliability` how much of what its source says is right.
pub fn confidence(base: f64, cosine: f32, votes: u32, reliability: f64) -> f64 {
    let agreement = (f64::from(votes) / FULL_AGREEMENT).min(1.0);
    let cosine = f64::from(cosine.clamp(0.0, 1.0));
    (0.40 * base + 0.20 * cosine + 0.25 * agreement + 0.15 * reliability).clamp(0.0, 1.0)
}

/// Counts for every answer the cosine of its passage and the passages that agree with it.
pub(super) fn count_votes(index: &Index, weights: &Features, groups: &mut [Group]) {
    let passages: Vec<Option<u32>> = groups.iter().map(|group| passage(index, &group.lead)).collect();
    let among: Vec<u32> = passages.iter().flatten().copied().take(limit::NOMINEES_PER_ARM).collect();
    for (group, passage) in groups.iter_mut().zip(passages) {
        let made_of = match &group.lead {
            Lead::Source(hit) => &hit.contributions,
            Lead::Derived(hit) => &hit.contributions,
        };
        group.cosine = if weights.x > 0.0 { made_of.x / weights.x } else { 0.0 };
        group.votes = passage.map_or(0, |own| agreeing(&index.dense, own, &among));
    }
}

fn passage(index: &Index, lead: &Lead) -> Option<u32> {
    match lead {
        Lead::Source(hit) => Some(hit.passage),
        Lead::Derived(hit) => {
            let ordinals = &index.passages.ordinal;
            let first = hit.witness.map(|ordinal| (ordinal, ordinals.partition_point(|&other| other < ordinal)));
            first.filter(|(ordinal, at)| ordinals.get(*at) == Some(ordinal)).map(|(_, at)| at as u32)
        }
    }
}

/// Passages that say about the same, `own` counted once.
fn agreeing(dense: &DenseRows, own: u32, among: &[u32]) -> u32 {
    let Some(vector) = dense.get(own) else { return 1 };
    let others = among.iter().filter(|&&other| other != own).filter_map(|&other| dense.get(other));
    let agrees = |other: &super::StoredVector<'_>| {
        let dot: i32 = vector.steps.iter().zip(other.steps).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        dot as f32 * vector.scale * other.scale >= AGREES_COSINE
    };
    1 + others.filter(agrees).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_the_weighted_sum_of_its_parts() {
        for (base, cosine, votes, reliability, expected) in [
            (1.0, 1.0, 3, 1.0, 1.0),
            (0.0, 0.0, 0, 0.0, 0.0),
            (0.9, 0.5, 1, 0.95, 0.36 + 0.1 + 0.25 / 3.0 + 0.1425),
            (0.6, -0.4, 9, 0.6, 0.24 + 0.25 + 0.09),
        ] {
            let found = confidence(base, cosine, votes, reliability);
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
