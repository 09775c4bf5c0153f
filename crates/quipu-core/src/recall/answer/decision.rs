//! Whether what was found answers the question: how sure that is, and what to do about it.

use serde::{Deserialize, Serialize};

use crate::recall::answer::group::{AnswerGroup, GroupLead};
use crate::recall::answer::trace::Term;
use crate::recall::rank::score::Features;

/// What to do with what was found (seed 3, §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It answers.
    Answer,
    /// Ask the user: what is known contradicts itself, or is not sure enough.
    Clarify,
    /// It may answer, but not surely, or it comes from somebody who may be wrong: check before relying on it.
    Verify,
    /// Say that nothing is known of it.
    Abstain,
}

impl Verdict {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Clarify => "clarify",
            Self::Verify => "verify",
            Self::Abstain => "abstain",
        }
    }
}

/// What tells an answered question from one that memory knows nothing of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerSignals {
    /// Of the best answer: normalised BM25 of its words.
    pub n: f64,
    /// Of its session.
    pub n_sess: f64,
    /// Its cosine with the question.
    pub x: f64,
    /// How well its tokens cover the question's.
    pub late: f64,
    /// The same with its neighbours.
    pub late_near: f64,
    /// 1 if it is of the one the question names.
    pub spk: f64,
    /// Agreement of its date with one in the question.
    pub date: f64,
    /// How far its score is ahead of the fifth, as a part of the highest score there can be.
    pub lead: f64,
    /// Share of the question's terms, each by its weight, that occur in memory at all.
    pub known: f64,
    /// 1 if one of its terms does not occur.
    pub unknown: f64,
    /// 1 if it is a statement about whom, what and when is asked, and says all of what is asked.
    pub holds: f64,
}

/// All terms of a question, as far as numbers of 32 bits can tell.
const WHOLE: f64 = 0.999;

impl AnswerSignals {
    /// How many there are.
    pub const COUNT: usize = 11;

    /// Answers that are looked at, whatever number was asked for.
    pub const LOOKED_AT: usize = 5;

    /// In the order of their declaration.
    pub fn array(&self) -> [f64; Self::COUNT] {
        let Self { n, n_sess, x, late, late_near, spk, date, lead, known, unknown, holds } = *self;
        [n, n_sess, x, late, late_near, spk, date, lead, known, unknown, holds]
    }

    /// Reads them from what was found.
    pub(in crate::recall) fn of(groups: &[AnswerGroup], terms: &[Term], weights: &Features) -> Self {
        let Some(best) = groups.first() else { return Self::default() };
        let (made_of, relevance) = parts(&best.lead);
        let out = |added: f32, weight: f32| if weight > 0.0 { f64::from(added / weight) } else { 0.0 };
        let fifth = groups.get(Self::LOOKED_AT - 1).map_or(0.0, |group| parts(&group.lead).1);
        let weight = |terms: &mut dyn Iterator<Item = &Term>| terms.map(|term| f64::from(term.idf)).sum::<f64>();
        let all = weight(&mut terms.iter());
        let known = if all > 0.0 { weight(&mut terms.iter().filter(|term| term.passages > 0)) / all } else { 0.0 };
        Self {
            n: out(made_of.n, weights.n),
            n_sess: out(made_of.n_sess, weights.n_sess),
            x: out(made_of.x, weights.x),
            late: out(made_of.late, weights.late),
            late_near: out(made_of.late_near, weights.late_near),
            spk: out(made_of.spk, weights.spk),
            date: out(made_of.date, weights.date),
            lead: f64::from(relevance - fifth),
            known,
            holds: if out(made_of.holds, weights.holds) >= WHOLE { 1.0 } else { 0.0 },
            unknown: if terms.iter().any(|term| term.passages == 0) { 1.0 } else { 0.0 },
        }
    }
}

fn parts(lead: &GroupLead) -> (&Features, f32) {
    match lead {
        GroupLead::Source(hit) => (&hit.contributions, hit.relevance),
        GroupLead::Derived(hit) => (&hit.contributions, hit.relevance),
    }
}

/// From signals to the probability that memory answers: logistic regression, fitted by `quipu eval calibrate`.
///
/// Fitted on as many questions that memory answers as it does not: where users ask mostly what memory knows, the true share
/// is higher.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Added to the sum.
    pub bias: f64,
    /// One for each of the [`Signals`], in their order.
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
    /// None if the examples are all of one kind.
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
/// Newton's method doubles the right digits every round.
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

/// Solves a small system by elimination with pivoting. None if it has no single solution.
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

