//! Evolve: what recurs in the core document is proposed as a category of its own, and promoted once somebody says so.
//!
//! A predicate over the memory: what is done is no longer due, so that a second run, or one after a crash, finds the rest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use quipu_core::Memory;
use quipu_core::event::{Actor, Change, Draft, SourceKind};
use quipu_core::evolve::{
    self as core, DueStatus, Moved, PromotionPlan, PromotionRequest, PromotionThresholds, Survey,
};
use quipu_core::growth::TakenBack;
use quipu_core::id::{ItemId, ItemKind, Seq, UserId};
use quipu_core::item::{DerivedChange, Promotion, Review, ReviewKind, Support};
use quipu_core::limit;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::growth::consolidate;
use crate::growth::naming::Names;
use crate::history::versions::{self, When};
use crate::memory::MemoryRef;
use crate::memory::State;
use crate::memory::checkpoint;
use crate::memory::{Receipt, commit};

/// How to evolve.
#[derive(Debug, Clone, Copy)]
pub struct EvolveOptions {
    /// How much must speak for a category.
    pub thresholds: PromotionThresholds,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Promote what is due at once, as the user's own word, and ask nobody.
    pub apply: bool,
    /// At most so many events, and never more than [`limit::CANDIDATES_MAX`].
    pub events_max: usize,
}

impl Default for EvolveOptions {
    fn default() -> Self {
        let (dry_run, apply) = (false, false);
        Self { thresholds: PromotionThresholds::default(), dry_run, apply, events_max: limit::CANDIDATES_MAX }
    }
}

/// What a promotion makes of the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromotionPreview {
    /// What moves, place by place.
    pub moves: Vec<Moved>,
    /// The category as it will be.
    pub category: Value,
}

impl PromotionPreview {
    pub(crate) fn of(plan: &PromotionPlan) -> Self {
        Self { moves: plan.moves.clone(), category: plan.category.clone() }
    }
}

/// A pattern, how it stands, and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Pattern {
    /// The pattern, what it would become, and how it stood before this run.
    #[serde(flatten)]
    pub survey: Survey,
    /// What its promotion would make of the document; only if it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<PromotionPreview>,
    /// The event that proposed or promoted it in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_seq: Option<Seq>,
    /// What waits for a person because of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ItemId>,
    /// Why it was not promoted although it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// What came of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Evolution {
    /// The version it was computed from.
    pub version: Seq,
    /// True if nothing was recorded.
    pub dry_run: bool,
    /// True if what was due was promoted, not proposed.
    pub applied: bool,
    /// What recurs, those with the most support first.
    pub patterns: Vec<Pattern>,
    /// Why a model that names patterns did not name some, if it did not: they are named by rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Why recall lags behind what was recorded, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag: Option<String>,
}

/// Looks for what recurs in `uncategorized` and `dynamicCategories`, and proposes each pattern that is due as a category: it
/// waits as a review. With `apply` it is promoted at once.
///
/// A language model, where one is configured, names what is put to a person; what is promoted at once is named by rule.
///
/// Each is an event of its own, decided on the memory as it is when it is appended; at most
/// [`limit::CANDIDATES_MAX`] a run.
///
/// # Errors
/// `Invalid` for a knob out of its bounds; `NotFound` without such a user.
pub fn evolve(engine: &Engine, user: &UserId, options: &EvolveOptions) -> Result<Evolution> {
    let thresholds = options.thresholds.checked()?;
    let open = engine.open(user)?;
    let taken_back = consolidate::taken_back(&open)?;
    let (version, mut patterns) = {
        let state = open.read();
        let found = surveyed(engine, &state.memory, &thresholds, &taken_back);
        (state.memory.seq(), found.into_iter().map(|one| pattern(engine, &state.memory, one)).collect::<Vec<_>>())
    };
    let mut evolution = Evolution {
        version,
        dry_run: options.dry_run,
        applied: false,
        patterns: Vec::new(),
        faults: Vec::new(),
        lag: None,
    };
    if !options.dry_run {
        evolution.applied = options.apply;
        let due: Vec<&Survey> = patterns.iter().map(|one| &one.survey).filter(|one| one.is_due()).collect();
        let mut names = if options.apply { Names::default() } else { Names::asked(engine, &open, &due) };
        let mut refused: BTreeMap<String, String> = BTreeMap::new();
        let mut made = 0;
        while made < options.events_max.min(limit::CANDIDATES_MAX) {
            let mut key = None;
            let receipts = commit::commit(engine, &open, None, &mut |state| {
                key = None;
                let due = surveyed(engine, &state.memory, &thresholds, &taken_back);
                let next = due.into_iter().find(|one| one.is_due() && !refused.contains_key(&one.candidate.key));
                let Some(next) = next else { return Ok(Vec::new()) };
                key = Some(next.candidate.key.clone());
                match draft(engine, state, &next, options.apply, &mut names) {
                    Ok(draft) => Ok(vec![draft]),
                    Err(Error::Refused(reason) | Error::Invalid(reason)) => {
                        refused.insert(next.candidate.key, reason);
                        Ok(Vec::new())
                    }
                    Err(other) => Err(other),
                }
            })?;
            let Some(key) = key else { break };
            let Some(receipt) = receipts.into_iter().next() else { continue };
            made += 1;
            if let Some(pattern) = patterns.iter_mut().find(|one| one.survey.candidate.key == key) {
                pattern.event_seq = Some(receipt.seq);
                pattern.review = receipt.items.first().copied();
            }
        }
        evolution.faults = names.faults;
        for pattern in &mut patterns {
            pattern.refused = refused.remove(&pattern.survey.candidate.key);
        }
        if made > 0 {
            evolution.lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
        }
    }
    evolution.patterns = patterns;
    Ok(evolution)
}

