//! Context: a budgeted block of memory for a model's prompt, mixed by what the question is for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use quipu_core::event::Trust;
use quipu_core::extract::USER;
use quipu_core::growth;
use quipu_core::id::{ItemId, ItemKind, Seq, UserId};
use quipu_core::item::{Fact, FactType, Note, Review, ReviewKind, TaskStatus, TenetStatus};
use quipu_core::limit;
use quipu_core::memory::Memory;
use quipu_core::pack::{self, Evidence, Pack, Section, estimate_tokens};
use quipu_core::recall::{DerivedHit, Intent, Plan, Verdict};
use serde::Serialize;

use crate::answers::{self, Answer};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::lock::before_slow_call;
use crate::pack_id::{self, Asked};
use crate::ports::Tokenizer;
use crate::recall::{self, Decision, FoundIn, RecallOptions, Sight};
use crate::versions::When;

/// What to pack.
#[derive(Debug, Clone)]
pub struct ContextOptions {
    /// The question or task.
    pub query: String,
    /// The most the block may cost, in tokens.
    pub max_tokens: usize,
    /// Only this conversation.
    pub session: Option<String>,
    /// As of which version.
    pub at: When,
    /// What it is for; without it the question's own words decide.
    pub intent: Option<Intent>,
    /// What "last week" is counted from; without it the clock's time.
    pub now: Option<Timestamp>,
    /// Tune by this profile; without it by the user's.
    pub profile: Option<String>,
    /// Count by this tokenizer; without it by the engine's first.
    pub tokenizer: Option<String>,
    /// As for [`RecallOptions`].
    pub deadline: Option<Duration>,
}

impl ContextOptions {
    /// A pack of the usual size for a question, now.
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
            deadline: None,
        }
    }
}

/// Items asked of recall for a pack: more than fit, so that what was left out can be named.
const CANDIDATES: usize = 40;

/// Drawn items of one kind that are offered to a section.
const OFFERED_MAX: usize = 16;

/// From this confidence a statement is told as it is, from the other one as likely; below it is left out (seed 3, §9). What
/// the user said and the rules read plainly is told as it is.
const ASSERTED_FROM: f64 = 0.8;
const TOLD_FROM: f64 = 0.6;

/// Makes the pack for a question.
///
/// Pinned items come first; then the sections of the intent, each best first. What did not fit is listed by id, pinned or
/// not.
///
/// # Errors
/// As [`recall`](crate::recall()); `Invalid` for a budget over `limit::PACK_TOKENS_MAX` or an unknown tokenizer.
pub fn context(engine: &Engine, user: &UserId, options: &ContextOptions) -> Result<Pack> {
    made(engine, user, options, &BTreeSet::new()).map(|made| made.pack)
}

/// The same, with what recall says of it.
///
/// # Errors
/// As [`context`].
pub fn judged_context(engine: &Engine, user: &UserId, options: &ContextOptions) -> Result<JudgedContext> {
    made(engine, user, options, &BTreeSet::new())
}

/// A pack, and what recall says of what it holds.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedContext {
    /// The pack.
    pub pack: Pack,
    /// The version it was made of.
    pub version: Seq,
    /// Whether memory answers the question.
    pub decision: Decision,
    /// What recall had to do without, if it did.
    pub degraded: Option<String>,
}

