//! Schema evolution: proposes patterns of the core document as categories, and promotes them on confirmation.
//!
//! Due patterns are computed from the memory, so another run, also one after a crash, finds only what is left.

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

/// Options of a run.
#[derive(Debug, Clone, Copy)]
pub struct EvolveOptions {
    /// Support a pattern needs to become a category.
    pub thresholds: PromotionThresholds,
    /// Reports what would be done, without appending.
    pub dry_run: bool,
    /// Promotes due patterns at once, on the user's authority, instead of proposing them.
    pub apply: bool,
    /// Most events per run, bounded by [`limit::CANDIDATES_MAX`].
    pub events_max: usize,
}

impl Default for EvolveOptions {
    fn default() -> Self {
        let (dry_run, apply) = (false, false);
        Self { thresholds: PromotionThresholds::default(), dry_run, apply, events_max: limit::CANDIDATES_MAX }
    }
}

/// The effect of a promotion on the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromotionPreview {
    /// The values that move.
    pub moves: Vec<Moved>,
    /// The category after the promotion.
    pub category: Value,
}

impl PromotionPreview {
    pub(crate) fn of(plan: &PromotionPlan) -> Self {
        Self { moves: plan.moves.clone(), category: plan.category.clone() }
    }
}

/// A pattern, its status, and what the run did with it.
#[derive(Debug, Clone, Serialize)]
pub struct Pattern {
    /// The pattern, the proposed category, and the status before this run.
    #[serde(flatten)]
    pub survey: Survey,
    /// The effect of its promotion; only if it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<PromotionPreview>,
    /// The event of this run that proposed or promoted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_seq: Option<Seq>,
    /// The review opened by this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ItemId>,
    /// Why a due pattern was not promoted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Result of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Evolution {
    /// The version it was computed from.
    pub version: Seq,
    /// True if nothing was recorded.
    pub dry_run: bool,
    /// True if due patterns were promoted instead of proposed.
    pub applied: bool,
    /// The patterns, those with the most support first.
    pub patterns: Vec<Pattern>,
    /// Why the model failed to name some patterns, which are then named by rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Why recall lags behind the ledger, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag: Option<String>,
}

/// Finds patterns in `uncategorized` and `dynamicCategories`, and opens a review for each one that is due. With `apply`
/// it is promoted at once.
///
/// A language model, if configured, names proposals; patterns that are promoted at once are named by rule.
///
/// Each pattern has its own event, decided on the memory it is appended to; at most [`limit::CANDIDATES_MAX`] per run.
///
/// # Errors
/// `Invalid` for a threshold out of bounds; `NotFound` if there is no such user.
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

/// Number of due patterns that have not been proposed, at the default thresholds.
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

/// A promotion on the user's authority.
fn promotion(memory: &Memory, changes: Vec<Change>, rationale: String) -> Draft {
    let mut draft = Draft { rationale: Some(rationale), ..Draft::new(Actor::User, SourceKind::UserEdited, changes) };
    // The reference identifies the event if it is reverted.
    draft.origin.reference = Some(format!("evolve:{}", memory.seq()));
    draft
}

/// A request to promote a pattern.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromoteRequest {
    /// A dynamic category, or a term or key of `uncategorized`.
    pub candidate: String,
    /// Name of the category. By default it is derived by rule.
    #[serde(default)]
    pub proposed_name: Option<String>,
    /// Rationale of the event. Defaults to the support of the pattern.
    #[serde(default)]
    pub rationale: Option<String>,
    /// A repeated request with the same key has no second effect.
    #[serde(default)]
    pub idempotency_key: Option<String>,
    /// Reports what would be done, without appending.
    #[serde(default)]
    pub dry_run: bool,
}

/// Result of a promotion.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromoteReport {
    /// Proof of the event; `None` for a dry run.
    #[serde(flatten)]
    pub receipt: Option<Receipt>,
    /// What was promoted; `None` for a repeated request whose promotion no longer counts.
    pub promotion: Option<Promotion>,
    /// What moves; `None` for a repeated request.
    pub preview: Option<PromotionPreview>,
    /// True if nothing was recorded.
    pub dry_run: bool,
}

/// Promotes a pattern to a category at once, on the user's authority and whatever its support. One event contains the
/// promotion and the patches that move the values; reverting it removes the category.
///
/// # Errors
/// - `NotFound`: there is no such user or pattern.
/// - `Invalid`: the name is not valid for a category.
/// - `Refused`: the name is taken, or the document would exceed its limits.
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
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    let state = open.read();
    let mut all = state.memory.schema().categories().flat_map(|(_, category)| &category.promotions);
    let promotion = all.find(|one| one.seq == receipt.seq).map(|one| one.promotion.clone());
    Ok(PromoteReport { receipt: Some(receipt), promotion, preview, dry_run: false })
}

/// A category of a memory.
#[derive(Debug, Clone, Serialize)]
pub struct CategoryShown {
    /// Its name, a member of the core document.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Number of members.
    pub members: usize,
    /// The events that promoted it; empty for a built-in or configured category.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub promoted_by: Vec<Seq>,
    /// Time of the promotion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promoted_at: Option<Timestamp>,
    /// Its support at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support: Option<Support>,
}

/// Lists the categories of a memory, promoted ones last.
///
/// # Errors
/// `NotFound` if there is no such user or version.
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
