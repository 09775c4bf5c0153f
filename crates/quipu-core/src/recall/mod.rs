//! Recall: from a question to the passages that answer it.
//!
//! Typed stages, each in its own file: `Query → Plan → Candidates → scored → selected`, with a [`Trace`] of all. Pure and
//! deterministic: the same index, plan and query vector give the same hits, ties broken by item id.
//!
//! Sources are cut into passages ([`limit::PASSAGE_BYTES_MAX`]); an item scores what its
//! best passage scores. The score is a plain weighted sum of features ([`Weights`]), so every hit can show what it
//! is made of.

mod answer;
pub(crate) mod index;
mod query;
mod rank;

pub use answer::decision::{AnswerSignals, Best, Calibration, Verdict, VerdictThresholds, decide};
pub use answer::group::{AnswerGroup, GroupLead};
pub use answer::reliability::{ReliabilityBin, calibration_error};
pub use answer::trace::{ArmCount, Detail, LeftOut, Reason, Term, Trace};
pub use answer::validity::Validity;
pub use index::dense::{EmbeddingKey, StoredVector, embedding_key};
pub use index::derived::{DerivedIndex, touched};
pub use index::image::{IMAGE_TAG, ImageError};
pub use index::passage_index::{EmbeddingInput, Index, Sources};
pub use index::tokens::terms;
pub use query::about::About;
pub use query::dates::NamedDate;
pub use query::intent::Intent;
pub use query::intervals::Interval;
pub use query::negation::Negation;
pub use query::plan::{Filter, Query, QueryPlan, check_question};
pub use rank::candidates::{Arm, Arms};
pub use rank::core_fields::{CoreField, core_fields};
pub use rank::items::DerivedHit;
pub use rank::late_interaction::{QueryTokens, TokenCode, token_codes};
pub use rank::order::{UsageScores, confidence, frequency, recency, rif, unasked};
pub use rank::profile::{Aging, Confidence, Experiment, Order, Profile, Profiles, Relevance, Similarity};
pub use rank::score::{Contributions, Features, Stages, Weights, score_max};
pub use rank::select::Hit;

use query::dates::Agreements;
use rank::candidates::{Candidates, Evidence};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::id::{ItemId, ItemKind};
use crate::limit;
use crate::memory::Memory;

/// How to score, and how much to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOptions {
    /// What everything counts.
    pub profile: Arc<Profile>,
    /// Fill in [`Trace::detail`].
    pub explain: bool,
    /// Score every passage while no more than this many are allowed.
    pub exhaustive_passages_max: usize,
}

impl Default for RankOptions {
    fn default() -> Self {
        Self { profile: Arc::default(), explain: false, exhaustive_passages_max: limit::EXHAUSTIVE_PASSAGES_MAX }
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

/// What a recall found in sources and in what was drawn from them.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundAnswers {
    /// At most `k` answers, best first, a statement and the words it was read from folded into one.
    pub groups: Vec<AnswerGroup>,
    /// Every drawn item that was scored, best first.
    pub derived: Vec<DerivedHit>,
    /// How they were found.
    pub trace: Trace,
    /// What tells whether they answer.
    pub signals: AnswerSignals,
    /// The probability that they do.
    pub probability: f64,
    /// The best of them says it of somebody else than is asked about.
    pub of_another: bool,
    /// What is asked is said near the best of somebody else, and not of whom is asked about.
    pub may_be_of_another: bool,
    /// The memory holds conversations of people with each other, not with an assistant.
    pub among_people: bool,
}

/// A question as an embedder understands it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meaning {
    /// The vector of [`Plan::first_person_text`] by the index's model. Without one, or with one that does not fit, meaning
    /// counts 0 for every passage and the trace says so; the same holds for a passage without a vector.
    pub vector: Option<Vec<f32>>,
    /// Its tokens, if the model hands them out. Without them there is no second stage.
    pub tokens: Option<QueryTokens>,
    /// The vector of the goal the question serves, if one was given.
    pub goal: Option<Vec<f32>>,
}

/// From this probability on what the active index has is taken; else everything is looked at.
const SURE: f64 = 0.8;

/// Finds what answers a question, among the sources of a memory and among what was drawn from them.
///
/// As [`recall`], which looks at sources alone. The active index is looked at first, and everything where that is not surely
/// the answer, where something else has more of the question's words, or where the question names a time, a session or what
/// held once: nothing is out of reach.
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
    // A story that answers best is one whose own words lie further down.
    let is_story =
        |group: &AnswerGroup| matches!(&group.lead, GroupLead::Derived(hit) if hit.id.kind == ItemKind::Episode);
    if first.probability >= SURE && !first.trace.deeper && !first.groups.first().is_some_and(is_story) {
        return first;
    }
    let mut all = search((memory, index, derived), plan, meaning, options, None);
    all.trace.fell_back = true;
    all
}

