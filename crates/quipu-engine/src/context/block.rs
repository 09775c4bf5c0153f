//! Packs: budgeted blocks of memory for a model's prompt, chosen by what the request needs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::calendar;
use quipu_core::id::{ItemId, Seq, UserId};
use quipu_core::item::{Review, ReviewKind};
use quipu_core::limit;
use quipu_core::memory::Memory;
use quipu_core::pack::need::{RequestFacts, need};
use quipu_core::pack::{self, Offer, Pack, RequestNeed, StableLine, estimate_tokens};
use quipu_core::recall::{Intent, QueryPlan, Verdict, core_fields};
use serde::Serialize;

use crate::context::offers::{self, PackRequest};
use crate::context::pack_id::{self, PackInputs};
use crate::context::stable_part;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::history::versions::When;
use crate::lock::before_slow_call;
use crate::ports::Tokenizer;
use crate::read::answers::{Answer, Quotes};
use crate::read::recall::{self, FoundIn, RecallDecision, RecallOptions};
use crate::review::queue;

/// What to pack.
#[derive(Debug, Clone)]
pub struct ContextOptions {
    /// The question or task.
    pub query: String,
    /// Token budget of the block.
    pub max_tokens: usize,
    /// Restricts the pack to this session.
    pub session: Option<String>,
    /// The version to read.
    pub at: When,
    /// Intent of the request. By default it is derived from the query.
    pub intent: Option<Intent>,
    /// Reference time of relative dates such as "last week". Defaults to the clock's time.
    pub now: Option<Timestamp>,
    /// Ranking profile. Defaults to the user's.
    pub profile: Option<String>,
    /// Name of the tokenizer. Defaults to the engine's first.
    pub tokenizer: Option<String>,
    /// Prefixes lines with full ids instead of marks.
    pub ids: bool,
    /// Adds an instruction to cite the lines that are used.
    pub cite: bool,
    /// As in [`RecallOptions`].
    pub deadline: Option<Duration>,
}

impl ContextOptions {
    /// Options for a pack of the default size at the current version.
    pub fn of(query: &str) -> Self {
        Self {
            query: query.to_owned(),
            max_tokens: pack::DEFAULT_TOKENS,
            session: None,
            at: When::Now,
            intent: None,
            now: None,
            profile: None,
            tokenizer: None,
            ids: false,
            cite: false,
            deadline: None,
        }
    }
}

impl From<&str> for ContextOptions {
    /// As [`ContextOptions::of`].
    fn from(text: &str) -> Self {
        Self::of(text)
    }
}

impl From<String> for ContextOptions {
    /// As [`ContextOptions::of`].
    fn from(text: String) -> Self {
        Self::of(&text)
    }
}

/// In conversations between people, a question about the user's life with a lower probability of an answer than this
/// counts as unknown to the memory.
const UNKNOWN_AMONG_PEOPLE_BELOW: f64 = 0.1;

/// Number of candidates requested from recall for a pack.
const CANDIDATES: usize = 100;

/// Builds the pack for a query: the stable part (what must never be forgotten and who the user is), then what the
/// request needs. Items that did not fit are listed by id.
///
/// # Errors
/// As [`recall`](crate::recall()); `Invalid` for a budget over `limit::PACK_TOKENS_MAX` or an unknown tokenizer.
pub fn context(engine: &Engine, user: &UserId, options: &ContextOptions) -> Result<Pack> {
    made(engine, user, options, &BTreeSet::new()).map(|made| made.pack)
}

/// Builds the pack as [`context`] does, together with the decision of recall.
///
/// # Errors
/// As [`context`].
pub fn judged_context(engine: &Engine, user: &UserId, options: &ContextOptions) -> Result<JudgedContext> {
    made(engine, user, options, &BTreeSet::new())
}

/// A pack with the decision of recall about it.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedContext {
    /// The pack.
    pub pack: Pack,
    /// The version the pack was built from.
    pub version: Seq,
    /// Whether the memory answers the query.
    pub decision: RecallDecision,
    /// Why recall worked with reduced quality, if it did.
    pub degraded: Option<String>,
}

/// Builds a pack without the sources in `shown`, which the reader already has. Also returns why recall worked with
/// reduced quality, if it did.
pub(crate) fn without(
    engine: &Engine,
    user: &UserId,
    options: &ContextOptions,
    shown: &BTreeSet<ItemId>,
) -> Result<(Pack, Option<String>)> {
    made(engine, user, options, shown).map(|made| (made.pack, made.degraded))
}

