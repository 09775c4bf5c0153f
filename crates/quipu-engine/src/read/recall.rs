//! Recall: finds the items that answer a question, with their evidence. Appends nothing.

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
    /// Most items to return.
    pub k: usize,
    /// Only items of this session.
    pub session: Option<String>,
    /// Only items of these kinds; all if empty.
    pub kinds: Vec<ItemKind>,
    /// The version to read.
    pub at: When,
    /// Time of validity. By default it is derived from the query, or else what holds now.
    pub validity: Option<Validity>,
    /// Intent of the request. By default it is derived from the query.
    pub intent: Option<Intent>,
    /// Reference time of relative dates such as "last week". Defaults to the clock's time.
    pub now: Option<Timestamp>,
    /// The goal the query serves. Defaults to the most urgent open goal.
    pub goal: Option<String>,
    /// Ranking profile. Defaults to the user's.
    pub profile: Option<String>,
    /// Time limit of embedding and reranking. What is late is skipped, and the report says so. Not needed with the
    /// built-in model.
    pub deadline: Option<Duration>,
    /// Records the decisions of each stage in the report.
    pub explain: bool,
}

impl RecallOptions {
    /// Options for the eight best items at the current version.
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

/// Durations in microseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Timing {
    /// Embedding the question.
    pub embed_us: u64,
    /// Everything else.
    pub recall_us: u64,
}

/// Whether the memory answers a question.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecallDecision {
    /// What to do.
    pub verdict: Verdict,
    /// The probability that the hits answer the question, calibrated by `quipu eval calibrate`.
    pub probability: f64,
    /// Why, in words.
    pub reason: &'static str,
    /// A question to ask the user, if the verdict is to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// True if the best hit is about somebody else than the question.
    pub of_another: bool,
    /// The inputs of the probability.
    pub signals: AnswerSignals,
    /// True if the memory contains conversations between people instead of with an assistant.
    #[serde(skip)]
    pub(crate) among_people: bool,
}

/// Result of a recall.
#[derive(Debug, Clone, Serialize)]
pub struct RecallReport {
    /// The question.
    pub query: String,
    /// The version that was read.
    pub version: Seq,
    /// The hits, best first; ties are in the order in which they were recorded, statements before sources.
    pub hits: Vec<Answer>,
    /// Matching fields of the core document, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub core: Vec<stages::CoreField>,
    /// The decisions of each stage, if requested.
    pub trace: Option<stages::Trace>,
    /// The best scored items that were not returned, if requested.
    pub left_out: Vec<OmittedAnswer>,
    /// Whether the hits answer the question.
    pub decision: RecallDecision,
    /// The ranking profile used.
    pub profile: String,
    /// What could not be used, so that the hits may be worse.
    pub degraded: Option<String>,
    /// How long it took.
    pub timing: Timing,
}

/// Finds the items that answer a question.
///
/// Reads no page from disk if the memory is open. Deterministic for the same memory, question and options.
///
/// # Errors
/// `Invalid` if the question is empty or longer than `limit::QUERY_BYTES_MAX`, or `k` exceeds `limit::RECALL_K_MAX`;
/// `NotFound` if there is no such user or version.
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

/// Caches recalled texts, so that a message which echoes them is not extracted as the user's own news. Nothing read
/// before an erasure is cached after it.
pub(crate) fn note_shown(open: &OpenMemory, kept: u64, report: &RecallReport) {
    report.hits.iter().for_each(|hit| open.note_shown(kept, &hit.text));
}

/// A memory at one version. It is locked only during each call of [`look`](Self::look).
pub(crate) enum AtVersion<'a> {
    /// The open memory. It may advance between two calls.
    Now(&'a OpenMemory),
    /// A memory folded at another version.
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

/// A memory at one version with its indexes, as read by a recall.
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

/// Calls `work` with the open memory, or with one folded at an earlier version.
pub(crate) fn on_version<T>(
    engine: &Engine,
    open: &OpenMemory,
    at: When,
    work: &mut dyn FnMut(&AtVersion<'_>) -> Result<T>,
) -> Result<T> {
    if at == When::Now {
        let waiting = index::waiting(&open.read().index);
        // A few vectors lost with a damaged or outdated index are made again; if that fails, the report says so.
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
        // Fields have neither session nor kind, so they are left out of a restricted query.
        if options.session.is_none() && options.kinds.is_empty() {
            report.core = stages::core_fields(found.sight.memory, found.plan);
        }
        Ok(report)
    })
}

/// The report with the memory it was found in, the plan, and all scored derived items, which a pack also uses.
pub(crate) struct FoundIn<'a> {
    pub(crate) sight: &'a ReadView<'a>,
    pub(crate) report: RecallReport,
    pub(crate) plan: &'a QueryPlan,
    pub(crate) drawn: &'a [DerivedHit],
}

/// Finds the items that answer a question, and passes them to `then` with the memory they were found in.
///
/// The memory is not locked while the question is embedded or the hits are reranked. If it has advanced by then, the
/// search is repeated.
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
    let (mut meaning, degraded) = match meaning::of_question(engine, &planned.first_person_text, goal, deadline) {
        Ok(meaning) => (meaning, None),
        Err(error) => (Meaning::default(), Some(format!("{error}; only words, dates and speakers were used"))),
    };
    meaning.is_foreign = engine.embedder.model().english_only && !planned.is_english();
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
        let hits = found.groups.iter().map(|group| answers::of_group(sight, &plan, quotes, group)).collect();
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
        // The memory changed while the reranker worked, so the hits may no longer exist.
        false => conclude(sight, search(sight)?),
    })
}

/// Result of a search before reranking.
struct Searched {
    version: Seq,
    plan: QueryPlan,
    found: FoundAnswers,
    hits: Vec<Answer>,
    degraded: Option<String>,
}

fn plan(engine: &Engine, sight: &ReadView<'_>, options: &RecallOptions) -> Result<QueryPlan> {
    let sessions = options.session.iter().map(|name| name.as_str().into()).collect();
    let filter = Filter { sessions, kinds: options.kinds.clone(), ..Filter::default() };
    let (text, now) = (options.query.clone(), options.now.unwrap_or_else(|| engine.clock.now()));
    let now = Some(engine.local(sight.memory, now));
    let ranked = if engine.optional.reranker.is_some() { limit::RERANKED } else { 0 };
    let query =
        Query { text, k: options.k.max(ranked), now, filter, validity: options.validity, intent: options.intent };
    let plan = QueryPlan::new(sight.index, query)?.grounded(sight.memory, sight.index, sight.derived);
    let plan = plan.of_talk(sight.memory);
    Ok(if options.at == When::Now { plan.in_the_present() } else { plan })
}

/// Decides whether the hits answer the question, by probability and by properties of the best hit.
fn decision(memory: &Memory, hits: &[Answer], found: &FoundAnswers, thresholds: &VerdictThresholds) -> RecallDecision {
    let best = hits.first().map(|answer| Best {
        confidence: answer.confidence,
        contested: !answer.contested_by.is_empty(),
        from_user: answer.trust == Trust::User,
        of_another: found.of_another,
        may_be_of_another: found.may_be_of_another,
        waits: !answer.unconfirmed.is_empty(),
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
