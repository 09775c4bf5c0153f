//! Recall: from a question to the items that answer it, with their receipts. Appends nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::Trust;
use quipu_core::id::{ItemKind, Seq, UserId};
use quipu_core::limit;
use quipu_core::recall::{
    self as stages, AnswerSignals, Best, DerivedHit, DerivedIndex, Filter, FoundAnswers, Index, Intent, Meaning, Query,
    QueryPlan, Validity, Verdict, VerdictThresholds,
};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;
use crate::history::versions::{self, View, When};
use crate::lock::before_slow_call;
use crate::memory::{OpenMemory, State, index};
use crate::process::deadline::Deadline;
use crate::read::answers::{self, Answer, OmittedAnswer, Quotes};
use crate::read::meaning;
use crate::read::rerank;

/// What to look for.
#[derive(Debug, Clone)]
pub struct RecallOptions {
    /// The question.
    pub query: String,
    /// How many items.
    pub k: usize,
    /// Only in this conversation.
    pub session: Option<String>,
    /// Only items of these kinds; all if empty.
    pub kinds: Vec<ItemKind>,
    /// As of which version: what was known then.
    pub at: When,
    /// What held then; without it the question's own words decide, and else what holds now.
    pub validity: Option<Validity>,
    /// What it is for; without it the question's own words decide.
    pub intent: Option<Intent>,
    /// What "last week" is counted from; without it the clock's time.
    pub now: Option<Timestamp>,
    /// The goal the question serves; without it the most pressing open one.
    pub goal: Option<String>,
    /// Tune by this profile; without it by the user's.
    pub profile: Option<String>,
    /// What is not done by then is done without: meaning and reranking, and the report says so. The built-in model needs none.
    pub deadline: Option<Duration>,
    /// Write down how each stage decided.
    pub explain: bool,
}

impl RecallOptions {
    /// The eight best items for a question, now.
    pub fn of(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            k: 8,
            session: None,
            kinds: Vec::new(),
            at: When::Now,
            validity: None,
            intent: None,
            now: None,
            goal: None,
            profile: None,
            deadline: None,
            explain: false,
        }
    }
}

impl From<&str> for RecallOptions {
    /// As [`RecallOptions::of`].
    fn from(text: &str) -> Self {
        Self::of(text)
    }
}

impl From<String> for RecallOptions {
    /// As [`RecallOptions::of`].
    fn from(text: String) -> Self {
        Self::of(&text)
    }
}

/// How long the parts took, in microseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Timing {
    /// Embedding the question.
    pub embed_us: u64,
    /// Everything else.
    pub recall_us: u64,
}

/// Whether memory answers a question.
#[derive(Debug, Clone, Serialize)]
pub struct RecallDecision {
    /// What to do.
    pub verdict: Verdict,
    /// The probability that what was found answers, calibrated by `quipu eval calibrate`.
    pub probability: f64,
    /// Why, in words.
    pub reason: &'static str,
    /// What to ask the user, if that is what to do and it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The best of it is said of somebody else than is asked about.
    pub of_another: bool,
    /// What the probability follows from.
    pub signals: AnswerSignals,
    /// The memory holds conversations of people with each other, not with an assistant.
    #[serde(skip)]
    pub(crate) among_people: bool,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct RecallReport {
    /// The question.
    pub query: String,
    /// The version that answered.
    pub version: Seq,
    /// Best first; equals in the order of their ids.
    pub hits: Vec<Answer>,
    /// Fields of the core document that speak of what is asked, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub core: Vec<stages::CoreField>,
    /// How it was found, stage by stage, if asked for.
    pub trace: Option<stages::Trace>,
    /// The best of what was scored and not returned, if asked for.
    pub left_out: Vec<OmittedAnswer>,
    /// Whether they answer, and what to do about it.
    pub decision: RecallDecision,
    /// The profile they were found by.
    pub profile: String,
    /// What could not be used, and why the answers may be weaker.
    pub degraded: Option<String>,
    /// How long it took.
    pub timing: Timing,
}

/// Finds the items that answer a question.
///
/// Reads no disk page when the memory is open. Same memory, question and options: same answer.
///
/// # Errors
/// `Invalid`: the question is empty or longer than `limit::QUERY_BYTES_MAX`, or `k` is over `limit::RECALL_K_MAX`.
/// `NotFound`: no such user or version.
pub fn recall(engine: &Engine, user: &UserId, options: &RecallOptions) -> Result<RecallReport> {
    let open = engine.open(user)?;
    on_version(engine, &open, options.at, &mut |at| {
        let kept = open.texts_generation();
        let report = recall_in(engine, at, options)?;
        note_shown(&open, kept, &report);
        if options.at == When::Now {
            open.shown_items.count(report.hits.iter().map(|hit| hit.id), engine.now());
        }
        Ok(report)
    })
}

/// Keeps in mind what was recalled: when it comes back, it is not news, and others' words do not become the user's by being
/// passed on. Nothing is kept of what was looked at before an erasure.
pub(crate) fn note_shown(open: &OpenMemory, kept: u64, report: &RecallReport) {
    report.hits.iter().for_each(|hit| open.note_shown(kept, &hit.text));
}

/// A memory at one version. Each look holds it for as long as the look takes, so that nothing is held in between.
pub(crate) enum AtVersion<'a> {
    /// The memory in use. Between two looks it may get to a later version.
    Now(&'a OpenMemory),
    /// A memory made for another version.
    Other(&'a View),
}

impl AtVersion<'_> {
    pub(crate) fn look<T>(&self, work: impl FnOnce(&ReadView<'_>) -> T) -> T {
        match self {
            Self::Now(open) => work(&ReadView::of(&open.read())),
            Self::Other(view) => work(&ReadView::of_view(view)),
        }
    }
}

/// What a recall looks at: a memory at one version, with its indexes.
#[derive(Clone, Copy)]
pub(crate) struct ReadView<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) index: &'a Index,
    pub(crate) derived: &'a DerivedIndex,
}

