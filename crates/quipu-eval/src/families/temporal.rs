//! Temporal: past values, asked in natural language, and the validity period of the statement that answers.

use std::collections::HashMap;
use std::sync::Arc;

use quipu_core::id::{ItemId, ItemKind, UserId};
use quipu_core::item::FactStatus;
use quipu_core::predicate::normal;
use quipu_core::recall::Validity;
use quipu_engine::ports::Embedder;
use quipu_engine::{Answer, Engine, FactOptions, FactShown, RecallOptions, Result};

use super::super::updates::place::SeededEngine;
use super::super::updates::telling;
use super::super::worlds::{Asking, FACTS_AT, Past, Slot, World, WorldRng, about_the_past, at};
use super::Verdict;

/// No event of a story is at noon.
const NOON: i32 = 12 * 60;

/// Answers examined.
const SHOWN: usize = 10;

pub(super) fn ask(embedder: &Arc<dyn Embedder>, seed: u64, worlds: usize) -> Result<Vec<Verdict>> {
    let place = SeededEngine::make(seed, embedder.clone())?;
    let asking = Asking::english()?;
    let mut verdicts = Vec::new();
    for number in 0..worlds {
        let world = World::make(seed, number)?;
        let user = UserId::parse(&world.name)?;
        let heard = telling::tell(&place, &user, &world)?;
        let all = FactOptions { all: true, ..FactOptions::default() };
        let facts = quipu_engine::facts(&place.engine, &user, &all)?;
        let facts = facts.into_iter().map(|shown| (shown.fact.id, shown)).collect();
        let mut dice = WorldRng::new(seed.wrapping_add(number as u64));
        for (count, past) in about_the_past(&world, &asking, &mut dice).iter().enumerate() {
            let verdict = judge(&place.engine, &user, (&world, &facts), past, count + 1)?;
            verdicts.push(verdict.aside(heard.set_aside.contains(&past.slot)));
        }
    }
    Ok(verdicts)
}

fn judge(
    engine: &Engine,
    user: &UserId,
    (world, facts): (&World, &HashMap<ItemId, FactShown>),
    past: &Past,
    number: usize,
) -> Result<Verdict> {
    let slot = &world.slots[past.slot];
    let found = match past.form {
        FACTS_AT => listed(engine, user, slot, past)?,
        _ => recalled(engine, user, past, Vec::new())?,
    };
    let of_slot: Vec<&FactShown> =
        found.iter().filter_map(|id| facts.get(id)).filter(|shown| is_of(slot, shown)).collect();
    // A contested fact is shown as such, with the other side, so it does not count as asserted.
    let asserted = |shown: &&&FactShown| shown.fact.status != FactStatus::Contested;
    let first = of_slot.iter().find(asserted);
    let is_right = |shown: &&FactShown| normal(&shown.fact.object) == normal(&past.span.value);
    let parts =
        [("value", first.is_some_and(is_right)), ("interval", first.is_some_and(|shown| fits(slot, shown, past)))];
    let among_facts = match past.form {
        FACTS_AT => found.clone(),
        _ => recalled(engine, user, past, vec![ItemKind::Fact])?,
    };
    let mut among_facts = among_facts.iter().filter_map(|id| facts.get(id)).filter(|shown| is_of(slot, shown));
    let first_of_facts = among_facts.find(|shown| asserted(&shown));
    let beside = [
        ("alone", of_slot.iter().all(is_right)),
        ("value if only facts are asked for", first_of_facts.is_some_and(|shown| is_right(&shown))),
    ];
    let id = format!("{}:{number}", world.name);
    let stretch = |shown: &&FactShown| {
        let time =
            |time: Option<jiff::Timestamp>| time.map_or("…".to_owned(), |time| time.strftime("%F").to_string());
        format!("{} {} to {}", shown.fact.object, time(shown.fact.valid_from), time(shown.fact.valid_to))
    };
    let date = |day| at(day, NOON).strftime("%F").to_string();
    let until = past.span.to.map_or("…".to_owned(), date);
    Ok(Verdict {
        world: world.name.clone(),
        wanted: vec![format!("{} {} to {until}", past.span.value, date(past.span.from))],
        found: of_slot.iter().map(stretch).collect(),
        ..Verdict::of("temporal", past.form, id, &past.text, &parts).beside(&beside)
    })
}

/// The items that recall finds, including duplicates that have no rank of their own.
fn recalled(engine: &Engine, user: &UserId, past: &Past, kinds: Vec<ItemKind>) -> Result<Vec<ItemId>> {
    let options = RecallOptions {
        k: SHOWN,
        kinds,
        now: Some(at(past.today, NOON)),
        validity: past.valid_at.map(|day| Validity::Now(Some(at(day, NOON)))),
        ..RecallOptions::of(&past.text)
    };
    let hits = quipu_engine::recall(engine, user, &options)?.hits;
    let said = |hit: &Answer| {
        // A turn lists its statements that did not hold at the time as outdated; these are no answers.
        let beside = hit.also.iter().filter(|id| !hit.outdated.iter().any(|(outdated, _)| outdated == *id));
        std::iter::once(hit.id).chain(beside.copied()).collect::<Vec<_>>()
    };
    Ok(hits.iter().flat_map(said).collect())
}

/// The facts of the slot on the list of facts of that day.
fn listed(engine: &Engine, user: &UserId, slot: &Slot, past: &Past) -> Result<Vec<ItemId>> {
    let options = FactOptions {
        valid_at: past.valid_at.map(|day| at(day, NOON)),
        subject: Some(slot.subject.clone()),
        predicate: Some(slot.predicate.clone()),
        ..FactOptions::default()
    };
    Ok(quipu_engine::facts(engine, user, &options)?.iter().map(|shown| shown.fact.id).collect())
}

fn is_of(slot: &Slot, shown: &FactShown) -> bool {
    shown.fact.subject == slot.subject && shown.fact.predicate == slot.predicate
}

/// True if its period is right on every day near the ends of the span that the messages decide.
fn fits(slot: &Slot, shown: &FactShown, past: &Past) -> bool {
    past.ends(slot).into_iter().all(|(day, held)| shown.fact.held_at(at(day, NOON)) == held)
}
