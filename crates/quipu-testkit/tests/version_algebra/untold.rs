//! A revert removes the reverted statements and nothing else: after random messages, edits by hand and reverts, facts
//! and core document equal those of a memory that never recorded the reverted events.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use quipu_core::difference::Difference;
use quipu_core::id::Seq;
use quipu_core::predicate::normal;
use quipu_engine::log::{LogOptions, log};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{
    CoreEdit, Engine, FactOptions, PatchOptions, RememberOptions, Utterance, core_at, edit_core, facts, preview_revert,
    rebuild, remember, revert, status, verify,
};
use quipu_models::RuleExtractor;
use quipu_testkit::{MemoryStore, TestEngine, effort, seed};
use serde_json::{Value, json};

use crate::quietly;
use crate::world::id;

const ME: &str = "ana";
/// 2026-03-01T08:00:00Z.
const START: i64 = 1_772_352_000_000_000;
const HOUR: i64 = 3_600_000_000;

/// Several with one parent, with one list, and of relations with one value.
const SAID: [&str; 18] = [
    "I get migraines.",
    "I have asthma.",
    "I'm allergic to penicillin.",
    "I'm allergic to peanuts.",
    "I'm allergic to pollen.",
    "I live in Lyon.",
    "I moved to Porto.",
    "I moved to Oslo.",
    "I no longer live in Oslo.",
    "Actually, I live in Porto, not in Lyon.",
    "I like jazz.",
    "I like chess.",
    "I don't like jazz anymore.",
    "I dislike jazz.",
    "I'm vegan.",
    "I work as a nurse.",
    "My sister Anna lives in Bergen.",
    "I speak Spanish.",
];

#[derive(Debug, Clone)]
enum Step {
    Say(u8),
    /// Sets a unique value, beside facts or at a place for facts.
    Edit(u8),
    /// Removes by hand a value that a fact may have added to a list.
    Remove(u8),
    Revert(Vec<u8>),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any::<u8>().prop_map(Step::Say),
        // Some statements are repeated often.
        6 => (0..4u8).prop_map(Step::Say),
        3 => any::<u8>().prop_map(Step::Edit),
        1 => any::<u8>().prop_map(Step::Remove),
        6 => proptest::collection::vec(any::<u8>(), 1..3).prop_map(Step::Revert),
    ]
}

/// The effect of a step, and its events.
struct Done {
    step: Step,
    /// The steps it reverted.
    reverts: Vec<usize>,
    events: Vec<Seq>,
}

/// The visible state: active facts, and the core document without order and empty values.
#[derive(Debug, PartialEq)]
struct Seen {
    facts: BTreeSet<(String, String, String)>,
    core: Value,
}

struct Life {
    rig: TestEngine,
    engine: Engine,
}

impl Life {
    fn new() -> Self {
        let rig = TestEngine { extractor: Some(Arc::new(RuleExtractor::english())), ..TestEngine::new(3) };
        Self { engine: rig.engine(Box::new(MemoryStore::new())), rig }
    }

    fn head(&self) -> Seq {
        status(&self.engine, &id(ME)).map_or(0, |status| status.version)
    }