fn made(engine: &Engine, user: &UserId, options: &ContextOptions, shown: &BTreeSet<ItemId>) -> Result<JudgedContext> {
    if options.max_tokens > limit::PACK_TOKENS_MAX {
        return Err(Error::Invalid(format!("a pack has at most {} tokens", limit::PACK_TOKENS_MAX)));
    }
    let counter = counter(engine, options.tokenizer.as_deref())?;
    let now = options.now.unwrap_or_else(|| engine.clock.now());
    let asked = RecallOptions {
        k: CANDIDATES,
        now: Some(now),
        profile: options.profile.clone(),
        session: options.session.clone(),
        intent: options.intent,
        deadline: options.deadline,
        ..RecallOptions::of(&options.query)
    };
    let open = engine.open(user)?;
    let (parts, report) = recall::on_version(engine, &open, options.at, &mut |at| {
        let kept = open.texts_generation();
        let gathered = recall::find(engine, at, (&asked, Quotes::LeftOut), &mut |found| {
            let parts = PackParts::of(engine, &found, options, (now, shown));
            Ok((parts, found.report))
        })?;
        // A request that needs no memory shows none of these hits, so they are not counted as shown.
        if gathered.0.need != RequestNeed::Nothing {
            recall::note_shown(&open, kept, &gathered.1);
        }
        Ok(gathered)
    })?;
    let version = report.version;
    before_slow_call("the tokenizer");
    let count = |text: &str| counter.as_ref().map_or_else(|| estimate_tokens(text), |by| by.count(text));
    let mut pack = pack::pack(&parts.request(user, version, options), &count);
    pack.counted_by = counter.as_ref().map_or(ESTIMATE, |by| by.name()).to_owned();
    let follows_from = PackInputs {
        query: options.query.clone(),
        version,
        now,
        intent: options.intent,
        max_tokens: options.max_tokens,
        session: options.session.clone(),
        profile: report.profile,
        tokenizer: pack.counted_by.clone(),
        ids: options.ids,
        cite: options.cite,
    };
    pack.id = pack_id::id(&follows_from, &pack.text)?;
    if options.at == When::Now {
        open.shown_items.count(pack.citations.iter().copied(), engine.now());
    }
    Ok(JudgedContext { pack, version, decision: report.decision, degraded: report.degraded })
}

/// The parts of a pack, copied from the memory, so that packing holds no lock.
struct PackParts {
    intent: Intent,
    need: RequestNeed,
    narrow: bool,
    always: Vec<StableLine>,
    who: Vec<StableLine>,
    questions: Vec<(ItemId, String)>,
    fields: Vec<(String, String)>,
    offers: Vec<Offer>,
}

impl PackParts {
    fn of(
        engine: &Engine,
        found: &FoundIn<'_>,
        options: &ContextOptions,
        (now, shown): (Timestamp, &BTreeSet<ItemId>),
    ) -> Self {
        let FoundIn { sight, report, plan, drawn } = found;
        let memory = sight.memory;
        let now = engine.local(memory, now);
        let decision = &report.decision;
        let known = RequestFacts {
            intent: plan.intent,
            person: names_somebody(plan, &report.hits),
            probability: decision.probability,
            // Without embeddings recall misses items. In conversations between people much is left implicit, so recall
            // abstains more often than it should.
            unknown: report.degraded.is_none()
                && match decision.among_people {
                    true => decision.probability < UNKNOWN_AMONG_PEOPLE_BELOW,
                    false => decision.verdict == Verdict::Abstain,
                },
            tells_general: report.degraded.is_none() && !decision.among_people && plan.is_english(),
        };
        let need = match need(&options.query, known) {
            // An explicit intent means that memory is needed.
            RequestNeed::Nothing if options.intent.is_some() => RequestNeed::Memory,
            // An empty memory does not state that it has nothing.
            RequestNeed::Unknown if memory.sources().is_empty() && report.hits.is_empty() => RequestNeed::Nothing,
            need => need,
        };
        let is_exact = decision.verdict == Verdict::Answer && decision.signals.holds >= 1.0;
        let narrow = match need {
            RequestNeed::Unknown => !decision.among_people,
            // One task answers no question for all of them.
            RequestNeed::Memory => is_exact && !plan.asks_for_tasks(),
            RequestNeed::Task | RequestNeed::Nothing => false,
        };
        let (always, who) = (stable_part::always(memory, &engine.predicates, now), stable_part::who(memory, now));
        let (mut questions, mut fields, mut all) = (Vec::new(), Vec::new(), Vec::new());
        if need != RequestNeed::Nothing {
            let ids = |kept: &[StableLine]| kept.iter().flat_map(|kept| kept.ids.iter().copied()).collect();
            let (always, who) = (ids(&always), ids(&who));
            let wanted = PackRequest { plan, need, predicates: &engine.predicates, shown, always, who };
            all = offers::offers(sight, &wanted, &report.hits, drawn);
            on_their_clock(memory, &mut all);
            questions = open_questions(engine, memory, &report.hits);
        }
        // Fields of the core document belong to no session, so they are left out of a query restricted to one.
        if need != RequestNeed::Nothing && options.session.is_none() {
            let told = |path: &str| {
                all.iter().flat_map(|offer| &offer.noted).any(|noted| {
                    let fact = memory.items().fact(noted.id);
                    fact.and_then(|fact| fact.core_path.as_deref()).is_some_and(|at| path.starts_with(at))
                })
            };
            let found = core_fields(memory, plan).into_iter().filter(|field| !told(&field.path));
            fields = found.map(|field| (field.path.clone(), field.text())).collect();
        }
        Self { intent: plan.intent, need, narrow, always, who, questions, fields, offers: all }
    }