/// The same without some sources, which the reader has before them anyway; and what recall had to do without.
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
    let (parts, follows_from, judged) = recall::on_version(engine, &open, options.at, &mut |at| {
        let kept = open.texts_generation();
        let gathered = recall::find(engine, at, &asked, &mut |found| {
            let FoundIn { sight, mut report, plan, drawn } = found;
            let memory = sight.memory;
            report.hits.retain(|hit| !shown.contains(&hit.id));
            let parts = Parts {
                user: memory.user().clone(),
                core: memory.core().clone(),
                core_first: promoted(memory).filter_map(|fact| fact.core_path.clone()).collect(),
                profile: profile(memory, now),
                intent: plan.intent,
                pinned: pinned(memory).into_iter().filter(|kept| !shown.contains(&kept.id)).collect(),
                questions: questions(memory),
                offers: offers(sight, plan, &report.hits, drawn),
            };
            Ok((parts, report))
        })?;
        recall::note_shown(&open, kept, &gathered.1);
        let (parts, report) = gathered;
        let follows_from = Asked {
            query: options.query.clone(),
            version: report.version,
            now,
            intent: options.intent,
            max_tokens: options.max_tokens,
            session: options.session.clone(),
            profile: report.profile,
            tokenizer: String::new(),
        };
        Ok((parts, follows_from, (report.decision, report.degraded)))
    })?;
    let (decision, degraded) = judged;
    let version = follows_from.version;
    let request = parts.request(version, &decision, options.max_tokens);
    before_slow_call("the tokenizer");
    let count = |text: &str| counter.as_ref().map_or_else(|| estimate_tokens(text), |by| by.count(text));
    let mut pack = pack::pack(&request, &count);
    pack.counted_by = counter.as_ref().map_or(ESTIMATE, |by| by.name()).to_owned();
    pack.id = pack_id::id(&Asked { tokenizer: pack.counted_by.clone(), ..follows_from }, &pack.text)?;
    if options.at == When::Now {
        open.shown_items.count(pack.citations.iter().copied(), engine.now());
    }
    Ok(JudgedContext { pack, version, decision, degraded })
}

/// What a pack is made of, apart from the memory: it is packed with nothing held.
struct Parts {
    user: UserId,
    core: serde_json::Value,
    core_first: BTreeSet<String>,
    profile: Vec<Evidence>,
    intent: Intent,
    pinned: Vec<Evidence>,
    questions: Vec<(ItemId, String)>,
    offers: BTreeMap<Section, Vec<Evidence>>,
}

impl Parts {
    fn request(&self, version: Seq, decision: &Decision, max_tokens: usize) -> pack::Request<'_> {
        pack::Request {
            user: &self.user,
            version,
            core: &self.core,
            core_first: self.core_first.clone(),
            profile: self.profile.clone(),
            intent: self.intent,
            pinned: self.pinned.clone(),
            questions: self.questions.clone(),
            offers: self.offers.clone(),
            notice: (self.intent == Intent::Recall).then(|| notice(decision.verdict)).flatten(),
            max_tokens,
        }
    }
}

/// The name of counting by rule of thumb.
pub(crate) const ESTIMATE: &str = "estimate";

/// The tokenizer of a name; none for the estimate.
pub(crate) fn counter(engine: &Engine, name: Option<&str>) -> Result<Option<Arc<dyn Tokenizer>>> {
    let all = &engine.aids.tokenizers;
    match name {
        None => Ok(all.first().cloned()),
        Some(ESTIMATE) => Ok(None),
        Some(name) => all.iter().find(|one| one.name() == name).cloned().map(Some).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|one| one.name()).chain([ESTIMATE]).collect();
            Error::Invalid(format!("there is no tokenizer {name:?}; there are {}", known.join(", ")))
        }),
    }
}

/// What the model is told about the whole, where it is not simply the answer.
fn notice(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Answer => None,
        Verdict::Abstain => Some("Nothing here seems to answer the question: say so rather than guess."),
        Verdict::Verify => Some("What follows may not answer the question: check before relying on it."),
        Verdict::Clarify => Some("What follows is not settled: ask the user before relying on it."),
    }
}