    /// Executes a step other than a revert, at the time that belongs to its number.
    fn take(&self, number: usize, step: &Step) {
        self.rig.clock.put(START + number as i64 * HOUR);
        match step {
            Step::Say(text) => {
                let said = Utterance::of_user(SAID[usize::from(*text) % SAID.len()]);
                remember(&self.engine, &id(ME), &said, &RememberOptions::default()).unwrap();
            }
            Step::Edit(place) => {
                let (pointer, value) = match place % 7 {
                    0 => (format!("/healthProfile/other/note{number}"), json!(number)),
                    1 => (format!("/dietaryProfile/note{number}"), json!({"is": [number]})),
                    2 => ("/preferences/likes/-".to_owned(), json!(format!("thing {number}"))),
                    3 => ("/location/current".to_owned(), json!(format!("Town {number}"))),
                    4 => ("/uncategorized/list/-".to_owned(), json!(number)),
                    5 => (format!("/uncategorized/deep/below/n{number}"), json!(number)),
                    _ => ("/healthProfile/allergies/food/-".to_owned(), json!(format!("food {number}"))),
                };
                edit_core(&self.engine, &id(ME), &CoreEdit::Set(pointer, value), &PatchOptions::default()).unwrap();
            }
            Step::Remove(value) => {
                let (list, value) = [
                    ("/preferences/likes", "jazz"),
                    ("/preferences/likes", "chess"),
                    ("/healthProfile/allergies/food", "peanuts"),
                ][usize::from(*value) % 3];
                let core = self.core();
                let found = core.pointer(list).and_then(Value::as_array);
                let at = found.and_then(|list| list.iter().position(|element| element == value));
                if let Some(at) = at {
                    let edit = CoreEdit::Unset(format!("{list}/{at}"));
                    edit_core(&self.engine, &id(ME), &edit, &PatchOptions::default()).unwrap();
                }
            }
            Step::Revert(_) => {}
        }
    }

    fn core(&self) -> Value {
        core_at(&self.engine, &id(ME), When::Now).unwrap_or_default()
    }

    fn seen(&self) -> Seen {
        if self.head() == 0 {
            return Seen { facts: BTreeSet::new(), core: json!({}) };
        }
        let held = facts(&self.engine, &id(ME), &FactOptions::default()).unwrap();
        let said = held.iter().map(|shown| &shown.fact);
        let mut core = self.core();
        core.as_object_mut().unwrap().remove("_meta");
        let facts: Vec<_> =
            said.map(|fact| (fact.subject.clone(), fact.predicate.clone(), normal(&fact.object))).collect();
        let distinct: BTreeSet<_> = facts.iter().cloned().collect();
        assert_eq!(facts.len(), distinct.len(), "a fact counts twice: {facts:?}{}", self.story());
        Seen { facts: distinct, core: plain(&core).unwrap_or(json!({})) }
    }

    fn story(&self) -> String {
        let all = LogOptions { before: None, limit: usize::MAX, reference: None };
        let entries = log(&self.engine, &id(ME), &all).unwrap_or_default();
        let line =
            |entry: &quipu_engine::log::LogEntry| format!("\n{} {:?} {}", entry.seq, entry.standing, entry.summary);
        entries.iter().rev().map(line).collect()
    }
}

/// The value without the order of lists and without empty values.
fn plain(value: &Value) -> Option<Value> {
    match value {
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().filter_map(plain).collect();
            list.sort_by_key(ToString::to_string);
            (!list.is_empty()).then_some(Value::Array(list))
        }
        Value::Object(members) => {
            let members: serde_json::Map<String, Value> =
                members.iter().filter_map(|(name, value)| Some((name.clone(), plain(value)?))).collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
        other => Some(other.clone()),
    }
}

/// The document, facts and orphans of a difference. Episodes are left out: they are made again after a revert, which
/// no preview shows.
fn described(difference: &Difference) -> Value {
    let orphans: Vec<Seq> = difference.orphans_new.iter().map(|orphan| orphan.seq).collect();
    let items = serde_json::to_value(&difference.items).unwrap();
    let is_fact = |item: &&Value| item["id"].as_str().is_some_and(|id| id.starts_with("fact_"));
    let facts: Vec<&Value> = items.as_array().into_iter().flatten().filter(is_fact).collect();
    json!([difference.core_changes, facts, orphans])
}

/// A step is in effect unless a later step in effect reverts it.
fn counts(done: &[Done], step: usize) -> bool {
    !(step + 1..done.len()).any(|later| done[later].reverts.contains(&step) && counts(done, later))
}

