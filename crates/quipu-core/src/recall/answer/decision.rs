//! Estimates the probability that the results answer the question and derives a verdict.

use serde::{Deserialize, Serialize};

use crate::recall::answer::calibration::{AnswerSignals, VerdictThresholds};
use crate::recall::answer::trace::Term;
use crate::recall::rank::group::{AnswerGroup, GroupLead};
use crate::recall::rank::score::Features;

/// The recommended reaction to the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The results answer the question.
    Answer,
    /// Ask the user: the results are contested or too uncertain.
    Clarify,
    /// The results may answer the question, but are uncertain or come from a fallible source; check before relying on
    /// them.
    Verify,
    /// Say that memory has no answer.
    Abstain,
}

impl Verdict {
    /// The verdict as a lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Clarify => "clarify",
            Self::Verify => "verify",
            Self::Abstain => "abstain",
        }
    }
}

/// Full coverage of a question's terms, up to 32-bit rounding.
const WHOLE: f64 = 0.999;

impl AnswerSignals {
    /// Computes the signals of the results.
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

/// Likelihood ratio of "no result near the best has a value of the requested kind", answerable to unanswerable
/// questions. Of the 911 questions to eight people's chats in `crates/quipu-cli/tests/assistant`, 45 ask for such a
/// kind: it holds for none of the 21 answerable ones (counted as a half) and for 13 of the 24 others.
const ODDS_WITHOUT_THE_VALUE: f64 = (0.5 / 21.0) / (13.0 / 24.0);

/// Updates the probability that memory answers, given that no result near the best has a value of the requested kind:
/// multiplies its odds by the likelihood ratio.
pub(in crate::recall) fn without_the_value(probability: f64) -> f64 {
    let odds = probability * ODDS_WITHOUT_THE_VALUE;
    odds / (odds + (1.0 - probability))
}

/// Properties of the best answer besides its signals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// Its confidence, 0 to 1.
    pub confidence: f64,
    /// True if it is contradicted and the conflict is unresolved.
    pub contested: bool,
    /// True if it comes from the user.
    pub from_user: bool,
    /// True if it is about someone other than the person in question.
    pub of_another: bool,
    /// True if the question's words occur in a statement about someone else, but in none about the person in question.
    pub may_be_of_another: bool,
    /// True if statements of others in it wait for the user's decision.
    pub waits: bool,
}

/// Returns the verdict with a reason. `best` is `None` if nothing was found.
pub fn decide(probability: f64, best: Option<Best>, thresholds: &VerdictThresholds) -> (Verdict, &'static str) {
    let Some(best) = best else { return (Verdict::Abstain, "nothing was found") };
    if probability < thresholds.abstain_below {
        return (Verdict::Abstain, "no result matches what was asked");
    }
    if best.of_another {
        return (Verdict::Abstain, "the results are about somebody else");
    }
    if best.contested {
        return (Verdict::Clarify, "the best result is contested");
    }
    if best.confidence < thresholds.confident_from {
        return match best.from_user {
            true => (Verdict::Clarify, "the user said it, but it is too uncertain to rely on"),
            false => (Verdict::Verify, "it does not come from the user, and nothing else confirms it"),
        };
    }
    if best.waits {
        return (Verdict::Verify, "it does not come from the user, who has not confirmed it");
    }
    if best.may_be_of_another {
        return (Verdict::Verify, "the results may be about somebody else");
    }
    if probability < thresholds.answer_from {
        return (Verdict::Verify, "the results may not match what was asked");
    }
    (Verdict::Answer, "the results match what was asked")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let sure = Best {
            confidence: 0.8,
            contested: false,
            from_user: true,
            of_another: false,
            may_be_of_another: false,
            waits: false,
        };
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
            (0.9, Some(Best { from_user: false, waits: true, ..sure }), Verdict::Verify),
        ] {
            assert_eq!(decide(probability, best, &limits).0, expected, "{probability} {best:?}");
        }
    }
}