/// What there is for each section, best first.
fn offers(sight: &Sight<'_>, plan: &Plan, hits: &[Answer], drawn: &[DerivedHit]) -> BTreeMap<Section, Vec<Evidence>> {
    let told = |answer: &&Answer| answer.trust == Trust::User || answer.confidence >= TOLD_FROM;
    let items = sight.memory.items();
    // What holds of somebody else is no answer about the one who is asked about.
    let of_another = |answer: &&Answer| {
        let about = plan.about.as_ref().zip(items.fact(answer.id));
        about.is_some_and(|(about, fact)| about.excludes(fact))
    };
    let facts = hits.iter().filter(|answer| answer.kind == "fact").filter(|answer| !of_another(answer));
    let facts = facts.filter(told).map(evidence);
    // A note that nobody agreed with is told as likely; one that is agreed with stands with what the user lives by, where
    // there is a section for it.
    let agreed = |answer: &&Answer| items.note(answer.id).is_some_and(Note::is_agreed);
    let notes = hits.iter().filter(|answer| answer.kind == "note");
    let notes = notes.filter(|answer| plan.intent == Intent::Recall || !agreed(answer));
    let facts = facts.chain(notes.map(|note| Evidence { likely: !agreed(&note), ..evidence(note) }));
    let said = hits.iter().filter(|answer| matches!(answer.kind, "turn" | "entry" | "doc")).map(evidence);
    BTreeMap::from([
        (Section::Facts, facts.collect()),
        (Section::Said, said.collect()),
        (Section::Episodes, episodes(sight, plan.intent, drawn)),
        (Section::Goals, open_tasks(sight, drawn)),
        (Section::SelfModel, lived_by(sight, drawn)),
    ])
}

/// Episodes that were found: the latest first for a plan, the earliest and the latest side by side for looking back.
fn episodes(sight: &Sight<'_>, intent: Intent, drawn: &[DerivedHit]) -> Vec<Evidence> {
    let found = drawn.iter().filter(|hit| hit.id.kind == ItemKind::Episode).take(OFFERED_MAX);
    let mut found: Vec<Evidence> = found.map(|hit| evidence(&answers::of_item(sight, hit))).collect();
    match intent {
        Intent::Plan | Intent::Nudge => found.sort_by_key(|one| std::cmp::Reverse(one.said_at)),
        Intent::Reflect => {
            found.sort_by_key(|one| one.said_at);
            let late = found.split_off(found.len().div_ceil(2));
            let mut late = late.into_iter().rev();
            found = found.into_iter().flat_map(|early| [Some(early), late.next()]).flatten().collect();
        }
        Intent::Recall | Intent::Decide => {}
    }
    found
}

/// Open goals, tasks and problems: those that were found first, then the most pressing.
fn open_tasks(sight: &Sight<'_>, drawn: &[DerivedHit]) -> Vec<Evidence> {
    let items = sight.memory.items();
    let open = |id: &ItemId| {
        let task = items.task(*id).filter(|_| !items.is_hidden(*id));
        task.is_some_and(|task| matches!(task.status, TaskStatus::Active | TaskStatus::Stalled))
    };
    let mut rest: Vec<_> = items.tasks().filter(|task| open(&task.id)).collect();
    rest.sort_by_key(|task| (task.due.is_none(), task.due, std::cmp::Reverse(task.priority), task.id));
    found_first(sight, drawn, ItemKind::Task, &open, rest.into_iter().map(|task| task.id))
}

/// What the user lives by: confirmed lines of the self-model, and notes that agree.
fn lived_by(sight: &Sight<'_>, drawn: &[DerivedHit]) -> Vec<Evidence> {
    let items = sight.memory.items();
    let counts = |id: &ItemId| {
        let confirmed = items.tenet(*id).is_some_and(|tenet| tenet.status == TenetStatus::Confirmed);
        let agreed = items.note(*id).is_some_and(|note| note.is_agreed());
        (confirmed || agreed) && !items.is_hidden(*id)
    };
    let tenets = items.tenets().map(|tenet| tenet.id).filter(|id| counts(id));
    let mut all = found_first(sight, drawn, ItemKind::Tenet, &counts, tenets);
    let notes = items.notes().map(|note| note.id).filter(|id| counts(id));
    all.extend(found_first(sight, drawn, ItemKind::Note, &counts, notes));
    all
}

