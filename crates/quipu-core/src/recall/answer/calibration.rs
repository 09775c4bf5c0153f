//! How signals of the results become a probability, and probabilities become verdicts.

use serde::{Deserialize, Serialize};

/// Features that separate answerable questions from unanswerable ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerSignals {
    /// Normalised BM25 of the best answer.
    pub n: f64,
    /// Normalised BM25 of its session.
    pub n_sess: f64,
    /// Its cosine with the question.
    pub x: f64,
    /// Coverage of the question's tokens by its tokens.
    pub late: f64,
    /// The same with its neighbours.
    pub late_near: f64,
    /// 1 if its author is the one the question names.
    pub spk: f64,
    /// Agreement of its date with a date in the question.
    pub date: f64,
    /// Lead of its score over the fifth, as a share of the maximum score.
    pub lead: f64,
    /// Idf-weighted share of the question's terms that occur in memory.
    pub known: f64,
    /// 1 if a term of the question does not occur in memory.
    pub unknown: f64,
    /// 1 if it is a statement about the person, matter and time of the question and covers all of it.
    pub holds: f64,
}

impl AnswerSignals {
    /// Number of signals.
    pub const COUNT: usize = 11;

    /// Number of answers examined, whatever number was requested.
    pub const LOOKED_AT: usize = 5;

    /// The signals in declaration order.
    pub fn array(&self) -> [f64; Self::COUNT] {
        let Self { n, n_sess, x, late, late_near, spk, date, lead, known, unknown, holds } = *self;
        [n, n_sess, x, late, late_near, spk, date, lead, known, unknown, holds]
    }
}

/// Maps signals to the probability that memory answers: logistic regression, fitted by `quipu eval calibrate`.
///
/// Fitted on equally many answerable and unanswerable questions. Where most questions are answerable, the true share is
/// higher.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Constant term.
    pub bias: f64,
    /// One weight per signal, in the order of [`AnswerSignals::array`].
    pub weights: [f64; AnswerSignals::COUNT],
}

impl Calibration {
    /// The probability, 0 to 1.
    pub fn probability(&self, signals: &AnswerSignals) -> f64 {
        let sum = self.weights.iter().zip(signals.array()).map(|(weight, signal)| weight * signal).sum::<f64>();
        1.0 / (1.0 + (-(self.bias + sum)).exp())
    }

    /// Fits by Newton's method (iteratively reweighted least squares) with a ridge of `ridge` on standardised signals.
    ///
    /// Returns `None` if all examples have the same label.
    pub fn fit(examples: &[(AnswerSignals, bool)], ridge: f64) -> Option<Self> {
        let answered = examples.iter().filter(|(_, answered)| *answered).count();
        if answered == 0 || answered == examples.len() {
            return None;
        }
        let rows: Vec<[f64; AnswerSignals::COUNT]> = examples.iter().map(|(signals, _)| signals.array()).collect();
        let (mean, spread) = standard(&rows);
        let row = |at: usize| {
            let mut row = [1.0; SIZE];
            for part in 0..AnswerSignals::COUNT {
                row[part + 1] = (rows[at][part] - mean[part]) / spread[part];
            }
            row
        };
        let mut found = [0.0; SIZE];
        for _ in 0..ROUNDS {
            let mut slope = [0.0; SIZE];
            let mut bend = [[0.0; SIZE]; SIZE];
            for (at, (_, answered)) in examples.iter().enumerate() {
                let row = row(at);
                let sum: f64 = row.iter().zip(&found).map(|(a, b)| a * b).sum();
                let p = 1.0 / (1.0 + (-sum).exp());
                for one in 0..SIZE {
                    slope[one] += row[one] * (f64::from(u8::from(*answered)) - p);
                    for other in 0..SIZE {
                        bend[one][other] += row[one] * row[other] * p * (1.0 - p);
                    }
                }
            }
            for part in 1..SIZE {
                slope[part] -= ridge * found[part];
                bend[part][part] += ridge;
            }
            let step = solve(bend, slope)?;
            found.iter_mut().zip(step).for_each(|(found, step)| *found += step);
        }
        let mut weights = [0.0; AnswerSignals::COUNT];
        let mut bias = found[0];
        for part in 0..AnswerSignals::COUNT {
            weights[part] = found[part + 1] / spread[part];
            bias -= weights[part] * mean[part];
        }
        (bias.is_finite() && weights.iter().all(|weight| weight.is_finite())).then_some(Self { bias, weights })
    }
}

