//! Imports a year day by day, and records how the memory grows.

use std::collections::BTreeMap;

use jiff::Timestamp;
use quipu_core::id::{ItemId, UserId};
use quipu_core::source::Role;
use quipu_engine::versions::When;
use quipu_engine::{CoreEdit, Error, FactOptions, PatchOptions, RememberOptions, Result, Utterance};
use serde::Serialize;
use serde_json::Value;

use super::super::updates::place::SeededEngine;
use super::super::worlds::{Day, at};
use super::life::{Exchange, InventedYear, Noted};

/// Days between two measurements.
const MONTH: Day = 30;
/// Notes are added in the evening.
const EVENING: i32 = 22 * 60;

/// Size of the memory.
#[derive(Debug, Serialize)]
pub(super) struct Month {
    pub(super) days: Day,
    pub(super) turns: usize,
    pub(super) facts: usize,
    pub(super) core_bytes: usize,
}

/// Result of the import.
pub(super) struct ToldYear {
    /// The turn that answers each question, by number.
    pub(super) answers: BTreeMap<usize, ItemId>,
    pub(super) months: Vec<Month>,
    /// The morning after the last day.
    pub(super) end: Timestamp,
}

pub(super) fn tell(place: &SeededEngine, user: &UserId, life: &InventedYear) -> Result<ToldYear> {
    let mut told = ToldYear { answers: BTreeMap::new(), months: Vec::new(), end: Timestamp::default() };
    let mut notes = life.notes.iter().peekable();
    let mut turns = 0;
    for (number, exchange) in life.exchanges.iter().enumerate() {
        let ends_the_day = life.exchanges.get(number + 1).is_none_or(|next| next.day != exchange.day);
        let turn = say(place, user, exchange)?;
        turns += 2;
        told.answers.extend(exchange.answers.map(|question| (question, turn)));
        if !ends_the_day {
            continue;
        }
        while let Some(noted) = notes.next_if(|noted| noted.day <= exchange.day) {
            note(place, user, noted)?;
        }
        let days = exchange.day + 1;
        told.end = at(days, 8 * 60);
        if days % MONTH == 0 || number + 1 == life.exchanges.len() {
            let core_bytes = quipu_engine::core_at(&place.engine, user, When::Now)?.to_string().len();
            let facts = quipu_engine::facts(&place.engine, user, &FactOptions::default())?.len();
            told.months.push(Month { days, turns, facts, core_bytes });
        }
    }
    place.put(told.end);
    Ok(told)
}

/// Records a message and its reply; returns the turn of the message.
fn say(place: &SeededEngine, user: &UserId, exchange: &Exchange) -> Result<ItemId> {
    let mut turn = None;
    for (role, text, minute) in
        [(Role::User, &exchange.said, exchange.minute), (Role::Assistant, &exchange.answered, exchange.minute + 1)]
    {
        let now = at(exchange.day, minute);
        place.put(now);
        let said = Utterance {
            role,
            session: Some(exchange.session.clone()),
            said_at: Some(now),
            ..Utterance::of_user(text.clone())
        };
        let receipt = quipu_engine::remember(&place.engine, user, &said, &RememberOptions::default())?;
        receipt.lag.map_or(Ok(()), |lag| Err(Error::Bug(lag)))?;
        turn = turn.or(receipt.items.first().copied());
    }
    turn.ok_or_else(|| Error::Bug("a recorded turn has no id".to_owned()))
}

fn note(place: &SeededEngine, user: &UserId, noted: &Noted) -> Result<()> {
    place.put(at(noted.day, EVENING));
    let set = CoreEdit::Set(format!("/uncategorized/{}", noted.key), Value::from(noted.text.as_str()));
    quipu_engine::edit_core(&place.engine, user, &set, &PatchOptions::default()).map(drop)
}
