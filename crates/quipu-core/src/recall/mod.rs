//! Recall: finds the passages that answer a question.
//!
//! Typed stages, each in its own file: `Query → Plan → Candidates → scored → selected`, with a [`Trace`] of all. Pure
//! and deterministic: the same index, plan and query vector give the same hits, ties in the order in which the items
//! were recorded.
//!
//! Sources are split into passages ([`limit::PASSAGE_BYTES_MAX`]); the score of an item is that of its best passage. It
//! is a weighted sum of features ([`Weights`]), so every hit can list its contributions.

mod answer;
pub(crate) mod index;
mod query;
mod rank;

pub use crate::text::tokens::terms;
pub use answer::calibration::{AnswerSignals, Calibration, VerdictThresholds};
pub use answer::decision::{Best, Verdict, decide};
pub use answer::reliability::{ReliabilityBin, calibration_error};
pub use answer::trace::{ArmCount, Detail, LeftOut, Reason, Term, Trace};
pub(crate) use index::cues::has_name;
pub use index::dense::{EmbeddingKey, StoredVector, embedding_key};
pub use index::derived::{DerivedIndex, touched};
pub use index::filter::Filter;
pub use index::image::{IMAGE_TAG, ImageError};
pub use index::passage_index::{EmbeddingInput, Index, Sources};
pub use index::token_code::{TokenCode, token_codes};
pub use query::about::About;
pub use query::intent::Intent;
pub use query::negation::Negation;
pub use query::plan::{Query, QueryPlan, check_question};
pub use query::validity::Validity;
pub use rank::candidates::{Arm, Arms};
pub use rank::core_fields::{CoreField, core_fields};
pub use rank::group::{AnswerGroup, GroupLead};
pub use rank::items::DerivedHit;
pub use rank::late_interaction::QueryTokens;
pub use rank::order::{UsageScores, confidence, frequency, recency, rif, unasked};
pub use rank::profile::{Aging, Confidence, Experiment, Order, Profile, Profiles, Relevance, Similarity};
pub use rank::score::{Contributions, Features, Stages, Weights, score_max};
pub use rank::select::Hit;

use query::agreement::Agreements;
use rank::candidates::{Candidates, Evidence};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::id::{ItemId, ItemKind};
use crate::limit;
use crate::memory::Memory;

/// Options for scoring and explanations.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOptions {
    /// All weights and thresholds.
    pub profile: Arc<Profile>,
    /// True to fill in [`Trace::detail`].
    pub explain: bool,
    /// Score every passage if at most this many are allowed.
    pub exhaustive_passages_max: usize,
}

impl Default for RankOptions {
    fn default() -> Self {
        Self { profile: Arc::default(), explain: false, exhaustive_passages_max: limit::EXHAUSTIVE_PASSAGES_MAX }
    }
}

/// The result of a recall over sources.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// At most `k` items, best first.
    pub hits: Vec<Hit>,
    /// How they were found.
    pub trace: Trace,
}

/// The result of a recall over sources and derived items.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundAnswers {
    /// At most `k` answers, best first; a statement and its source form one answer.
    pub groups: Vec<AnswerGroup>,
    /// Every derived item that was scored, best first.
    pub derived: Vec<DerivedHit>,
    /// How they were found.
    pub trace: Trace,
    /// The signals of the probability.
    pub signals: AnswerSignals,
    /// The probability that the results answer the question.
    pub probability: f64,
    /// True if the best result is about someone other than the person in question.
    pub of_another: bool,
    /// True if results near the best match the question for someone else, but not for the person in question.
    pub may_be_of_another: bool,
    /// True if the memory holds conversations among people rather than with an assistant.
    pub among_people: bool,
}

/// A question's embedding.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meaning {
    /// The vector of [`QueryPlan::first_person_text`] by the index's model. Without one, or with one that does not fit,
    /// the cosine is 0 for every passage and the trace says so; the same holds for a passage without a vector.
    pub vector: Option<Vec<f32>>,
    /// Its tokens, if the model provides them. Without them there is no second stage.
    pub tokens: Option<QueryTokens>,
    /// The vector of the goal the question serves, if one was given.
    pub goal: Option<Vec<f32>>,
    /// True if the model was not trained on the question's language, so that its vectors say little.
    pub is_foreign: bool,
}

/// Minimum probability at which results of the active index are accepted; otherwise everything is searched.
const SURE: f64 = 0.8;

