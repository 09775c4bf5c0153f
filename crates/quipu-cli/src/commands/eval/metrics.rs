//! What an evaluation counts. All figures are fractions from 0 to 1, averaged over questions.

use std::collections::BTreeMap;

use serde::Serialize;

/// Depths at which turns are counted.
pub(super) const TURN_DEPTHS: [usize; 4] = [5, 10, 20, 50];
/// Depths at which sessions are counted.
pub(super) const SESSION_DEPTHS: [usize; 3] = [1, 5, 10];

/// One question's figures.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    pub(super) turn_recall: [f64; 4],
    pub(super) turn_all_10: f64,
    pub(super) turn_ndcg_10: f64,
    pub(super) session_recall: [f64; 3],
}

/// The share of `wanted` among the first `depth` of `found`.
fn recall(found: &[&str], wanted: &[&str], depth: usize) -> f64 {
    let hit = wanted.iter().filter(|name| found.iter().take(depth).any(|other| other == *name)).count();
    hit as f64 / wanted.len() as f64
}

/// Normalised discounted cumulative gain at 10 with binary gains (Järvelin and Kekäläinen, 2002).
fn ndcg_10(found: &[&str], wanted: &[&str]) -> f64 {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let gained: f64 = (0..found.len().min(10)).filter(|&place| wanted.contains(&found[place])).map(gain).sum();
    let ideal: f64 = (0..wanted.len().min(10)).map(gain).sum();
    gained / ideal
}

impl Marks {
    /// Marks a ranking of turns and the sessions they stand in. Nothing in `wanted` may repeat.
    pub(super) fn of(turns: &[&str], wanted: &[&str], sessions: &[&str], wanted_sessions: &[&str]) -> Self {
        Self {
            turn_recall: TURN_DEPTHS.map(|depth| recall(turns, wanted, depth)),
            turn_all_10: f64::from(u8::from(recall(turns, wanted, 10) >= 1.0)),
            turn_ndcg_10: ndcg_10(turns, wanted),
            session_recall: SESSION_DEPTHS.map(|depth| recall(sessions, wanted_sessions, depth)),
        }
    }
}

/// Turn figures in the shape programs read.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TurnFigures {
    pub(super) recall: BTreeMap<usize, f64>,
    pub(super) recall_all: BTreeMap<usize, f64>,
    pub(super) ndcg: BTreeMap<usize, f64>,
}

/// Session figures in the shape programs read.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SessionFigures {
    pub(super) recall: BTreeMap<usize, f64>,
}

/// Averages over questions.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figures {
    pub(super) questions: usize,
    pub(super) turn: TurnFigures,
    pub(super) session: SessionFigures,
}

impl Figures {
    pub(super) fn of(marks: &[&Marks]) -> Self {
        let mean = |value: &dyn Fn(&Marks) -> f64| {
            if marks.is_empty() { 0.0 } else { marks.iter().map(|&one| value(one)).sum::<f64>() / marks.len() as f64 }
        };
        let turn = |(at, &depth): (usize, &usize)| (depth, mean(&|one| one.turn_recall[at]));
        let session = |(at, &depth): (usize, &usize)| (depth, mean(&|one| one.session_recall[at]));
        Self {
            questions: marks.len(),
            turn: TurnFigures {
                recall: TURN_DEPTHS.iter().enumerate().map(turn).collect(),
                recall_all: BTreeMap::from([(10, mean(&|one| one.turn_all_10))]),
                ndcg: BTreeMap::from([(10, mean(&|one| one.turn_ndcg_10))]),
            },
            session: SessionFigures { recall: SESSION_DEPTHS.iter().enumerate().map(session).collect() },
        }
    }
}

/// Two quantiles of a series of times.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Quantiles {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
}

impl Quantiles {
    /// Of times in milliseconds; zero for none.
    pub(crate) fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times.get(((times.len() as f64 - 1.0) * share).round() as usize).copied().unwrap_or(0.0);
        Self { p50: at(0.5), p95: at(0.95) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_by_hand() {
        let marks = Marks::of(&["b", "x", "a"], &["a", "b", "c"], &["s1", "s2"], &["s2"]);
        assert!((marks.turn_recall[0] - 2.0 / 3.0).abs() < 1e-12);
        assert!(marks.turn_all_10.abs() < 1e-12);
        let ideal = 1.0 + 1.0 / 3f64.log2() + 0.5;
        assert!((marks.turn_ndcg_10 - 1.5 / ideal).abs() < 1e-12);
        assert_eq!(marks.session_recall, [0.0, 1.0, 1.0]);
    }

    #[test]
    fn quantiles_of_few() {
        let few = Quantiles::of(vec![3.0, 1.0, 2.0]);
        assert!((few.p50 - 2.0).abs() < 1e-12 && (few.p95 - 3.0).abs() < 1e-12);
        assert!(Quantiles::of(Vec::new()).p50.abs() < 1e-12);
    }
}
