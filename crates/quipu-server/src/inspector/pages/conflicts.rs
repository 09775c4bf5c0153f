//! Conflicts: contradicting values, side by side.

use askama::Template;
use quipu_engine::ports::Scope;
use quipu_engine::{FactShown, conflicts};

use super::super::frame::{Frame, Page, PageContext, PageResult, page};
use super::super::shown;
use super::item::{Quoted, quoted};
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::get("/ui/u/{user_id}/conflicts", Scope::Read, all)]
}

struct ConflictSide {
    id: String,
    text: String,
    source: &'static str,
    sure: String,
    seen: String,
    quotes: Vec<Quoted>,
}

struct Pair {
    question: String,
    contested: ConflictSide,
    against: Vec<ConflictSide>,
    waits: bool,
}

#[derive(Template)]
#[template(path = "conflicts.html")]
struct Conflicts {
    f: Frame,
    pairs: Vec<Pair>,
}

fn all(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let f = desk.frame_of(&user, "Conflicts", "conflicts")?;
    let side = |one: &FactShown| ConflictSide {
        id: one.fact.id.to_string(),
        text: one.fact.text.clone(),
        source: shown::source(one.fact.source),
        sure: format!("{:.0} %", one.fact.confidence_base * 100.0),
        seen: shown::maybe_day(one.fact.last_seen),
        quotes: one.quotes.iter().take(2).map(|(id, words)| quoted(desk, &user, *id, words)).collect(),
    };
    let found = conflicts(desk.engine, &user)?;
    let pairs = found
        .iter()
        .map(|one| Pair {
            question: one.question.clone().unwrap_or_else(|| format!("Is it true that {}?", one.contested.fact.text)),
            contested: side(&one.contested),
            against: one.against.iter().map(side).collect(),
            waits: one.review.is_some(),
        })
        .collect();
    page(&Conflicts { f, pairs })
}
