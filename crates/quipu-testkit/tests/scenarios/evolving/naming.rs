//! Names that a language model proposes for patterns under review.

use std::sync::{Arc, Mutex};

use quipu_core::event::Actor;
use quipu_core::growth::NoteProposed;
use quipu_core::item::ReviewDecision;
use quipu_engine::erase::EraseTarget;
use quipu_engine::ports::{Looked, NameProposed, ReflectError, Reflector, Unnamed};
use quipu_engine::versions::{EventRef, When};
use quipu_engine::{EvolveOptions, decide_review, erase, reviews, schema, show, status};
use serde_json::json;

use super::Life;
use crate::me;

/// Gives every pattern the same name and records its input.
struct Namer(Result<NameProposed, ReflectError>, Mutex<Vec<Unnamed>>);

impl Namer {
    fn saying(name: &str, description: &str) -> Arc<Self> {
        Self::placing(name, description, &[])
    }

    fn placing(name: &str, description: &str, fields: &[(usize, &str)]) -> Arc<Self> {
        let (name, description) = (name.to_owned(), description.to_owned());
        let fields = fields.iter().map(|(place, field)| (*place, (*field).to_owned())).collect();
        let said = NameProposed { name, description, fields };
        Arc::new(Self(Ok(said), Mutex::default()))
    }
}

impl Reflector for Namer {
    fn id(&self) -> &str {
        "namer"
    }

    fn reflect(&self, _: &Looked) -> Result<Vec<NoteProposed>, ReflectError> {
        Ok(Vec::new())
    }

    fn name(&self, unnamed: &Unnamed) -> Result<NameProposed, ReflectError> {
        self.1.lock().unwrap().push(unnamed.clone());
        self.0.clone()
    }
}

fn sleeps_badly(life: &Life) {
    for n in 1..=3 {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!(format!("Bad night {n}")));
    }
}

#[test]
fn a_model_names_what_is_put_to_a_person() {
    let namer = Namer::saying("Quiet nights", "How the user sleeps");
    let mut life = Life::with(Some(namer.clone()));
    sleeps_badly(&life);
    assert!(life.evolves(3, &EvolveOptions { dry_run: true, ..EvolveOptions::default() }).patterns[0].review.is_none());
    assert!(namer.1.lock().unwrap().is_empty(), "a dry run asks nobody");
    assert_eq!(life.evolves(3, &EvolveOptions::default()).faults, Vec::<String>::new());
    let shown = namer.1.lock().unwrap().clone();
    assert_eq!((shown.len(), shown[0].key.as_str(), shown[0].by_rule.name.as_str()), (1, "sleep", "sleepHealth"));
    assert_eq!(shown[0].members[0], "/uncategorized/sleep_note_1: Bad night 1");
    let waiting = reviews(&life.engine, &me(), false).unwrap().remove(0).review;
    assert!(waiting.question.contains("Make quietNights a category"), "{}", waiting.question);
    assert!(waiting.reason.ends_with("; named by namer"), "{}", waiting.reason);
    assert!(life.core().get("quietNights").is_none(), "a model decides nothing");
    decide_review(&life.engine, &me(), &waiting.id.to_string(), &ReviewDecision::Approved, Actor::User, None).unwrap();
    assert_eq!(life.core()["quietNights"]["notes"].as_array().unwrap().len(), 3);
    let shown = schema(&life.engine, &me(), When::Now).unwrap().pop().unwrap();
    assert_eq!((shown.name.as_str(), shown.description.as_str()), ("quietNights", "How the user sleeps"));
    life.is_sound();
    assert_eq!(namer.1.lock().unwrap().len(), 1, "a rebuild asks no model");
}

#[test]
fn a_name_that_cannot_be_used_is_the_rules_name() {
    let away = Namer(Err(ReflectError::Unavailable("the model is away".to_owned())), Mutex::default());
    for (namer, fault) in [
        (Namer::saying("identity", "A category of the program"), "sleep: there is a category identity"),
        (Namer::saying("???", "Nothing"), "cannot name a category"),
        (
            Namer::saying(
                "quietNights",
                "Two
lines",
            ),
            "sleep: a category is described in one line",
        ),
        (Arc::new(away), "the model is away"),
    ] {
        let life = Life::with(Some(namer));
        sleeps_badly(&life);
        let found = life.evolves(3, &EvolveOptions::default());
        assert!(found.faults.len() == 1 && found.faults[0].contains(fault), "{:?}", found.faults);
        let waiting = reviews(&life.engine, &me(), false).unwrap().remove(0).review;
        assert!(waiting.question.contains("Make sleepHealth a category"), "{}", waiting.question);
        assert!(!waiting.reason.contains("named by"), "{}", waiting.reason);
    }
}

