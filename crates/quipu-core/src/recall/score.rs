//! The features of a passage and their weighted sum.

use serde::{Deserialize, Serialize};

use super::candidates::Evidence;
use super::index::{ASKS, SAYS_WHEN};
use super::words::SCORE_MAX;

/// One number for each feature: how it came out, what it counts, or, the two multiplied, what it adds to a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Normalised BM25 of the passage, 0 … 1.9.
    pub n: f32,
    /// The same of the passage before it in the session.
    pub n_prev: f32,
    /// The same of the passage after it.
    pub n_next: f32,
    /// Normalised BM25 of the whole session, 0 … 1.9.
    pub n_sess: f32,
    /// 1 if the question names one author and the passage is theirs.
    pub spk: f32,
    /// Agreement of the passage's day with a date in the question, 0 … 1.
    pub date: f32,
    /// 1 if the passage ends with a question mark.
    pub isq: f32,
    /// Cosine of the question in the first person and the passage with the one before it, −1 … 1.
    pub x: f32,
    /// If the passage names a time: 1 where the question asks for one, else .2, since what happened is told with its time
    /// and small talk is not.
    pub when: f32,
    /// How well the passage's tokens cover the question's by meaning, 0 … 1.
    pub late: f32,
    /// The same of the passage with its neighbours.
    pub late_near: f32,
    /// Of a statement: how much of the question it answers for the person and the time that are asked about, 0 … 1; less
    /// than 0 if it is about somebody else. 0 for a passage.
    pub holds: f32,
}

/// What each feature adds to a score.
pub type Contributions = Features;

impl Features {
    /// How many there are.
    const COUNT: usize = 12;

    fn array(&self) -> [f32; Self::COUNT] {
        let Self { n, n_prev, n_next, n_sess, spk, date, isq, x, when, late, late_near, holds } = *self;
        [n, n_prev, n_next, n_sess, spk, date, isq, x, when, late, late_near, holds]
    }

    /// The score these contributions make.
    pub fn sum(&self) -> f32 {
        self.array().iter().sum()
    }

    /// What each feature adds under these weights.
    pub fn weighed(&self, weights: &Self) -> Contributions {
        Self {
            n: self.n * weights.n,
            n_prev: self.n_prev * weights.n_prev,
            n_next: self.n_next * weights.n_next,
            n_sess: self.n_sess * weights.n_sess,
            spk: self.spk * weights.spk,
            date: self.date * weights.date,
            isq: self.isq * weights.isq,
            x: self.x * weights.x,
            when: self.when * weights.when,
            late: self.late * weights.late,
            late_near: self.late_near * weights.late_near,
            holds: self.holds * weights.holds,
        }
    }
}

/// What each feature counts, in two stages: all candidates are scored by the first; where there are tokens to compare,
/// everything is scored again by the second, in which the tokens of the best are compared.
///
/// Both were measured on LoCoMo's questions and cross-validated over its conversations; what a statement that holds counts,
/// on made-up worlds (`quipu eval worlds`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// For every candidate.
    pub first: Features,
    /// Once tokens were compared: by meaning they tell what words alone tell in the first stage. None: one stage.
    pub late: Option<Features>,
}

impl Default for Weights {
    fn default() -> Self {
        let first = Features {
            n: 1.0,
            n_prev: 0.4,
            n_next: 0.25,
            n_sess: 0.75,
            spk: 0.6,
            date: 1.1,
            isq: -0.2,
            x: 2.0,
            when: 0.0,
            late: 0.0,
            late_near: 0.0,
            holds: HOLDS,
        };
        let late = Features {
            n: 0.25,
            n_prev: 0.15,
            n_next: 0.0,
            n_sess: 0.65,
            spk: 0.6,
            date: 1.05,
            isq: -0.15,
            x: 1.1,
            when: 0.5,
            late: 1.4,
            late_near: 1.5,
            holds: HOLDS,
        };
        Self { first, late: Some(late) }
    }
}

/// A statement about whom and what is asked comes before the words people found around it.
const HOLDS: f32 = 2.0;

/// The highest score a passage can have: every positive weight at its feature's highest value. What only a statement can
/// have is left out, so that the scores of passages mean the same with and without statements beside them.
pub fn score_max(weights: &Features) -> f32 {
    let highest = |weight: f32, feature: f32| weight.max(0.0) * feature;
    let words = [weights.n, weights.n_prev, weights.n_next, weights.n_sess];
    let rest = [weights.spk, weights.date, weights.isq, weights.x, weights.when, weights.late, weights.late_near];
    words.iter().map(|&weight| highest(weight, SCORE_MAX)).sum::<f32>()
        + rest.iter().map(|&weight| highest(weight, 1.0)).sum::<f32>()
}

/// What naming a time counts where no time was asked for.
const TOLD_WITH_ITS_TIME: f32 = 0.2;

/// The features of one passage whose cosine with the question is `cosine`, its tokens left out.
pub(super) fn features(evidence: &Evidence<'_>, passage: u32, cosine: f32) -> Features {
    let columns = &evidence.index.passages;
    let at = passage as usize;
    // A number that stands for none is beyond the end, so it scores 0.
    let words = |passage: u32| evidence.words.passages.get(passage as usize).copied().unwrap_or(0.0);
    let session = evidence.words.sessions.get(columns.session[at] as usize).copied().unwrap_or(0.0);
    let marks = columns.marks[at];
    let one = |holds: bool| if holds { 1.0 } else { 0.0 };
    Features {
        n: words(passage),
        n_prev: words(columns.previous[at]),
        n_next: words(columns.next[at]),
        n_sess: session,
        spk: one(evidence.speaker == Some(columns.author[at])),
        date: if evidence.dates.is_empty() { 0.0 } else { evidence.dates.of(columns.day[at]) },
        isq: one(marks & ASKS != 0),
        x: cosine,
        when: if evidence.asks_when { 1.0 } else { TOLD_WITH_ITS_TIME } * one(marks & SAYS_WHEN != 0),
        late: 0.0,
        late_near: 0.0,
        holds: 0.0,
    }
}