/// The signals and the bias.
const SIZE: usize = AnswerSignals::COUNT + 1;
/// Number of iterations; Newton's method doubles the correct digits in each.
const ROUNDS: usize = 25;

fn standard(rows: &[[f64; AnswerSignals::COUNT]]) -> ([f64; AnswerSignals::COUNT], [f64; AnswerSignals::COUNT]) {
    let count = rows.len() as f64;
    let (mut mean, mut spread) = ([0.0; AnswerSignals::COUNT], [0.0; AnswerSignals::COUNT]);
    for part in 0..AnswerSignals::COUNT {
        mean[part] = rows.iter().map(|row| row[part]).sum::<f64>() / count;
        let variance = rows.iter().map(|row| (row[part] - mean[part]).powi(2)).sum::<f64>() / count;
        spread[part] = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    }
    (mean, spread)
}

/// Solves a small linear system by Gaussian elimination with pivoting. `None` if it has no unique solution.
fn solve(mut rows: [[f64; SIZE]; SIZE], mut right: [f64; SIZE]) -> Option<[f64; SIZE]> {
    for column in 0..SIZE {
        let pivot = (column..SIZE).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        if rows[pivot][column].abs() < 1e-12 {
            return None;
        }
        rows.swap(column, pivot);
        right.swap(column, pivot);
        let above = rows[column];
        for below in column + 1..SIZE {
            let factor = rows[below][column] / above[column];
            for (value, by) in rows[below].iter_mut().zip(above).skip(column) {
                *value -= factor * by;
            }
            right[below] -= factor * right[column];
        }
    }
    let mut solution = [0.0; SIZE];
    for at in (0..SIZE).rev() {
        let known: f64 = (at + 1..SIZE).map(|part| rows[at][part] * solution[part]).sum();
        solution[at] = (right[at] - known) / rows[at][at];
    }
    Some(solution)
}

/// Thresholds of the verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerdictThresholds {
    /// Below this probability: abstain.
    pub abstain_below: f64,
    /// From this probability: answer. Between the two: verify.
    pub answer_from: f64,
    /// Results of a lower confidence are not presented as known.
    pub confident_from: f64,
}

impl Default for VerdictThresholds {
    fn default() -> Self {
        Self { abstain_below: 0.3, answer_from: 0.5, confident_from: 0.6 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signals(n: f64, late: f64) -> AnswerSignals {
        AnswerSignals { n, late, ..AnswerSignals::default() }
    }

    #[test]
    fn a_fit_finds_the_curve_its_examples_were_drawn_from() {
        // At every point, the share of answerable examples is that of the curve.
        let truth = |n: f64, late: f64| 1.0 / (1.0 + (-(-2.0 + 1.5 * n + 3.0 * late)).exp());
        let mut examples = Vec::new();
        for step in 0..400 {
            let (n, late) = (f64::from(step % 20) / 10.0, f64::from(step / 20) / 20.0);
            let answered = (truth(n, late) * 50.0).round() as usize;
            examples.extend((0..50).map(|number| (signals(n, late), number < answered)));
        }
        let found = Calibration::fit(&examples, 1e-6).unwrap_or_else(|| panic!("no fit"));
        assert!((found.bias + 2.0).abs() < 0.05 && (found.weights[0] - 1.5).abs() < 0.05, "{found:?}");
        assert!((found.weights[3] - 3.0).abs() < 0.05, "{found:?}");
        assert!((found.probability(&signals(0.5, 0.5)) - truth(0.5, 0.5)).abs() < 0.01);
    }

    #[test]
    fn examples_of_one_kind_teach_nothing() {
        assert_eq!(Calibration::fit(&[], 1.0), None);
        assert_eq!(Calibration::fit(&[(signals(1.0, 1.0), true)], 1.0), None);
    }

    proptest! {
        #[test]
        fn a_fit_is_finite_and_orders_separable_examples(edge in 0.1f64..0.9, seed in 0u32..50) {
            let examples: Vec<_> = (0..200u32)
                .map(|step| f64::from((step * 7 + seed) % 200) / 200.0)
                .map(|n| (signals(n, 1.0 - n), n > edge))
                .collect();
            let found = Calibration::fit(&examples, 1.0);
            prop_assert!(found.is_some());
            let found = found.unwrap_or_else(|| panic!());
            prop_assert!(found.probability(&signals(1.0, 0.0)) > found.probability(&signals(0.0, 1.0)));
        }
    }
}
