//! Properties for all statements in any order: at most one value per slot, evidence for every fact, core document equal
//! to the facts, and snapshots that read back.

use proptest::prelude::*;

use super::super::core_map::place_of;
use super::world::{World, claim};
use crate::event::SourceKind;
use crate::extract::{Extraction, FactCandidate, Stance, USER, UpdateCandidate, UpdateNews};
use crate::item::{Fact, ReviewDecision};
use crate::memory::Memory;
use crate::predicate::Cardinality;

#[derive(Debug, Clone)]
enum Step {
    Says { predicate: usize, object: usize, stance: u8, kind: u8, day: u8, since: Option<u8>, confidence: f64 },
    News { news: u8, object: usize, day: u8, on: Option<u8> },
    Decides { review: usize, decision: u8 },
    Retracts { fact: usize },
}

const PREDICATES: [&str; 8] =
    ["lives_in", "likes", "dislikes", "exercises", "has_condition", "allergic_to", "favourite", "keeps_bees"];
const OBJECTS: [&str; 4] = ["Oslo", "jazz", "Porto", "long walks"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..8usize, 0..4usize, 0..6u8, 0..4u8, 0..120u8, proptest::option::of(0..120u8), 0.6..1.0f64).prop_map(
            |(predicate, object, stance, kind, day, since, confidence)| Step::Says {
                predicate, object, stance, kind, day, since, confidence
            }
        ),
        2 => (0..4u8, 0..4usize, 0..120u8, proptest::option::of(0..120u8)).prop_map(
            |(news, object, day, on)| Step::News { news, object, day, on }
        ),
        1 => (0..4usize, 0..3u8).prop_map(|(review, decision)| Step::Decides { review, decision }),
        1 => (0..6usize).prop_map(|fact| Step::Retracts { fact }),
    ]
}

fn date(day: u8) -> String {
    format!("2024-{:02}-{:02}", day / 28 % 12 + 1, day % 28 + 1)
}

/// The day of the world's present, as [`date`] takes it.
fn passed(world: &World) -> u8 {
    (0..120).rfind(|day| super::world::day(&date(*day)) <= world.now).unwrap_or(0)
}

fn take(world: &mut World, step: &Step) {
    match *step {
        Step::Says { predicate, object, stance, kind, day, since, confidence } => {
            let stance = match stance {
                0 => Stance::Holds,
                1 => Stance::Changed,
                2 => Stance::Held,
                3 => Stance::Ended,
                4 => Stance::Denied,
                _ => Stance::Corrects { not: (day % 2 == 0).then(|| OBJECTS[usize::from(day) % 4].to_owned()) },
            };
            let kinds = [SourceKind::UserSaid, SourceKind::UserSaid, SourceKind::Imported, SourceKind::Web];
            let candidate = FactCandidate {
                valid_from: since.map(|day| super::world::day(&date(day))),
                confidence,
                ..claim(PREDICATES[predicate], OBJECTS[object], stance)
            };
            let found = Extraction { facts: vec![candidate], ..Extraction::default() };
            world.hears(&date(day), kinds[usize::from(kind)], found);
        }
        Step::News { news, object, day, on } => {
            let all = [UpdateNews::Over, UpdateNews::Moved, UpdateNews::Begins, UpdateNews::Kept];
            let (what, text) = (OBJECTS[object].to_owned(), format!("news of {}", OBJECTS[object]));
            let (span, day_named) = (0..text.len(), on.map(|day| super::world::day(&date(day))));
            let news = all[usize::from(news)].clone();
            let update = UpdateCandidate { what, news, span, day: day_named, confidence: 0.9 };
            let found = Extraction { updates: vec![update], ..Extraction::default() };
            world.hears_text(&date(day), SourceKind::UserSaid, &text, found);
        }
        Step::Decides { review, decision } => {
            if let Some(id) = world.waiting().get(review).copied() {
                let decision = match decision {
                    0 => ReviewDecision::Approved,
                    1 => ReviewDecision::Declined,
                    _ => ReviewDecision::Edited { text: "Bergen".to_owned() },
                };
                world.decides(id, decision);
            }
        }
        Step::Retracts { fact } => {
            let Some(id) = world.memory.items().facts().nth(fact).map(|fact| fact.id) else { return };
            if let Ok(changes) = world.desk(|desk, _| desk.retract(id, "no")) {
                world.record(SourceKind::UserEdited, changes);
            }
        }
    }
}

fn check(world: &World) {
    let items = world.memory.items();
    for fact in items.facts() {
        assert!(!fact.evidence.is_empty() || fact.source == SourceKind::UserEdited, "no evidence: {fact:?}");
        if fact.single && fact.is_active() {
            let has_begun = |other: &&Fact| other.valid_from <= Some(world.now) || other.id == fact.id;
            let active = items.in_slot(&fact.slot).filter(|other| other.is_active()).filter(has_begun).count();
            assert_eq!(active, 1, "several values of {}", fact.slot);
        }
        if let (Some(from), Some(to)) = (fact.valid_from, fact.valid_to) {
            assert!(from <= to, "it ended before it began: {fact:?}");
        }
    }
    assert!(world.memory.orphans().is_empty());
    agrees(world);
    let copy = Memory::decode(&world.memory.encode().unwrap()).unwrap();
    assert!(copy == world.memory, "a snapshot reads back as something else");
}

/// The core document contains exactly the active facts about the user, without values that replace another on a day
/// ahead.
fn agrees(world: &World) {
    let mut rebuilt = super::super::core_map::Draft::of(&serde_json::json!({}), world.memory.schema());
    let has_one = |fact: &Fact| world.predicates.get(&fact.predicate).cardinality == Cardinality::One;
    let has_begun = |fact: &&Fact| fact.valid_from <= Some(world.now) || !has_one(fact);
    let active = world.memory.items().facts().filter(|fact| fact.is_active() && fact.subject == USER);
    let mut active: Vec<&Fact> = active.filter(has_begun).collect();
    active.sort_by_key(|fact| fact.id.bits);
    for fact in &active {
        assert!(rebuilt.put(&world.predicates, &world.registry, fact), "{fact:?}");
    }
    for fact in active {
        let Some(place) = place_of(&world.predicates, fact) else { continue };
        assert!(world.memory.core().pointer(&place.pointer).is_some(), "{} is missing", place.pointer);
    }
    assert_eq!(sorted(world.memory.core()), sorted(rebuilt.document()), "facts and core document disagree");
}

/// Ignores the order of list elements.
fn sorted(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(list) => {
            let mut list: Vec<_> = list.iter().map(sorted).collect();
            list.sort_by_key(ToString::to_string);
            serde_json::Value::Array(list)
        }
        serde_json::Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn facts_stay_sound_whatever_is_said(steps in proptest::collection::vec(step(), 1..30)) {
        let mut world = World::new();
        for step in &steps {
            take(&mut world, step);
            check(&world);
        }
    }

    /// As they are said, so that some begin on a day ahead.
    #[test]
    fn facts_stay_sound_as_time_goes_on(steps in proptest::collection::vec(step(), 1..30)) {
        let mut world = World::new();
        world.now = super::world::day("2024-01-01");
        for mut step in steps {
            if let Step::Says { day, .. } | Step::News { day, .. } = &mut step {
                world.now = world.now.max(super::world::day(&date(*day)));
                *day = passed(&world);
            }
            if let Step::Says { day, since, stance: 2 | 3, .. } = &mut step {
                // What held once or has ended began before it was said.
                *since = since.map(|since| since.min(*day));
            }
            take(&mut world, &step);
            check(&world);
        }
    }
}