/// How many patterns nobody was asked about, at the default thresholds.
pub(crate) fn due(engine: &Engine, memory: &Memory, taken_back: &TakenBack) -> usize {
    surveyed(engine, memory, &PromotionThresholds::default(), taken_back).iter().filter(|one| one.is_due()).count()
}

fn surveyed(engine: &Engine, memory: &Memory, thresholds: &PromotionThresholds, taken_back: &TakenBack) -> Vec<Survey> {
    core::survey(memory, engine.desk(memory).categories(), thresholds, taken_back, engine.now())
}

fn pattern(engine: &Engine, memory: &Memory, survey: Survey) -> Pattern {
    let name = survey.proposed.as_ref().filter(|_| survey.standing == DueStatus::Due).map(|one| one.name.as_str());
    let planned =
        name.map(|name| engine.desk(memory).promote(&survey.candidate.key, PromotionRequest::named(Some(name))));
    let (preview, refused) = match planned {
        Some(Ok((_, plan))) => (Some(PromotionPreview::of(&plan)), None),
        Some(Err(refusal)) => (None, Some(refusal.to_string())),
        None => (None, None),
    };
    Pattern { survey, preview, event_seq: None, review: None, refused }
}

/// The event that promotes or proposes a pattern.
fn draft(engine: &Engine, state: &State, due: &Survey, apply: bool, names: &mut Names) -> Result<Draft> {
    let key = &due.candidate.key;
    let suggested = names.of(engine, &state.memory, &due.candidate);
    let named = suggested.as_ref().map(|(named, _)| (named.name.as_str(), named.description.as_str()));
    let by_rule = || due.proposed.as_ref().map(|rule| (rule.name.as_str(), rule.description.as_str()));
    let proposed = named.or_else(by_rule);
    let asked = PromotionRequest {
        name: proposed.map(|(name, _)| name),
        description: proposed.map(|(_, description)| description),
        rationale: None,
        fields: suggested.as_ref().map(|(named, _)| &named.fields),
    };
    let (changes, plan) = engine.desk(&state.memory).promote(key, asked)?;
    if apply {
        return Ok(promotion(&state.memory, changes, plan.promotion.rationale));
    }
    let proposed =
        core::ProposedCategory { name: plan.promotion.name.clone(), description: plan.promotion.description.clone() };
    let (question, mut reason) = core::question(&due.candidate, &proposed, plan.moves.len());
    let mut promotion = plan.promotion;
    if let Some((named, by)) = suggested {
        reason = format!("{reason}; named by {by}");
        promotion.fields = named.fields;
    }
    let id = engine.new_item_id(ItemKind::Review);
    let review = Review {
        id,
        kind: ReviewKind::SchemaPromotion,
        about: id,
        against: None,
        question,
        reason,
        proposer: Actor::System,
        opened_at: Some(engine.now()),
        promotion: Some(Box::new(promotion)),
        decided: None,
        proposed: None,
    };
    let change = Change::Drawn(DerivedChange::ReviewOpened(Box::new(review)));
    Ok(Draft::new(Actor::System, SourceKind::Inferred, vec![change]))
}

/// A promotion on the user's own word.
fn promotion(memory: &Memory, changes: Vec<Change>, rationale: String) -> Draft {
    let mut draft = Draft { rationale: Some(rationale), ..Draft::new(Actor::User, SourceKind::UserEdited, changes) };
    // By it the event is found again if it is taken back.
    draft.origin.reference = Some(format!("evolve:{}", memory.seq()));
    draft
}

