//! The eight features of a passage and their weighted sum.

use serde::{Deserialize, Serialize};

use super::candidates::Evidence;
use super::words::SCORE_MAX;

/// What each feature counts. The defaults were measured on LoCoMo's questions, cross-validated over conversations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Normalised BM25 of the passage, 0 … 1.9. Default 1.
    pub n: f32,
    /// The same of the passage before it in the session. Default .4.
    pub n_prev: f32,
    /// The same of the passage after it. Default .25.
    pub n_next: f32,
    /// Normalised BM25 of the whole session, 0 … 1.9. Default .75.
    pub n_sess: f32,
    /// 1 if the question names one author and the passage is theirs. Default .6.
    pub spk: f32,
    /// Agreement of the passage's day with a date in the question, 0 … 1. Default 1.1.
    pub date: f32,
    /// 1 if the passage ends with a question mark. Default −.2.
    pub isq: f32,
    /// Cosine of the question in the first person and the passage with the one before it, −1 … 1. Default 2.
    pub x: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self { n: 1.0, n_prev: 0.4, n_next: 0.25, n_sess: 0.75, spk: 0.6, date: 1.1, isq: -0.2, x: 2.0 }
    }
}

impl Weights {
    /// The highest score there can be: every positive weight at its feature's highest value.
    pub fn score_max(&self) -> f32 {
        let words = [self.n, self.n_prev, self.n_next, self.n_sess].iter().map(|weight| weight.max(0.0)).sum::<f32>();
        let rest = [self.spk, self.date, self.isq, self.x].iter().map(|weight| weight.max(0.0)).sum::<f32>();
        words * SCORE_MAX + rest
    }
}

/// What each feature adds to a score, its weight included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Contributions {
    /// The passage's own words.
    pub n: f32,
    /// The words of the passage before it.
    pub n_prev: f32,
    /// The words of the passage after it.
    pub n_next: f32,
    /// The words of its session.
    pub n_sess: f32,
    /// It was said by the author the question names.
    pub spk: f32,
    /// It was said around a date the question names.
    pub date: f32,
    /// It is a question itself.
    pub isq: f32,
    /// Its meaning.
    pub x: f32,
}

impl Contributions {
    /// The score.
    pub fn sum(&self) -> f32 {
        self.n + self.n_prev + self.n_next + self.n_sess + self.spk + self.date + self.isq + self.x
    }
}

/// Scores one passage whose cosine with the question is `cosine`.
pub(super) fn contributions(
    evidence: &Evidence<'_>,
    speaker: Option<u32>,
    weights: &Weights,
    passage: u32,
    cosine: f32,
) -> Contributions {
    let columns = &evidence.index.passages;
    let at = passage as usize;
    // A number that stands for none is beyond the end, so it scores 0.
    let words = |passage: u32| evidence.words.passages.get(passage as usize).copied().unwrap_or(0.0);
    let session = evidence.words.sessions.get(columns.session[at] as usize).copied().unwrap_or(0.0);
    let is_speaker = speaker.is_some_and(|speaker| speaker == columns.author[at]);
    Contributions {
        n: weights.n * words(passage),
        n_prev: weights.n_prev * words(columns.previous[at]),
        n_next: weights.n_next * words(columns.next[at]),
        n_sess: weights.n_sess * session,
        spk: if is_speaker { weights.spk } else { 0.0 },
        date: if evidence.dates.is_empty() { 0.0 } else { weights.date * evidence.dates.of(columns.day[at]) },
        isq: weights.isq * f32::from(columns.question[at]),
        x: weights.x * cosine,
    }
}