#[test]
fn what_is_promoted_at_once_is_named_by_rule() {
    let namer = Namer::saying("quietNights", "How the user sleeps");
    let life = Life::with(Some(namer.clone()));
    sleeps_badly(&life);
    life.evolves(3, &EvolveOptions { apply: true, ..EvolveOptions::default() });
    assert!(life.core().get("sleepHealth").is_some() && namer.1.lock().unwrap().is_empty());
}

/// Three entries with no common key, which the rules call notes.
fn sleeps_oddly(life: &Life) {
    for (n, text) in [(1, "Awake at 3:40"), (2, "A mask does it"), (3, "Eight hours with the window open")] {
        life.sets(n, &format!("/uncategorized/sleep_note_{n}"), json!(text));
    }
}

#[test]
fn a_model_places_what_is_put_to_a_person_where_the_words_bear_it_out() {
    for (what, fields, expected) in [
        (
            "fields the rules know, and a word of the sentence",
            &[(0, "challenges"), (1, "Aids"), (2, "window")][..],
            json!({"challenges": "Awake at 3:40", "aids": ["A mask does it"], "window": "Eight hours with the window open"}),
        ),
        (
            "a length of time where none is said, words nobody said, a line that was not shown",
            &[(0, "duration"), (1, "insomnia"), (7, "aids"), (2, "sleep")],
            json!({"notes": ["Awake at 3:40", "A mask does it", "Eight hours with the window open"]}),
        ),
    ] {
        let namer = Namer::placing("sleepHealth", "How the user sleeps", fields);
        let mut life = Life::with(Some(namer.clone()));
        sleeps_oddly(&life);
        assert_eq!(life.evolves(3, &EvolveOptions::default()).faults, Vec::<String>::new(), "{what}");
        let waiting = reviews(&life.engine, &me(), false).unwrap().remove(0);
        assert_eq!(waiting.preview.unwrap().category, expected, "{what}: what is shown is what will be");
        decide_review(
            &life.engine,
            &me(),
            &waiting.review.id.to_string(),
            &ReviewDecision::Approved,
            Actor::User,
            None,
        )
        .unwrap();
        assert_eq!(life.core()["sleepHealth"], expected, "{what}");
        life.is_sound();
    }
}

#[test]
fn under_another_name_everything_goes_where_it_was_proposed() {
    let namer = Namer::placing("sleepHealth", "How the user sleeps", &[(1, "aids")]);
    let life = Life::with(Some(namer));
    sleeps_oddly(&life);
    life.evolves(3, &EvolveOptions::default());
    let waiting = reviews(&life.engine, &me(), false).unwrap().remove(0).review;
    let edited = ReviewDecision::Edited { text: "nights".to_owned() };
    decide_review(&life.engine, &me(), &waiting.id.to_string(), &edited, Actor::User, None).unwrap();
    assert_eq!(life.core()["nights"]["aids"], json!(["A mask does it"]));
}

#[test]
fn who_erases_what_was_placed_erases_where_it_was_named_and_leaves_the_rest() {
    let namer = Namer::placing("sleepHealth", "How the user sleeps", &[(0, "challenges"), (1, "aids")]);
    let mut life = Life::with(Some(namer));
    sleeps_oddly(&life);
    life.evolves(3, &EvolveOptions::default());
    let waiting = reviews(&life.engine, &me(), false).unwrap().remove(0).review;
    decide_review(&life.engine, &me(), &waiting.id.to_string(), &ReviewDecision::Approved, Actor::User, None).unwrap();
    erase(&life.engine, &me(), &[EraseTarget::Event(2)], "asked", &mut |_| {}).unwrap();
    let version = status(&life.engine, &me()).unwrap().version;
    for seq in 1..=version {
        let event = show(&life.engine, &me(), EventRef::Seq(seq)).unwrap();
        let said = format!("{:?}", event.changes);
        assert!(!said.contains("A mask") && !said.contains("sleep_note_2"), "event {seq} still says {said}");
    }
    assert_eq!(life.core()["sleepHealth"]["challenges"], json!("Awake at 3:40"), "the others stay where they are");
    life.is_sound();
}