/// Items of a kind: what the question found, then the rest.
fn found_first(
    sight: &Sight<'_>,
    drawn: &[DerivedHit],
    kind: ItemKind,
    counts: &dyn Fn(&ItemId) -> bool,
    rest: impl Iterator<Item = ItemId>,
) -> Vec<Evidence> {
    let found = drawn.iter().map(|hit| hit.id).filter(|id| id.kind == kind && counts(id));
    let mut met = BTreeSet::new();
    let all = found.chain(rest).filter(|id| met.insert(*id)).take(OFFERED_MAX);
    all.map(|id| evidence(&answers::of_unasked(sight, id))).collect()
}

fn evidence(answer: &Answer) -> Evidence {
    let plain = !matches!(answer.kind, "fact" | "note");
    let mut remarks: Vec<String> = answer.outdated.iter().map(|(_, text)| format!("no longer so: {text}")).collect();
    remarks.extend(answer.contested_by.iter().map(|(id, text)| format!("contested, against {id}: {text}")));
    if answer.kind == "task" {
        remarks.extend(answer.status.clone());
    }
    if answer.kind == "fact" {
        let date = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
        remarks.extend(answer.valid_from.map(|from| format!("since {}", date(from))));
        remarks.extend(answer.valid_to.map(|to| format!("until {}", date(to))));
    }
    Evidence {
        id: answer.id,
        speaker: answer.speaker.clone(),
        said_at: answer.said_at,
        trust: answer.trust,
        text: answer.text.clone(),
        likely: !plain && answer.trust != Trust::User && answer.confidence < ASSERTED_FROM,
        remark: (!remarks.is_empty()).then(|| remarks.join("; ")),
    }
}

/// Conflicts that only the user can settle, the most important first.
fn questions(memory: &Memory) -> Vec<(ItemId, String)> {
    let items = memory.items();
    let mut waiting: Vec<&Review> = items.waiting().filter(|review| review.kind == ReviewKind::Conflict).collect();
    let weight = |review: &Review| items.fact(review.about).map_or(0.0, |fact| fact.intrinsic_importance);
    waiting.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.id.cmp(&b.id)));
    waiting.into_iter().map(|review| (review.id, review.question.clone())).collect()
}

/// Claims the user made so often that they are of the profile, the weightiest first.
fn promoted(memory: &Memory) -> impl Iterator<Item = &Fact> {
    let items = memory.items();
    let held = items.promoted().filter(|id| !items.is_hidden(*id)).filter_map(|id| items.fact(id));
    held.filter(|fact| fact.is_active() && fact.trust == Trust::User)
}

/// Those of them that have no place in the core document.
fn profile(memory: &Memory, now: Timestamp) -> Vec<Evidence> {
    let mut beside: Vec<&Fact> = promoted(memory).filter(|fact| fact.core_path.is_none()).collect();
    let weight = |fact: &Fact| growth::priority(memory, fact.id, now);
    beside.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.id.cmp(&b.id)));
    beside.into_iter().map(|fact| plain(fact.id, &fact.subject, fact.last_seen, fact.trust, &fact.text)).collect()
}

fn plain(id: ItemId, speaker: &str, said_at: Option<Timestamp>, trust: Trust, text: &str) -> Evidence {
    let (speaker, text) = (speaker.to_owned(), text.to_owned());
    Evidence { id, speaker, said_at, trust, text, likely: false, remark: None }
}

/// What is always in: rules and limits of the user, then what was pinned, facts before words.
fn pinned(memory: &Memory) -> Vec<Evidence> {
    let items = memory.items();
    let binds = |fact: &Fact| fact.fact_type == FactType::Constraint && fact.subject == USER;
    let wanted = |fact: &&Fact| fact.is_active() && (binds(fact) || memory.marks(fact.id).pinned);
    let facts = items.facts().filter(wanted).filter(|fact| !items.is_hidden(fact.id));
    let facts = facts.map(|fact| plain(fact.id, &fact.subject, fact.last_seen, fact.trust, &fact.text));
    let kept = memory.sources().iter().filter(|held| memory.marks(held.source.id).pinned);
    let said = kept
        .map(|held| plain(held.source.id, held.source.speaker(), held.source.said_at, held.trust, &held.source.text));
    facts.chain(said).collect()
}
