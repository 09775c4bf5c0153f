//! Invariants: corrected values stay away, one value at a time, facts and core document agree, replays are identical.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::extract::USER;
use quipu_core::id::UserId;
use quipu_core::predicate::normal;
use quipu_engine::versions::When;
use quipu_engine::{Engine, FactOptions, FactShown, Result};
use serde_json::Value;

use super::super::worlds::{World, at};
use super::asking::{is_of, value_of};
use super::telling::ToldWorld;

/// Days between two checks of the past.
const STEP: usize = 20;
/// Violations, by invariant.
pub(super) type Faults = BTreeMap<&'static str, Vec<String>>;

const CORRECTED: &str = "a corrected value returned as true";
const OVERWRITTEN: &str = "a weak source ended a strong value";
const SEVERAL: &str = "several values of a relation that holds one";
const DISAGREES: &str = "facts and core document disagree";
const REPLAY: &str = "a replay gave other bytes";

/// All invariants, without violations.
pub(super) fn none() -> Faults {
    [CORRECTED, OVERWRITTEN, SEVERAL, DISAGREES, REPLAY].map(|name| (name, Vec::new())).into()
}

pub(super) fn check(
    engine: &Engine,
    user: &UserId,
    world: &World,
    heard: &ToldWorld,
    faults: &mut Faults,
) -> Result<()> {
    let mut fault = |kind: &'static str, what: String| faults.entry(kind).or_default().push(what);
    for lost in &heard.overwritten {
        fault(OVERWRITTEN, lost.clone());
    }
    let now = quipu_engine::facts(engine, user, &FactOptions::default())?;
    let mut looks = vec![("now".to_owned(), now)];
    for day in (-6000..1300).step_by(STEP) {
        let options = FactOptions { valid_at: Some(at(day, 0)), ..FactOptions::default() };
        looks.push((at(day, 0).to_string(), quipu_engine::facts(engine, user, &options)?));
    }
    for (when, held) in &looks {
        for (number, slot) in world.slots.iter().enumerate().filter(|(number, _)| !heard.set_aside.contains(number)) {
            let wrong = |shown: &&FactShown| {
                is_of(slot, shown) && slot.corrected.iter().any(|value| normal(value) == value_of(shown))
            };
            for shown in held.iter().filter(wrong) {
                fault(CORRECTED, format!("{} slot {number}, {when}: {}", world.name, shown.fact.text));
            }
        }
        let mut slots = BTreeSet::new();
        for shown in held.iter().filter(|shown| shown.fact.single) {
            if !slots.insert(&shown.fact.slot) {
                fault(SEVERAL, format!("{}, {when}: {}", world.name, shown.fact.slot));
            }
        }
    }
    for what in disagreements(&looks[0].1, &quipu_engine::core_at(engine, user, When::Now)?) {
        fault(DISAGREES, format!("{}: {what}", world.name));
    }
    if !quipu_engine::rebuild(engine, user, &mut |_| {})?.identical {
        fault(REPLAY, world.name.clone());
    }
    Ok(())
}

/// Active facts of the user that are missing in the document, and content of the document without a fact.
fn disagreements(active: &[FactShown], core: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut places: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for shown in active.iter().filter(|shown| shown.fact.subject == USER) {
        let Some(path) = shown.fact.core_path.as_deref() else { continue };
        let entry = normal(path.rsplit('/').next().unwrap_or_default());
        let there = core.pointer(path).map(leaves).unwrap_or_default();
        if there.is_empty() {
            found.push(format!("{path} is missing"));
        } else if !there.contains(&value_of(shown)) && entry != value_of(shown) {
            found.push(format!("{path} does not say {}", shown.fact.object));
        }
        let values = places.entry(path).or_default();
        values.insert(value_of(shown));
        values.extend(shown.fact.qualifiers.values().map(|value| normal(value)));
    }
    for (path, values) in &places {
        let there = core.pointer(path).map(leaves).unwrap_or_default();
        let strange = there.iter().find(|leaf| *leaf != "true" && !values.contains(*leaf));
        found.extend(strange.map(|leaf| format!("{path} says {leaf}, and no fact does")));
    }
    let mut all = Vec::new();
    each_place(core, String::new(), &mut all);
    let covered = |place: &String| places.keys().any(|path| place == path || place.starts_with(&format!("{path}/")));
    found.extend(all.into_iter().filter(|place| !covered(place)).map(|place| format!("{place} has no fact")));
    found
}

/// The texts below a value.
fn leaves(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Array(list) => list.iter().flat_map(leaves).collect(),
        Value::Object(members) => members.values().flat_map(leaves).collect(),
        Value::String(text) => BTreeSet::from([normal(text)]),
        other => BTreeSet::from([other.to_string()]),
    }
}

/// The pointers to every text and list, except bookkeeping and descriptions.
fn each_place(value: &Value, pointer: String, all: &mut Vec<String>) {
    let Value::Object(members) = value else { return all.push(pointer) };
    for (name, member) in members.iter().filter(|(name, _)| !["_meta", "description"].contains(&name.as_str())) {
        each_place(member, format!("{pointer}/{name}"), all);
    }
}
