//! The review queue: listing, deciding and undoing.

use quipu_core::Memory;
use quipu_core::event::{Actor, Change};
use quipu_core::evolve::PromotionRequest;
use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::{ProposedEdit, Review, ReviewDecision};
use quipu_core::items::Items;
use quipu_core::source::{Role, Source};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::growth::evolve::PromotionPreview;
use crate::history::revert::{self, RevertOptions, Selection};
use crate::history::versions::EventRef;
use crate::memory::MemoryRef;
use crate::memory::Receipt;
use crate::memory::checkpoint;
use crate::process::understand::{self, Cause};
use crate::process::unread;
use crate::write::hand_words;
use crate::write::remember;
use crate::write::retract;

/// A review for display.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PendingReview"))]
pub struct Waiting {
    /// The review.
    #[serde(flatten)]
    pub review: Review,
    /// The item it is about, in one line.
    pub text: String,
    /// The active statement that would give way if this were approved now, in one line.
    pub rival: Option<String>,
    /// Quotes of the evidence with their sources.
    pub quotes: Vec<(ItemId, String)>,
    /// The effect of a proposed promotion on the current document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<PromotionPreview>,
}

/// Lists open reviews, oldest first; with `decided`, decided ones too.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn reviews(engine: &Engine, user: &UserId, decided: bool) -> Result<Vec<Waiting>> {
    let open = engine.open(user)?;
    let state = open.read();
    let items = state.memory.items();
    let found = in_order(items).into_iter().filter(|review| decided || items.waits(review));
    Ok(found.map(|review| shown(engine, &state.memory, review)).collect())
}

/// Number of open reviews.
///
/// # Errors
/// `NotFound` if there is no such user.
pub fn waiting(engine: &Engine, user: &UserId) -> Result<usize> {
    Ok(engine.open(user)?.read().memory.items().waiting().count())
}

/// A page of the queue.
#[derive(Debug, Clone, Default)]
pub struct ReviewsAsked {
    /// Decided reviews, newest first, instead of open ones, oldest first.
    pub decided: bool,
    /// Id of the last review of the previous page. Defaults to the first page.
    pub after: Option<String>,
    /// Most reviews to return.
    pub limit: usize,
}

/// A page of the queue.
#[derive(Debug, Clone, Serialize)]
pub struct Reviews {
    /// The reviews of this page.
    pub items: Vec<Waiting>,
    /// Total number on all pages.
    pub total: usize,
    /// The value of `after` for the next page; `None` on the last.
    pub next: Option<String>,
}

/// Returns a page of open or decided reviews.
///
/// If the review `after` was decided meanwhile, the next page continues at the same place.
///
/// # Errors
/// `NotFound` if there is no such user, or no review `after`.
pub fn review_page(engine: &Engine, user: &UserId, asked: &ReviewsAsked) -> Result<Reviews> {
    let open = engine.open(user)?;
    let state = open.read();
    let items = state.memory.items();
    let mut all = in_order(items);
    if asked.decided {
        all.reverse();
    }
    let fits = |review: &&Review| match asked.decided {
        true => review.decided.is_some(),
        false => items.waits(review),
    };
    let total = all.iter().copied().filter(fits).count();
    let from = match &asked.after {
        None => 0,
        Some(after) => {
            let place = all.iter().position(|review| review.id.to_string() == *after);
            1 + place
                .ok_or_else(|| Error::NotFound(format!("there is no review {after:?}; begin with the first page")))?
        }
    };
    let mut left = all.into_iter().skip(from).filter(fits);
    let page: Vec<&Review> = left.by_ref().take(asked.limit).collect();
    let next = left.next().and_then(|_| page.last()).map(|last| last.id.to_string());
    Ok(Reviews { items: page.into_iter().map(|review| shown(engine, &state.memory, review)).collect(), total, next })
}

/// All reviews in the order of creation.
fn in_order(items: &Items) -> Vec<&Review> {
    let mut found: Vec<&Review> = items.reviews().collect();
    found.sort_by_key(|review| (items.made_by(review.id), review.id));
    found
}

fn shown(engine: &Engine, memory: &Memory, review: &Review) -> Waiting {
    let items = memory.items();
    let text = |id: ItemId| items.text(id).unwrap_or_default().to_owned();
    Waiting {
        preview: preview(engine, memory, review),
        text: review.promotion.as_ref().map_or_else(|| text(review.about), |asked| asked.description.clone()),
        rival: items.rival(review).map(|fact| fact.text.clone()),
        quotes: items.fact(review.about).map(|fact| quotes(memory, &fact.evidence)).unwrap_or_default(),
        review: Review { question: question(engine, items, review), ..review.clone() },
    }
}

/// The question of a review. If what was contradicted no longer holds, it asks about what holds now.
pub(crate) fn question(engine: &Engine, items: &Items, review: &Review) -> String {
    let rival = items.rival(review);
    let is_as_opened = review.against.is_none() || rival.map(|fact| fact.id) == review.against;
    let (false, None, Some(fact)) = (is_as_opened, &review.decided, items.fact(review.about)) else {
        return review.question.clone();
    };
    match rival {
        Some(rival) => engine.predicates.get(&fact.predicate).asks_which(rival, fact),
        None => format!("Is this right: {}?", fact.text),
    }
}

