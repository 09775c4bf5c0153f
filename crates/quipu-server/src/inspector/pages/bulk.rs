//! Actions on several memories at once: pin, unpin, retract. Each item has an event of its own, and all can be undone
//! together.

use std::collections::BTreeSet;

use quipu_engine::ports::Scope;
use quipu_engine::{mark, retract};

use super::super::fields::encoded;
use super::super::frame::{Page, PageContext, PageResult, base};
use super::memories::{ListQuery, ROWS, bulk_word};
use crate::http::Fault;

pub(super) fn pages() -> Vec<Page> {
    vec![Page::post("/ui/u/{user_id}/memories", Scope::Write, changed)]
}

fn changed(desk: &PageContext<'_>) -> Result<PageResult, Fault> {
    let user = desk.user()?;
    let action = desk.needs("action", "what to do is missing")?;
    let word = bulk_word(action).ok_or_else(|| Fault::invalid(format!("{action:?} cannot be done with memories")))?;
    let mut seen = BTreeSet::new();
    let chosen: Vec<&str> = desk.sent.all("item").filter(|id| seen.insert(*id)).collect();
    if chosen.is_empty() {
        return Err(Fault::invalid("nothing was chosen: tick the memories first"));
    }
    if chosen.len() > ROWS {
        return Err(Fault::invalid(format!(
            "{} memories were chosen; at most {ROWS} can be changed at once",
            chosen.len()
        )));
    }
    let mut events: Vec<String> = Vec::new();
    for id in &chosen {
        let receipt = match action {
            "retract" => retract(desk.engine, &user, id, "taken back"),
            pinned => mark(desk.engine, &user, id, Some(pinned == "pin"), None),
        };
        let receipt = receipt.map_err(|error| {
            let done = if events.is_empty() { String::new() } else { format!(" (events {})", events.join(", ")) };
            let so_far = format!("{} of {} were {word}{done}, then it stopped at {id}", events.len(), chosen.len());
            Fault::from(error).preceded_by(&so_far)
        })?;
        events.push(receipt.seq.to_string());
    }
    let list = ListQuery::of(&desk.sent, base(&user), "").link(&[]);
    let joint = if list.contains('?') { '&' } else { '?' };
    Ok(PageResult::See(format!("{list}{joint}did={action}&events={}", encoded(&events.join(",")))))
}
