//! Quality of stated probabilities, and counts of verdicts.

use std::collections::BTreeMap;

use quipu_core::recall::{ReliabilityBin, Verdict, calibration_error};
use serde::Serialize;

use super::bootstrap::{self, Interval};

/// Number of bins in which stated and true share are compared.
const BINS: usize = 10;

/// A probability, and whether the question can be answered.
pub(super) type Stated = (f64, bool);

/// How well probabilities separate answerable from unanswerable questions.
#[derive(Debug, Serialize)]
pub(super) struct Certainty {
    /// The chance that an answerable question has a higher probability than an unanswerable one.
    pub(super) auroc: f64,
    /// Its 95 % interval over questions.
    pub(super) auroc_interval: Option<Interval>,
    /// Expected calibration error over ten equal bins.
    pub(super) ece: f64,
    /// Mean squared error of the probability.
    pub(super) brier: f64,
}

impl Certainty {
    pub(super) fn of(stated: &[Stated]) -> Self {
        let squares = stated.iter().map(|(probability, right)| (probability - f64::from(u8::from(*right))).powi(2));
        Self {
            auroc: auroc(stated).unwrap_or(0.5),
            auroc_interval: bootstrap::interval(stated, auroc),
            ece: calibration_error(&bins(stated)),
            brier: squares.sum::<f64>() / stated.len() as f64,
        }
    }

    /// The row of a table, such as `.931 (.917–.944)` and the other figures.
    pub(super) fn row(&self, name: &str) -> Vec<String> {
        let number = |number: f64| format!("{number:.3}");
        let auroc = match self.auroc_interval {
            Some([low, high]) => format!("{:.3} ({low:.3}–{high:.3})", self.auroc),
            None => number(self.auroc),
        };
        vec![name.to_owned(), auroc, number(self.ece), number(self.brier)]
    }
}

/// By ranks (Mann and Whitney, 1947): ties count half. `None` unless there are questions of both kinds.
fn auroc(stated: &[Stated]) -> Option<f64> {
    let mut order = stated.to_vec();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut won) = (0.0, 0.0);
    for equals in order.chunk_by(|a, b| a.0 == b.0) {
        let answerable = equals.iter().filter(|(_, answerable)| *answerable).count() as f64;
        let others = equals.len() as f64 - answerable;
        won += answerable * (below + others / 2.0);
        below += others;
    }
    let answerable = stated.len() as f64 - below;
    (answerable > 0.0 && below > 0.0).then(|| won / (answerable * below))
}

/// Stated and true share by bin.
pub(super) fn bins(stated: &[Stated]) -> Vec<ReliabilityBin> {
    let mut sums = [(0.0, 0usize, 0usize); BINS];
    for (probability, answerable) in stated {
        let bin = &mut sums[((probability * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + probability, bin.1 + usize::from(*answerable), bin.2 + 1);
    }
    let filled = sums.into_iter().filter(|(_, _, count)| *count > 0);
    let share = |(stated, answerable, count): (f64, usize, usize)| ReliabilityBin {
        stated: stated / count as f64,
        answerable: answerable as f64 / count as f64,
        questions: count,
    };
    filled.map(share).collect()
}

/// Count of a verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct VerdictCount {
    pub(super) answerable: usize,
    pub(super) unanswerable: usize,
}

/// Counts the verdicts, by whether the question is answerable.
pub(super) fn verdicts(given: impl Iterator<Item = (Verdict, bool)>) -> BTreeMap<&'static str, VerdictCount> {
    let all = [Verdict::Answer, Verdict::Clarify, Verdict::Verify, Verdict::Abstain];
    let mut counts: BTreeMap<&str, VerdictCount> =
        all.iter().map(|verdict| (verdict.as_str(), VerdictCount::default())).collect();
    for (verdict, answerable) in given {
        let count = counts.entry(verdict.as_str()).or_default();
        *(if answerable { &mut count.answerable } else { &mut count.unanswerable }) += 1;
    }
    counts
}

/// The rows of their table.
pub(super) fn verdict_rows(verdicts: &BTreeMap<&'static str, VerdictCount>) -> Vec<Vec<String>> {
    let row = |(word, given): (&&str, &VerdictCount)| {
        vec![(*word).to_owned(), given.answerable.to_string(), given.unanswerable.to_string()]
    };
    verdicts.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_their_definitions() {
        // Of four pairs, one is in the wrong order and one is tied.
        let found = Certainty::of(&[(0.9, true), (0.3, false), (0.3, true), (0.4, false)]);
        assert!((found.auroc - 2.5 / 4.0).abs() < 1e-9, "{found:?}");
        assert!((found.brier - (0.01 + 0.09 + 0.49 + 0.16) / 4.0).abs() < 1e-9, "{found:?}");
        // .9 for one right; .3 for two, of which one is right; .4 for one wrong.
        assert!((found.ece - (0.1 + 0.2 * 2.0 + 0.4) / 4.0).abs() < 1e-9, "{found:?}");
        let [low, high] = found.auroc_interval.unwrap_or_default();
        assert!(low <= found.auroc && found.auroc <= high, "{found:?}");
    }

    #[test]
    fn questions_of_one_kind_cannot_be_told_apart() {
        assert_eq!(auroc(&[(0.9, true), (0.2, true)]), None);
        assert_eq!(auroc(&[]), None);
    }
}