impl<'a> ReadView<'a> {
    pub(crate) fn of(state: &'a State) -> Self {
        Self { memory: &state.memory, index: &state.index, derived: &state.derived }
    }

    pub(crate) fn of_view(view: &'a View) -> Self {
        Self { memory: &view.memory, index: &view.index, derived: &view.derived }
    }
}

/// Runs something on the memory in use, or on one made for an earlier version.
pub(crate) fn on_version<T>(
    engine: &Engine,
    open: &OpenMemory,
    at: When,
    work: &mut dyn FnMut(&AtVersion<'_>) -> Result<T>,
) -> Result<T> {
    if at == When::Now {
        let waiting = index::waiting(&open.read().index);
        // A few vectors lost with a damaged or outdated index are made again; if that fails, the answer says so.
        if (1..=limit::EMBED_ON_READ_MAX).contains(&waiting) {
            let _ = index::embed_before_read(engine, open);
        }
        return work(&AtVersion::Now(open));
    }
    let view = versions::view(engine, open, versions::memory_at(open, at)?)?;
    work(&AtVersion::Other(&view))
}

#[expect(clippy::disallowed_methods, reason = "the report says how long it took; nothing is decided by it")]
fn started() -> Instant {
    Instant::now()
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn recall_in(engine: &Engine, at: &AtVersion<'_>, options: &RecallOptions) -> Result<RecallReport> {
    find(engine, at, (options, Quotes::Told), &mut |found| {
        let mut report = found.report;
        // A field has neither session nor kind, so a narrowed question is not about it.
        if options.session.is_none() && options.kinds.is_empty() {
            report.core = stages::core_fields(found.sight.memory, found.plan);
        }
        Ok(report)
    })
}

/// What was found, with the memory it was found in, the plan, and everything drawn that was scored: a pack has use for more
/// than the answers.
pub(crate) struct FoundIn<'a> {
    pub(crate) sight: &'a ReadView<'a>,
    pub(crate) report: RecallReport,
    pub(crate) plan: &'a QueryPlan,
    pub(crate) drawn: &'a [DerivedHit],
}

/// Finds the items that answer a question, and hands them over with the memory they were found in.
///
/// The memory is held while it is looked at, and not while the question is embedded or the answers are put in another order
/// by a model. The plan is made anew if the memory has got to another version by then.
pub(crate) fn find<T>(
    engine: &Engine,
    at: &AtVersion<'_>,
    (options, quotes): (&RecallOptions, Quotes),
    then: &mut dyn FnMut(FoundIn<'_>) -> Result<T>,
) -> Result<T> {
    let start = started();
    let deadline = Deadline::from(start, options.deadline);
    let profiles = engine.profiles();
    let (planned_at, planned) = at.look(|sight| (sight.memory.seq(), plan(engine, sight, options)));
    let planned = planned?;
    let name = at
        .look(|sight| options.profile.as_deref().unwrap_or_else(|| profiles.name_for(sight.memory.user())).to_owned());
    let profile = profiles.named(&name)?;
    let planned_us = micros(start);
    let start = started();
    let goal = options.goal.as_deref();
    before_slow_call("the embedder");
    let (meaning, degraded) = match meaning::of_question(engine, &planned.first_person_text, goal, deadline) {
        Ok(meaning) => (meaning, None),
        Err(error) => (Meaning::default(), Some(format!("{error}; only words, dates and speakers were used"))),
    };
    let embed_us = micros(start);
    let start = started();
    let how = stages::RankOptions {
        explain: options.explain,
        profile: Arc::new(profile.clone()),
        ..stages::RankOptions::default()
    };
    let search = |sight: &ReadView<'_>| -> Result<Searched> {
        let ReadView { memory, index, derived } = *sight;
        let plan = if memory.seq() == planned_at { planned.clone() } else { plan(engine, sight, options)? };
        let found = stages::recall_all(memory, index, derived, &plan, &meaning, &how);
        let hits = found.groups.iter().map(|group| answers::of_group(sight, &plan.validity, quotes, group)).collect();
        let waiting = index::waiting(index);
        let lacking = || {
            format!("{waiting} passages have no vector yet and were found by words only; `quipu rebuild` makes them")
        };
        let degraded = degraded.clone().or_else(|| (waiting > 0).then(lacking));
        Ok(Searched { version: memory.seq(), plan, found, hits, degraded })
    };
    let mut conclude = |sight: &ReadView<'_>, searched: Searched| {
        let Searched { version, plan, found, mut hits, degraded } = searched;
        hits.truncate(options.k);
        let decision = decision(sight.memory, &hits, &found, &profile.decision);
        let runners_up = found.trace.detail.iter().flat_map(|detail| &detail.left_out);
        let left_out = runners_up.map(|out| answers::left_out(sight.memory, out)).collect();
        let report = RecallReport {
            query: options.query.clone(),
            version,
            hits,
            core: Vec::new(),
            trace: options.explain.then_some(found.trace),
            left_out,
            decision,
            profile: name.clone(),
            degraded,
            timing: Timing { embed_us, recall_us: planned_us + micros(start) },
        };
        then(FoundIn { sight, report, plan: &plan, drawn: &found.derived })
    };
    if engine.optional.reranker.is_none() {
        return at.look(|sight| conclude(sight, search(sight)?));
    }
    let mut searched = at.look(|sight| search(sight))?;
    before_slow_call("the reranker");
    let reordered = rerank::reorder(engine, &options.query, &mut searched.hits, deadline);
    searched.degraded = searched.degraded.into_iter().chain(reordered).reduce(|one, other| format!("{one}; {other}"));
    at.look(|sight| match sight.memory.seq() == searched.version {
        true => conclude(sight, searched),
        // Something was appended, erased or reverted while the reranker worked: what it saw may not be there any more.
        false => conclude(sight, search(sight)?),
    })
}

