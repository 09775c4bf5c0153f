//! Random sequences of messages, reverts, decisions and erasures: relations with one value have at most one, facts and
//! core document agree, and a replay gives identical bytes.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quipu_core::event::{Actor, SourceKind};
use quipu_core::id::UserId;
use quipu_core::item::ReviewDecision;
use quipu_core::predicate::{Predicates, normal};
use quipu_engine::erase::EraseTarget;
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, Error, FactOptions, PatchOptions, RememberOptions, Utterance, WriteRequest, core_at,
    decide_review, edit_core, erase, facts, rebuild, remember, reread, retract, revert, reviews, verify, write,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, Rng, TestEngine, effort};
use serde_json::{Value, json};

const SAID: [&str; 14] = [
    "I live in Lyon.",
    "I live in Porto.",
    "I moved to Oslo.",
    "Actually, I live in Porto, not in Lyon.",
    "I no longer live in Oslo.",
    "I like jazz.",
    "I don't like jazz anymore.",
    "I like tea and I'm allergic to peanuts.",
    "My sister Anna lives in Bergen.",
    "My name is Ana.",
    "I work as a nurse.",
    "I'm vegan.",
    "I keep waking up at night.",
    "What a day!",
];

fn me() -> UserId {
    UserId::parse("me").unwrap()
}

fn step(engine: &Engine, dice: &mut Rng) {
    let head = quipu_engine::status(engine, &me()).map_or(0, |status| status.version);
    let event = |dice: &mut Rng| 1 + dice.below(head.max(1) as usize) as u64;
    match dice.below(20) {
        0..11 => {
            let text = SAID[dice.below(SAID.len())];
            remember(engine, &me(), &Utterance::of_user(text), &RememberOptions::default()).unwrap();
        }
        11..13 => {
            let place = ["Lyon", "Porto", "Oslo"][dice.below(3)];
            let request: WriteRequest =
                serde_json::from_value(json!({"facts": [{"p": "lives_in", "o": place}, {"p": "likes", "o": "jazz"}]}))
                    .unwrap();
            let kind = [SourceKind::UserEdited, SourceKind::ToolOutput][dice.below(2)];
            write(engine, &me(), &request, kind).unwrap();
        }
        13 => {
            let value = [json!("Rome"), json!("Porto")][dice.below(2)].clone();
            allowed(
                edit_core(
                    engine,
                    &me(),
                    &CoreEdit::Set("/location/current".to_owned(), value),
                    &PatchOptions::default(),
                )
                .map(drop),
            );
        }
        14 => allowed(
            edit_core(engine, &me(), &CoreEdit::Unset("/preferences".to_owned()), &PatchOptions::default()).map(drop),
        ),
        15 => {
            let selection = Selection::Events(vec![EventRef::Seq(event(dice))]);
            allowed(revert(engine, &me(), &selection, &RevertOptions::default(), &mut |_| {}).map(drop));
        }
        16 => allowed(erase(engine, &me(), &[EraseTarget::Event(event(dice))], "asked to", &mut |_| {}).map(drop)),
        17 => {
            let waiting = reviews(engine, &me(), false).unwrap_or_default();
            let Some(one) = waiting.first() else { return };
            let decision = [
                ReviewDecision::Approved,
                ReviewDecision::Declined,
                ReviewDecision::Edited { text: "Bern".to_owned() },
            ][dice.below(3)]
            .clone();
            decide_review(engine, &me(), &one.review.id.to_string(), &decision, Actor::User, None).unwrap();
        }
        18 => {
            let held = facts(engine, &me(), &FactOptions::default()).unwrap_or_default();
            if let Some(fact) = held.first() {
                retract(engine, &me(), &fact.fact.id.to_string(), "no").unwrap();
            }
        }
        _ => allowed(reread(engine, &me()).map(drop)),
    }
}

/// Accepts expected refusals.
fn allowed(outcome: Result<(), Error>) {
    match outcome {
        Ok(()) | Err(Error::NotFound(_) | Error::Refused(_) | Error::Invalid(_)) => {}
        Err(other) => panic!("{other:?}"),
    }
}

fn check(engine: &Engine, told: &str) {
    if quipu_engine::status(engine, &me()).is_err() {
        return;
    }
    let held = facts(engine, &me(), &FactOptions::default()).unwrap();
    let mut slots: BTreeMap<&str, usize> = BTreeMap::new();
    for shown in held.iter().filter(|shown| shown.fact.single) {
        *slots.entry(shown.fact.slot.as_str()).or_default() += 1;
    }
    assert!(slots.values().all(|count| *count == 1), "{told}: several values: {slots:?}");
    let core = core_at(engine, &me(), When::Now).unwrap();
    let of_facts: BTreeSet<(String, String)> =
        held.iter().filter_map(|shown| Some((shown.fact.core_path.clone()?, normal(&shown.fact.object)))).collect();
    assert_eq!(of_core(&core), of_facts, "{told}: facts and core document disagree{}", story(engine));
    for shown in &held {
        assert!(
            !shown.quotes.is_empty() || shown.fact.source == SourceKind::UserEdited,
            "{told}: no evidence: {shown:?}"
        );
    }
}

/// The events so far, for failure messages.
fn story(engine: &Engine) -> String {
    let all = quipu_engine::LogOptions { before: None, limit: 100, reference: None };
    let entries = quipu_engine::log(engine, &me(), &all).unwrap_or_default();
    entries.iter().rev().map(|entry| format!("\n{} {:?} {}", entry.seq, entry.standing, entry.summary)).collect()
}

/// Every value of the core document at a place for facts, with its place.
fn of_core(core: &Value) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for category in ["location", "preferences", "dietaryProfile", "healthProfile", "relationships", "identity", "work"]
    {
        walk(&format!("/{category}"), core.get(category).unwrap_or(&Value::Null), &mut found);
    }
    found
}

fn walk(path: &str, value: &Value, found: &mut BTreeSet<(String, String)>) {
    match value {
        Value::String(text) => drop(found.insert((path.to_owned(), normal(text)))),
        Value::Array(list) => {
            let names = list.iter().filter_map(|element| element.as_str().or_else(|| element["name"].as_str()));
            found.extend(names.map(|name| (path.to_owned(), normal(name))));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| walk(&format!("{path}/{name}"), value, found));
        }
        _ => {}
    }
}

#[test]
fn facts_and_core_document_agree_whatever_happens() {
    let extractor = Arc::new(RuleExtractor::english());
    assert!(Predicates::default_registry().has("lives_in"));
    for seed in 0..u64::from(effort(40)) {
        let engine = TestEngine { extractor: Some(extractor.clone()), ..TestEngine::new(seed) }
            .engine(Box::new(MemoryStore::new()));
        let mut dice = Rng::new(seed);
        for number in 0..25 {
            step(&engine, &mut dice);
            check(&engine, &format!("seed {seed}, step {number}"));
        }
        if quipu_engine::status(&engine, &me()).is_ok() {
            assert!(rebuild(&engine, &me(), &mut |_| {}).unwrap().identical, "seed {seed}");
            assert!(verify(&engine, &me(), &[], &mut |_| {}).unwrap().is_intact(), "seed {seed}");
        }
    }
}
