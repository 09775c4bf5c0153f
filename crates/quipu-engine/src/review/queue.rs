//! Review: one queue for everything that waits for a person.

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

/// Something that waits, and what it is about.
#[derive(Debug, Clone, Serialize)]
pub struct Waiting {
    /// What waits.
    #[serde(flatten)]
    pub review: Review,
    /// What it is about, in one line.
    pub text: String,
    /// What stands against it, in one line.
    pub rival: Option<String>,
    /// The words it was read from, with the source.
    pub quotes: Vec<(ItemId, String)>,
    /// What a proposed category would be and what would move there, as the document is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<PromotionPreview>,
}

/// What waits, oldest first; with `decided`, what was decided too.
///
/// # Errors
/// `NotFound` without such a user.
pub fn reviews(engine: &Engine, user: &UserId, decided: bool) -> Result<Vec<Waiting>> {
    let open = engine.open(user)?;
    let state = open.read();
    let items = state.memory.items();
    let found = in_order(items).into_iter().filter(|review| decided || items.waits(review));
    Ok(found.map(|review| shown(engine, &state.memory, review)).collect())
}

/// How much waits for a person.
///
/// # Errors
/// `NotFound` without such a user.
pub fn waiting(engine: &Engine, user: &UserId) -> Result<usize> {
    Ok(engine.open(user)?.read().memory.items().waiting().count())
}

/// Which page of the queue.
#[derive(Debug, Clone, Default)]
pub struct ReviewsAsked {
    /// What was decided, the newest first, instead of what waits, the oldest first.
    pub decided: bool,
    /// What comes after this one; from the beginning if it is not given.
    pub after: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// A page of the queue.
#[derive(Debug, Clone, Serialize)]
pub struct Reviews {
    /// What is on it.
    pub items: Vec<Waiting>,
    /// How many there are on all pages.
    pub total: usize,
    /// What to give as `after` for the next page; none on the last.
    pub next: Option<String>,
}

/// A page of what waits, or of what was decided. Only what is on it is looked into.
///
/// The page after one that was decided meanwhile goes on at the same place.
///
/// # Errors
/// `NotFound` without such a user, or if there is no review `after`.
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

/// Every review, in the order they came up.
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
        rival: review.against.map(text),
        quotes: items.fact(review.about).map(|fact| quotes(memory, &fact.evidence)).unwrap_or_default(),
        review: review.clone(),
    }
}

fn preview(engine: &Engine, memory: &Memory, review: &Review) -> Option<PromotionPreview> {
    let asked = review.promotion.as_ref().filter(|_| review.decided.is_none())?;
    let says = PromotionRequest { fields: Some(&asked.fields), ..PromotionRequest::named(Some(&asked.name)) };
    let planned = engine.desk(memory).promote(&asked.candidate, says);
    planned.ok().map(|(_, plan)| PromotionPreview::of(&plan))
}

/// The words at some places of sources.
pub(crate) fn quotes(memory: &Memory, evidence: &[quipu_core::item::Evidence]) -> Vec<(ItemId, String)> {
    let quote = |at: &quipu_core::item::Evidence| {
        let text = &memory.get(at.source)?.source.text;
        let words = text.get(at.start as usize..at.end as usize).unwrap_or(text);
        Some((at.source, words.trim().to_owned()))
    };
    evidence.iter().filter_map(quote).collect()
}

/// Decides on something that waits. Returns once the decision and everything that follows from it are durable.
///
/// # Errors
/// `NotFound` without such a review; `Refused` if it is decided already, or if the one who decides proposed it: a model can
/// never approve anything, least of all its own proposal.
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
    receipt.lag = checkpoint::after_append(engine, &open, false, &mut |_| {});
    Ok(receipt)
}

/// The words an edit by hand brought, once a person stands by them: they are the user's own.
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

/// Takes a decision back: it waits again, and what followed from it is undone.
///
/// # Errors
/// `NotFound` without such a review; `Refused` if it is not decided.
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

/// A review by its id, the start of its id, or the id of what it is about.
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