/// Finds answers to a question among the sources and the derived items of a memory.
///
/// Like [`recall`], which searches sources alone. Searches the active index first, and everything if the result is
/// uncertain, if another item matches more of the question's words, or if the question names a time, a session or a
/// past state.
pub fn recall_all(
    memory: &Memory,
    index: &Index,
    derived: &DerivedIndex,
    plan: &QueryPlan,
    meaning: &Meaning,
    options: &RankOptions,
) -> FoundAnswers {
    let out = memory.items().demoted();
    if out.is_empty() || plan.reaches_back() {
        return search((memory, index, derived), plan, meaning, options, None);
    }
    let first = search((memory, index, derived), plan, meaning, options, Some(out));
    // An episode that ranks first suggests that its own turns are outside the active index.
    let is_story =
        |group: &AnswerGroup| matches!(&group.lead, GroupLead::Derived(hit) if hit.id.kind == ItemKind::Episode);
    if first.probability >= SURE && !first.trace.deeper && !first.groups.first().is_some_and(is_story) {
        return first;
    }
    let mut all = search((memory, index, derived), plan, meaning, options, None);
    all.trace.fell_back = true;
    all
}

/// Searches everything, or everything except `out`.
fn search(
    (memory, index, derived): (&Memory, &Index, &DerivedIndex),
    plan: &QueryPlan,
    meaning: &Meaning,
    options: &RankOptions,
    out: Option<&BTreeSet<ItemId>>,
) -> FoundAnswers {
    let mut drawn = Vec::new();
    // Sources of a statement do not take places of their own.
    let places = if derived.is_empty() { plan.k.max(limit::RANKED) } else { limit::NOMINEES_PER_ARM.max(2 * plan.k) };
    let mut weights = options.profile.matching.of(index.talk.is_among_people(), meaning.is_foreign).first;
    let gone: Vec<u32> = memory.items().hidden_sources().filter_map(|id| memory.find(id)).collect();
    let asleep: Vec<u32> = out.into_iter().flatten().filter_map(|id| memory.find(*id)).collect();
    let closed = Closed { gone: &gone, asleep: &asleep };
    let (found, terms) =
        stages(index, plan, (places, closed), meaning, options, &mut |evidence, used, scored, hits| {
            weights = *used;
            let desk = rank::items::ItemScoringContext { memory, derived, evidence, plan, weights: used, out };
            if !derived.is_empty() {
                drawn = desk.found(scored, hits);
            }
        });
    let mut trace = found.trace;
    trace.derived = derived.len();
    trace.derived_scored = drawn.len();
    let wanted = |hit: &Hit| plan.filter.admits_kind(index.items[hit.ordinal as usize].kind);
    let hits = found.hits.into_iter().filter(wanted).collect();
    let mut groups = rank::group::fold(memory, (index, derived), hits, &drawn, plan);
    let desk = rank::order::RankContext {
        memory,
        index,
        profile: &options.profile,
        cosine_weight: weights.x,
        score_max: score_max(&weights),
        now: plan.now,
        question: &plan.text,
        goal: meaning.goal.as_deref(),
    };
    // The probability must not depend on the number of requested answers.
    // In a conversation among people, what was said last is no better: each tells of themselves.
    let leans = !index.talk.is_among_people() && options.profile.order == rank::profile::Order::Relevance;
    let lean = if leans { plan.form.lean() } else { 0.0 };
    let kept =
        if plan.form.order || lean != 0.0 { plan.k.max(limit::RANKED) } else { plan.k.max(AnswerSignals::LOOKED_AT) };
    desk.rank(&mut groups, kept);
    let signals = AnswerSignals::of(&groups, &terms, &weights);
    let profile = &options.profile;
    let among_people = index.talk.is_among_people();
    let calibration = match trace.compared {
        0 => &profile.calibration_without_tokens,
        _ if among_people || profile.matching.assistant.is_none() => &profile.calibration,
        _ => &profile.calibration_of_assistant,
    };
    let probability = calibration.probability(&signals);
    let lacks_value = !among_people && answer::of_another::lacks_the_value(memory, derived, plan, &groups);
    let probability = if lacks_value { answer::decision::without_the_value(probability) } else { probability };
    // Whatever was said then answers what was said then.
    let probability = if plan.filter.days.is_some() && !groups.is_empty() { 1.0 } else { probability };
    let of_another = answer::of_another::is_of_another(memory, derived, plan, &groups);
    // People in a conversation address each other as "you" and omit names. Whose "I" is the user's is known all the same.
    let is_known_who = !among_people || plan.about.as_ref().is_some_and(About::is_user);
    let may_be_of_another =
        is_known_who && answer::of_another::is_said_of_others(memory, derived, (plan, &terms), &groups);
    if plan.form.order {
        desk.spread(&mut groups);
    }
    if lean != 0.0 {
        desk.lean(&mut groups, lean);
    }
    groups.truncate(plan.k);
    FoundAnswers { groups, derived: drawn, trace, signals, probability, of_another, may_be_of_another, among_people }
}

/// Finds the items that answer a question.
pub fn recall(index: &Index, plan: &QueryPlan, meaning: &Meaning, options: &RankOptions) -> Recall {
    stages(index, plan, (plan.k, Closed::default()), meaning, options, &mut |_, _, _, _| {}).0
}

