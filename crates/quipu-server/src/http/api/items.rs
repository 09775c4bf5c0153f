//! Single items.

use axum::http::Method;
use quipu_engine::{Error, Look, Receipt, Story, history, look, mark, score_fact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::fault::Fault;
use super::core::At;
use super::frame::{Call, Route, when};
use super::sent::NoQuery;
use super::shown::Shown;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/memory/{user_id}/items/{item_id}", "An item of any kind", item),
        Route::get("/memory/{user_id}/items/{item_id}/why", "Its evidence, and every event about it", why),
        Route::of_body(Method::PATCH, "/memory/{user_id}/items/{item_id}", "Pins, rates or scores an item", change)
            .conditional(),
    ]
}

fn item(call: &Call<'_>, asked: At) -> Result<Shown<Look>, Fault> {
    let at = when(asked.at.as_deref(), "at")?;
    Ok(Shown(look(call.engine, &call.user()?, call.part("item_id")?, at)?))
}

fn why(call: &Call<'_>, _: NoQuery) -> Result<Shown<Story>, Fault> {
    Ok(Shown(history(call.engine, &call.user()?, call.part("item_id")?)?))
}

/// What a person says of an item.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ItemChange {
    /// Keep it in view, or no longer.
    pinned: Option<bool>,
    /// From -2 to 2; 0 takes a rating back.
    rating: Option<i8>,
    /// Of a fact: from 0 to 10, the user's own.
    user_fact_score: Option<u8>,
}

/// What was recorded of it.
#[derive(Serialize, JsonSchema)]
struct Changed {
    receipts: Vec<Shown<Receipt>>,
}

fn change(call: &Call<'_>, asked: ItemChange) -> Result<Changed, Fault> {
    let (user, name) = (call.user()?, call.part("item_id")?);
    let ItemChange { pinned, rating, user_fact_score } = asked;
    let is_marked = pinned.is_some() || rating.is_some();
    if !is_marked && user_fact_score.is_none() {
        return Err(Fault::invalid("nothing to change: give pinned, rating or user_fact_score"));
    }
    let changed = || -> Result<Vec<Receipt>, Error> {
        // What can be refused comes first: a score that does not fit leaves the marks alone.
        let scored = user_fact_score.map(|score| score_fact(call.engine, &user, name, score)).transpose()?;
        let marked = is_marked.then(|| mark(call.engine, &user, name, pinned, rating)).transpose()?;
        Ok(scored.into_iter().chain(marked).collect())
    };
    if rating.is_some_and(|rating| !(-2..=2).contains(&rating)) {
        return Err(Fault::invalid("a rating goes from -2 to 2").at("rating"));
    }
    Ok(Changed { receipts: call.writing(&user, changed)?.into_iter().map(Shown).collect() })
}