fn tell(steps: &[Step], outcomes: &mut BTreeMap<&'static str, usize>) {
    let life = Life::new();
    let mut done: Vec<Done> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let head = life.head();
        let mut reverts = Vec::new();
        if let Step::Revert(chosen) = step {
            reverts = chosen.iter().filter_map(|at| usize::from(*at).checked_rem(done.len())).collect();
            reverts.sort_unstable();
            reverts.dedup();
            let events: Vec<EventRef> =
                reverts.iter().flat_map(|at| done[*at].events.iter().copied()).map(EventRef::Seq).collect();
            if events.is_empty() || reverts.iter().all(|at| !counts(&done, *at)) {
                done.push(Done { step: step.clone(), reverts: Vec::new(), events: Vec::new() });
                continue;
            }
            life.rig.clock.put(START + number as i64 * HOUR);
            take_back(&life, &Selection::Events(events), outcomes);
        } else {
            life.take(number, step);
        }
        // The consequences of a revert go with it and need not be named.
        let last = if reverts.is_empty() { life.head() } else { head + 1 };
        done.push(Done { step: step.clone(), reverts, events: (head + 1..=last).collect() });
    }
    let untold = Life::new();
    for (number, one) in done.iter().enumerate().filter(|(number, _)| counts(&done, *number)) {
        untold.take(number, &one.step);
    }
    let (found, expected) = (life.seen(), untold.seen());
    assert_eq!(found, expected, "{}\nuntold:{}", life.story(), untold.story());
    if life.head() > 0 {
        assert!(rebuild(&life.engine, &id(ME), &mut |_| {}).unwrap().identical);
        assert!(verify(&life.engine, &id(ME), &[], &mut |_| {}).unwrap().is_intact());
    }
}

/// Checks that a revert matches its preview, and that reverting it leaves no trace.
fn take_back(life: &Life, selection: &Selection, outcomes: &mut BTreeMap<&'static str, usize>) {
    let options = RevertOptions::default();
    let (me, before) = (id(ME), life.seen());
    let preview = preview_revert(&life.engine, &me, selection, &options).unwrap();
    let (receipt, difference) = revert(&life.engine, &me, selection, &options, &mut |_| {}).unwrap();
    assert_eq!(described(&preview.difference), described(&difference), "{selection:?}{}", life.story());
    let after = life.seen();
    let undo = Selection::Events(vec![EventRef::Seq(receipt.seq)]);
    let (undone, _) = revert(&life.engine, &me, &undo, &options, &mut |_| {}).unwrap();
    assert_eq!(life.seen(), before, "not as it was before {selection:?}{}", life.story());
    let again = Selection::Events(vec![EventRef::Seq(undone.seq)]);
    revert(&life.engine, &me, &again, &options, &mut |_| {}).unwrap();
    assert_eq!(life.seen(), after, "not as it was after {selection:?}{}", life.story());
    for (outcome, some) in
        [("changed", before != after), ("restored", !preview.restored.is_empty()), ("reverted", true)]
    {
        *outcomes.entry(outcome).or_default() += usize::from(some);
    }
}

#[test]
fn what_is_reverted_was_never_said() {
    let (cases, seed) = (effort(16), seed());
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 4 * cases,
        ..Config::default()
    };
    let outcomes: RefCell<BTreeMap<&str, usize>> = RefCell::default();
    let steps = proptest::collection::vec(any_step(), 1..14);
    let outcome = TestRunner::new(config)
        .run(&steps, |steps| quietly(AssertUnwindSafe(|| tell(&steps, &mut outcomes.borrow_mut()))));
    println!("untold: {cases} histories, seed {seed}: {:?}", outcomes.borrow());
    if let Err(failure) = outcome {
        panic!("untold, seed {seed}: {failure}");
    }
    for what in ["changed", "restored", "reverted"] {
        assert!(outcomes.borrow().get(what).is_some_and(|count| *count > 0), "nothing was {what}");
    }
}
