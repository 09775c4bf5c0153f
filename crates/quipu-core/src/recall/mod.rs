//! Recall: from a question to the passages that answer it.
//!
//! Typed stages, each in its own file: `Query → Plan → Candidates → scored → selected`, with a [`Trace`] of all. Pure and
//! deterministic: the same index, plan and query vector give the same hits, ties broken by item id.
//!
//! Sources are cut into passages ([`limit::PASSAGE_BYTES_MAX`]); an item scores what its
//! best passage scores. The score is a plain weighted sum of eight features ([`Weights`]), so every hit can show what it
//! is made of.

mod candidates;
mod dates;
mod dense;
mod image;
mod index;
mod passages;
mod plan;
mod scan;
mod score;
mod select;
pub(crate) mod tokens;
mod trace;
mod words;

pub use candidates::{Arm, Arms};
pub use dates::NamedDate;
pub use dense::{EmbeddingKey, StoredVector, embedding_key};
pub use image::{IMAGE_TAG, ImageError};
pub use index::{Index, Sources};
pub use plan::{Filter, Plan, Query};
pub use score::{Contributions, Weights};
pub use select::Hit;
pub use trace::{ArmCount, Detail, LeftOut, Reason, Term, Trace};

use candidates::{Candidates, Evidence};
use dates::Agreements;

use crate::limit;

/// How to score, and how much to say about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// What each feature counts.
    pub weights: Weights,
    /// Fill in [`Trace::detail`].
    pub explain: bool,
    /// Score every passage while no more than this many are allowed.
    pub exhaustive_passages_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { weights: Weights::default(), explain: false, exhaustive_passages_max: limit::EXHAUSTIVE_PASSAGES_MAX }
    }
}

/// What a recall found.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// At most `k` items, best first.
    pub hits: Vec<Hit>,
    /// How they were found.
    pub trace: Trace,
}

/// Finds the items that answer a question.
///
/// `query_vector` is the vector of [`Plan::first_person_text`] by the index's model. Without one, or with one that does not
/// fit, meaning counts 0 for every passage and the trace says so; the same holds for a passage without a vector.
pub fn recall(index: &Index, plan: &Plan, query_vector: Option<&[f32]>, options: &Options) -> Recall {
    let allowed = index.mask(&plan.filter);
    let words = index.words.score(&plan.terms);
    let (first, last) = index.days.unwrap_or_default();
    let dates = Agreements::new(&plan.dates, first, last);
    let vector = query_vector.and_then(|vector| index.dense.query(vector));
    let evidence = Evidence { index, allowed: &allowed, words: &words, dates: &dates, vector: vector.as_ref() };
    let candidates = Candidates::nominate(&evidence, options.exhaustive_passages_max);
    let scored = select::score(&evidence, &candidates, plan.speaker_number(), &options.weights);
    let selected = select::select(index, scored, plan.k, &options.weights, options.explain);
    let trace = Trace {
        passages: index.passage_count(),
        allowed: allowed.iter().map(|word| word.count_ones() as usize).sum(),
        arms: candidates.counts.iter().map(|&(arm, nominated)| ArmCount { arm, nominated }).collect(),
        scored: candidates.passages.len(),
        dense: vector.is_some(),
        without_vector: index.passage_count() - index.vector_count(),
        detail: options.explain.then(|| Detail {
            terms: plan
                .terms
                .iter()
                .zip(&words.figures)
                .map(|(term, f)| Term { term: term.clone(), idf: f.idf, passages: f.texts })
                .collect(),
            speaker: plan.speaker.clone(),
            dates: plan.dates.clone(),
            first_person_text: plan.first_person_text.clone(),
            left_out: selected.left_out,
        }),
    };
    Recall { hits: selected.hits, trace }
}

#[cfg(test)]
mod tests;