/// Returns true if a passage outside `looked_at` matches more of the question's words than any inside.
fn is_deeper(words: &[f32], looked_at: &[u64], all: &[u64]) -> bool {
    let best = |mask: &dyn Fn(usize) -> u64| {
        let of = |(passage, score): (usize, &f32)| (mask(passage / 64) >> (passage % 64) & 1 == 1).then_some(*score);
        words.iter().enumerate().filter_map(of).fold(0.0, f32::max)
    };
    best(&|word| all[word] & !looked_at[word]) > best(&|word| looked_at[word])
}

/// Sources that are not searched, by position in the memory.
#[derive(Clone, Copy, Default)]
struct Closed<'a> {
    /// Hidden sources.
    gone: &'a [u32],
    /// Sources outside the active index.
    asleep: &'a [u32],
}

/// Inspects the scored passages before they are discarded.
type Inspect<'a> = &'a mut dyn FnMut(&Evidence<'_>, &Features, &[rank::select::Scored], &[Hit]);

fn stages(
    index: &Index,
    plan: &QueryPlan,
    (places, closed): (usize, Closed<'_>),
    meaning: &Meaning,
    options: &RankOptions,
    look: Inspect<'_>,
) -> (Recall, Vec<Term>) {
    let matching = options.profile.matching.of(index.talk.is_among_people(), meaning.is_foreign);
    let all = index.mask(&plan.filter, closed.gone);
    let allowed = index.without(all.clone(), closed.asleep);
    let words = index.words.score(&plan.terms, &plan.other_stems);
    let (first, last) = index.days.unwrap_or_default();
    let mut dates = Agreements::new(&plan.dates, first, last);
    plan.intervals.iter().filter(|_| plan.dates.is_empty()).for_each(|interval| dates.add_interval(interval, last));
    let vector = meaning.vector.as_ref().and_then(|vector| index.dense.query(vector));
    let known = plan.terms.iter().zip(&words.figures);
    let codes = known.filter(|(term, figure)| figure.texts > 0 && rank::score::is_code(term));
    let (codes, shares): (Vec<String>, Vec<f32>) =
        codes.map(|(term, figure)| (term.clone(), rank::score::code_share(figure.texts))).unzip();
    let share = shares.into_iter().fold(0.0, f32::max);
    let codes = (!codes.is_empty()).then(|| {
        let found = index.words.score(&codes, &plan.other_stems).passages;
        found.into_iter().map(|score| score.min(1.0) * share).collect::<Vec<_>>()
    });
    let evidence = Evidence {
        index,
        allowed: &allowed,
        words: &words,
        dates: &dates,
        vector: vector.as_ref(),
        speaker: plan.speaker_number(),
        asks_when: plan.asks_when,
        asked: plan.form,
        codes: codes.as_deref(),
    };
    let candidates = Candidates::nominate(&evidence, options.exhaustive_passages_max);
    let mut scored = rank::select::score(&evidence, &candidates, &matching.first);
    // The second stage needs tokens of both the question and the memory.
    let tokens = meaning.tokens.as_ref().filter(|_| vector.is_some() && index.dense.has_codes());
    let (weights, compared) = match tokens.zip(matching.late.as_ref()) {
        Some((tokens, late)) => (late, rank::select::rescore(index, tokens, &mut scored, late)),
        None => (&matching.first, 0),
    };
    let selected = rank::select::select(index, &scored, places, weights, options.explain);
    look(&evidence, weights, &scored, &selected.hits);
    let term =
        |(term, f): (&String, &index::words::TermFigure)| Term { term: term.clone(), idf: f.idf, passages: f.texts };
    let terms: Vec<Term> = plan.terms.iter().zip(&words.figures).map(term).collect();
    let trace = Trace {
        passages: index.passage_count(),
        allowed: allowed.iter().map(|word| word.count_ones() as usize).sum(),
        arms: candidates.counts.iter().map(|&(arm, nominated)| ArmCount { arm, nominated }).collect(),
        scored: candidates.passages.len(),
        dense: vector.is_some(),
        compared,
        derived: 0,
        derived_scored: 0,
        deeper: !closed.asleep.is_empty() && is_deeper(&words.passages, &allowed, &all),
        fell_back: false,
        without_vector: index.passage_count() - index.vector_count(),
        detail: options.explain.then(|| Detail {
            terms: terms.clone(),
            speaker: plan.speaker.clone(),
            about: plan.about.as_ref().map(|about| about.names().to_vec()).unwrap_or_default(),
            entities: plan.entities.clone(),
            negation: plan.negation.clone(),
            dates: plan.dates.clone(),
            intent: plan.intent,
            intervals: plan.intervals.clone(),
            validity: plan.validity,
            first_person_text: plan.first_person_text.clone(),
            left_out: selected.left_out,
        }),
    };
    (Recall { hits: selected.hits, trace }, terms)
}

#[cfg(test)]
mod late_tests;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
