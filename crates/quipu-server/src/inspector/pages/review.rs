//! Review: one card per pending decision, decided by buttons or keys.

use askama::Template;
use quipu_core::event::Actor;
use quipu_core::item::{ProposedEdit, ReviewDecision, ReviewKind};
use quipu_engine::ports::Scope;
use quipu_engine::{ReviewsAsked, Waiting, decide_review, review_page, undo_review};

use super::super::fields::encoded;
use super::super::frame::{Frame, Page, PageContext, PageResult, base, page};
use super::super::shown;
use super::item::{Quoted, quoted};
use crate::http::Fault;

/// Sent back in place of a statement that gives way, where nothing does.
const NO_RIVAL: &str = "-";

/// Cards on a page.
const CARDS: usize = 20;

pub(super) fn pages() -> Vec<Page> {
    vec![
        Page::get("/ui/u/{user_id}/review", Scope::Review, review),
        Page::post("/ui/u/{user_id}/review/{review_id}", Scope::Review, decide),
    ]
}

struct Card {
    id: String,
    kind: &'static str,
    question: String,
    reason: String,
    proposer: &'static str,
    since: String,
    proposed: String,
    against: Option<String>,
    /// The statement that gives way, sent back with the decision.
    rival: String,
    about: Option<String>,
    /// The initial text of the edit field: the proposed value.
    edit: String,
    quotes: Vec<Quoted>,
    moves: Vec<String>,
    decided: Option<String>,
    event: u64,
}

#[derive(Template)]
#[template(path = "review.html")]
struct Review {
    f: Frame,
    cards: Vec<Card>,
    /// Where this page begins, and where the next one does.
    after: String,
    next: Option<String>,
    total: usize,
    decided: bool,
}

fn kind(kind: ReviewKind, proposer: Actor) -> &'static str {
    match kind {
        ReviewKind::Fact => "Unsure fact",
        ReviewKind::Conflict => "Conflict",
        ReviewKind::Tenet => "Line of the self-model",
        ReviewKind::SchemaPromotion => "New category",
        ReviewKind::Edit if proposer == Actor::User => "Edited page",
        ReviewKind::Edit => "Proposed change",
    }
}

fn card(desk: &PageContext<'_>, user: &quipu_core::id::UserId, one: &Waiting) -> Card {
    let review = &one.review;
    let look = quipu_engine::look(desk.engine, user, &review.about.to_string(), quipu_engine::versions::When::Now);
    let object = look.ok().and_then(|found| found.item.get("object")?.as_str().map(str::to_owned));
    let by_hand = review.proposed.as_ref().map(|proposed| match proposed {
        ProposedEdit::Value { object } => object.clone(),
        ProposedEdit::Score { score } => format!("a score of {score}"),
        ProposedEdit::Gone => "retracted".to_owned(),
        ProposedEdit::Said { text, .. } => text.clone(),
    });
    let name = review.promotion.as_ref().map(|asked| asked.name.clone());
    let proposed = by_hand.clone().unwrap_or_else(|| one.text.clone());
    let is_own = review.about == review.id;
    Card {
        id: review.id.to_string(),
        kind: kind(review.kind, review.proposer),
        question: if review.question.is_empty() { proposed.clone() } else { review.question.clone() },
        reason: review.reason.clone(),
        proposer: shown::actor(review.proposer),
        since: shown::maybe_day(review.opened_at),
        against: one.rival.clone().or_else(|| by_hand.as_ref().filter(|_| !is_own).map(|_| one.text.clone())),
        rival: rival(one),
        about: (!is_own).then(|| review.about.to_string()),
        edit: name.or(by_hand).or(object).unwrap_or_else(|| one.text.clone()),
        quotes: one.quotes.iter().take(3).map(|(id, words)| quoted(desk, user, *id, words)).collect(),
        moves: one
            .preview
            .iter()
            .flat_map(|preview| &preview.moves)
            .filter_map(|moved| serde_json::to_value(moved).ok())
            .map(|moved| format!("{} → {}", text(&moved, "from"), text(&moved, "to")))
            .take(8)
            .collect(),
        decided: review.decided.as_ref().map(|(decision, _)| match decision {
            ReviewDecision::Approved => "approved".to_owned(),
            ReviewDecision::Edited { text } => format!("edited: {text}"),
            ReviewDecision::Declined => "declined".to_owned(),
        }),
        event: review.decided.as_ref().map(|(_, seq)| *seq).unwrap_or_default(),
        proposed,
    }
}

/// What gives way, as the forms of a card send it back.
fn rival(one: &Waiting) -> String {
    one.rival.clone().unwrap_or_else(|| NO_RIVAL.to_owned())
}

fn text(value: &serde_json::Value, name: &str) -> String {
    shown::maybe_value(value.get(name))
}

fn review(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Review", "review")?;
    let decided = desk.asked.get("decided").is_some();
    let after = desk.asked.get("after").map(str::to_owned);
    let asked = ReviewsAsked { decided, after: after.clone(), limit: CARDS };
    let found = review_page(desk.engine, &user, &asked)?;
    let cards = found.items.iter().map(|one| card(desk, &user, one)).collect();
    page(&Review { f, cards, after: after.unwrap_or_default(), next: found.next, total: found.total, decided })
}

fn decide(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let (user, id) = (desk.user()?, desk.part("review_id")?);
    let shown_against = desk.sent.get("against");
    // After a decision the user stays at the same position of the queue.
    let back = |seq: u64, review: &str| {
        let after = desk.sent.get("after").map(|after| format!("&after={}", encoded(after))).unwrap_or_default();
        PageResult::See(format!("{}/review?done={seq}{review}{after}", base(&user)))
    };
    let decision = match desk.needs("action", "a decision is missing")? {
        "approve" => ReviewDecision::Approved,
        "decline" => ReviewDecision::Declined,
        "edit" => {
            ReviewDecision::Edited { text: desk.needs("text", "an edit needs the value that is right")?.to_owned() }
        }
        "undo" => {
            let receipt = undo_review(desk.engine, &user, id)?;
            return Ok(back(receipt.seq, ""));
        }
        other => return Err(Fault::invalid(format!("{other:?} is not a decision"))),
    };
    let open = || Ok::<_, Fault>(quipu_engine::reviews(desk.engine, &user, false)?);
    let now = if shown_against.is_some() { open()? } else { Vec::new() };
    let now = now.iter().find(|one| one.review.id.to_string() == id).map(rival);
    if let Some(now) = now.filter(|now| shown_against != Some(now.as_str())) {
        let holds = if now == NO_RIVAL { "nothing that contradicts it" } else { &now };
        let text = format!("memory has changed since this page was shown. What holds now: {holds}. Look at it again");
        return Err(Fault::from(quipu_engine::Error::Refused(text)));
    }
    let receipt = decide_review(desk.engine, &user, id, &decision, Actor::User, desk.sent.get("rationale"))?;
    Ok(back(receipt.seq, &format!("&review={id}")))
}