/// What a search has found, before a model may put it in another order.
struct Searched {
    version: Seq,
    plan: QueryPlan,
    found: FoundAnswers,
    hits: Vec<Answer>,
    degraded: Option<String>,
}

fn plan(engine: &Engine, sight: &ReadView<'_>, options: &RecallOptions) -> Result<QueryPlan> {
    let sessions = options.session.iter().map(|name| name.as_str().into()).collect();
    let filter = Filter { sessions, kinds: options.kinds.clone() };
    let (text, now) = (options.query.clone(), options.now.or_else(|| Some(engine.clock.now())));
    let ranked = if engine.optional.reranker.is_some() { limit::RERANKED } else { 0 };
    let query =
        Query { text, k: options.k.max(ranked), now, filter, validity: options.validity, intent: options.intent };
    Ok(QueryPlan::new(sight.index, query)?.grounded(sight.memory, sight.index, sight.derived))
}

/// Whether what was found answers: by its probability, and by what is known of the best of it.
fn decision(memory: &Memory, hits: &[Answer], found: &FoundAnswers, thresholds: &VerdictThresholds) -> RecallDecision {
    let best = hits.first().map(|answer| Best {
        confidence: answer.confidence,
        contested: !answer.contested_by.is_empty(),
        from_user: answer.trust == Trust::User,
        of_another: found.of_another,
        may_be_of_another: found.may_be_of_another,
    });
    let (verdict, reason) = stages::decide(found.probability, best, thresholds);
    let sides =
        || hits.first().into_iter().flat_map(|best| best.contested_by.iter().map(|(id, _)| *id).chain([best.id]));
    let asked =
        || sides().find_map(|side| memory.items().waiting_about(side).find(|review| !review.question.is_empty()));
    let question = (verdict == Verdict::Clarify).then(asked).flatten().map(|review| review.question.clone());
    let FoundAnswers { probability, of_another, signals, among_people, .. } = *found;
    RecallDecision { verdict, probability, reason, question, of_another, signals, among_people }
}