/// The same, in everything or in all but what is out of the active index.
fn search(
    (memory, index, derived): (&Memory, &Index, &DerivedIndex),
    plan: &QueryPlan,
    meaning: &Meaning,
    options: &RankOptions,
    out: Option<&BTreeSet<ItemId>>,
) -> FoundAnswers {
    let mut drawn = Vec::new();
    // Sources that stand behind a statement take no place of their own.
    let places = if derived.is_empty() { plan.k.max(limit::RANKED) } else { limit::NOMINEES_PER_ARM.max(2 * plan.k) };
    let mut weights = options.profile.matching.of(index.talk.is_among_people()).first;
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
    let mut groups = answer::group::fold(memory, (index, derived), hits, &drawn, plan);
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
    // How sure an answer is does not depend on how many were asked for.
    let kept = if plan.form.order { plan.k.max(limit::RANKED) } else { plan.k.max(AnswerSignals::LOOKED_AT) };
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
    let of_another = answer::of_another::is_of_another(memory, derived, plan, &groups);
    // Two people who talk speak of each other by "you", and leave names out.
    let may_be_of_another =
        !among_people && answer::of_another::is_said_of_others(memory, derived, (plan, &terms), &groups);
    if plan.form.order {
        desk.spread(&mut groups);
    }
    groups.truncate(plan.k);
    FoundAnswers { groups, derived: drawn, trace, signals, probability, of_another, may_be_of_another, among_people }
}

/// Finds the items that answer a question.
pub fn recall(index: &Index, plan: &QueryPlan, meaning: &Meaning, options: &RankOptions) -> Recall {
    stages(index, plan, (plan.k, Closed::default()), meaning, options, &mut |_, _, _, _| {}).0
}

/// True if something that may be found, and is not looked at, has more of the question's words than all that is.
fn is_deeper(words: &[f32], looked_at: &[u64], all: &[u64]) -> bool {
    let best = |mask: &dyn Fn(usize) -> u64| {
        let of = |(passage, score): (usize, &f32)| (mask(passage / 64) >> (passage % 64) & 1 == 1).then_some(*score);
        words.iter().enumerate().filter_map(of).fold(0.0, f32::max)
    };
    best(&|word| all[word] & !looked_at[word]) > best(&|word| looked_at[word])
}

/// Sources that are not looked at, by their place in the memory.
#[derive(Clone, Copy, Default)]
struct Closed<'a> {
    /// Nothing finds them any more.
    gone: &'a [u32],
    /// Out of the active index.
    asleep: &'a [u32],
}

/// Looks at what was scored, before it is forgotten.
type Inspect<'a> = &'a mut dyn FnMut(&Evidence<'_>, &Features, &[rank::select::Scored], &[Hit]);

fn stages(
    index: &Index,
    plan: &QueryPlan,
    (places, closed): (usize, Closed<'_>),
    meaning: &Meaning,
    options: &RankOptions,
    look: Inspect<'_>,
) -> (Recall, Vec<Term>) {
    let matching = options.profile.matching.of(index.talk.is_among_people());
    let all = index.mask(&plan.filter, closed.gone);
    let allowed = index.without(all.clone(), closed.asleep);
    let words = index.words.score(&plan.terms);
    let (first, last) = index.days.unwrap_or_default();
    let mut dates = Agreements::new(&plan.dates, first, last);
    plan.intervals.iter().filter(|_| plan.dates.is_empty()).for_each(|interval| dates.add_interval(interval));
    let vector = meaning.vector.as_ref().and_then(|vector| index.dense.query(vector));
    let known = plan.terms.iter().zip(&words.figures);
    let codes = known.filter(|(term, figure)| figure.texts > 0 && rank::score::is_code(term));
    let (codes, shares): (Vec<String>, Vec<f32>) =
        codes.map(|(term, figure)| (term.clone(), rank::score::code_share(figure.texts))).unzip();
    let share = shares.into_iter().fold(0.0, f32::max);
    let codes = (!codes.is_empty()).then(|| {
        let found = index.words.score(&codes).passages;
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
    // Tokens are compared where the question and the memory have them; a model that hands out none leaves one stage.
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
mod sample;
#[cfg(test)]
mod tests;
