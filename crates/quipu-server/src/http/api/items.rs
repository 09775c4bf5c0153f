//! Routes for single items.

use axum::http::Method;
use quipu_engine::{Error, ItemHistory, ItemView, MemoryRef, Receipt, history, look, mark, reword, score_fact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::core::At;
use super::frame::{Call, Route};
use super::sent::NoQuery;
use super::shape;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/{user_id}/items/{item_id}", "An item of any kind", item),
        Route::get("/memory/{user_id}/items/{item_id}/why", "Evidence of an item, and every event about it", why),
        Route::of_body(
            Method::PATCH,
            "/memory/{user_id}/items/{item_id}",
            "Pins, rates, scores or edits an item",
            change,
        )
        .conditional(),
    ]
}

fn item(call: &Call<'_>, asked: At) -> Result<ItemView, Fault> {
    let at = call.when(asked.at.as_deref(), "at")?;
    Ok(look(call.engine, &call.user()?, call.part("item_id")?, at)?)
}

fn why(call: &Call<'_>, _: NoQuery) -> Result<ItemHistory, Fault> {
    Ok(history(call.engine, &call.user()?, call.part("item_id")?)?)
}

/// Changes of an item. One of `pinned`, `rating` and `user_fact_score` or a `text` is required.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = shape::text_or(&["pinned", "rating", "user_fact_score"])))]
#[schemars(rename = "ItemChangeRequest")]
struct ItemChange {
    /// Pin or unpin the item.
    pinned: Option<bool>,
    /// Rating from -2 to 2; 0 removes the rating.
    #[schemars(range(min = -2, max = 2))]
    rating: Option<i8>,
    /// Importance of a fact to the user, 0 to 10.
    #[schemars(range(max = 10))]
    user_fact_score: Option<u8>,
    /// New text in the user's own words, without other changes. The history keeps the earlier text.
    #[schemars(with = "Option<shape::Words>")]
    text: Option<String>,
}

/// Receipts of the recorded changes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ItemChangeReceipts")]
struct Changed {
    receipts: Vec<Receipt>,
}

fn change(call: &Call<'_>, asked: ItemChange) -> Result<Changed, Fault> {
    let (user, name) = (call.user()?, call.part("item_id")?);
    let ItemChange { pinned, rating, user_fact_score, text } = asked;
    let is_marked = pinned.is_some() || rating.is_some();
    if let Some(text) = text {
        if is_marked || user_fact_score.is_some() {
            let why = "a new text creates a new item; send the marks for that one afterwards";
            return Err(Fault::invalid(why).at("text"));
        }
        let receipts = call.writing(&user, |memory| reword(call.engine, memory, name, &text))?;
        return Ok(Changed { receipts });
    }
    if !is_marked && user_fact_score.is_none() {
        return Err(Fault::invalid("nothing to change: give pinned, rating, user_fact_score or text"));
    }
    let changed = |memory: MemoryRef<'_>| -> Result<Vec<Receipt>, Error> {
        // Done first because it can be rejected, which leaves the marks unchanged.
        let scored = user_fact_score.map(|score| score_fact(call.engine, memory, name, score)).transpose()?;
        // The second change follows from the first, so it has no precondition.
        let memory = if scored.is_some() { MemoryRef::of(&user) } else { memory };
        let marked = is_marked.then(|| mark(call.engine, memory, name, pinned, rating)).transpose()?;
        Ok(scored.into_iter().chain(marked).collect())
    };
    if rating.is_some_and(|rating| !(-2..=2).contains(&rating)) {
        return Err(Fault::invalid("a rating goes from -2 to 2").at("rating"));
    }
    Ok(Changed { receipts: call.writing(&user, changed)? })
}