/// How much rarer it is among questions that memory answers than among others that nothing near the best has a value of the kind
/// that is asked for. Of the 911 questions to eight people's chats in `crates/quipu-cli/tests/assistant`, 45 ask for such a kind: it holds
/// for none of the 21 that can be answered (counted as a half) and for 13 of the 24 that cannot.
const ODDS_WITHOUT_THE_VALUE: f64 = (0.5 / 21.0) / (13.0 / 24.0);

/// The probability that memory answers, once it is known that nothing near the best has a value of the kind that is asked for: its odds
/// times the likelihood ratio of that.
pub(in crate::recall) fn without_the_value(probability: f64) -> f64 {
    let odds = probability * ODDS_WITHOUT_THE_VALUE;
    odds / (odds + (1.0 - probability))
}

/// From which probabilities on what is done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerdictThresholds {
    /// Below this probability that memory answers: abstain.
    pub abstain_below: f64,
    /// From this on: answer. Between the two: verify.
    pub answer_from: f64,
    /// What is told with less confidence than this is not told as known (seed 3, §16).
    pub confident_from: f64,
}

impl Default for VerdictThresholds {
    fn default() -> Self {
        Self { abstain_below: 0.3, answer_from: 0.5, confident_from: 0.6 }
    }
}

/// What is known of the best answer beside its signals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// `confidence_now`, 0 to 1.
    pub confidence: f64,
    /// Something is said against it and not settled.
    pub contested: bool,
    /// It comes from the user.
    pub from_user: bool,
    /// It is said of somebody else than is asked about.
    pub of_another: bool,
    /// What is asked is said of somebody else in the words of the question, and not of whom is asked about.
    pub may_be_of_another: bool,
}

/// What to do, and why in words. `best` is none if nothing was found.
pub fn decide(probability: f64, best: Option<Best>, thresholds: &VerdictThresholds) -> (Verdict, &'static str) {
    let Some(best) = best else { return (Verdict::Abstain, "nothing was found") };
    if probability < thresholds.abstain_below {
        return (Verdict::Abstain, "what was found does not speak of what was asked");
    }
    if best.of_another {
        return (Verdict::Abstain, "what was found is said of somebody else");
    }
    if best.contested {
        return (Verdict::Clarify, "what is known of it is contested");
    }
    if best.confidence < thresholds.confident_from {
        return match best.from_user {
            true => (Verdict::Clarify, "it was said, but not surely enough to rely on"),
            false => (Verdict::Verify, "it does not come from the user, and nothing else says so"),
        };
    }
    if best.may_be_of_another {
        return (Verdict::Verify, "what was found may be said of somebody else");
    }
    if probability < thresholds.answer_from {
        return (Verdict::Verify, "what was found may not be what was asked");
    }
    (Verdict::Answer, "what was found speaks of what was asked")
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
        // At every point as many answered ones as the curve says.
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

    #[test]
    fn an_answer_without_the_value_is_improbable() {
        for (before, least, most) in [(0.0, 0.0, 0.0), (0.5, 0.03, 0.06), (0.87, 0.2, 0.3), (1.0, 1.0, 1.0)] {
            let found = without_the_value(before);
            assert!((least..=most).contains(&found), "{before}: {found}");
        }
    }

    #[test]
    fn verdicts_follow_probability_confidence_and_contest() {
        let limits = VerdictThresholds::default();
        let sure =
            Best { confidence: 0.8, contested: false, from_user: true, of_another: false, may_be_of_another: false };
        let unsure = Best { confidence: 0.5, ..sure };
        for (probability, best, expected) in [
            (0.9, None, Verdict::Abstain),
            (0.1, Some(sure), Verdict::Abstain),
            (0.1, Some(Best { contested: true, ..sure }), Verdict::Abstain),
            (0.9, Some(sure), Verdict::Answer),
            (0.4, Some(sure), Verdict::Verify),
            (0.9, Some(Best { contested: true, ..sure }), Verdict::Clarify),
            (0.9, Some(unsure), Verdict::Clarify),
            (0.9, Some(Best { of_another: true, ..sure }), Verdict::Abstain),
            (0.9, Some(Best { may_be_of_another: true, ..sure }), Verdict::Verify),
            (0.1, Some(Best { may_be_of_another: true, ..sure }), Verdict::Abstain),
            (0.9, Some(Best { from_user: false, ..unsure }), Verdict::Verify),
        ] {
            assert_eq!(decide(probability, best, &limits).0, expected, "{probability} {best:?}");
        }
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