    fn request<'a>(self, user: &'a UserId, version: Seq, options: &ContextOptions) -> pack::PackInput<'a> {
        pack::PackInput {
            user,
            version,
            intent: self.intent,
            need: self.need,
            narrow: self.narrow,
            always: self.always,
            who: self.who,
            questions: self.questions,
            fields: self.fields,
            offers: self.offers,
            ids: options.ids,
            cite: options.cite,
            max_tokens: options.max_tokens,
        }
    }
}

/// Gives each offer the time that the speaker's clock showed, so that a pack's days are those that "tomorrow" was
/// counted from.
fn on_their_clock(memory: &Memory, offers: &mut [Offer]) {
    let present = memory.utc_offset();
    for offer in offers {
        let source = offer.words.as_ref().and_then(|words| memory.get(words.id));
        let offset = source.and_then(|held| held.source.utc_offset()).or(present);
        offer.said_at = offer.said_at.map(|at| offset.map_or(at, |offset| calendar::local(at, offset)));
    }
}

/// Returns true if the query names a person who speaks or is mentioned in the hits.
fn names_somebody(plan: &QueryPlan, hits: &[Answer]) -> bool {
    let is_one = |name: &str| {
        plan.entities.iter().any(|entity| {
            let first = name.split_whitespace().next().unwrap_or_default();
            entity.eq_ignore_ascii_case(name) || entity.eq_ignore_ascii_case(first)
        })
    };
    plan.speaker.is_some() || hits.iter().any(|hit| is_one(&hit.speaker))
}

/// Name of the estimate of token counts that needs no tokenizer.
pub(crate) const ESTIMATE: &str = "estimate";

/// Finds a tokenizer by name; `None` for the estimate.
pub(crate) fn counter(engine: &Engine, name: Option<&str>) -> Result<Option<Arc<dyn Tokenizer>>> {
    let all = &engine.optional.tokenizers;
    match name {
        None => Ok(all.first().cloned()),
        Some(ESTIMATE) => Ok(None),
        Some(name) => all.iter().find(|one| one.name() == name).cloned().map(Some).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|one| one.name()).chain([ESTIMATE]).collect();
            Error::Invalid(format!("there is no tokenizer {name:?}; there are {}", known.join(", ")))
        }),
    }
}

/// Conflicts about the hits that only the user can settle, most important first.
fn open_questions(engine: &Engine, memory: &Memory, hits: &[Answer]) -> Vec<(ItemId, String)> {
    let items = memory.items();
    let sides: BTreeSet<ItemId> =
        hits.iter().flat_map(|hit| hit.contested_by.iter().map(|(id, _)| *id).chain([hit.id])).collect();
    let is_found =
        |review: &&Review| sides.contains(&review.about) || review.against.is_some_and(|id| sides.contains(&id));
    let waiting = items.waiting().filter(|review| review.kind == ReviewKind::Conflict);
    let mut waiting: Vec<&Review> = waiting.filter(is_found).collect();
    let weight = |review: &Review| items.fact(review.about).map_or(0.0, |fact| fact.intrinsic_importance);
    let order = |review: &Review| items.creation_order(review.id);
    waiting.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then_with(|| order(a).cmp(&order(b))));
    waiting.into_iter().map(|review| (review.id, queue::question(engine, items, review))).collect()
}
