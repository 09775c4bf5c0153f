//! Decisions of people: review, merge, retract, erase, delete.

use axum::http::Method;
use quipu_core::event::Actor;
use quipu_core::id::UserId;
use quipu_core::item::ReviewDecision;
use quipu_engine::erase::{EraseTarget, UserErasure, delete_user_with_keys};
use quipu_engine::ports::Scope;
use quipu_engine::{
    Announced, ErasureReceipt, MemoryRef, Receipt, Waiting, announce_deletion, announce_erasure, decide_review, erase,
    merge, retract, reviews, undo_review,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::fault::Fault;
use super::frame::{Answered, Call, Route, bytes, parsed, schema};
use super::page::{Page, page};
use super::shape;
use crate::word_caches::Gone;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/{user_id}/review", "The review queue", waiting).needs(Scope::Review),
        Route::post("/memory/{user_id}/review/{review_id}", "Decides an entry of the review queue", decide)
            .needs(Scope::Review)
            .conditional(),
        Route::post("/memory/{user_id}/merge", "Merges items of one kind", merged).conditional(),
        Route::post("/memory/{user_id}/retract", "Retracts an item; the history keeps it", retracted).conditional(),
        Route::post("/memory/{user_id}/erase", "Erases items: destroys their payload everywhere", erased)
            .needs(Scope::Admin)
            .conditional()
            .announced()
            .grave(),
        Route::of_query(
            Method::DELETE,
            "/memory/{user_id}",
            "Deletes a user and the whole memory, after confirmation",
            &[],
            schema::<UserErasure>,
            deleted,
        )
        .needs(Scope::Admin)
        .conditional()
        .announced()
        .grave(),
    ]
}

/// Selects entries of the review queue.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReviewQuery {
    /// Include decided entries.
    #[serde(default)]
    decided: bool,
    /// Start after this entry: `next` of the page before.
    #[schemars(with = "Option<shape::Place>")]
    after: Option<String>,
    #[schemars(with = "Option<shape::Limit>")]
    limit: Option<usize>,
}

fn waiting(call: &Call<'_>, asked: ReviewQuery) -> Result<Page<Waiting>, Fault> {
    let found = reviews(call.engine, &call.user()?, asked.decided)?;
    page(found, asked.after.as_deref(), asked.limit, |one| one.review.id.to_string())
}

/// Action on an entry of the review queue.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ReviewAction")]
enum Action {
    Approve,
    Edit,
    Decline,
    Undo,
}

/// A decision on an entry of the review queue.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = shape::texts_of_decisions()))]
#[schemars(rename = "ReviewDecisionRequest")]
struct Decide {
    action: Action,
    /// With `edit`: the correct value or line.
    #[schemars(with = "Option<shape::Line>")]
    text: Option<String>,
    /// The reason, stored with the event.
    #[schemars(with = "Option<shape::Remark>")]
    rationale: Option<String>,
}

fn decide(call: &Call<'_>, asked: Decide) -> Result<Receipt, Fault> {
    let (user, id) = (call.user()?, call.part("review_id")?);
    let decision = match (asked.action, asked.text) {
        (Action::Edit, Some(text)) => Some(ReviewDecision::Edited { text }),
        (Action::Edit, None) => return Err(Fault::invalid("an edit needs the correct text").at("text")),
        (_, Some(_)) => return Err(Fault::invalid("only an edit takes a text").at("text")),
        (Action::Approve, None) => Some(ReviewDecision::Approved),
        (Action::Decline, None) => Some(ReviewDecision::Declined),
        (Action::Undo, None) => None,
    };
    let rationale = asked.rationale.as_deref();
    call.writing(&user, |memory| match &decision {
        Some(decision) => decide_review(call.engine, memory, id, decision, Actor::User, rationale),
        None => undo_review(call.engine, memory, id),
    })
}

/// Items to merge.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MergeRequest")]
struct Merge {
    /// Items to merge into `into`.
    #[schemars(with = "Vec<shape::ItemName>", length(min = 1))]
    from: Vec<String>,
    /// The item that remains.
    #[schemars(with = "shape::ItemName")]
    into: String,
}

fn merged(call: &Call<'_>, asked: Merge) -> Result<Receipt, Fault> {
    let user = call.user()?;
    call.writing(&user, |memory| merge(call.engine, memory, &asked.from, &asked.into))
}

/// An item to retract.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RetractRequest")]
struct Retract {
    #[schemars(with = "shape::ItemName")]
    item_id: String,
    /// The reason, stored with the event.
    #[schemars(with = "Option<shape::Remark>")]
    reason: Option<String>,
}

fn retracted(call: &Call<'_>, asked: Retract) -> Result<Receipt, Fault> {
    let user = call.user()?;
    let reason = asked.reason.as_deref().unwrap_or("taken back");
    call.writing(&user, |memory| retract(call.engine, memory, &asked.item_id, reason))
}

/// Payloads to destroy.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EraseRequest")]
struct Erase {
    /// Items, events (`12`) and single changes (`12.0`).
    #[schemars(with = "Vec<shape::Target>", length(min = 1))]
    targets: Vec<String>,
    /// The reason. It stays in the ledger and must not repeat what is erased.
    #[schemars(with = "Option<shape::Remark>")]
    reason: Option<String>,
    /// Confirmation token, required for more than 100 changes.
    confirm: Option<String>,
}

fn erased(call: &Call<'_>, asked: Erase) -> Result<ErasureReceipt, Fault> {
    let user = call.user()?;
    if asked.targets.is_empty() {
        return Err(Fault::invalid("nothing to erase: give targets").at("targets"));
    }
    let targets: Vec<EraseTarget> =
        asked.targets.iter().map(|text| parsed(text, "targets")).collect::<Result<_, _>>()?;
    let reason = asked.reason.as_deref().unwrap_or("asked for");
    let announced = announce_erasure(call.engine, &user, &targets, asked.confirm.as_deref())?;
    let operation = |memory: MemoryRef<'_>| erase(call.engine, memory, &targets, reason, &mut |_| {});
    call.destroying(&user, (announced, Gone::Erased), ", as `confirm` in the body", operation)
}

/// Confirms a deletion.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteQuery {
    /// Confirmation token. Without it nothing is deleted, and the refusal holds a preview and the token.
    confirm: Option<String>,
}

fn deleted(call: &Call<'_>, asked: DeleteQuery) -> Result<Answered, Fault> {
    let receipt = deleted_once(call, &call.user()?, asked.confirm.as_deref(), "")?;
    bytes(&receipt)
}

/// Deletes a user's memory if the token confirms it; `how` is appended to the error otherwise.
pub(super) fn deleted_once(
    call: &Call<'_>,
    user: &UserId,
    confirm: Option<&str>,
    how: &str,
) -> Result<UserErasure, Fault> {
    let announced = announce_deletion(call.engine, &call.app.keys, user, confirm)?;
    if let Announced::Unconfirmed(announcement) | Announced::Stale(announcement) = &announced {
        call.must_be_at(announcement.version)?;
    }
    let how = format!(": `DELETE /memory/{user}?confirm=…`{how}");
    let operation = |memory: MemoryRef<'_>| delete_user_with_keys(call.engine, &call.app.keys, memory);
    call.destroying(user, (announced, Gone::Deleted), &how, operation)
}
