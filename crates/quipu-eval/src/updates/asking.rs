//! Asks a memory the questions of a world, and compares the answers with the truth.

use std::collections::BTreeSet;

use quipu_core::id::UserId;
use quipu_core::predicate::normal;
use quipu_engine::{Engine, FactOptions, FactShown, Result};
use serde::Serialize;

use super::super::lines::ResultLine;
use super::super::metrics::Scores;
use super::super::worlds::{Ask, Question, Slot, World, at, date_of};
use super::telling::ToldWorld;

/// Noon: no event of a story is at noon.
const NOON: i32 = 12 * 60;

/// One question, its answer, and the right one.
#[derive(Debug, Serialize)]
pub(super) struct CheckedAnswer {
    #[serde(flatten)]
    line: ResultLine,
    pub(super) world: String,
    pub(super) subject: String,
    pub(super) relation: String,
    pub(super) kind: &'static str,
    /// The day or the value asked about.
    pub(super) about: Option<String>,
    pub(super) wanted: BTreeSet<String>,
    pub(super) found: BTreeSet<String>,
    pub(super) right: bool,
    /// A sentence about it was not read as intended. The question would test the rules instead, so it is not counted.
    pub(super) set_aside: bool,
}

/// The kinds of questions, in the order of the report.
pub(super) const KINDS: [&str; 3] = ["holds now", "held then", "was ever said"];

pub(super) fn ask_all(engine: &Engine, user: &UserId, world: &World, heard: &ToldWorld) -> Result<Vec<CheckedAnswer>> {
    let answer = |(number, question): (usize, &Question)| {
        let slot = &world.slots[question.slot];
        let found = ask(engine, user, slot, &question.ask)?;
        let wanted: BTreeSet<String> = question.wanted.iter().map(|value| normal(value)).collect();
        let (kind, about) = match &question.ask {
            Ask::Now => (KINDS[0], None),
            Ask::On(day) => (KINDS[1], Some(date_of(*day).to_string())),
            Ask::Ever(value) => (KINDS[2], Some(value.clone())),
        };
        let (right, set_aside) = (found == wanted, heard.set_aside.contains(&question.slot));
        // A question that is set aside has no figures, so nothing counts it.
        let metrics = if set_aside { Scores::new() } else { [("right".to_owned(), f64::from(u8::from(right)))].into() };
        Ok(CheckedAnswer {
            line: ResultLine {
                id: format!("{}:{}", world.name, number + 1),
                eval: "updates".to_owned(),
                group: kind.to_owned(),
                question: format!("{} {}, {kind}: {}", slot.subject, slot.predicate, about.as_deref().unwrap_or("–")),
                metrics,
                ..ResultLine::default()
            },
            world: world.name.clone(),
            subject: slot.subject.clone(),
            relation: slot.predicate.clone(),
            kind,
            about,
            wanted,
            found,
            right,
            set_aside,
        })
    };
    world.questions.iter().enumerate().map(answer).collect()
}

fn ask(engine: &Engine, user: &UserId, slot: &Slot, ask: &Ask) -> Result<BTreeSet<String>> {
    let mut options = FactOptions {
        subject: Some(slot.subject.clone()),
        predicate: Some(slot.predicate.clone()),
        ..FactOptions::default()
    };
    match ask {
        Ask::Now => {}
        Ask::On(day) => options.valid_at = Some(at(*day, NOON)),
        Ask::Ever(_) => options.all = true,
    }
    let found = quipu_engine::facts(engine, user, &options)?;
    let mut values: BTreeSet<String> = found.iter().filter(|shown| is_of(slot, shown)).map(value_of).collect();
    if let Ask::Ever(value) = ask {
        values.retain(|found| *found == normal(value));
    }
    Ok(values)
}

pub(super) fn value_of(shown: &FactShown) -> String {
    normal(&shown.fact.object)
}

/// True if a fact is about the slot.
pub(super) fn is_of(slot: &Slot, shown: &FactShown) -> bool {
    let fact = &shown.fact;
    fact.subject == slot.subject
        && fact.predicate == slot.predicate
        && slot.of.as_ref().is_none_or(|of| fact.qualifiers.get("of") == Some(of))
}