/// A promotion somebody asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromoteRequest {
    /// A dynamic category, or a term or key of `uncategorized`.
    pub candidate: String,
    /// What the category is called; by rule if nothing is said.
    #[serde(default)]
    pub proposed_name: Option<String>,
    /// Why; what speaks for it if nothing is said.
    #[serde(default)]
    pub rationale: Option<String>,
    /// Sending the same request with the same key again has no second effect.
    #[serde(default)]
    pub idempotency_key: Option<String>,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
}

/// What came of a promotion.
#[derive(Debug, Clone, Serialize)]
pub struct PromoteReport {
    /// Proof of the event; none for a dry run.
    #[serde(flatten)]
    pub receipt: Option<Receipt>,
    /// What was promoted; none if the same request was answered before and what it made counts no longer.
    pub promotion: Option<Promotion>,
    /// What moves; none if the same request was answered before.
    pub preview: Option<PromotionPreview>,
    /// True if nothing was recorded.
    pub dry_run: bool,
}

/// Promotes a pattern to a category at once, on the user's own word, however little speaks for it: one event, with the
/// patches that move what belongs there. Reverting the event takes the category back.
///
/// # Errors
/// - `NotFound`: there is no such user or pattern.
/// - `Invalid`: the name cannot name a category.
/// - `Refused`: the name is taken, or the document would leave its bounds.
pub fn promote<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    request: &PromoteRequest,
) -> Result<PromoteReport> {
    let memory = memory.into();
    let open = engine.open(memory)?;
    let said = request.rationale.as_deref().filter(|text| !text.trim().is_empty());
    let work_out = |memory: &Memory| -> Result<(Vec<Change>, PromotionPlan)> {
        let asked = PromotionRequest { rationale: said, ..PromotionRequest::named(request.proposed_name.as_deref()) };
        Ok(engine.desk(memory).promote(&request.candidate, asked)?)
    };
    if request.dry_run {
        let (_, plan) = work_out(&open.read().memory)?;
        let preview = Some(PromotionPreview::of(&plan));
        return Ok(PromoteReport { receipt: None, promotion: Some(plan.promotion), preview, dry_run: true });
    }
    let parts = [Some(request.candidate.as_str()), request.proposed_name.as_deref(), said];
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.unwrap_or_default().as_bytes()).collect();
    let idempotency = commit::idempotency(request.idempotency_key.as_deref(), &parts);
    let mut preview = None;
    let mut receipt = commit::commit_one(engine, &open, idempotency.as_ref(), &mut |state| {
        let (changes, plan) = work_out(&state.memory)?;
        preview = Some(PromotionPreview::of(&plan));
        Ok(promotion(&state.memory, changes, plan.promotion.rationale))
    })?;
    receipt.lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
    let state = open.read();
    let mut all = state.memory.schema().categories().flat_map(|(_, category)| &category.promotions);
    let promotion = all.find(|one| one.seq == receipt.seq).map(|one| one.promotion.clone());
    Ok(PromoteReport { receipt: Some(receipt), promotion, preview, dry_run: false })
}

/// A category of a memory.
#[derive(Debug, Clone, Serialize)]
pub struct CategoryShown {
    /// Its name: the member of the core document.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// How many members stand in it.
    pub members: usize,
    /// The events that promoted it; none for one that comes with the program or its settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub promoted_by: Vec<Seq>,
    /// When it was promoted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted_at: Option<Timestamp>,
    /// What spoke for it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support: Option<Support>,
}

/// The categories of a memory, those it promoted itself last.
///
/// # Errors
/// `NotFound` without such a user or version.
pub fn schema(engine: &Engine, user: &UserId, at: When) -> Result<Vec<CategoryShown>> {
    let open = engine.open(user)?;
    if at == When::Now {
        return Ok(shown(engine, &open.read().memory));
    }
    Ok(shown(engine, &versions::memory_at(&open, at)?))
}

fn shown(engine: &Engine, memory: &Memory) -> Vec<CategoryShown> {
    let members = |name: &str| match memory.core().get(name) {
        Some(Value::Object(members)) => members.len(),
        Some(Value::Array(list)) => list.len(),
        Some(Value::Null) | None => 0,
        Some(_) => 1,
    };
    let plain = |name: &str, description: &str| CategoryShown {
        name: name.to_owned(),
        description: description.to_owned(),
        members: members(name),
        promoted_by: Vec::new(),
        promoted_at: None,
        support: None,
    };
    let mut all: Vec<CategoryShown> =
        engine.registry.categories().map(|(name, description)| plain(name, description)).collect();
    all.extend(memory.schema().categories().map(|(name, category)| CategoryShown {
        promoted_by: category.promotions.iter().map(|one| one.seq).collect(),
        promoted_at: category.promotions.first().map(|one| one.at),
        support: category.promotions.first().map(|one| one.promotion.support.clone()),
        ..plain(name, category.description())
    }));
    all
}