fn preview(engine: &Engine, memory: &Memory, review: &Review) -> Option<PromotionPreview> {
    let asked = review.promotion.as_ref().filter(|_| review.decided.is_none())?;
    let says = PromotionRequest { fields: Some(&asked.fields), ..PromotionRequest::named(Some(&asked.name)) };
    let planned = engine.desk(memory).promote(&asked.candidate, says);
    planned.ok().map(|(_, plan)| PromotionPreview::of(&plan))
}

/// The quotes at spans of sources.
pub(crate) fn quotes(memory: &Memory, evidence: &[quipu_core::item::Evidence]) -> Vec<(ItemId, String)> {
    let quote = |at: &quipu_core::item::Evidence| {
        let text = &memory.get(at.source)?.source.text;
        let words = text.get(at.start as usize..at.end as usize).unwrap_or(text);
        Some((at.source, words.trim().to_owned()))
    };
    evidence.iter().filter_map(quote).collect()
}

/// Decides a review. Returns once the decision and all its consequences are durable.
///
/// # Errors
/// `NotFound` if there is no such review; `Refused` if it is decided already, or if the decision is not a person's or
/// is by the proposer: a model can never approve anything.
pub fn decide_review<'a>(
    engine: &Engine,
    memory: impl Into<MemoryRef<'a>>,
    id: &str,
    decision: &ReviewDecision,
    by: Actor,
    rationale: Option<&str>,
) -> Result<Receipt> {
    let memory = memory.into();
    let open = engine.open(memory)?;
    let running = unread::begin(engine, &open)?;
    let mut said = None;
    let mut receipt = retract::commit_decided(engine, &open, by, rationale, &mut |state| {
        let review = find(state.memory.items(), id)?;
        if by != Actor::User || review.proposer == by {
            return Err(Error::Refused(format!("{} was not proposed by a person and waits for one", review.id)));
        }
        if let ReviewDecision::Edited { text } = decision
            && text.trim().is_empty()
        {
            return Err(Error::Invalid("an edit needs the value that is right".to_owned()));
        }
        let mut changes =
            engine.desk(&state.memory).review(review.id, decision, &mut |kind| engine.new_item_id(kind))?;
        changes = hand_words::with_words(engine, &state.memory, review.about, changes)?;
        said = words(engine, review, decision)?;
        changes.splice(0..0, said.clone().map(Change::SourceRecorded));
        Ok(changes)
    })?;
    if let Some(source) = &said {
        let cause = Cause { event: Some(receipt.event_id), reference: None };
        receipt.understood = understand::understand(engine, &open, source.id, &cause)?;
    }
    running.finish(said.is_some() && receipt.understood.is_empty())?;
    receipt.finish(&open, checkpoint::after_append(engine, &open, false, &mut |_| {}));
    Ok(receipt)
}

/// The text added by an edit, as a source of the user's own, once a person approves it.
fn words(engine: &Engine, review: &Review, decision: &ReviewDecision) -> Result<Option<Source>> {
    let text = match (&review.proposed, decision) {
        (Some(ProposedEdit::Said { text, .. }), ReviewDecision::Approved) => text,
        (Some(ProposedEdit::Said { .. }), ReviewDecision::Edited { text }) => text,
        _ => return Ok(None),
    };
    let mut source = Source {
        id: engine.new_item_id(ItemKind::Entry),
        session: None,
        topic: None,
        role: Role::User,
        author: None,
        said_at: Some(engine.now()),
        text: text.trim().into(),
        artifacts: Vec::new(),
        native_id: None,
    };
    remember::redact(&mut source);
    source.check()?;
    Ok(Some(source))
}

/// Undoes a decision: the review is open again, and the consequences are reverted.
///
/// # Errors
/// `NotFound` if there is no such review; `Refused` if it is not decided.
pub fn undo_review<'a>(engine: &Engine, memory: impl Into<MemoryRef<'a>>, id: &str) -> Result<Receipt> {
    let memory = memory.into();
    let open = engine.open(memory)?;
    let decided = {
        let state = open.read();
        let review = find(state.memory.items(), id)?;
        review.decided.as_ref().map(|(_, seq)| *seq)
    };
    let Some(seq) = decided else { return Err(Error::Refused(format!("{id} is not decided yet"))) };
    let options = RevertOptions { rationale: Some(format!("undo the decision on {id}")), probes: Vec::new() };
    let selection = Selection::Events(vec![EventRef::Seq(seq)]);
    revert::revert(engine, memory, &selection, &options, &mut |_| {}).map(|(receipt, _)| receipt)
}

/// Finds a review by id, by prefix of the id, or by the id of the item it is about.
pub(crate) fn find<'a>(items: &'a Items, name: &str) -> Result<&'a Review> {
    let fits = |review: &&Review| {
        let id = review.id.to_string();
        id == name
            || review.about.to_string() == name
            || (name.len() > ItemKind::Review.as_str().len() + 3 && id.starts_with(name))
    };
    let mut found = items.reviews().filter(fits);
    let open = items.reviews().filter(fits).find(|review| items.waits(review));
    open.or_else(|| found.next())
        .ok_or_else(|| Error::NotFound(format!("nothing called {name:?} waits for a decision")))
}
